import ArbiterProtocol
import CLinux
import FrameStream
import Glibc
import Testing

/// What a receiver believes of what comes on a stream, with a recorder core that says anything.
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

    /// Announces a buffer in a memfd with these seals.
    private func announce(
        _ index: UInt32 = 0, stride: Int = layout.stride, pixelFormat: String = "420v", bytes: Int? = nil,
        memory: Int? = nil, seals: Int32 = allSeals, on ours: Int32
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
        try #require(camarb_packet_send(ours, record, record.count, descriptor) == 0)
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
        "A memfd that lacks one of the seals is refused, and one with all of them is not",
        arguments: [0] + eachSeal)
    func sealsAreChecked(missing: Int32) throws {
        let (ours, receiver) = try pair()
        defer { close(ours) }
        try announce(seals: Self.allSeals & ~missing, on: ours)
        try send(1, on: ours)
        let said = fault(receiver)
        #expect(missing == 0 ? said == nil : said?.contains("not sealed") == true, "\(said ?? "nothing")")
    }

    @Test("A buffer that is smaller than was said, or than its picture, is refused")
    func sizes() throws {
        let (ours, receiver) = try pair()
        defer { close(ours) }
        try announce(memory: 4096, on: ours)
        #expect(fault(receiver)?.contains("smaller than was said") == true)
        let (others, second) = try pair()
        defer { close(others) }
        try announce(bytes: 4096, on: others)
        #expect(fault(second)?.contains("has 4096 bytes, where a picture of 192x144 has") == true)
    }

    @Test("Memory that is no memfd of ordinary pages is refused, whatever its seals")
    func kindsOfMemory() throws {
        var pipe: [Int32] = [-1, -1]
        try #require(Glibc.pipe(&pipe) == 0)
        defer { for end in pipe { close(end) } }
        let (ours, receiver) = try pair()
        defer { close(ours) }
        let record = FrameRecord.buffer(
            FrameRecord.Buffer(
                index: 0, width: 192, height: 144, stride: UInt32(Self.layout.stride), pixelFormat: "420v",
                bytes: UInt64(Self.layout.bytes))
        ).encode()
        try #require(camarb_packet_send(ours, record, record.count, pipe[0]) == 0)
        #expect(fault(receiver)?.contains("not sealed") == true)
    }

    @Test("Rows may be longer than pixels, and not shorter")
    func strides() throws {
        let (ours, receiver) = try pair()
        defer { close(ours) }
        try announce(stride: 200, on: ours)
        try send(1, on: ours)
        guard case .frame(let frame) = try receiver.next(within: .seconds(20)) else {
            Issue.record("no frame came")
            return
        }
        #expect(frame.layout.stride == 200 && frame.layout.bytes == 200 * 144 * 3 / 2)
        let (others, second) = try pair()
        defer { close(others) }
        try announce(stride: 191, on: others)
        #expect(fault(second)?.contains("rows of 191 bytes") == true)
    }

    @Test func aPixelFormatThatNobodyCanReadIsRefused() throws {
        let (ours, receiver) = try pair()
        defer { close(ours) }
        try announce(pixelFormat: "BGRA", on: ours)
        #expect(fault(receiver)?.contains("neither 420v nor 420f") == true)
    }

    @Test func aFrameInABufferThatWasNotGivenBackIsAFault() throws {
        let (ours, receiver) = try pair()
        defer { close(ours) }
        try announce(on: ours)
        try send(1, on: ours)
        guard case .frame(let first) = try receiver.next(within: .seconds(20)) else { return }
        receiver.release(first)
        try send(2, on: ours)
        guard case .frame = try receiver.next(within: .seconds(20)) else {
            Issue.record("a buffer that was given back could not be used again")
            return
        }
        try send(3, on: ours)
        #expect(fault(receiver)?.contains("was not given back") == true)
    }

    @Test func buffersThatAreAnnouncedAfterAFrameAreAnotherGeneration() throws {
        let (sender, theirs) = try FrameSender.open(layout: Self.layout)
        let receiver = FrameReceiver(adopting: theirs)
        let index = try #require(sender.writable())
        sender.deliver(index, sequence: 1, timestamp: 1, flags: [])
        guard case .frame(let old) = try receiver.next(within: .seconds(20)) else { return }
        #expect(receiver.hasPicture(old))
        // As often as a client changes the format: what the stream does not use any more is not kept.
        for _ in 0..<600 {
            try sender.replaceBuffers(layout: Self.layout)
            let index = try #require(sender.writable())
            sender.deliver(index, sequence: 2, timestamp: 2, flags: [])
            guard case .frame(let next) = try receiver.next(within: .seconds(20)) else {
                Issue.record("no frame came in the new buffers")
                return
            }
            receiver.release(next)
            #expect(sender.takeReleases())
        }
        #expect(!receiver.hasPicture(old))
        receiver.withBytes(of: old) { #expect($0.allSatisfy { $0 == 0 }) }
        receiver.release(old)
        #expect(sender.takeReleases(), "a frame of long ago can be given back")
    }
}
