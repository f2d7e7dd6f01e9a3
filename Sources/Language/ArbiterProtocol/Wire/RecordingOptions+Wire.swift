public import Vocabulary

/// On the wire they are the options of `StartRecording`.
extension RecordingOptions: Described {
    private static let bytesMost = UInt64(Int64.max)

    package static let fields: [Field<Self>] = [
        .ifAny(
            "maxDuration", \.maxDuration, "The recording ends with the last frame that fits: `duration-limit`.",
            takes: "seconds above 0", where: { $0 > 0 }),
        .ifAny(
            "maxBytes", \.maxBytes,
            "The recording ends before a frame with which the file would be larger: `size-limit`.",
            takes: "bytes from \(bytesLeast)", where: { (bytesLeast...bytesMost).contains($0) }),
        .ifAny(
            "minFreeBytes", \.minFreeBytes,
            """
            Looked at every second: fewer bytes free on the file's file system end the recording as `disk-full`.
            """, takes: "bytes from 1", where: { (1...bytesMost).contains($0) }),
        .ifAny(
            "fileType", \.fileType,
            """
            Which file it is; without it Matroska. `mp4` and `mov` have a display matrix for the orientation at the \
            beginning, and neither `metadata` nor tags. All play to the last frame that was written, whatever ends them.
            """),
        .ifAny(
            "codec", \.codec, "How pictures are encoded; without it H.264, and Motion JPEG above 100 Mpixel/s.",
            takes: VideoCodec.allCases.map(\.rawValue).joined(separator: " or ")),
        .ifAny(
            "bitRate", \.bitRate, "Of the picture; without it what is published for its size and rate.",
            takes: "bits a second, \(bitRates.lowerBound) to \(bitRates.upperBound)", where: { bitRates.contains($0) }),
        Field(
            "metadata", \.tracks, unless: MetadataTracks(),
            """
            Timed metadata beside the picture, a track a kind. `orientation` takes `orientation`, `objects` takes `objects` \
            where the camera has `AvailableMetadataObjectTypes`, `location` takes `iso6709`; any other kind (a lower-case \
            letter, and up to 31 lower-case letters, digits and hyphens) takes `iso6709`, `text` or `number`, and its items \
            come by `AppendMetadata`.
            """),
    ]

    private var tracks: MetadataTracks {
        get { MetadataTracks(list: metadata) }
        set { metadata = newValue.list }
    }

    /// - Throws: `.invalidValue`, naming the key, the value and what is allowed.
    public init(wire: WireDictionary) throws(BrokerError) {
        try self.init(checking: wire) { entry in
            "\(entry.key.quotedShort) is not an option of a recording; there are \(Self.keys.joined(separator: ", "))."
        }
        if let metadataProblem { throw BrokerError(.invalidValue, metadataProblem) }
    }
}

/// A dictionary of the types by their kinds.
private struct MetadataTracks: WireType, Equatable {
    var list: [MetadataTrack] = []

    static let wireType = WireDictionary.wireType
    static let allowed = "a dictionary of at most \(MetadataTrack.countMax) kinds, each with its type as text"

    var wireValue: WireValue {
        var kinds = WireDictionary()
        for track in list { kinds.append(track.kind, .string(track.type.rawValue)) }
        return .dictionary(kinds)
    }

    static func read(_ wire: WireValue, _: WirePlace) throws(BrokerError) -> MetadataTracks? {
        guard let kinds = wire.dictionary else { return nil }
        var options = RecordingOptions()
        for entry in kinds.entries {
            guard MetadataTrack.isKind(entry.key) else {
                throw BrokerError(
                    .invalidValue,
                    "metadata has the kind \(entry.key.quotedShort); a kind is \(MetadataTrack.kindSentence).")
            }
            guard let type = entry.value.string.flatMap(MetadataType.init(rawValue:)) else {
                let allowed = MetadataTrack.types(of: entry.key).map(\.rawValue).joined(separator: ", ")
                throw BrokerError(
                    .invalidValue, "metadata \(entry.key) is \(entry.value.sentence); it takes \(allowed).")
            }
            options.metadata.append(MetadataTrack(kind: entry.key, type: type))
        }
        if let problem = options.metadataProblem { throw BrokerError(.invalidValue, problem) }
        return MetadataTracks(list: options.metadata)
    }
}

/// On the wire the last argument of calls that end a recording; without parts that the session's client may not know.
extension RecordingReason: Described {
    package init() { self.init(cause: nil) }

    /// A cause's name, or an app's.
    private static let textBytesMax = 256
    private static let words = "text of 1 to \(textBytesMax) bytes"
    private static let areWords: @Sendable (String) -> Bool = { (1...textBytesMax).contains($0.utf8.count) }

    package static let fields: [Field<Self>] = [
        .ifAny("cause", \.cause, takes: words, where: areWords),
        .ifAny("interrupter", \.interrupter, takes: words, where: areWords),
    ]

    /// Keys of a later broker are passed over.
    /// - Throws: `.invalidValue`, naming the key, the value and what is allowed.
    public init(wire: WireDictionary) throws(BrokerError) { try self.init(checking: wire) }
}

/// On the wire the options of `AttachMicrophone`, of which none may lack.
extension MicrophoneFormat: Described {
    package init() { self.init(sampleRate: 0, channels: 0) }

    package static let fields: [Field<Self>] = [
        Field(
            "sampleRate", \.sampleRate, "That of the samples in every packet; the file has the same.",
            takes: sampleRateSentence, where: { sampleRates.contains($0) }),
        Field(
            "channels", \.channels, "Their samples are interleaved, the left one first.", takes: channelsSentence,
            where: { (1...channelsMax).contains($0) }),
    ]

    /// - Throws: `.invalidValue`, naming the key, the value and what is allowed.
    public init(wire: WireDictionary) throws(BrokerError) {
        try self.init(checking: wire) { entry in
            "\(entry.key.quotedShort) is not an option of a microphone; there are \(Self.keys.joined(separator: " and "))."
        }
    }
}
