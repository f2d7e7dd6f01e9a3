import Glibc

/// A buffer of a stream as it is mapped here, for reading only. It is unmapped when its receiver and the last frame in it
/// are gone, so that a picture in use never faults; at most it becomes blank, or other pictures of the stream.
package final class FrameBuffer: Sendable {
    package let layout: PictureLayout
    /// Counts the sets of buffers that the stream has had: where there is a later one, this buffer has its picture no more,
    /// or not for long.
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
