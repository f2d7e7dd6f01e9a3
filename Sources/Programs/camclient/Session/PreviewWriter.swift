import ArbiterProtocol
import FrameStream
import Glibc
import Synchronization
import System

/// Writes a preview's frames as YUV4MPEG2, grant after grant, each from a thread of its own that ends with the
/// grant's stream.
///
///     waiting ──first frame: size fixed──▶ writing ──enough frames, reader gone, or a fault──▶ over
final class PreviewWriter: Sendable {
    private enum State {
        case waiting
        case writing(PictureLayout)
        case over(Failure?)
    }

    private struct Work {
        var state = State.waiting
        var frames = 0
        var toldSize = false
    }

    /// Below 0: a named pipe that has had no reader yet.
    private let output: Mutex<Int32>
    private let path: String
    private let framesMax: Int?
    private let rate: (frames: Int, seconds: Int)
    private let work = Mutex(Work())

    init(target: String, overwriting: Bool, framesMax: Int?, frameRate: Double) throws(Failure) {
        path = target
        self.framesMax = framesMax
        // 29.97 and its like are a whole number of frames in 1001 ms.
        let isWhole = frameRate.rounded() == frameRate
        rate = isWhole ? (Int(frameRate), 1) : (Int((frameRate * 1001).rounded()), 1001)
        let kind = target == "-" ? nil : NewFile.kind(of: target)
        if let kind, [S_IFDIR, S_IFSOCK].contains(kind), let words = NewFile.words(for: kind) {
            throw Failure(.file, "\(target) is \(words); the picture goes into a file, a pipe or a device.")
        }
        guard kind != S_IFIFO else {
            // Without waiting: ENXIO where nobody has it open for reading.
            let opened = open(target, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            guard opened >= 0 || errno == ENXIO else { throw Failure.file(target, "cannot be written", errno) }
            if opened >= 0 { _ = fcntl(opened, F_SETFL, 0) }
            output = Mutex(opened)
            return
        }
        // A terminal or /dev/null has nothing that could be replaced.
        let flags = kind == S_IFCHR ? O_NOCTTY : O_CREAT | (overwriting ? 0 : O_EXCL)
        let descriptor = target == "-" ? dup(STDOUT_FILENO) : open(target, O_WRONLY | O_CLOEXEC | flags, 0o644)
        guard descriptor >= 0 else {
            throw errno == EEXIST
                ? Failure(.file, "\(target) is there already; --overwrite replaces it.")
                : Failure.file(target, "cannot be written", errno)
        }
        output = Mutex(descriptor)
    }

    deinit { output.withLock { if $0 >= 0 { close($0) } } }

    /// A named pipe is opened when somebody has it open for reading, for which nobody knows how long to wait.
    var waitsForReader: Bool { output.withLock { $0 < 0 } }

    func waitForReader(onEnd: @escaping @Sendable () -> Void) {
        let isWaiting = startThread { [self] in
            let opened = open(path, O_WRONLY | O_CLOEXEC)
            let number = errno
            if opened >= 0 {
                output.withLock { $0 = opened }
            } else {
                finish(Failure.file(path, "cannot be written", number))
            }
            onEnd()
        }
        guard !isWaiting else { return }
        finishWithoutThread()
        onEnd()
    }

    private func finishWithoutThread() {
        finish(Failure(.answerIsNo, "The preview cannot be written: this machine has no thread left for it."))
    }

    var framesWritten: Int { work.withLock { $0.frames } }

    var outcome: Result<Void, Failure>? {
        work.withLock { work in
            guard case .over(let failure) = work.state else { return nil }
            return failure.map { .failure($0) } ?? .success(())
        }
    }

    /// - Parameter stream: the socket that `openStream` gave; closed here.
    func write(stream: Int32, onEnd: @escaping @Sendable () -> Void) {
        let isWritten = startThread { [self] in
            let receiver = FrameReceiver(adopting: stream)
            do throws(FrameStreamFault) {
                // The newest: a slow reader of the pipe must not fall behind the camera.
                while outcome == nil, case .frame(let frame) = try receiver.newest() {
                    receiver.withBytes(of: frame) { put(frame.layout, $0) }
                    receiver.release(frame)
                }
            } catch { finish(Failure(.answerIsNo, "The preview stream broke: \(error.description).")) }
            if outcome != nil { onEnd() }
        }
        guard !isWritten else { return }
        close(stream)
        finishWithoutThread()
        onEnd()
    }

    private func finish(_ failure: Failure?) {
        work.withLock { work in
            if case .over = work.state { return }
            work.state = .over(failure)
        }
    }

    private func put(_ layout: PictureLayout, _ bytes: UnsafeRawBufferPointer) {
        var packet: [UInt8] = []
        let descriptor = output.withLock { $0 }
        let isWanted = work.withLock { work -> Bool in
            switch work.state {
            case .over: return false
            case .waiting:
                // Of a pipe or a terminal nothing is cut.
                guard path == "-" || ftruncate(descriptor, 0) == 0 || errno == EINVAL else {
                    work.state = .over(Failure.file(path, "cannot be cut", errno))
                    return false
                }
                work.state = .writing(layout)
                packet += Array(header(layout).utf8)
                return true
            case .writing(let first):
                if first == layout { return true }
                if !work.toldSize {
                    work.toldSize = true
                    Output.notice(
                        "camclient: the camera sends \(layout.width)x\(layout.height) now, and the picture stays "
                            + "\(first.width)x\(first.height): nothing is written until it does again.")
                }
                return false
            }
        }
        guard isWanted else { return }
        packet += Array("FRAME\n".utf8)
        Self.appendPlanes(layout, bytes, to: &packet)
        guard writeAll(packet[...], to: descriptor) else {
            // A player that was closed has seen enough.
            return finish(errno == EPIPE ? nil : Failure.file(path, "cannot be written", errno))
        }
        let isEnough = work.withLock { work in
            work.frames += 1
            return framesMax.map { work.frames >= $0 } ?? false
        }
        if isEnough { finish(nil) }
    }

    private func header(_ layout: PictureLayout) -> String {
        let range = layout.isFullRange ? "FULL" : "LIMITED"
        return
            "YUV4MPEG2 W\(layout.width) H\(layout.height) F\(rate.frames):\(rate.seconds) Ip A1:1 C420mpeg2 XCOLORRANGE=\(range)\n"
    }

    static func appendPlanes(_ layout: PictureLayout, _ bytes: UnsafeRawBufferPointer, to packet: inout [UInt8]) {
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
