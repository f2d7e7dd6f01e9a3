import ArbiterProtocol
import CLinux
import Camarb
import FrameStream
import Glibc
import Synchronization
import Testing

/// A session's pictures, with a broker in memory and a real stream.
@Suite("A session's pictures", .timeLimit(.minutes(10)))
struct PicturesTests {
    static let layout = PictureLayout(width: 192, height: 144, pixelFormat: "420v")

    /// The answers of `OpenStream`, one after the other; after the last it is refused.
    final class Streams: Sendable {
        private let answers: Mutex<[Result<Int32, BrokerError>]>
        init(_ answers: [Result<Int32, BrokerError>]) { self.answers = Mutex(answers) }

        func next() throws(BrokerError) -> [WireValue] {
            let answer: Result<Int32, BrokerError> = answers.withLock { answers in
                answers.isEmpty
                    ? .failure(BrokerError(.notRunning, "There is no further stream.")) : answers.removeFirst()
            }
            return [.fileDescriptor(try answer.get())]
        }
    }

    static func broker(_ streams: [Result<Int32, BrokerError>]) -> FalseBroker {
        let streams = Streams(streams)
        return FalseBroker { _, call throws(BrokerError) in
            call.member == "OpenStream" ? try streams.next() : try FalseBroker.standardAnswer(call)
        }
    }

    /// Sends a frame whose luma is `level`, and whose chroma is one more.
    static func send(_ level: UInt8, as sequence: UInt64, on sender: FrameSender, flags: FrameRecord.Flags = []) {
        guard let index = sender.writable() else { return }
        let memory = sender.memory(index)
        for place in 0..<sender.layout.bytes { memory[place] = place < sender.layout.lumaBytes ? level : level + 1 }
        sender.deliver(index, sequence: sequence, timestamp: Int64(sequence), flags: flags)
    }

    /// A session that runs under grant 1, and somebody who looks at its pictures.
    struct Looking: ~Copyable {
        let broker: FalseBroker
        let client: CameraClient
        let lease: SessionLease
        var pictures: Pictures.AsyncIterator
        /// The other ends of the streams that the broker has.
        let senders: [FrameSender]

        init(at broker: FalseBroker, senders: [FrameSender] = []) async throws {
            let client = try Brokers.client([broker], reconnects: false)
            let lease = try await client.makeSession(camera: "back")
            broker.tell(.didStartRunning(GrantID(1)))
            self.broker = broker
            self.client = client
            self.senders = senders
            pictures = lease.handle.pictures.makeAsyncIterator()
            self.lease = lease
        }

        var session: SessionHandle { lease.handle }
        consuming func close() async throws { try await lease.close() }

        init(streams count: Int = 1) async throws {
            let streams = try (0..<count).map { _ in try FrameSender.open(layout: layout) }
            try await self.init(at: PicturesTests.broker(streams.map { .success($0.1) }), senders: streams.map { $0.0 })
        }

        var opened: Int { broker.callsSoFar.count { $0.member == "OpenStream" } }
    }

    /// Waits for what another thread does; the suite's limit bounds it.
    private func until(_ condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(1)) }
    }

    private func error(_ body: () async throws -> Void) async -> BrokerError? {
        do {
            try await body()
            return nil
        } catch { return error as? BrokerError }
    }

    @Test("A picture is what was captured, plane by plane, and goes back when nobody has it any more")
    func aPictureComesAndGoesBack() async throws {
        var looking = try await Looking()
        let sender = looking.senders[0]
        Self.send(77, as: 1, on: sender, flags: .slate)
        var picture = try await looking.pictures.next()
        do {
            let first = try #require(picture)
            #expect(first.width == 192 && first.height == 144 && first.pixelFormat == "420v")
            #expect(first.sequence == 1 && first.grant == GrantID(1) && first.flags == .slate)
            #expect(first.captured == Moment(nanoseconds: 1))
            #expect(first.y.width == 192 && first.y.height == 144 && first.y.bytesPerRow == 192)
            #expect(first.cbcr.width == 96 && first.cbcr.height == 72 && first.cbcr.bytesPerRow == 192)
            first.y.withBytes { bytes in
                #expect(bytes.byteCount == 192 * 144)
                #expect(
                    (0..<bytes.byteCount).allSatisfy { bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) == 77 })
            }
            first.cbcr.withUnsafeBytes { bytes in #expect(bytes.count == 192 * 72 && bytes.allSatisfy { $0 == 78 }) }
            #expect(first.isIntact)
        }
        for number in 2...20 as ClosedRange<UInt64> {
            // The one before goes back when the next one takes its place.
            picture = nil
            Self.send(UInt8(number), as: number, on: sender)
            picture = try await looking.pictures.next()
            #expect(picture?.sequence == number)
            try await until { sender.takeReleases() && sender.framesSent == number }
        }
        #expect(sender.framesDropped == 0)
        try await looking.close()
    }

    @Test("Nothing is opened before somebody looks, and while a session may not preview")
    func nothingIsOpenedEarly() async throws {
        let (sender, theirs) = try FrameSender.open(layout: Self.layout)
        let broker = Self.broker([.success(theirs)])
        let session = try await OpenSession(at: [broker])
        broker.tell(.didStartRunning(GrantID(1)))
        try await session.handle.ready(for: 1)
        #expect(!broker.callsSoFar.contains { $0.member == "OpenStream" })
        broker.tell(.accessChanged(AccessChange(.photo, causes: CauseSet(), rule: "r")))
        try await session.handle.ready(for: 1)
        var pictures = session.handle.pictures.makeAsyncIterator()
        try await session.handle.ready(for: 1)
        #expect(!broker.callsSoFar.contains { $0.member == "OpenStream" })
        broker.tell(.accessChanged(AccessChange(.all, causes: CauseSet(), rule: "r")))
        Self.send(5, as: 1, on: sender)
        #expect(try await pictures.next()?.sequence == 1)
        try await session.close()
    }

    @Test(
        "Over an interruption and a switch of cameras the pictures simply go on, with those of the next grant, opened once",
        arguments: [false, true])
    func picturesGoOn(isSwitch: Bool) async throws {
        var looking = try await Looking(streams: 2)
        let (first, second) = (looking.senders[0], looking.senders[1])
        Self.send(1, as: 1, on: first)
        let kept = try #require(try await looking.pictures.next())
        if isSwitch { try await looking.session.configure(Configuration([.camera: .text("front")])) }
        // One more lies there when the camera is taken away: it is blank, and nobody sees it.
        Self.send(2, as: 2, on: first)
        first.close()
        #expect(!kept.isIntact)
        if !isSwitch { looking.broker.tell(.interrupted()) }
        looking.broker.tell(.didStopRunning)
        if !isSwitch { looking.broker.tell(.uninterrupted()) }
        looking.broker.tell(.didStartRunning(GrantID(2)))
        if isSwitch {
            looking.broker.tell(.connectionsFormed(camera: CameraID("front"), reopen: [.preview]))
        }
        Self.send(9, as: 1, on: second)
        let next = try #require(try await looking.pictures.next())
        #expect(next.grant == GrantID(2) && next.isIntact)
        next.y.withUnsafeBytes { #expect($0[0] == 9) }
        // A picture of a stream that is over is black, and can be read for as long as it is kept.
        kept.y.withUnsafeBytes { bytes in #expect(bytes.allSatisfy { $0 == 0 }) }
        #expect(looking.opened == 2)
        try await looking.close()
    }

    @Test("Whoever is slow gets the newest picture, and the flags of those that were dropped")
    func theNewestIsKept() async throws {
        var looking = try await Looking()
        let sender = looking.senders[0]
        Self.send(1, as: 1, on: sender)
        #expect(try await looking.pictures.next()?.sequence == 1)
        for number in 2...9 as ClosedRange<UInt64> {
            // Read, and given back for the next one, while nobody asks.
            Self.send(1, as: number, on: sender, flags: number == 3 ? .configurationChanged : [])
            try await until { sender.takeReleases() && sender.framesSent == number }
        }
        let newest = try #require(try await looking.pictures.next())
        #expect(newest.sequence >= 8 && newest.flags == .configurationChanged)
        #expect(sender.framesDropped == 0)
        try await looking.close()
    }

    @Test("Two pictures that are kept stall nobody: frames are dropped, and the newest comes when one is gone")
    func keepingPictures() async throws {
        var looking = try await Looking()
        let sender = looking.senders[0]
        Self.send(1, as: 1, on: sender)
        var first = try await looking.pictures.next()
        Self.send(2, as: 2, on: sender)
        let second = try await looking.pictures.next()
        for number in 3...9 as ClosedRange<UInt64> { Self.send(UInt8(number), as: number, on: sender) }
        #expect(sender.isOpen && sender.framesSent == 2)
        #expect(first?.sequence == 1 && second?.sequence == 2)
        first = nil
        try await until { sender.takeReleases() && sender.framesSent == 3 }
        #expect(try await looking.pictures.next()?.sequence == 9)
        #expect(second?.isIntact == true)
        try await looking.close()
    }

    @Test("What was copied from a picture is intact until other buffers, or the end, have been said")
    func intactness() async throws {
        var looking = try await Looking()
        let sender = looking.senders[0]
        Self.send(1, as: 1, on: sender)
        let before = try #require(try await looking.pictures.next())
        #expect(before.isIntact)
        sender.replaceBuffers(by: try BufferPool(layout: Self.layout))
        #expect(!before.isIntact)
        Self.send(2, as: 2, on: sender)
        let after = try #require(try await looking.pictures.next())
        #expect(after.sequence == 2 && after.isIntact)
        sender.close()
        #expect(!after.isIntact)
        try await looking.close()
    }

    @Test(
        "A stream that is refused for good, or whose memory is not sealed, is a fault, once, and the next grant's pictures come",
        arguments: [true, false])
    func faults(isRefused: Bool) async throws {
        var (ours, theirs): (Int32, Int32) = (-1, -1)
        try #require(camarb_packet_pair(&ours, &theirs) == 0)
        let unsealed = camarb_memfd("test", UInt64(Self.layout.bytes))
        defer { for descriptor in [ours, unsealed] { close(descriptor) } }
        let record = FrameRecord.buffer(
            FrameRecord.Buffer(
                index: 0, width: 192, height: 144, stride: UInt32(Self.layout.stride), pixelFormat: "420v",
                bytes: UInt64(Self.layout.bytes))
        ).encode()
        try #require(camarb_packet_send(ours, record, record.count, unsealed) == 0)
        let refusal = BrokerError(.accessDenied, "No.")
        let (sender, secondEnd) = try FrameSender.open(layout: Self.layout)
        let broker = Self.broker([isRefused ? .failure(refusal) : .success(theirs), .success(secondEnd)])
        let session = try await OpenSession(at: [broker])
        broker.tell(.didStartRunning(GrantID(1)))
        let pictures = session.handle.pictures
        let fault = await error { for try await _ in pictures { Issue.record("a picture came") } }
        if isRefused {
            close(theirs)
            #expect(fault == refusal)
        } else {
            #expect(fault?.kind == .recorderFault && fault?.message.contains("not sealed") == true)
        }
        // It would be no better in the same grant.
        #expect(broker.callsSoFar.count { $0.member == "OpenStream" } == 1)
        var again = pictures.makeAsyncIterator()
        broker.tell(.didStopRunning, .didStartRunning(GrantID(2)))
        Self.send(1, as: 1, on: sender)
        #expect(try await again.next()?.grant == GrantID(2))
        try await session.close()
    }

    @Test("A stream that ends, or is refused, while the session runs is opened anew after a moment")
    func aStreamIsOpenedAnew() async throws {
        let (first, firstEnd) = try FrameSender.open(layout: Self.layout)
        let (second, secondEnd) = try FrameSender.open(layout: Self.layout)
        let refusal = BrokerError(.limitExceeded, "One stream a second.")
        var looking = try await Looking(at: Self.broker([.success(firstEnd), .failure(refusal), .success(secondEnd)]))
        Self.send(1, as: 1, on: first)
        #expect(try await looking.pictures.next()?.sequence == 1)
        first.close()
        Self.send(3, as: 7, on: second)
        #expect(try await looking.pictures.next()?.sequence == 7)
        #expect(looking.opened == 3)
        try await looking.close()
    }

    @Test("A session that its client closed has no more pictures, and one that is lost says why")
    func pictureEnds() async throws {
        let broker = Self.broker([])
        let client = try Brokers.client([broker], reconnects: false)
        let session = try await client.makeSession()
        let pictures = session.handle.pictures
        async let seen: Int = {
            var count = 0
            for try await _ in pictures { count += 1 }
            return count
        }()
        try await session.close()
        #expect(try await seen == 0)

        let lost = try await client.makeSession()
        let others = lost.handle.pictures
        broker.end()
        #expect(await error { for try await _ in others {} } == .gone)
    }

    @Test("A cancelled reader leaves, and another goes on; whoever looks again later sees what is, and not what was")
    func cancellation() async throws {
        let (sender, theirs) = try FrameSender.open(layout: Self.layout)
        let broker = Self.broker([.success(theirs)])
        let session = try await OpenSession(at: [broker])
        let pictures = session.handle.pictures
        let reader = Task { for try await _ in pictures {} }
        reader.cancel()
        try await reader.value
        do {
            var another = pictures.makeAsyncIterator()
            broker.tell(.didStartRunning(GrantID(1)))
            Self.send(1, as: 1, on: sender)
            #expect(try await another.next()?.sequence == 1)
        }
        // Nobody reads: two are sent, and of the others the sender keeps the newest.
        for number in 2...40 as ClosedRange<UInt64> { Self.send(1, as: number, on: sender) }
        var again = pictures.makeAsyncIterator()
        try await until { sender.takeReleases() && sender.framesSent + sender.framesDropped == 40 }
        #expect(try await again.next()?.sequence == 40)
        try await session.close()
    }

    @Test("A client that is let go of ends the thread that reads its streams, and closes them")
    func theThreadEnds() async throws {
        let sender: FrameSender
        do {
            var looking = try await Looking()
            sender = looking.senders[0]
            Self.send(1, as: 1, on: sender)
            #expect(try await looking.pictures.next()?.sequence == 1)
        }
        // The socket is closed by the thread, which keeps what it watches until it ends.
        try await until { !sender.takeReleases() }
        #expect(!sender.isOpen)
    }
}
