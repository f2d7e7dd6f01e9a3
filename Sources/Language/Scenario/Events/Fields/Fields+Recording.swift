import ArbiterProtocol

// What a recording is asked to be like, and what its microphone is: the keys of the wire.

extension EventField {
    /// `maxDuration=2.5 codec=mjpeg metadata=heading:number,location:iso6709`
    static var recordingOptions: EventField<RecordingOptions> {
        .init(
            RecordingOptions.fields.map { EventMember(key: $0.name, type: $0.type) },
            Phrase(
                { value, _ in value.scenarioWords },
                hear: { (reader) throws(LineProblem) in try reader.recordingOptions() }),
            // Every key, those that are not given without a value.
            write: { options, values in
                for field in RecordingOptions.fields { values.add(field.name, field.value(options)) }
            },
            // Traces of before recordings had options have none of the keys.
            read: { (line) throws(LineFault) in
                try line.described { (wire) throws(BrokerError) in try RecordingOptions(wire: wire) }
            })
    }

    /// `sampleRate=48000 channels=1`; a line that does not say it means that.
    static var microphoneFormat: EventField<MicrophoneFormat> {
        .init(
            MicrophoneFormat.fields.map { EventMember(key: $0.name, type: $0.type) },
            Phrase(
                { value, _ in "sampleRate=\(value.sampleRate) channels=\(value.channels)" },
                hear: { (reader) throws(LineProblem) in try reader.microphoneFormat() }),
            write: { format, values in
                for field in MicrophoneFormat.fields { values.add(field.name, field.value(format)) }
            },
            read: { (line) throws(LineFault) in
                try line.described { (wire) throws(BrokerError) in try MicrophoneFormat(wire: wire) }
            })
    }
}

extension RecordingOptions {
    fileprivate var scenarioWords: String? {
        let words = wire.entries.map { entry in
            if let kinds = entry.value.dictionary {
                let tracks = kinds.entries.map { "\($0.key):\($0.value.string ?? "")" }
                return "\(entry.key)=\(tracks.joined(separator: ","))"
            }
            // A count is exact, however great; a number has at most what a double has.
            let number = entry.value.uint64.map { String($0) } ?? entry.value.number?.shortDescription
            return "\(entry.key)=\(entry.value.string ?? number ?? "")"
        }
        return words.isEmpty ? nil : words.joined(separator: " ")
    }
}

extension SentenceReader {
    fileprivate mutating func recordingOptions() throws(LineProblem) -> RecordingOptions {
        var wire = WireDictionary()
        let start = words.problemHere("")
        while let word = words.anything() {
            guard let field = RecordingOptions.fields.first(where: { $0.name == word.key }), wire[field.name] == nil
            else { throw LineProblem(word, notOne(word.key ?? word.text, of: RecordingOptions.keys)) }
            wire[field.name] = Self.value(word.text, field.type)
        }
        do throws(BrokerError) { return try RecordingOptions(wire: wire) } catch { throw start.saying(error.message) }
    }

    /// What cannot be meant is left to the options themselves to refuse.
    private static func value(_ text: String, _ type: String) -> WireValue {
        switch type {
        case "d": return Double(text).map { .double($0) } ?? .string(text)
        case "t": return UInt64(text).map { .uint64($0) } ?? .string(text)
        case "s": return .string(text)
        default:
            var kinds = WireDictionary()
            for track in text.split(separator: ",") {
                let parts = track.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                kinds.append(String(parts[0]), .string(parts.count == 2 ? String(parts[1]) : ""))
            }
            return .dictionary(kinds)
        }
    }

    fileprivate mutating func microphoneFormat() throws(LineProblem) -> MicrophoneFormat {
        var format = MicrophoneFormat(sampleRate: 48_000, channels: 1)
        let start = words.problemHere("")
        while let word = words.anything() {
            guard let key = word.key, MicrophoneFormat.keys.contains(key) else {
                throw LineProblem(word, notOne(word.key ?? word.text, of: MicrophoneFormat.keys))
            }
            let number = UInt32(clamping: try word.wholeNumber())
            if key == "channels" { format.channels = number } else { format.sampleRate = number }
        }
        guard let message = format.problem else { return format }
        throw start.saying(message)
    }
}
