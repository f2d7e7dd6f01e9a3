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
/// The stream ends with its grant: `next` then returns `.ended`, and the buffers are blank. A frame keeps its buffer
/// mapped, so that a picture in use never faults; it only becomes blank, or another picture of the same stream.
///
/// A recorder core changes the buffers of a stream when the format changes: it announces others, and then blanks the old
/// ones, whose memory the new ones may have. Buffers that are announced after a frame are therefore a new generation, and the
/// older ones are unmapped here.
///
/// Every record is checked: one that no recorder core sends is a fault that ends the stream.
///
/// Threading: one thread at a time.
public final class FrameReceiver {
    /// The socket, to poll for reading. Owned.
    public let descriptor: Int32
    public private(set) var hasEnded = false
    private var generation: UInt64 = 1
    private var hasFrame = false
    private var slots: [UInt32: Slot] = [:]

    /// A frame that this process may read until it is released.
    public struct Frame: Hashable, Sendable {
        public var record: FrameRecord.Frame
        package let buffer: FrameBuffer
        public var layout: PictureLayout { buffer.layout }
    }

    public enum Next: Hashable, Sendable {
        case frame(Frame)
        /// The grant is over, or the recorder is gone.
        case ended
        case timedOut
    }

    /// More buffers than a stream ever announces; a recorder that exceeds it is broken.
    static let buffersMax = 1024

    private struct Slot {
        var buffer: FrameBuffer
        /// A frame in it is here, and was not released.
        var isLent = false
    }

    public init(adopting descriptor: Int32) { self.descriptor = descriptor }
    deinit { close(descriptor) }

    /// Waits for the next frame.
    /// - Parameter limit: how long to wait; nil waits until a frame comes or the stream ends.
    /// - Throws: when the recorder breaks the protocol or a buffer cannot be mapped; the stream is then useless.
    public func next(within limit: Duration? = nil) throws(FrameStreamFault) -> Next {
        let deadline = limit.map { camarb_monotonic_ns() + $0.wholeNanoseconds }
        while !hasEnded {
            if let frame = try take() { return .frame(frame) }
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
        while let newer = try take() {
            release(frame)
            frame = newer
        }
        return .frame(frame)
    }

    /// Whether the frame's buffer still has the picture, as far as the stream has been read: the end, and other buffers, are
    /// announced before anything is blanked. So take all records first.
    package func hasPicture(_ frame: Frame) -> Bool { !hasEnded && frame.buffer.generation == generation }

    /// The frame's bytes: `layout` says where the planes are.
    public func withBytes<R>(of frame: Frame, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try withExtendedLifetime(frame.buffer) { try body($0.bytes) }
    }

    /// Gives the buffer back to the recorder, once. A stream that has ended needs no releases.
    public func release(_ frame: Frame) {
        guard !hasEnded else { return }
        if frame.buffer.generation == generation { slots[frame.record.index]?.isLent = false }
        let record = FrameRecord.release(index: frame.record.index).encode()
        // Fewer packets than there are buffers are ever under way, so the socket has room; where it has not,
        // the recorder is gone, and that is read from the socket.
        _ = record.withUnsafeBytes { camarb_packet_send(descriptor, $0.baseAddress, $0.count, -1) }
    }

    /// Every buffer of the stream as it is mapped now, also after the end: as a client sees it that keeps its mapping.
    public func withEveryBuffer(_ body: (UInt32, UnsafeRawBufferPointer) throws -> Void) rethrows {
        for (index, slot) in slots.sorted(by: { $0.key < $1.key }) { try body(index, slot.buffer.bytes) }
    }

    /// Reads records until a frame comes or nothing more is there; never waits.
    package func take() throws(FrameStreamFault) -> Frame? {
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
            case .frame(let record)?: return try frame(record)
            case .end?: hasEnded = true
            case .release?, nil: throw FrameStreamFault("a record came that no recorder sends", code: 0)
            }
        }
        return nil
    }

    private func frame(_ record: FrameRecord.Frame) throws(FrameStreamFault) -> Frame {
        guard let slot = slots[record.index], !slot.isLent else {
            let why = slots[record.index] == nil ? "never announced" : "not given back"
            throw FrameStreamFault("a frame came in buffer \(record.index), which was \(why)", code: 0)
        }
        slots[record.index]?.isLent = true
        hasFrame = true
        return Frame(record: record, buffer: slot.buffer)
    }

    private func map(_ buffer: FrameRecord.Buffer, _ descriptor: Int32) throws(FrameStreamFault) {
        if hasFrame {
            generation += 1
            hasFrame = false
            slots = [:]
        }
        func fault(_ words: String) -> FrameStreamFault { FrameStreamFault("buffer \(buffer.index) \(words)", code: 0) }
        let (width, height) = (Int(buffer.width), Int(buffer.height))
        let layout = PictureLayout(
            width: width, height: height, stride: Int(buffer.stride), pixelFormat: buffer.pixelFormat)
        guard let layout, slots[buffer.index] == nil, slots.count < Self.buffersMax else {
            throw fault(
                "is \(width)x\(height) with rows of \(buffer.stride) bytes, is there twice, or is one of too many")
        }
        guard ["420v", "420f"].contains(buffer.pixelFormat) else {
            throw fault("is \(buffer.pixelFormat.quotedShort), and neither 420v nor 420f")
        }
        guard buffer.bytes >= UInt64(layout.bytes) else {
            throw fault("has \(buffer.bytes) bytes, where a picture of \(width)x\(height) has \(layout.bytes)")
        }
        guard descriptor >= 0, camarb_memfd_is_safe(descriptor, buffer.bytes) == 1 else {
            throw fault("is smaller than was said, or not sealed against shrinking, growing and writing")
        }
        slots[buffer.index] = Slot(buffer: try FrameBuffer(mapping: descriptor, layout, generation: generation))
    }
}

/// A buffer of a stream as it is mapped here, for reading only. It is unmapped when its receiver and the last frame in it
/// are gone.
package final class FrameBuffer: Sendable {
    package let layout: PictureLayout
    /// Counts the stream's sets of buffers: with a later one, this buffer's picture is gone, or soon.
    package let generation: UInt64
    // An address, since a pointer is not Sendable: nobody writes through it here.
    private let address: UInt

    /// - Throws: when the memory cannot be mapped. The descriptor stays the caller's.
    init(mapping descriptor: Int32, _ layout: PictureLayout, generation: UInt64) throws(FrameStreamFault) {
        guard let memory = mmap(nil, layout.bytes, PROT_READ, MAP_SHARED, descriptor, 0), memory != MAP_FAILED else {
            throw FrameStreamFault("mapping a buffer of \(layout.bytes) bytes", code: errno)
        }
        self.layout = layout
        self.generation = generation
        address = UInt(bitPattern: memory)
    }

    deinit { munmap(UnsafeMutableRawPointer(bitPattern: address), layout.bytes) }

    /// The picture's bytes, for as long as the buffer is kept.
    package var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: layout.bytes)
    }
}

extension FrameBuffer: Hashable {
    package static func == (a: FrameBuffer, b: FrameBuffer) -> Bool { a === b }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
