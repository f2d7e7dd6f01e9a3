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

    /// Blocks of one size kept while nobody uses them: one being encoded and one being filled.
    private static let ofASizeMax = 2
    /// Bytes of all sizes kept while nobody uses them: two pictures of 16 megapixels, or of several sizes that sessions have.
    private static let keptBytesMax = 48 << 20

    /// Blank, or with an earlier picture in it.
    func take(_ bytes: Int) -> UnsafeMutableRawBufferPointer? {
        let kept = free.withLock { blocks -> Block? in
            guard let index = blocks.lastIndex(where: { $0.memory.count == bytes }) else { return nil }
            return blocks.remove(at: index)
        }
        if let kept { return kept.memory }
        return calloc(1, bytes).map { UnsafeMutableRawBufferPointer(start: $0, count: bytes) }
    }

    func giveBack(_ memory: UnsafeMutableRawBufferPointer) {
        let surplus = free.withLock { blocks -> [Block] in
            blocks.append(Block(memory: memory))
            var surplus: [Block] = []
            if blocks.count(where: { $0.memory.count == memory.count }) > Self.ofASizeMax,
                let oldest = blocks.firstIndex(where: { $0.memory.count == memory.count })
            {
                surplus.append(blocks.remove(at: oldest))
            }
            while blocks.count > 1, blocks.reduce(0, { $0 + $1.memory.count }) > Self.keptBytesMax {
                surplus.append(blocks.removeFirst())
            }
            return surplus
        }
        for block in surplus { Glibc.free(block.memory.baseAddress) }
    }

    deinit {
        free.withLock { blocks in
            for block in blocks { Glibc.free(block.memory.baseAddress) }
        }
    }
}
