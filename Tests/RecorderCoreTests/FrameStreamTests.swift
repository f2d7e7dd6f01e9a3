import ArbiterProtocol
import CLinux
import FrameStream
import Glibc
import Testing

@Suite(.timeLimit(.minutes(10))) struct FrameStreamTests {
    static let layout = PictureLayout(width: 192, height: 144, pixelFormat: "420v")

    /// Sends a frame whose luma is `level`.
    private func send(
        _ level: UInt8, as sequence: UInt64, on sender: FrameSender, flags: FrameRecord.Flags = []
    ) {
        guard let index = sender.writable() else { return }
        sender.memory(index).copyBytes(from: [UInt8](repeating: level, count: Self.layout.bytes))
        sender.deliver(index, sequence: sequence, timestamp: Int64(sequence), flags: flags)
    }

    private func open() throws -> (FrameSender, FrameReceiver) {
        let (sender, theirs) = try FrameSender.open(layout: Self.layout)
        return (sender, FrameReceiver(adopting: theirs))
    }

    @Test func lateFramesAreDroppedAndTheNewestIsKept() throws {
        let (sender, receiver) = try open()
        for number in 1...10 as ClosedRange<UInt64> { send(UInt8(number), as: number, on: sender) }
        let first = try receiver.frame()
        #expect(first.record.sequence == 1)
        #expect(try receiver.frame().record.sequence == 2)
        #expect(try receiver.next(within: .zero) == .timedOut)
        receiver.release(first)
        #expect(sender.takeReleases())
        let newest = try receiver.frame()
        #expect(newest.record.sequence == 10)
        receiver.withBytes(of: newest) { #expect($0[0] == 10) }
        #expect(sender.framesDropped == 7)
    }

    @Test("A flagged frame that is replaced while it waits passes its flag on")
    func flagsOfReplacedFrames() throws {
        let (sender, receiver) = try open()
        for number in 1...2 as ClosedRange<UInt64> { send(1, as: number, on: sender) }
        send(2, as: 3, on: sender, flags: .configurationChanged)
        send(2, as: 4, on: sender)
        let first = try receiver.frame()
        #expect(first.record.flags.isEmpty)
        receiver.release(first)
        #expect(sender.takeReleases())
        #expect(try receiver.frame().record.sequence == 2)
        let newest = try receiver.frame()
        #expect(newest.record.sequence == 4 && newest.record.flags == .configurationChanged)
    }

    @Test func aClientThatReturnsNothingLosesFramesAndStallsNobody() throws {
        let (sender, theirs) = try FrameSender.open(layout: Self.layout)
        defer { close(theirs) }
        for number in 1...1000 as ClosedRange<UInt64> { send(1, as: number, on: sender) }
        #expect(sender.isOpen && sender.framesSent == UInt64(FrameSender.unreadMax))
    }

    @Test(arguments: [0, 3, 99] as [UInt32]) func aClientThatReturnsWhatItDoesNotHaveIsCutOff(index: UInt32) throws {
        let (sender, theirs) = try FrameSender.open(layout: Self.layout)
        defer { close(theirs) }
        let release = FrameRecord.release(index: index).encode()
        #expect(camarb_packet_send(theirs, release, release.count, -1) == 0)
        #expect(!sender.takeReleases() && !sender.isOpen)
    }

    @Test func aClosedStreamIsBlankInEveryMappingOfIt() throws {
        let (sender, receiver) = try open()
        for number in 1...4 as ClosedRange<UInt64> { send(200, as: number, on: sender) }
        let held = try receiver.frame()
        #expect(held.record.sequence == 1 && held.layout == Self.layout)
        receiver.withBytes(of: held) { bytes in
            #expect(bytes.count == Self.layout.bytes && bytes.allSatisfy { $0 == 200 }, "it is as it was written")
        }
        sender.close()
        var seen = 0
        receiver.withEveryBuffer { _, bytes in
            seen += 1
            #expect(bytes.allSatisfy { $0 == 0 })
        }
        #expect(seen == BufferPool.buffersUsual)
        while case .frame = try receiver.next(within: .seconds(20)) {}
        #expect(receiver.hasEnded)
    }

    @Test func buffersOfAnotherSizeAreAnnouncedAndOldOnesReturnedLateDoNoHarm() throws {
        let (sender, receiver) = try open()
        send(5, as: 1, on: sender)
        let old = try receiver.frame()
        let larger = PictureLayout(width: 320, height: 240, pixelFormat: "420v")
        sender.replaceBuffers(by: try BufferPool(layout: larger))
        receiver.withBytes(of: old) { #expect($0.allSatisfy { $0 == 0 }) }
        let index = try #require(sender.writable())
        sender.deliver(index, sequence: 2, timestamp: 2, flags: .configurationChanged)
        receiver.release(old)
        #expect(sender.takeReleases())
        let next = try receiver.frame()
        #expect(next.layout == larger && next.record.flags == .configurationChanged)
        receiver.release(next)
        #expect(sender.takeReleases())
    }

    @Test func aClientReadsOfOtherBuffersBeforeTheOldOnesAreBlanked() throws {
        let (sender, theirs) = try FrameSender.open(layout: Self.layout)
        defer { close(theirs) }
        var record = [UInt8](repeating: 0, count: FrameRecord.encodedBytes)
        var buffer: Int32 = -1
        func widths() -> [UInt32] {
            var seen: [UInt32] = []
            while camarb_packet_receive(theirs, &record, record.count, &buffer, 0) == record.count {
                if buffer >= 0 { close(buffer) }
                if case .buffer(let announced)? = FrameRecord(decoding: record[...]) { seen.append(announced.width) }
            }
            return seen
        }
        #expect(widths().allSatisfy { $0 == UInt32(Self.layout.width) })
        var seenBefore: [[UInt32]] = []
        sender.onPoolFree = { pool in
            seenBefore.append(widths())
            pool.blank()
        }
        sender.replaceBuffers(by: try BufferPool(layout: PictureLayout(width: 320, height: 240, pixelFormat: "420v")))
        #expect(seenBefore == [[UInt32](repeating: 320, count: BufferPool.buffersUsual)])
    }
}
