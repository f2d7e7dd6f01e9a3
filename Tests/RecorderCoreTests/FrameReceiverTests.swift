import ArbiterProtocol
import CLinux
import FrameStream
import Glibc
import Testing

/// A receiver's checks of a stream, with a recorder core that sends anything.
@Suite(.timeLimit(.minutes(10))) struct FrameReceiverTests {
    static let layout = PictureLayout(width: 192, height: 144, pixelFormat: "420v")
    // linux/fcntl.h, which Swift does not see: F_ADD_SEALS, and the seals SEAL, SHRINK, GROW and FUTURE_WRITE.
    static let addSeals: Int32 = 1033
    static let eachSeal: [Int32] = [1, 2, 4, 0x10]
    static let allSeals: Int32 = eachSeal.reduce(0, |)

    private func pair() throws -> (ours: Int32, receiver: FrameReceiver) {
        var ours: Int32 = -1
        var theirs: Int32 = -1
        try #require(camarb_packet_pair(&ours, &theirs) == 0)
        return (ours, FrameReceiver(adopting: theirs))
    }

    /// Announces a buffer in a memfd with these seals, or in something else.
    private func announce(
        _ index: UInt32 = 0, stride: Int = layout.stride, pixelFormat: String = "420v", bytes: Int? = nil,
        memory: Int? = nil, seals: Int32 = allSeals, passing passed: Int32? = nil, on ours: Int32
    ) throws {
        let needed = stride * Self.layout.height * 3 / 2
        let descriptor = camarb_memfd("test", UInt64(memory ?? bytes ?? needed))
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(fcntl(descriptor, Self.addSeals, seals) == 0)
        let record = FrameRecord.buffer(
            FrameRecord.Buffer(
                index: index, width: 192, height: 144, stride: UInt32(stride), pixelFormat: pixelFormat,
                bytes: UInt64(bytes ?? needed))
        ).encode()
        try #require(camarb_packet_send(ours, record, record.count, passed ?? descriptor) == 0)
    }

    private func send(_ sequence: UInt64, in index: UInt32 = 0, on ours: Int32) throws {
        let record = FrameRecord.frame(FrameRecord.Frame(index: index, sequence: sequence, timestamp: 1, bytes: 0))
            .encode()
        try #require(camarb_packet_send(ours, record, record.count, -1) == 0)
    }

    private func fault(_ receiver: FrameReceiver) -> String? {
        do throws(FrameStreamFault) {
            _ = try receiver.next(within: .seconds(20))
            return nil
        } catch { return error.description }
    }

    @Test(
        "A memfd that lacks one of the seals is refused, and one with all of them is not; rows may be longer than pixels",
        arguments: [0] + eachSeal)
    func sealsAreChecked(missing: Int32) throws {
        let (ours, receiver) = try pair()
        defer { close(ours) }
        try announce(stride: 200, seals: Self.allSeals & ~missing, on: ours)
        try send(1, on: ours)
        if missing == 0 {
            let layout = try receiver.frame().layout
            #expect(layout.stride == 200 && layout.bytes == 200 * 144 * 3 / 2)
        } else {
            #expect(fault(receiver)?.contains("not sealed") == true)
        }
    }

    @Test("A buffer that is too small, has short rows or pixels that nobody can read, or is no memfd, is refused")
    func buffers() throws {
        func refused(_ words: String, _ announce: (Int32) throws -> Void) throws {
            let (ours, receiver) = try pair()
            defer { close(ours) }
            try announce(ours)
            let said = fault(receiver)
            #expect(said?.contains(words) == true, "\(said ?? "nothing"), and not \(words)")
        }
        try refused("smaller than was said") { try announce(memory: 4096, on: $0) }
        try refused("has 4096 bytes, where a picture of 192x144 has") { try announce(bytes: 4096, on: $0) }
        try refused("rows of 191 bytes") { try announce(stride: 191, on: $0) }
        try refused("neither 420v nor 420f") { try announce(pixelFormat: "BGRA", on: $0) }
        // Memory that is no memfd of ordinary pages, whatever its seals.
        var pipe: [Int32] = [-1, -1]
        try #require(Glibc.pipe(&pipe) == 0)
        defer { for end in pipe { close(end) } }
        try refused("not sealed") { try announce(passing: pipe[0], on: $0) }
    }

    /// The buffers given back on a stream since the last look, in order.
    private func releases(_ ours: Int32) -> [UInt32] {
        var given: [UInt32] = []
        var record = [UInt8](repeating: 0, count: FrameRecord.encodedBytes)
        var passed: Int32 = -1
        while camarb_packet_receive(ours, &record, record.count, &passed, 0) == record.count {
            guard case .release(let index)? = FrameRecord(decoding: record[...]) else { break }
            given.append(index)
        }
        return given
    }

    @Test("Who asks for the newest frame gets it, and has given back those before it, each once, and no other")
    func newest() throws {
        let (ours, receiver) = try pair()
        defer { close(ours) }
        for index in 0..<4 as Range<UInt32> { try announce(index, on: ours) }
        #expect(try receiver.newest(within: .zero) == .timedOut)
        var sequence: UInt64 = 0
        // So many frames lie there: one in each buffer at most, in an order that turns.
        for (turn, count) in [1, 4, 3, 2, 4, 4, 1, 3].enumerated() {
            let indexes = (0..<count).map { UInt32(($0 + turn) % 4) }
            for index in indexes {
                sequence += 1
                try send(sequence, in: index, on: ours)
            }
            let frame = try receiver.newestFrame()
            #expect(frame.record.sequence == sequence && frame.record.index == indexes.last)
            #expect(releases(ours) == Array(indexes.dropLast()))
            #expect(try receiver.newest(within: .zero) == .timedOut)
            receiver.release(frame)
            #expect(releases(ours) == Array(indexes.suffix(1)))
        }
        // The one that it has is not given back by asking for another.
        for index in [0, 1, 2] as [UInt32] { try send(100 + UInt64(index), in: index, on: ours) }
        _ = try receiver.newest(within: .seconds(20))
        try send(103, in: 3, on: ours)
        _ = try receiver.newest(within: .seconds(20))
        #expect(releases(ours) == [0, 1])
        try send(104, in: 2, on: ours)
        #expect(fault(receiver)?.contains("buffer 2, which was not given back") == true)
    }

    @Test("The newest frame before a stream's end comes, and then the end")
    func newestBeforeTheEnd() throws {
        let (ours, receiver) = try pair()
        for index in 0..<2 as Range<UInt32> {
            try announce(index, on: ours)
            try send(UInt64(index) + 1, in: index, on: ours)
        }
        close(ours)
        let frame = try receiver.newestFrame()
        #expect(frame.record.sequence == 2 && !receiver.hasPicture(frame))
        for limit in [nil, .zero, .seconds(20)] as [Duration?] { #expect(try receiver.newest(within: limit) == .ended) }
    }

    @Test("A wait for a frame lasts as long as was asked, and not for ever")
    func waits() throws {
        let (ours, receiver) = try pair()
        defer { close(ours) }
        for limit in [0, 1, 120] as [Int64] {
            let begun = camarb_monotonic_ns()
            #expect(try receiver.next(within: .milliseconds(limit)) == .timedOut)
            #expect(camarb_monotonic_ns() - begun >= limit * 1_000_000)
        }
    }

    @Test func buffersThatAreAnnouncedAfterAFrameAreAnotherGeneration() throws {
        let (sender, theirs) = try FrameSender.open(layout: Self.layout)
        let receiver = FrameReceiver(adopting: theirs)
        let index = try #require(sender.writable())
        sender.deliver(index, sequence: 1, timestamp: 1, flags: [])
        let old = try receiver.frame()
        #expect(receiver.hasPicture(old))
        // As often as a client changes the format: what the stream does not use any more is not kept.
        for _ in 0..<600 {
            sender.replaceBuffers(by: try BufferPool(layout: Self.layout))
            let index = try #require(sender.writable())
            sender.deliver(index, sequence: 2, timestamp: 2, flags: [])
            receiver.release(try receiver.frame())
            #expect(sender.takeReleases())
        }
        #expect(!receiver.hasPicture(old))
        receiver.withBytes(of: old) { #expect($0.allSatisfy { $0 == 0 }) }
        receiver.release(old)
        #expect(sender.takeReleases(), "a frame of long ago can be given back")
    }
}
