/// On the wire it is the options of `AttachMicrophone`, and all there are: both have to be there.
extension MicrophoneFormat {
    /// A key of the options, for readers, writers and the tables of `docs/wire.md`.
    package enum Key: String, CaseIterable {
        case sampleRate
        case channels

        package var wireType: String { "u" }

        package var allowed: String {
            switch self {
            case .sampleRate: sampleRateSentence
            case .channels: channelsSentence
            }
        }

        package var summary: String {
            switch self {
            case .sampleRate: "That of the samples in every packet; the file has the same."
            case .channels: "Their samples are interleaved, the left one first."
            }
        }
    }

    /// - Throws: `.invalidValue`, naming the key, the value and what is allowed.
    public init(wire: WireDictionary) throws(BrokerError) {
        for entry in wire.entries where Key(rawValue: entry.key) == nil {
            let known = Key.allCases.map(\.rawValue).joined(separator: " and ")
            throw BrokerError(
                .invalidValue, "\(entry.key.quotedShort) is no option of a microphone; there are \(known).")
        }
        func number(_ key: Key) throws(BrokerError) -> UInt32 {
            guard let number = wire[key.rawValue]?.uint64.flatMap(UInt32.init(exactly:)) else {
                let given = wire[key.rawValue]?.sentence ?? "missing"
                throw BrokerError(.invalidValue, "\(key.rawValue) is \(given); it takes \(key.allowed).")
            }
            return number
        }
        self.init(sampleRate: try number(.sampleRate), channels: try number(.channels))
        if let problem { throw BrokerError(.invalidValue, problem) }
    }

    public var wire: WireDictionary {
        [Key.sampleRate.rawValue: .uint32(sampleRate), Key.channels.rawValue: .uint32(channels)]
    }
}
