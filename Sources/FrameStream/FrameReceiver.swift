public import ArbiterProtocol
import CLinux
import Glibc

/// The client's end of a preview stream: maps the buffers read-only, gives frames, returns them.
///
///     let receiver = FrameReceiver(adopting: descriptor)
///     while case .frame(let frame) = try receiver.next() {
///         receiver.withBytes(of: frame) { bytes in … }
///         receiver.release(frame)
///     }
///
/// The stream ends with its grant: `next` then says `.ended`, and the buffers have gone blank. Mappings stay until
/// the receiver goes, so a picture in use never faults; it only turns blank.
///
/// Threading: one thread at a time.
public final class FrameReceiver {
    /// The socket, to poll for reading. Owned.
    public let descriptor: Int32
    public private(set) var hasEnded = false
    private var buffers: [UInt32: Mapping] = [:]

    /// A frame that this process may read until it is released.
    public struct Frame: Hashable, Sendable {
        public var record: FrameRecord.Frame
        public var layout: PictureLayout
    }

    public enum Next: Hashable, Sendable {
        case frame(Frame)
        /// The grant is over, or the recorder is gone.
        case ended
        case timedOut
    }

    /// More buffers than a stream ever announces; a recorder that exceeds it is broken.
    static let buffersMax = 1024

    private struct Mapping {
        var layout: PictureLayout
        var memory: UnsafeMutableRawPointer
        var bytes: Int
    }

    public init(adopting descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        for buffer in buffers.values { munmap(buffer.memory, buffer.bytes) }
        close(descriptor)
    }

    /// Waits for the next frame.
    /// - Parameter limit: how long to wait; nil waits until a frame comes or the stream ends.
    /// - Throws: when the recorder breaks the protocol or a buffer cannot be mapped; the stream is then useless.
    public func next(within limit: Duration? = nil) throws(FrameStreamFault) -> Next {
        let deadline = limit.map { camarb_monotonic_ns() + $0.wholeNanoseconds }
        while !hasEnded {
            if let frame = try receive() { return .frame(frame) }
            if hasEnded { break }
            let left = deadline.map { max(0, $0 - camarb_monotonic_ns()) } ?? -1
            var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = camarb_poll(&waited, 1, left)
            guard ready >= 0 else { throw FrameStreamFault("waiting for a frame", code: -ready) }
            if ready == 0, left == 0 { return .timedOut }
        }
        return .ended
    }

    /// As `next`, but skips to the newest frame that is there, and releases the older ones.
    public func newest(within limit: Duration? = nil) throws(FrameStreamFault) -> Next {
        guard case .frame(var frame) = try next(within: limit) else { return hasEnded ? .ended : .timedOut }
        while let newer = try receive() {
            release(frame)
            frame = newer
        }
        return .frame(frame)
    }

    /// The frame's bytes: `layout` says where the planes are.
    public func withBytes<R>(of frame: Frame, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        guard let buffer = buffers[frame.record.index] else {
            return try body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        return try body(UnsafeRawBufferPointer(start: buffer.memory, count: buffer.layout.bytes))
    }

    /// Gives the buffer back to the recorder. A stream that has ended needs no releases.
    public func release(_ frame: Frame) {
        guard !hasEnded else { return }
        let record = FrameRecord.release(index: frame.record.index).encode()
        // Fewer packets than there are buffers are ever under way, so the socket has room; where it has not,
        // the recorder is gone, and that is read from the socket.
        _ = record.withUnsafeBytes { camarb_packet_send(descriptor, $0.baseAddress, $0.count, -1) }
    }

    /// Every buffer as it is mapped now, also after the end: what a client that keeps its mapping can see.
    public func withEveryBuffer(_ body: (UInt32, UnsafeRawBufferPointer) throws -> Void) rethrows {
        for (index, buffer) in buffers.sorted(by: { $0.key < $1.key }) {
            try body(index, UnsafeRawBufferPointer(start: buffer.memory, count: buffer.layout.bytes))
        }
    }

    /// Reads records until a frame comes or nothing more is there.
    private func receive() throws(FrameStreamFault) -> Frame? {
        while !hasEnded {
            var bytes = [UInt8](repeating: 0, count: FrameRecord.encodedBytes)
            var passed: Int32 = -1
            let count = bytes.withUnsafeMutableBytes {
                camarb_packet_receive(descriptor, $0.baseAddress, $0.count, &passed, 0)
            }
            defer { if passed >= 0 { close(passed) } }
            if count == -Int(EAGAIN) { return nil }
            guard count > 0 else {
                // A closed socket, also by a reset: the recorder is gone and took the stream with it.
                hasEnded = true
                return nil
            }
            switch FrameRecord(decoding: bytes.prefix(count)) {
            case .buffer(let buffer)?: try map(buffer, passed)
            case .frame(let record)?:
                guard let layout = buffers[record.index]?.layout else {
                    throw FrameStreamFault("a frame came in buffer \(record.index), which was never announced", code: 0)
                }
                return Frame(record: record, layout: layout)
            case .end?: hasEnded = true
            case .release?, nil: throw FrameStreamFault("a record came that no recorder sends", code: 0)
            }
        }
        return nil
    }

    private func map(_ buffer: FrameRecord.Buffer, _ descriptor: Int32) throws(FrameStreamFault) {
        // A side that no sensor has would overflow sums; an odd one is no NV12.
        let sides = 2...65_536
        let (width, height) = (Int(buffer.width), Int(buffer.height))
        guard sides.contains(width), sides.contains(height), width % 2 == 0, height % 2 == 0,
            buffers[buffer.index] == nil, buffers.count < Self.buffersMax
        else { throw FrameStreamFault("buffer \(buffer.index) is \(width)x\(height), or is there twice", code: 0) }
        let layout = PictureLayout(width: width, height: height, pixelFormat: buffer.pixelFormat)
        guard layout.stride == Int(buffer.stride), buffer.bytes == UInt64(layout.bytes) else {
            throw FrameStreamFault(
                "buffer \(buffer.index) has a stride of \(buffer.stride), which is none of ours", code: 0)
        }
        // A buffer that could shrink would kill this process at its next look.
        guard descriptor >= 0, camarb_memfd_is_safe(descriptor, buffer.bytes) == 1 else {
            throw FrameStreamFault("buffer \(buffer.index) is not sealed against shrinking", code: 0)
        }
        guard let memory = mmap(nil, layout.bytes, PROT_READ, MAP_SHARED, descriptor, 0), memory != MAP_FAILED else {
            throw FrameStreamFault("mapping buffer \(buffer.index)", code: errno)
        }
        buffers[buffer.index] = Mapping(layout: layout, memory: memory, bytes: layout.bytes)
    }
}
