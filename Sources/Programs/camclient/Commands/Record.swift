public import ArgumentParser
import Camarb
import Workbench
import WorkbenchCommands

struct Record: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Record until Ctrl-C, an interruption, or the end of a time.",
        usage: "camclient record [options] <file>\ncamclient record [options] --into <folder>",
        discussion: """
            An interruption ends a recording: its file is whole, and the exit status is 1. With --again the next recording \
            begins when the interruption ends, in visit-2.mkv, visit-3.mkv …, and visit.gaps.json lists the gaps between them.
            With --into each recording gets its name in a folder when it is whole, with the next free number: \
            recording-0001.mkv. A client that is killed leaves no file there.
            Examples:
              camclient record visit.mkv --duration 10s
              camclient record visit.mkv --set frameRate=15        until Ctrl-C
              camclient record --into ~/Videos --again --min-free 2G
            """)

    @Argument(
        help: "The file to write: MP4 or QuickTime where its name ends in .mp4 or .mov, else Matroska.",
        completion: .file(extensions: ["mkv", "mp4", "mov"])) var file: String?
    @Option(
        help: .value("folder", "A folder instead of a file: it gets each recording when that is whole."),
        completion: .directory) var into: String?
    @Option(
        name: .shortAndLong,
        help: .value("time", "The length of all recordings together, such as 10s or 2min; without it until Ctrl-C."))
    var duration: TimeArgument?
    @Flag(help: "Record again after each interruption, into another file, and list the gaps as JSON.") var again = false
    @Option(
        help: .value(
            "source",
            "Record sound, too: pipewire (your own microphone), a WAV file, played once, or tone, with a beep at each "
                + "full second of the machine's clock.")) var microphone: MicrophoneArgument?
    @OptionGroup var choices: RecordingChoices
    @Flag(help: "Replace an existing file; with --again, also those that follow it.") var overwrite = false
    @OptionGroup var capture: CaptureOptions

    /// The broker's own bound for finishing a file is shorter.
    static let finishMax = Duration.seconds(30)

    func validate() throws {
        if let duration, duration.duration <= .zero {
            throw ValidationError("--duration takes a time above 0, such as 10s or 2min.")
        }
        switch (file, into) {
        case (nil, nil): throw ValidationError("Where to? Name a file, such as visit.mkv, or a folder with --into.")
        case (_?, _?): throw ValidationError("A file and --into exclude each other: leave one of them out.")
        case (NewFile.standardOutput?, nil):
            throw ValidationError(
                "A recording is completed at its end, which a pipe cannot be: name a file, or take the pictures with preview -o -."
            )
        case (nil, _?) where overwrite: throw ValidationError("--into replaces nothing: leave --overwrite out.")
        case (_?, nil), (nil, _?): break
        }
    }

    func run() async throws {
        if let file { NewFile.warn(of: file, .of(NewFile.fileType(of: file) ?? .matroska)) }
        let interrupts = Interrupts.stream()
        let files =
            try into.map { folder throws(Failure) in try RecordingFiles(folder: folder) }
            ?? RecordingFiles(file: file ?? "", overwriting: overwrite, again: again)
        let sound = try microphone?.open()
        defer { sound?.end() }
        var configuration = try capture.session.configuration()
        if sound != nil { configuration[.usesAudio] = .flag(true) }
        let isWanted = try await capture.session.run(capture.connection, configured: configuration) { _, handle in
            let inbox = Inbox(handle.notices, interrupts: interrupts)
            let target = try files.next()
            do { try await inbox.start(handle, within: capture.timeout.duration) } catch {
                target.removeIfEmpty()
                throw error
            }
            return try await RecordingSeries(self, into: files, with: sound, inbox).record(handle, into: target)
        }
        if !isWanted { throw Failure(.answerIsNo) }
    }

    func report(_ part: RecordingSeries.Part) {
        let (finished, interruption) = (part.finished, part.interruption)
        let interrupter = finished.interrupter ?? interruption?.interrupter
        if capture.output.json {
            return Output.json(
                [
                    "file": part.file, "recording": finished.recording, "why": finished.why.rawValue,
                    "frames": finished.frames, "nanoseconds": finished.duration?.wholeNanoseconds,
                    "bytes": finished.bytes, "nextChance": finished.nextChance.rawValue,
                    "reason": interruption?.reason?.wireName, "interrupter": interrupter?.wireName,
                    "cause": finished.cause?.wireName, "framesLeftOut": finished.framesLeftOut,
                    "lastCapture": finished.lastCapture?.nanoseconds,
                ] as JSONObject)
        }
        var facts = [finished.duration?.shortText ?? "length unknown"]
        facts += [(finished.frames, "frames"), (finished.bytes, "bytes")].map { count, what in
            count.map { "\($0) \(what)" } ?? "\(what) unknown"
        }
        if finished.framesLeftOut > 0 {
            facts.append("\(Int(clamping: finished.framesLeftOut).counted("frame")) left out")
        }
        let end =
            part.isWanted
            ? "" : "; ended: \(finished.why.rawValue)" + (finished.cause.map { ", \($0.shortName)" } ?? "")
        Output.line("\(part.file ?? "no file"): \(facts.joined(separator: ", "))\(end)")
        guard let interruption else { return }
        let by = interrupter.map { " by \($0.description.printable)" } ?? ""
        Output.notice("camclient: the session was interrupted\(by): \(interruption.causes.ordered.shortNames)")
    }
}

struct RecordingChoices: ParsableArguments {
    @Option(
        help: .value("codec", "The pictures' codec: h264 or mjpeg; without it H.264, and JPEG above 100 Mpixel/s."))
    var codec: VideoCodec?
    @Option(
        help: .value(
            "rate", "Bits a second of the picture, 100k to 200M; without it the usual ones for its size and rate."))
    var bitRate: CountArgument?
    @Option(
        help: .value(
            "bytes", "End when the disk has fewer free bytes, such as 2G; measured every second."))
    var minFree: CountArgument?
    @Option(
        parsing: .singleValue,
        help: .value(
            "kind:type",
            "A track of metadata that changes during the recording: orientation, objects or location, or one of your "
                + "own, such as speed:number or note:text. Repeatable.")) var metadata: [MetadataArgument] = []

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

/// `kind:type`; a kind that takes one type only may stand alone.
struct MetadataArgument: ExpressibleByArgument {
    let track: MetadataTrack

    init?(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let types = MetadataTrack.types(of: parts[0])
        let type = parts.count == 2 ? MetadataType(rawValue: parts[1]) : types.count == 1 ? types[0] : nil
        guard let type else { return nil }
        track = MetadataTrack(kind: parts[0], type: type)
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
