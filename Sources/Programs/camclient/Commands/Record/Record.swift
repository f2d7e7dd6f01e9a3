import ArbiterProtocol
import ArgumentParser
import Camarb
import Workbench

struct Record: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Record until a time is over, Ctrl-C, or an interruption.",
        usage: "camclient record [options] <file>\ncamclient record [options] --into <folder>",
        discussion: """
            A recording that is interrupted ends there; its file is whole, and the exit status is 1. It never resumes \
            by itself: with --again another recording begins when the camera comes back, in visit-2.mkv, visit-3.mkv …, \
            and visit.gaps.json says what lies between them.
            --into puts each recording into a folder when it is whole, with the next free number, as \
            recording-0001.mkv. Until then it has no name: of a client that is killed nothing is left.
            Examples:
              camclient record visit.mkv --duration 10s
              camclient record visit.mkv --set frameRate=15        until Ctrl-C
              camclient record --into ~/Videos --again --min-free 2G
            """)

    @Argument(
        help: "The file to write: MP4 or QuickTime where its name ends in .mp4 or .mov, else Matroska.",
        completion: .file(extensions: ["mkv", "mp4", "mov"])) var file: String?
    @Option(
        help: .value("folder", "Instead of a file: the folder that gets the recording when it is whole."),
        completion: .directory) var into: String?
    @Option(
        name: .shortAndLong,
        help: .value("time", "How long, such as 10s or 2min, all recordings together; until Ctrl-C if left out."))
    var duration: TimeArgument?
    @Flag(help: "After an interruption go on in another file, and list the gaps as JSON beside them.") var again = false
    @Option(
        help: ArgumentHelp(
            """
            Record sound, too: pipewire (your own microphone), a WAV file, which is played once, or tone, which beeps at \
            each full second of the machine's clock.
            """, valueName: "source")) var microphone: MicrophoneArgument?
    @OptionGroup var choices: RecordingChoices
    @OptionGroup var session: SessionOptions
    @Flag(help: "Replace the file if it is there; with --again, also those that follow it.") var overwrite = false
    @Option(help: .value("time", "How long to wait for the camera, such as 500ms or 1min."))
    var timeout = TimeArgument.tenSeconds
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    /// The broker's own bound for finishing a file is shorter.
    static let finishMax = Duration.seconds(30)

    func validate() throws {
        if let duration, duration.duration <= .zero {
            throw ValidationError("--duration takes a time above 0, such as 10s or 2min.")
        }
        switch (file, into) {
        case (nil, nil): throw ValidationError("Where to? Name a file, such as visit.mkv, or a folder with --into.")
        case (_?, _?): throw ValidationError("The file and --into both say where to: leave one of them out.")
        case (NewFile.standardOutput?, nil): throw ValidationError(NewFile.noRecordingToOutput)
        case (nil, _?) where overwrite: throw ValidationError("--into replaces nothing: leave --overwrite out.")
        case (_?, nil), (nil, _?): break
        }
    }

    func run() async throws {
        if let file { NewFile.warn(of: file, NewFile.Format(NewFile.fileType(of: file) ?? .matroska)) }
        let interrupts = Interrupts.stream()
        let files = try recordingFiles()
        let sound = try microphone?.open()
        defer { sound?.end() }
        var configuration = try session.configuration()
        if sound != nil { configuration[.usesAudio] = .flag(true) }
        let isWanted = try await session.run(connection, configured: configuration) { _, handle in
            let inbox = Inbox(handle.notices, interrupts: interrupts)
            let target = try files.next()
            do {
                try await handle.startRunning()
                _ = try await inbox.waitUntilRunning(within: timeout.duration)
            } catch {
                target.removeIfEmpty()
                throw error
            }
            return try await RecordingSeries(self, into: files, with: sound, inbox).record(handle, into: target)
        }
        if !isWanted { throw Failure(.answerIsNo) }
    }

    private func recordingFiles() throws(Failure) -> RecordingFiles {
        if let into { return try RecordingFiles(folder: into) }
        return try RecordingFiles(file: file ?? "", overwriting: overwrite, again: again)
    }
}

extension Record {
    func report(_ part: RecordingSeries.Part) {
        let (finished, interruption) = (part.finished, part.interruption)
        let interrupter = finished.interrupter ?? interruption?.interrupter
        if output.json {
            return Output.json([
                "file": part.file, "recording": finished.recording, "why": finished.why.rawValue,
                "frames": finished.frames, "nanoseconds": finished.duration?.wholeNanoseconds,
                "bytes": finished.bytes, "nextChance": finished.nextChance.rawValue,
                "reason": interruption?.reason?.wireName, "interrupter": interrupter?.wireName,
                "cause": finished.cause?.wireName, "framesLeftOut": finished.framesLeftOut,
                "lastCapture": finished.lastCapture?.nanoseconds,
            ])
        }
        var facts = ["\(finished.duration?.shortText ?? "length unknown")"]
        facts += [(finished.frames, "frames"), (finished.bytes, "bytes")].map { count, what in
            count.map { "\($0) \(what)" } ?? "\(what) unknown"
        }
        if finished.framesLeftOut > 0 { facts.append("\(finished.framesLeftOut) frames left out") }
        var line = facts.joined(separator: ", ")
        if !part.isWanted {
            line += "; ended: \(finished.why.rawValue)" + (finished.cause.map { ", \($0.shortName)" } ?? "")
        }
        Output.line("\(part.file ?? "no file"): \(line)")
        if let interruption {
            let by = interrupter.map { " by \($0.description.printable)" } ?? ""
            let causes = interruption.causes.ordered.map(\.shortName).joined(separator: ", ")
            Output.notice("camclient: the session was interrupted\(by): \(causes)")
        }
    }
}
