import FrameStream
import Glibc
import Synchronization

/// A captured frame in memory of the recorder core's own. The capture thread fills it before it hands it on, and it is only read
/// afterwards: that makes it sendable.
final class KeptPicture: @unchecked Sendable {
    let layout: PictureLayout
    let memory: UnsafeMutableRawBufferPointer
    /// Nanoseconds of CLOCK_MONOTONIC.
    let captured: Int64
    private let pool: PicturePool

    init?(layout: PictureLayout, captured: Int64, pool: PicturePool) {
        guard let memory = pool.take(layout.bytes) else { return nil }
        (self.layout, self.memory, self.captured, self.pool) = (layout, memory, captured, pool)
    }

    deinit { pool.giveBack(memory) }
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(memory) }
}

/// Keeps the memory of pictures for the next ones: fresh pages cost more than filling them.
final class PicturePool: Sendable {
    private struct Block: @unchecked Sendable { var memory: UnsafeMutableRawBufferPointer }
    private let free = Mutex<[Block]>([])

    /// Blocks kept while nobody uses them: one being encoded and one being filled.
    private static let keptMax = 2

    func take(_ bytes: Int) -> UnsafeMutableRawBufferPointer? {
        let kept = free.withLock { blocks -> Block? in
            guard let index = blocks.lastIndex(where: { $0.memory.count == bytes }) else { return nil }
            return blocks.remove(at: index)
        }
        if let kept { return kept.memory }
        return malloc(bytes).map { UnsafeMutableRawBufferPointer(start: $0, count: bytes) }
    }

    func giveBack(_ memory: UnsafeMutableRawBufferPointer) {
        let block = Block(memory: memory)
        let surplus = free.withLock { blocks -> Block? in
            blocks.append(block)
            return blocks.count > Self.keptMax ? blocks.removeFirst() : nil
        }
        if let surplus { Glibc.free(surplus.memory.baseAddress) }
    }

    deinit {
        free.withLock { blocks in
            for block in blocks { Glibc.free(block.memory.baseAddress) }
        }
    }
}
