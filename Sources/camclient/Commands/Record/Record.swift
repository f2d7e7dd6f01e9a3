import ArbiterProtocol
import ArgumentParser
import Camarb
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
    static let finishMax = Duration.seconds(30)

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
}
