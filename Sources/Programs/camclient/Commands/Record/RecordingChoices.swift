import ArbiterProtocol
public import ArgumentParser

struct RecordingChoices: ParsableArguments {
    @Option(
        help: .value("codec", "How pictures are encoded: h264 or mjpeg; usually H.264, and JPEG above 100 Mpixel/s."))
    var codec: VideoCodec?
    @Option(
        help: .value(
            "rate", "Bits a second of the picture, 100k to 200M; usually what is published for its size and rate."))
    var bitRate: CountArgument?
    @Option(
        help: .value(
            "bytes", "End when fewer bytes than this are free on the disk, such as 2G; looked at every second."))
    var minFree: CountArgument?
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            """
            A track of what changes meanwhile, such as orientation, objects or location, or of your own, such as \
            speed:number or note:text. Repeatable.
            """, valueName: "kind:type")) var metadata: [MetadataArgument] = []

    func validate() throws {
        var options = RecordingOptions()
        options.metadata = metadata.map(\.track)
        if let problem = options.metadataProblem { throw ValidationError("--\(problem)") }
        if let rate = bitRate?.count, !RecordingOptions.bitRates.contains(rate) {
            throw ValidationError("--bit-rate is \(rate); it takes \(RecordingOptions.allowed("bitRate")).")
        }
        if let least = minFree?.count, !(1...UInt64(Int64.max)).contains(least) {
            throw ValidationError(
                "--min-free is \(least); it takes \(RecordingOptions.allowed("minFreeBytes")), such as 500M or 2G.")
        }
    }

    func options(for duration: Duration?, _ fileType: RecordingFileType?) -> RecordingOptions {
        RecordingOptions {
            $0.maxDuration = duration.map { Double($0.wholeNanoseconds) / 1e9 }
            ($0.minFreeBytes, $0.bitRate) = (minFree?.count, bitRate?.count)
            ($0.fileType, $0.codec, $0.metadata) = (fileType, codec, metadata.map(\.track))
        }
    }
}

extension VideoCodec: ExpressibleByArgument {}

/// A count of bits or bytes: `100000`, `8M`, `1.5G`; a letter stands for thousand, million, thousand millions.
struct CountArgument: ExpressibleByArgument {
    let count: UInt64

    init?(argument: String) {
        let letters: [Character: Double] = ["k": 1e3, "M": 1e6, "G": 1e9]
        guard let last = argument.last else { return nil }
        guard let factor = letters[last] else {
            guard let count = UInt64(argument) else { return nil }
            self.count = count
            return
        }
        guard let number = Double(argument.dropLast()), number >= 0,
            let count = UInt64(exactly: (number * factor).rounded())
        else { return nil }
        self.count = count
    }
}

/// `kind:type`; a kind that takes one type only may stand alone.
struct MetadataArgument: ExpressibleByArgument {
    let track: MetadataTrack

    init?(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let types = MetadataTrack.types(of: parts[0])
        if parts.count == 1, types.count == 1 {
            track = MetadataTrack(kind: parts[0], type: types[0])
        } else if parts.count == 2, let type = MetadataType(rawValue: parts[1]) {
            track = MetadataTrack(kind: parts[0], type: type)
        } else {
            return nil
        }
    }
}

extension RecordingOptions {
    /// Options as one writes them: `maxDuration=10`, `codec=mjpeg`, `metadata.location=iso6709`.
    init(settings: [String]) throws(Failure) {
        var wire = WireDictionary()
        var kinds = WireDictionary()
        for setting in settings {
            guard let equals = setting.firstIndex(of: "=") else {
                throw Failure(.usage, "“\(setting)” is not an option of a recording; it takes KEY=VALUE.")
            }
            let (key, text) = (String(setting[..<equals]), String(setting[setting.index(after: equals)...]))
            if key.hasPrefix(Self.metadataPrefix) {
                kinds[String(key.dropFirst(Self.metadataPrefix.count))] = .string(text)
            } else if let count = UInt64(text) {
                wire[key] = .uint64(count)
            } else {
                wire[key] = Double(text).map { .double($0) } ?? .string(text)
            }
        }
        if !kinds.entries.isEmpty { wire["metadata"] = .dictionary(kinds) }
        do throws(BrokerError) { self = try RecordingOptions(wire: wire) } catch {
            throw Failure(.usage, error.message)
        }
    }

    private static let metadataPrefix = "metadata."
}
