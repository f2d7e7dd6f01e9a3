package import ArbiterProtocol

/// What is true of a kind of timed metadata from a moment on, as a client said it: the recorder core knows which kinds were
/// declared, and judges it.
package struct MetadataGroup {
    package let kind: String
    /// Nanoseconds of CLOCK_MONOTONIC.
    package let time: Int64
    package let items: [String]

    /// - Throws: `.limitExceeded` for items that are too long together.
    package init(reading reader: inout WireReader) throws(BrokerError) {
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
                "The group of \(kind.quotedShort) has \(bytes) bytes; one may have \(ClientBound.metadataBytesMax).")
        }
    }

    /// Of the items.
    var bytes: Int { items.reduce(0) { $0 + $1.utf8.count } }

    /// What they take in a message, at most: each has its length before it, a zero behind it, and begins at a multiple of 4.
    package var messageBytes: Int { bytes + 8 * items.count }
}
