/// Limits of one recording; nil for none. On the wire they are the options of `StartRecording`, and all there are.
public struct RecordingLimits: Hashable, Sendable {
    /// Seconds of captured time, above 0; the recording ends with the last frame that fits, as `duration-limit`.
    public var maxDuration: Double?
    /// Bytes of the file, from `bytesLeast`; the recording ends before a frame that would not fit, as `size-limit`.
    public var maxBytes: UInt64?

    /// Below this a file would be header and index and no picture.
    public static let bytesLeast: UInt64 = 262_144

    public init(maxDuration: Double? = nil, maxBytes: UInt64? = nil) {
        self.maxDuration = maxDuration
        self.maxBytes = maxBytes
    }

    /// A key of the options, for readers, writers and the tables of `docs/wire.md`.
    package enum Key: String, CaseIterable {
        case maxDuration
        case maxBytes

        package var wireType: String {
            switch self {
            case .maxDuration: "d"
            case .maxBytes: "t"
            }
        }

        /// What it takes, as a sentence says it.
        package var allowed: String {
            switch self {
            case .maxDuration: "seconds above 0"
            case .maxBytes: "bytes from \(bytesLeast)"
            }
        }

        package var summary: String {
            switch self {
            case .maxDuration: "The recording ends with the last frame that fits: `duration-limit`."
            case .maxBytes: "The recording ends before a frame with which the file would be larger: `size-limit`."
            }
        }
    }

    /// - Throws: `.invalidValue`, naming the key, the value and what is allowed.
    public init(wire: WireDictionary) throws(BrokerError) {
        self.init()
        for entry in wire.entries {
            guard let key = Key(rawValue: entry.key) else {
                let known = Key.allCases.map(\.rawValue).joined(separator: " and ")
                throw BrokerError(
                    .invalidValue, "\(entry.key.quotedShort) is no option of a recording; there are \(known).")
            }
            let refusal = BrokerError(
                .invalidValue, "\(key.rawValue) is \(entry.value.sentence); it takes \(key.allowed).")
            switch key {
            case .maxDuration:
                guard let seconds = entry.value.number, seconds.isFinite, seconds > 0 else { throw refusal }
                maxDuration = seconds
            case .maxBytes:
                guard let bytes = entry.value.uint64, bytes >= Self.bytesLeast, bytes <= UInt64(Int64.max) else {
                    throw refusal
                }
                maxBytes = bytes
            }
        }
    }

    public var wire: WireDictionary {
        var wire = WireDictionary()
        if let maxDuration { wire[Key.maxDuration.rawValue] = .double(maxDuration) }
        if let maxBytes { wire[Key.maxBytes.rawValue] = .uint64(maxBytes) }
        return wire
    }
}
