/// On the wire they are the options of `StartRecording`, and all there are.
extension RecordingOptions {
    /// A key of the options, for readers, writers and the tables of `docs/wire.md`.
    package enum Key: String, CaseIterable {
        case maxDuration
        case maxBytes
        case minFreeBytes
        case fileType
        case codec
        case bitRate
        case metadata

        package var wireType: String {
            switch self {
            case .maxDuration: "d"
            case .maxBytes, .minFreeBytes, .bitRate: "t"
            case .fileType, .codec: "s"
            case .metadata: "a{sv}"
            }
        }

        /// What it takes, as a sentence says it.
        package var allowed: String {
            switch self {
            case .maxDuration: "seconds above 0"
            case .maxBytes: "bytes from \(bytesLeast)"
            case .minFreeBytes: "bytes from 1"
            case .fileType: RecordingFileType.allCases.map(\.rawValue).joined(separator: ", ")
            case .codec: VideoCodec.allCases.map(\.rawValue).joined(separator: " or ")
            case .bitRate: "bits a second, \(bitRates.lowerBound) to \(bitRates.upperBound)"
            case .metadata: "a dictionary of at most \(MetadataTrack.countMax) kinds, each with its type as text"
            }
        }

        package var summary: String {
            switch self {
            case .maxDuration: "The recording ends with the last frame that fits: `duration-limit`."
            case .maxBytes: "The recording ends before a frame with which the file would be larger: `size-limit`."
            case .minFreeBytes:
                "Looked at every second: fewer bytes free on the file's file system end the recording as `disk-full`."
            case .fileType:
                """
                Which file it is; without it Matroska. `mp4` and `mov` have a display matrix for the orientation at the \
                beginning, and neither `metadata` nor tags. All play to the last frame that was written, whatever ends them.
                """
            case .codec: "How pictures are encoded; without it H.264, and Motion JPEG above 100 Mpixel/s."
            case .bitRate: "Of the picture; without it what is published for its size and rate."
            case .metadata:
                """
                Timed metadata beside the picture, a track a kind. `orientation` takes `orientation`, `objects` takes `objects` \
                where the camera has `AvailableMetadataObjectTypes`, `location` takes `iso6709`; any other kind (a lower-case \
                letter, and up to 31 lower-case letters, digits and hyphens) takes `iso6709`, `text` or `number`, and its items \
                come by `AppendMetadata`.
                """
            }
        }
    }

    /// - Throws: `.invalidValue`, naming the key, the value and what is allowed.
    public init(wire: WireDictionary) throws(BrokerError) {
        self.init()
        for entry in wire.entries {
            guard let key = Key(rawValue: entry.key) else {
                let known = Key.allCases.map(\.rawValue).joined(separator: ", ")
                throw BrokerError(
                    .invalidValue, "\(entry.key.quotedShort) is no option of a recording; there are \(known).")
            }
            try take(entry.value, for: key)
        }
        if let problem = metadataProblem { throw BrokerError(.invalidValue, problem) }
    }

    private mutating func take(_ value: WireValue, for key: Key) throws(BrokerError) {
        let refusal = BrokerError(.invalidValue, "\(key.rawValue) is \(value.sentence); it takes \(key.allowed).")
        func number(from least: UInt64, to most: UInt64) throws(BrokerError) -> UInt64 {
            guard let number = value.uint64, number >= least, number <= most else { throw refusal }
            return number
        }
        // No file is larger.
        let bytesMost = UInt64(Int64.max)
        switch key {
        case .maxDuration:
            guard let seconds = value.number, seconds.isFinite, seconds > 0 else { throw refusal }
            maxDuration = seconds
        case .maxBytes: maxBytes = try number(from: Self.bytesLeast, to: bytesMost)
        case .minFreeBytes: minFreeBytes = try number(from: 1, to: bytesMost)
        case .fileType:
            guard let fileType = value.string.flatMap(RecordingFileType.init(rawValue:)) else { throw refusal }
            self.fileType = fileType
        case .codec:
            guard let codec = value.string.flatMap(VideoCodec.init(rawValue:)) else { throw refusal }
            self.codec = codec
        case .bitRate: bitRate = try number(from: Self.bitRates.lowerBound, to: Self.bitRates.upperBound)
        case .metadata:
            guard let kinds = value.dictionary else { throw refusal }
            metadata = try Self.tracks(kinds)
        }
    }

    private static func tracks(_ kinds: WireDictionary) throws(BrokerError) -> [MetadataTrack] {
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
        return options.metadata
    }

    public var wire: WireDictionary {
        var wire = WireDictionary()
        func add(_ key: Key, _ value: WireValue) { wire.append(key.rawValue, value) }
        if let maxDuration { add(.maxDuration, .double(maxDuration)) }
        if let maxBytes { add(.maxBytes, .uint64(maxBytes)) }
        if let minFreeBytes { add(.minFreeBytes, .uint64(minFreeBytes)) }
        if let fileType { add(.fileType, .string(fileType.rawValue)) }
        if let codec { add(.codec, .string(codec.rawValue)) }
        if let bitRate { add(.bitRate, .uint64(bitRate)) }
        if !metadata.isEmpty {
            var kinds = WireDictionary()
            for track in metadata { kinds.append(track.kind, .string(track.type.rawValue)) }
            add(.metadata, .dictionary(kinds))
        }
        return wire
    }
}

/// On the wire the last argument of what takes a recording from its session; what is not there may not be known.
extension RecordingReason {
    /// A cause's name, or an app's.
    static let textBytesMax = 256

    /// - Throws: `.invalidValue`, naming the key, the value and what is allowed. A later broker may say more.
    public init(wire: WireDictionary) throws(BrokerError) {
        func text(_ key: String) throws(BrokerError) -> String? {
            guard let value = wire[key] else { return nil }
            guard let text = value.string, (1...Self.textBytesMax).contains(text.utf8.count) else {
                throw BrokerError(
                    .invalidValue, "\(key) is \(value.sentence); it takes text of 1 to \(Self.textBytesMax) bytes.")
            }
            return text
        }
        self.init(cause: try text("cause"), interrupter: try text("interrupter"))
    }

    public var wire: WireDictionary {
        var wire = WireDictionary()
        if let cause { wire.append("cause", .string(cause)) }
        if let interrupter { wire.append("interrupter", .string(interrupter)) }
        return wire
    }
}

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
