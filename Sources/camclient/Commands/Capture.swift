import ArbiterProtocol
import ArgumentParser
import Camarb
import JSONText
import Timeline

/// One recording.
struct Record: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Record until a time is over, Ctrl-C, or an interruption.",
        discussion: """
            A recording that is interrupted ends there; its file is whole, and the exit status is 1. It never resumes \
            by itself.
            Examples:
              camclient record visit.mkv --duration 10s
              camclient record visit.mkv --set frameRate=15        until Ctrl-C
            """)

    @Argument(help: "The Matroska file to write.")
    var file: String
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("How long, such as 10s or 2min; until Ctrl-C if left out.", valueName: "time"))
    var duration: TimeArgument?
    @OptionGroup var session: SessionOptions
    @Flag(help: "Replace the file if it is there.")
    var overwrite = false
    @Option(help: ArgumentHelp("How long to wait for the camera, such as 500ms or 1min.", valueName: "time"))
    var timeout = TimeArgument.tenSeconds
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    /// The broker's own bound for finishing a file is shorter.
    private static let finishMax = Duration.seconds(30)

    func validate() throws {
        if let duration, duration.duration <= .zero {
            throw ValidationError("--duration takes a time above 0, such as 10s or 2min.")
        }
        if file == NewFile.standardOutput { throw ValidationError(NewFile.noRecordingToOutput) }
    }

    func run() async throws {
        NewFile.warn(of: file, .matroska)
        let interrupts = Interrupts.stream()
        let client = try connection.connect()
        try await session.declare(client)
        let (finished, interruption) = try await client.withSession(
            camera: session.camera, configuration: try session.configuration()
        ) { handle in
            let inbox = Inbox(handle.notices, interrupts: interrupts)
            let target = try NewFile(file, overwriting: overwrite)
            do {
                try await handle.startRunning()
                _ = try await inbox.waitUntilRunning(within: timeout.duration)
                var options = RecordingOptions()
                if let duration { options.maxDuration = Double(duration.duration.wholeNanoseconds) / 1e9 }
                let id = try await handle.startRecording(to: target.descriptor, options: options)
                let outcome = try await record(id, on: handle, inbox)
                target.removeIfEmpty()
                return outcome
            } catch {
                target.removeIfEmpty()
                throw error
            }
        }
        report(finished, interruption)
        if finished.why != .stopped, finished.why != .durationLimit { throw Failure(.answerIsNo, "") }
    }

    private func record(
        _ id: RecordingID, on session: borrowing SessionHandle, _ inbox: Inbox
    ) async throws -> (RecordingFinished, Interruption?) {
        // The recorder ends it by captured time; this is for one that is late.
        let end = duration.map { inbox.alarm(in: $0.duration + .seconds(2)) }
        let begin = Moment.now
        var tick = inbox.alarm(in: .seconds(1))
        var tooLate: Int?
        var interruption: Interruption?
        defer { if Output.isErrorTerminal { Output.progress("") } }
        while true {
            switch await inbox.next() {
            case .alarm(tick):
                if Output.isErrorTerminal {
                    Output.progress("recording \((Moment.now - begin).shortText), Ctrl-C stops")
                    tick = inbox.alarm(in: .seconds(1))
                }
            case .alarm(let alarm):
                if alarm == tooLate {
                    throw Failure(.answerIsNo, "The recording was not finished within \(Self.finishMax.seconds) s.")
                }
                guard alarm == end else { break }
                fallthrough
            case .interrupt:
                guard tooLate == nil else { break }
                tooLate = inbox.alarm(in: Self.finishMax)
                do throws(BrokerError) {
                    try await session.stopRecording()
                } catch {
                    // It ended by itself in this very moment; its end is on the way.
                    guard error.kind == .notRecording else { throw error }
                }
            case .notice(.event(let signal)):
                switch ClientEvent(signal.event) {
                case .recordingFinished(let finished) where finished.recording == id: return (finished, interruption)
                case .wasInterrupted(let cut): interruption = cut
                case .runtimeError: Output.notice("camclient: \(signal.event.line)")
                default: break
                }
            case .notice(.ended(let error)): throw error
            }
        }
    }

    private func report(_ finished: RecordingFinished, _ interruption: Interruption?) {
        if output.json {
            Output.line(
                JSON.object([
                    "file": .string(file), "recording": .count(finished.recording),
                    "why": .string(finished.why.rawValue),
                    "frames": .count(finished.frames), "nanoseconds": .integer(finished.duration.wholeNanoseconds),
                    "bytes": .count(finished.bytes), "nextChance": .string(finished.nextChance.rawValue),
                    "reason": .optional(interruption?.reason?.wireName),
                    "interrupter": .optional(interruption?.interrupter?.wireName),
                ]).text)
            return
        }
        Output.line(
            "\(file): \(finished.duration.shortText), \(finished.frames) frames, \(finished.bytes) bytes"
                + (finished.why == .stopped || finished.why == .durationLimit
                    ? "" : "; ended: \(finished.why.rawValue)"))
        if let interruption {
            let by = interruption.interrupter.map { " by \($0.description.printable)" } ?? ""
            Output.notice(
                "camclient: the session was interrupted\(by): "
                    + interruption.causes.ordered.map(\.shortName).joined(separator: ", "))
        }
    }
}

/// One batch of settings, tried on a camera.
struct Configure: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Set keys on a running session, and show what is in force.",
        usage: "camclient configure [options] <key=value> ...",
        discussion: """
            The settings belong to the session and end with it; the command shows what the camera makes of them.
            Example:
              camclient configure activeFormat="420v 1920x1080@30" frameRate=15
            """)

    @Argument(
        help: ArgumentHelp(
            "Settings: \(ConfigurationKey.allCases.map(\.rawValue).joined(separator: ", ")).", valueName: "key=value"))
    var batch: [String]
    @OptionGroup var session: SessionOptions
    @Option(
        help: ArgumentHelp("How long to wait for the camera, and then for the settings.", valueName: "time"))
    var timeout = TimeArgument.tenSeconds
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let settings = try readSettings(batch)
        let client = try connection.connect()
        try await session.declare(client)
        let change = try await client.withSession(
            camera: session.camera, configuration: try session.configuration()
        ) { handle in
            let inbox = Inbox(handle.notices)
            try await handle.startRunning()
            _ = try await inbox.waitUntilRunning(within: timeout.duration)
            try await handle.configure(settings)
            return try await inbox.wait(for: "applied configuration", within: timeout.duration) { event in
                guard case .configurationApplied(let change) = ClientEvent(event), change.by == .client else {
                    return nil as ConfigurationChange?
                }
                return change
            }
        }
        if output.json {
            return Output.line(
                JSON.object([
                    "asked": change.asked.wire.json, "inForce": change.inForce.wire.json,
                    "by": .string(change.by.rawValue),
                ]).text)
        }
        for line in columns(
            [["KEY", "ASKED", "IN FORCE"]]
                + change.inForce.ordered.map { key, value in
                    [key.rawValue, change.asked[key]?.description ?? "-", value.description]
                })
        { Output.line(line) }
    }
}

extension TimeArgument {
    static let tenSeconds = TimeArgument(duration: .seconds(10))

    init(duration: Duration) { self.duration = duration }

    /// What help shows as the default.
    var defaultValueDescription: String { duration.shortText }
}
