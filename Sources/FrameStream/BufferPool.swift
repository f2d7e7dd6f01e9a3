import CLinux
import Glibc

/// The buffers of one preview stream of one grant: sealed shared memory that only this process can ever write.
///
/// Each buffer is mapped writable once, touched (the first touch of a 4K frame costs 7 ms, a later one 1 ms),
/// and then sealed, so that a receiver can neither map it writable nor change its size. With the grant a pool ends:
/// `blank()` overwrites every buffer and unmaps it, after which the memory can never be written again
/// by anybody, and a client that keeps its mapping sees an empty picture for ever. Within the grant `erase()` only
/// overwrites: the same session's next stream may have it.
///
/// Threading: one thread at a time. The pool blanks itself when it goes.
public final class BufferPool {
    public let layout: PictureLayout
    public private(set) var isBlank = false
    private var buffers: [Buffer] = []

    /// One being read by the client, one on its way to it, one kept as the newest, one being written.
    public static let buffersUsual = 4

    private struct Buffer {
        var descriptor: Int32
        var memory: UnsafeMutableRawPointer
    }

    /// The buffers are a device's own, which it fills and blanks: the pool only has descriptors of them.
    public let isLent: Bool
    private var lent: [Int32] = []

    /// - Parameter lent: descriptors of a device's buffers, in the layout, for reading only. The pool's from here on.
    public init(layout: PictureLayout, lent: [Int32]) {
        self.layout = layout
        self.lent = lent
        isLent = true
    }

    /// - Throws: when descriptors or memory run out; nothing is left behind.
    public init(layout: PictureLayout, count: Int = BufferPool.buffersUsual) throws(FrameStreamFault) {
        self.layout = layout
        isLent = false
        for _ in 0..<count {
            do {
                buffers.append(try Self.makeBuffer(layout))
            } catch {
                blank()
                throw error
            }
        }
    }

    deinit { blank() }

    public var count: Int { isLent ? lent.count : buffers.count }

    /// The descriptor to pass to the client; nil after `blank()`.
    func descriptor(_ index: Int) -> Int32? { isBlank ? nil : isLent ? lent[index] : buffers[index].descriptor }

    /// The buffer's bytes, to write a picture into.
    /// - Precondition: the pool is not blank.
    public func memory(_ index: Int) -> UnsafeMutableRawBufferPointer {
        precondition(!isBlank && !isLent, "a blank pool has no memory, and a lent one none of its own")
        return UnsafeMutableRawBufferPointer(start: buffers[index].memory, count: layout.bytes)
    }

    /// Overwrites every buffer with zeros, unmaps and closes it; lent ones are their device's to blank. Idempotent.
    public func blank() {
        guard !isBlank else { return }
        isBlank = true
        for descriptor in lent { close(descriptor) }
        lent = []
        for buffer in buffers {
            memset(buffer.memory, 0, layout.bytes)
            munmap(buffer.memory, layout.bytes)
            close(buffer.descriptor)
        }
        buffers = []
    }

    /// Overwrites every buffer with zeros, and keeps them.
    public func erase() { for buffer in buffers { memset(buffer.memory, 0, layout.bytes) } }

    private static func makeBuffer(_ layout: PictureLayout) throws(FrameStreamFault) -> Buffer {
        let descriptor = camarb_memfd("camarb-frame", UInt64(layout.bytes))
        guard descriptor >= 0 else { throw FrameStreamFault("making a frame buffer", code: -descriptor) }
        let flags = MAP_SHARED | MAP_POPULATE
        guard
            let memory = mmap(nil, layout.bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0),
            memory != MAP_FAILED
        else {
            let code = errno
            close(descriptor)
            throw FrameStreamFault("mapping a frame buffer", code: code)
        }
        memset(memory, 0, layout.bytes)
        let sealed = camarb_memfd_seal(descriptor)
        guard sealed == 0 else {
            munmap(memory, layout.bytes)
            close(descriptor)
            throw FrameStreamFault("sealing a frame buffer", code: -sealed)
        }
        return Buffer(descriptor: descriptor, memory: memory)
    }
}
