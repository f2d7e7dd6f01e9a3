import ArgumentParser
import Camarb
import Glibc
import Workbench
import WorkbenchCommands

struct Preview: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write the live picture as YUV4MPEG2, for ffmpeg, ffplay, mpv or GStreamer.",
        usage: "camclient preview [options] --output <file>",
        discussion: """
            The picture's size is that of the first frame and stays for the whole run. An interruption is a pause: \
            frames follow when it has ended. Notices go to standard error.
            Examples:
              camclient preview --output - | ffplay -
              camclient preview --output door.y4m --frames 100 --set frameRate=15
            """)

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: .value("file", "A file, a named pipe, or - for standard output.")) var target: String
    @Option(help: .value("count", "End after so many frames, from 1.")) var frames: Int?
    @Option(name: .shortAndLong, help: .value("time", "End this long after the first start, such as 10s or 2min."))
    var duration: TimeArgument?
    @Flag(help: "Replace an existing file.") var overwrite = false
    @OptionGroup var session: SessionOptions
    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        if let frames, frames < 1 { throw ValidationError("--frames takes a number from 1.") }
        if target == "-" { try refusePicturesOnTerminal() }
    }

    func run() async throws {
        let interrupts = Interrupts.stream()
        // A player that was closed makes the next write fail, which is a good end.
        signal(SIGPIPE, SIG_IGN)
        let written = try await session.run(connection, reconnects: true) { _, handle in
            // The header names a rate before the first frame; players take the frames as they come.
            let inForce = try await handle.properties().configuration
            let rate = inForce[.frameRate].flatMap { if case .number(let rate) = $0 { rate } else { nil } } ?? 30
            let writer = try PreviewWriter(target: target, overwriting: overwrite, framesMax: frames, frameRate: rate)
            try await show(handle, writer, Inbox(handle.notices, interrupts: interrupts))
            return writer.framesWritten
        }
        Output.notice("camclient: \(written) frames")
    }

    private func show(_ handle: SessionHandle, _ writer: PreviewWriter, _ inbox: Inbox) async throws {
        // No camera is taken for a pipe without a reader.
        if writer.waitsForReader {
            Output.notice("camclient: \(target) has no reader yet; the picture begins when it has.")
            writer.waitForReader(onEnd: inbox.doorbell())
        }
        var isStarted = false
        // The duration counts from the first start, however long another app had the camera before.
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
                await show(signal.event, handle, writer, inbox)
                if case .sessionStopped = signal.event { return }
            case .notice(.ended(let error)): throw error
            case .alarm(let number): if number == end { return }
            case .interrupt: return
            }
            if let outcome = writer.outcome { return try outcome.get() }
        }
    }

    private func show(
        _ event: SessionEvent, _ session: SessionHandle, _ writer: PreviewWriter, _ inbox: Inbox
    ) async {
        switch event {
        case .didStartRunning:
            do throws(BrokerError) {
                writer.write(stream: try await session.openStream(), onEnd: inbox.doorbell())
            } catch {
                // The grant may be over again already; the next start opens the next stream.
                Output.notice("camclient: \(error.message)")
            }
        case .wasInterrupted, .interruptionChanged, .interruptionEnded, .accessChanged, .sharersChanged,
            .runtimeError, .willBeInterrupted, .interruptionWithdrawn, .sessionStopped:
            Output.notice("camclient: \(event.line)")
        default: break
        }
    }
}

func refusePicturesOnTerminal() throws {
    if Output.isTerminal {
        throw ValidationError("Standard output is a terminal, and the picture is not text: pipe it, or name a file.")
    }
}
