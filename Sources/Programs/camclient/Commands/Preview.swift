import ArgumentParser
import Camarb
import FrameStream
import Glibc
import Synchronization
import System
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
        Output.notice("camclient: \(written.counted("frame"))")
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

/// Writes a preview's frames as YUV4MPEG2, grant after grant, each from a thread of its own that ends with the
/// grant's stream.
///
///     waiting ──first frame: size fixed──▶ writing ──enough frames, reader gone, or a fault──▶ over
final class PreviewWriter: Sendable {
    private struct Work {
        /// Below 0: a named pipe that has had no reader yet.
        var output: Int32
        var layout: PictureLayout?
        var frames = 0
        var hasNoticedSize = false
        var outcome: Result<Void, Failure>?

        mutating func end(_ failure: Failure? = nil) {
            outcome = outcome ?? failure.map { .failure($0) } ?? .success(())
        }
    }

    private let path: String
    private let framesMax: Int
    private let rate: String
    private let work: Mutex<Work>

    init(target: String, overwriting: Bool, framesMax: Int?, frameRate: Double) throws(Failure) {
        (path, self.framesMax) = (target, framesMax ?? .max)
        // 29.97 and its like are a whole number of frames in 1001 ms.
        let isWhole = frameRate.rounded() == frameRate
        rate = isWhole ? "\(Int(frameRate)):1" : "\(Int((frameRate * 1001).rounded())):1001"
        let kind = target == "-" ? nil : NewFile.kind(of: target)
        if let kind, [S_IFDIR, S_IFSOCK].contains(kind), let words = NewFile.words(for: kind) {
            throw Failure(.file, "\(target) is \(words); the picture goes into a file, a pipe or a device.")
        }
        let opened: Int32
        switch kind {
        case S_IFIFO?:
            // Without waiting: ENXIO where nobody has it open for reading.
            opened = open(target, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            if opened >= 0 { _ = fcntl(opened, F_SETFL, 0) }
        // A terminal or /dev/null has nothing that could be replaced.
        case S_IFCHR?: opened = open(target, O_WRONLY | O_CLOEXEC | O_NOCTTY)
        case nil where target == "-": opened = dup(STDOUT_FILENO)
        default: opened = open(target, O_WRONLY | O_CLOEXEC | O_CREAT | (overwriting ? 0 : O_EXCL), 0o644)
        }
        guard opened >= 0 || kind == S_IFIFO && errno == ENXIO else {
            throw errno == EEXIST ? NewFile.exists(target) : Failure.file(target, "cannot be written", errno)
        }
        work = Mutex(Work(output: opened))
    }

    deinit { work.withLock { if $0.output >= 0 { close($0.output) } } }

    var waitsForReader: Bool { work.withLock { $0.output < 0 } }
    var framesWritten: Int { work.withLock { $0.frames } }
    var outcome: Result<Void, Failure>? { work.withLock { $0.outcome } }

    func waitForReader(onEnd: @escaping @Sendable () -> Void) {
        onThread(onEnd: onEnd) { [self] in
            let opened = open(path, O_WRONLY | O_CLOEXEC)
            let failure = opened < 0 ? Failure.file(path, "cannot be written", errno) : nil
            work.withLock { work in
                work.output = opened
                if let failure { work.end(failure) }
            }
        }
    }

    @discardableResult
    private func onThread(onEnd: @escaping @Sendable () -> Void, _ body: @escaping @Sendable () -> Void) -> Bool {
        let isStarted = startThread {
            body()
            onEnd()
        }
        if !isStarted {
            let failure = "The preview cannot be written: this machine has no thread left for it."
            work.withLock { $0.end(Failure(.answerIsNo, failure)) }
            onEnd()
        }
        return isStarted
    }

    /// - Parameter stream: the socket that `openStream` gave; closed here.
    func write(stream: Int32, onEnd: @escaping @Sendable () -> Void) {
        let isWritten = onThread(onEnd: onEnd) { [self] in
            let receiver = FrameReceiver(adopting: stream)
            do throws(FrameStreamFault) {
                // The newest: a slow reader of the pipe must not fall behind the camera.
                while outcome == nil, case .frame(let frame) = try receiver.newest() {
                    receiver.withBytes(of: frame) { put(frame.layout, $0) }
                    receiver.release(frame)
                }
            } catch {
                let failure = Failure(.answerIsNo, "The preview stream broke: \(error.description).")
                work.withLock { $0.end(failure) }
            }
        }
        if !isWritten { close(stream) }
    }

    private func put(_ layout: PictureLayout, _ bytes: UnsafeRawBufferPointer) {
        guard case (let descriptor, var packet)? = work.withLock({ begin(layout, &$0) }) else { return }
        packet += Array("FRAME\n".utf8)
        Self.appendPlanes(layout, bytes, to: &packet)
        let isWritten = writeAll(packet[...], to: descriptor)
        let failure = isWritten || errno == EPIPE ? nil : Failure.file(path, "cannot be written", errno)
        work.withLock { work in
            if isWritten { work.frames += 1 }
            if !isWritten || work.frames >= framesMax { work.end(failure) }
        }
    }

    /// - Returns: the bytes before a frame, and where they go; nil for a frame that is not written.
    private func begin(_ layout: PictureLayout, _ work: inout Work) -> (descriptor: Int32, head: [UInt8])? {
        if work.outcome != nil { return nil }
        guard let first = work.layout else {
            // Of a pipe or a terminal nothing is cut.
            guard path == "-" || ftruncate(work.output, 0) == 0 || errno == EINVAL else {
                work.end(Failure.file(path, "cannot be cut", errno))
                return nil
            }
            work.layout = layout
            return (work.output, Array(header(layout).utf8))
        }
        if first == layout { return (work.output, []) }
        if !work.hasNoticedSize {
            work.hasNoticedSize = true
            Output.notice(
                "camclient: the camera sends \(layout.width)x\(layout.height) now, and the picture stays "
                    + "\(first.width)x\(first.height): nothing is written until it does again.")
        }
        return nil
    }

    private func header(_ layout: PictureLayout) -> String {
        "YUV4MPEG2 W\(layout.width) H\(layout.height) F\(rate) Ip A1:1 C420mpeg2 "
            + "XCOLORRANGE=\(layout.isFullRange ? "FULL" : "LIMITED")\n"
    }

    private static func appendPlanes(
        _ layout: PictureLayout, _ bytes: UnsafeRawBufferPointer, to packet: inout [UInt8]
    ) {
        guard bytes.count >= layout.bytes else { return }
        packet.reserveCapacity(packet.count + layout.width * layout.height * 3 / 2)
        for row in 0..<layout.height {
            let start = row * layout.stride
            packet += bytes[start..<start + layout.width]
        }
        for offset in 0..<2 {
            for row in 0..<layout.height / 2 {
                let start = layout.lumaBytes + row * layout.stride + offset
                for column in stride(from: 0, to: layout.width, by: 2) { packet.append(bytes[start + column]) }
            }
        }
    }
}
