import ArbiterProtocol

/// What is true of a kind of timed metadata from a moment on, as a client said it: the recorder core knows which kinds were
/// declared, and judges it.
struct MetadataGroup {
    let kind: String
    /// Nanoseconds of CLOCK_MONOTONIC.
    let time: Int64
    let items: [String]

    /// - Throws: `.limitExceeded` for items that are too long together.
    init(reading reader: inout WireReader) throws(BrokerError) {
        kind = try reader.string("kind")
        time = try reader.int64("time")
        items = try reader.strings("items")
        guard kind.utf8.count <= ClientBound.textBytesMax else {
            throw BrokerError(
                .invalidValue, "kind is \(kind.quotedShort); it takes a kind that the recording declared.")
        }
        guard bytes <= ClientBound.metadataBytesMax else {
            throw BrokerError(
                .limitExceeded,
                "The group of \(kind) has \(bytes) bytes; a group has at most \(ClientBound.metadataBytesMax).")
        }
    }

    /// Of the items.
    var bytes: Int { items.reduce(0) { $0 + $1.utf8.count } }

    /// What they take in a message, at most: each has its length before it, a zero behind it, and begins at a multiple of 4.
    var messageBytes: Int { bytes + 8 * items.count }
}
