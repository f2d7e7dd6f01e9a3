import ArbiterProtocol
import ArgumentParser
import Camarb
import Glibc
import Workbench

struct Preview: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write the live picture as YUV4MPEG2, for ffmpeg, ffplay, mpv or GStreamer.",
        usage: "camclient preview [options] --output <file>",
        discussion: """
            The picture's size is that of the first frame and stays for the whole run. While the session is \
            interrupted nothing is written; it goes on by itself. Notices go to standard error.
            Examples:
              camclient preview --output - | ffplay -
              camclient preview --output door.y4m --frames 100 --set frameRate=15
            """)

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: .value("file", "A file, a named pipe, or - for standard output.")) var target: String
    @Option(help: .value("count", "End after so many frames, from 1.")) var frames: Int?
    @Option(name: .shortAndLong, help: .value("time", "End this long after the picture began, such as 10s or 2min."))
    var duration: TimeArgument?
    @Flag(help: "Replace the file if it is there.") var overwrite = false
    @OptionGroup var session: SessionOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if let frames, frames < 1 { throw ValidationError("--frames takes a number from 1.") }
        if target == "-", Output.isTerminal {
            throw ValidationError(
                "Standard output is a terminal, and the picture is not text: pipe it, or name a file.")
        }
    }

    func run() async throws {
        let interrupts = Interrupts.stream()
        // A player that was closed is a good end, told by the failing write.
        signal(SIGPIPE, SIG_IGN)
        let written = try await session.run(connection, reconnects: true) { _, handle in
            // The header names a rate before the first frame; a player takes the frames as they come all the same.
            let inForce = try await handle.properties().configuration
            let rate = inForce[.frameRate].flatMap { if case .number(let rate) = $0 { rate } else { nil } } ?? 30
            let writer = try PreviewWriter(target: target, overwriting: overwrite, framesMax: frames, frameRate: rate)
            let inbox = Inbox(handle.notices, interrupts: interrupts)
            // Nobody's camera is taken for a pipe that nobody reads.
            if writer.waitsForReader {
                Output.notice("camclient: \(target) has no reader yet; the picture begins when it has.")
                writer.waitForReader(onEnd: inbox.doorbell())
            }
            var isStarted = false
            // Time spent waiting for the camera is not counted: after another app's turn there is still the whole duration.
            var end: Int?
            while true {
                if !isStarted, !writer.waitsForReader {
                    isStarted = true
                    try await handle.startRunning()
                }
                switch await inbox.next() {
                case .notice(.event(let signal)):
                    if let duration, end == nil, case .didStartRunning = signal.event {
                        end = inbox.alarm(in: duration.duration)
                    }
                    if await !show(signal.event, handle, writer, inbox) { return writer.framesWritten }
                case .notice(.ended(let error)): throw error
                case .alarm(let number) where number == end: return writer.framesWritten
                case .alarm: break
                case .interrupt: return writer.framesWritten
                }
                if let outcome = writer.outcome {
                    try outcome.get()
                    return writer.framesWritten
                }
            }
        }
        Output.notice("camclient: \(written) frames")
    }

    private func show(
        _ event: SessionEvent, _ session: SessionHandle, _ writer: PreviewWriter, _ inbox: Inbox
    ) async -> Bool {
        switch event {
        case .didStartRunning:
            do throws(BrokerError) {
                let stream = try await session.openStream()
                writer.write(stream: stream, onEnd: inbox.doorbell())
            } catch {
                // The grant may be over again already; the next start opens the next stream.
                Output.notice("camclient: \(error.message)")
            }
        case .wasInterrupted, .interruptionChanged, .interruptionEnded, .accessChanged, .sharersChanged,
            .runtimeError, .willBeInterrupted, .interruptionWithdrawn:
            Output.notice("camclient: \(event.line)")
        case .sessionStopped:
            Output.notice("camclient: \(event.line)")
            return false
        case .didStopRunning, .recordingStarted, .recordingPaused, .recordingResumed, .recordingFinished,
            .photoCaptured, .configurationApplied, .rampFinished, .connectionsFormed, .cameraStateChanged, .ended:
            break
        }
        return true
    }
}
