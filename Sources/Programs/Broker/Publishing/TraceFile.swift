import Glibc
import Scenario
import System

/// The file of `--trace`: whole lines, in bounded files.
///
///     FILE.4 ◀── FILE.3 ◀── FILE.2 ◀── FILE.1 ◀── FILE ◀── buffer ◀── step
///
/// A killed broker loses the buffer: at most `bufferBytesMax`, or the steps of `flushAfter`. A disk that is full ends the trace
/// at its last whole line, and never the broker.
final class TraceFile {
    /// Older files beside the one that is written. With the size, they bound a trace's part of a disk.
    static let olderFilesMax = 4
    /// Some hundred steps, one write.
    static let bufferBytesMax = 64 * 1024
    /// How long a line waits for others, in nanoseconds: a reader sees the last second.
    static let flushAfter: Int64 = 1_000_000_000
    /// Bytes of steps behind a file's header that let the next one begin.
    static let usualSize = 16 << 20
    /// Less, and headers would be most of it; more, and no tool reads it.
    static let sizes = (64 << 10)...(128 << 20)

    private unowned let broker: Broker
    private let path: String
    private var timer: Timer?
    private var descriptor: Int32 = -1
    private var writer: TraceWriter
    private var buffer: [UInt8] = []
    /// Whole lines in the file, in bytes, and of those the header's.
    private var written = 0
    private var headerBytes = 0
    /// Why the trace has ended; empty while all is well.
    private(set) var trouble = ""

    /// A file that is at `path` already is moved aside, as when it is full.
    init(_ broker: Broker, path: String) throws(SystemFault) {
        self.broker = broker
        self.path = path
        writer = TraceWriter(steps: broker.stepsTaken)
        timer = try broker.loop.addTimer { [unowned self] in flush() }
        try begin(following: nil)
    }

    deinit { closeFile() }

    private func closeFile() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    func write(_ body: TraceWriter.Body) {
        guard descriptor >= 0 else { return }
        buffer += writer.write(step: body)
        if written + buffer.count - headerBytes >= broker.options.traceSize {
            rotate()
        } else if buffer.count >= Self.bufferBytesMax {
            flush()
        } else if timer?.deadline == nil {
            timer?.arm(at: EventLoop.now + Self.flushAfter)
        }
    }

    func end() {
        guard descriptor >= 0 else { return }
        buffer += writer.end(.stopped)
        flush()
        closeFile()
    }

    private func rotate() {
        buffer += writer.end(.rotated)
        flush()
        guard descriptor >= 0 else { return }
        closeFile()
        let before = writer
        writer = TraceWriter(steps: before.steps)
        do throws(SystemFault) { try begin(following: before) } catch { give(up: "\(error)") }
    }

    private func begin(following before: TraceWriter?) throws(SystemFault) {
        try moveAside()
        // Its lines name every user's apps: nobody else's to read.
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemFault("make the trace \(path)", errno) }
        let header = writer.header(
            program: Publisher.program, origin: broker.origin, arbiter: broker.arbiter, names: broker.publisher.names(),
            following: before)
        guard header.count <= TraceReader.lineBytesMax else {
            throw SystemFault("write a snapshot of \(header.count) bytes into the trace \(path)", EFBIG)
        }
        written = 0
        headerBytes = header.count
        buffer = header
        // Not later: a broker that is killed now leaves a trace, and not an empty file.
        flush()
    }

    /// FILE becomes FILE.1, FILE.1 becomes FILE.2, and the oldest goes.
    private func moveAside() throws(SystemFault) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw SystemFault("look at the trace \(path)", errno)
        }
        // A device or a link is never moved: it is not ours.
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemFault("use \(path) for a trace: no file", EEXIST) }
        if status.st_size == 0 {
            guard unlink(path) == 0 else { throw SystemFault("replace the empty \(path)", errno) }
            return
        }
        for number in stride(from: Self.olderFilesMax, to: 1, by: -1) {
            if rename("\(path).\(number - 1)", "\(path).\(number)") != 0, errno != ENOENT {
                throw SystemFault("move \(path).\(number - 1) aside", errno)
            }
        }
        guard rename(path, "\(path).1") == 0 else { throw SystemFault("move \(path) aside", errno) }
    }

    private func flush() {
        timer?.arm(at: nil)
        guard descriptor >= 0 else { return }
        var rest = buffer[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let number = errno
                cutBack()
                return give(up: "\(path) cannot be written: \(String(cString: strerror(number)))")
            }
            rest = rest.dropFirst(count)
        }
        written += buffer.count
        buffer = []
    }

    private func cutBack() {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return }
        let arrived = buffer.prefix(max(0, Int(status.st_size) - written))
        let whole = arrived.lastIndex(of: UInt8(ascii: "\n")).map { arrived.distance(from: 0, to: $0) + 1 } ?? 0
        _ = ftruncate(descriptor, off_t(written + whole))
    }

    private func give(up why: String) {
        closeFile()
        buffer = []
        trouble = "The trace has ended early: \(why)."
        broker.properties.degradedMayHaveChanged()
        broker.journal.send(.error, "\(trouble) Cameras are not concerned.")
    }
}
