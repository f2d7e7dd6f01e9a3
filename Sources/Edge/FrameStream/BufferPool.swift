import CLinux
import Glibc

/// The buffers of one preview stream of one grant: sealed shared memory that only this process can ever write.
///
/// Each buffer is mapped writable once, touched (the first touch of a 4K frame costs 7 ms, a later one 1 ms), and sealed, so that
/// a receiver can neither map it writable nor change its size. It has room for the largest picture that the stream may ever have,
/// and memory for the largest so far (`lay`). With the grant a pool ends: `blank()` overwrites every buffer and unmaps it, after
/// which the memory can never be written again by anybody, and a client that keeps its mapping sees an empty picture for ever.
/// Within the grant `erase()` only overwrites: the same session's next stream may have it.
///
/// Threading: one thread at a time. The pool blanks itself when it goes.
public final class BufferPool {
    public private(set) var layout: PictureLayout
    /// The most bytes of a picture.
    public let room: Int
    /// Bytes that each buffer has memory for: of the largest picture so far.
    private var touched = 0
    /// Bytes of each buffer that may not be blank.
    private var written = 0
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
        room = layout.bytes
        self.lent = lent
        isLent = true
    }

    /// - Parameter room: bytes of the largest picture that `lay` may ask for, where the layout's is not the largest.
    /// - Throws: when descriptors or memory run out; nothing is left behind.
    public init(layout: PictureLayout, room: Int = 0, count: Int = BufferPool.buffersUsual) throws(FrameStreamFault) {
        self.layout = layout
        self.room = max(room, layout.bytes)
        isLent = false
        do {
            for _ in 0..<count { buffers.append(try Self.makeBuffer(self.room)) }
            try lay(layout)
        } catch {
            blank()
            throw error
        }
    }

    /// Bytes of memory that the pool has taken, without a device's buffers.
    public var memoryBytes: Int { touched * buffers.count }

    /// Bytes of memory that pictures of a layout would take beside.
    public func growth(to layout: PictureLayout) -> Int { max(0, layout.bytes - touched) * buffers.count }

    /// The same buffers for pictures of another size, with memory for these. Their bytes stay until `erase()`.
    /// - Precondition: the pool is not blank, has buffers of its own, and they have the room.
    /// - Throws: when memory runs out; the layout is then as it was.
    public func lay(_ layout: PictureLayout) throws(FrameStreamFault) {
        precondition(!isBlank && !isLent && layout.bytes <= room, "a picture needs room in the buffers")
        if layout.bytes > touched {
            // Where memory ends it is an error here, and at the first touch it would be a signal.
            let begin = touched & ~(Self.pageBytes - 1)
            for buffer in buffers {
                let fresh = buffer.memory + begin
                if madvise(fresh, layout.bytes - begin, MADV_POPULATE_WRITE) != 0, errno != EINVAL {
                    throw FrameStreamFault("taking memory for a frame buffer", code: errno)
                }
                memset(buffer.memory + touched, 0, layout.bytes - touched)
            }
            touched = layout.bytes
        }
        self.layout = layout
        written = max(written, layout.bytes)
    }

    private static let pageBytes = Int(sysconf(Int32(_SC_PAGESIZE)))

    deinit { blank() }
    public var count: Int { isLent ? lent.count : buffers.count }

    /// The descriptor to pass to the client; `nil` after `blank()`.
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
            memset(buffer.memory, 0, written)
            munmap(buffer.memory, room)
            close(buffer.descriptor)
        }
        buffers = []
    }

    /// Overwrites every buffer with zeros, and keeps them.
    public func erase() {
        for buffer in buffers { memset(buffer.memory, 0, written) }
        written = layout.bytes
    }

    private static func makeBuffer(_ bytes: Int) throws(FrameStreamFault) -> Buffer {
        let descriptor = camarb_memfd("camarb-frame", UInt64(bytes))
        guard descriptor >= 0 else { throw FrameStreamFault("making a frame buffer", code: -descriptor) }
        guard
            let memory = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED
        else {
            let code = errno
            close(descriptor)
            throw FrameStreamFault("mapping a frame buffer", code: code)
        }
        let sealed = camarb_memfd_seal(descriptor)
        guard sealed == 0 else {
            munmap(memory, bytes)
            close(descriptor)
            throw FrameStreamFault("sealing a frame buffer", code: -sealed)
        }
        return Buffer(descriptor: descriptor, memory: memory)
    }
}
