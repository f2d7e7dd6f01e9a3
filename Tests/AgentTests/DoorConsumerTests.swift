import Agent
import ArbiterProtocol
import BusTesting
import CLinux
import CPipeWire
import FrameStream
import Glibc
import System
import Testing

/// A consumer's pictures and slates, with streams of a real sender like a recorder core's.
@Suite("What a program in PipeWire is shown", .timeLimit(.minutes(10)))
struct DoorConsumerTests {
    /// Rows are longer than the picture is wide.
    private static let layout = PictureLayout(width: 96, height: 64, pixelFormat: "420v")
    private static let format = DoorFormat(width: 96, height: 64, rate: 30)

    private enum Shown: Hashable {
        case slate(DoorSlate)
        /// With every value that its two planes have.
        case picture(luma: Set<UInt8>, chroma: Set<UInt8>, width: UInt32, height: UInt32, captured: Int64)

        /// As `send` makes it.
        static func picture(_ level: UInt8) -> Shown {
            .picture(luma: [level], chroma: [level + 1], width: 96, height: 64, captured: Int64(level))
        }

        static let waiting = Shown.slate(.waiting)
    }

    private final class Screen: DoorScreen {
        private(set) var shown: [Shown] = []
        var whilePicture: () -> Void = {}

        func show(_ slate: DoorSlate) { shown.append(.slate(slate)) }

        func show(_ picture: camarb_door_picture) {
            func values(_ plane: UnsafePointer<UInt8>?, rows: UInt32) -> Set<UInt8> {
                guard let plane else { return [] }
                return (0..<Int(rows)).reduce(into: []) { values, row in
                    values.formUnion(
                        UnsafeBufferPointer(start: plane + row * Int(picture.stride), count: Int(picture.width)))
                }
            }
            shown.append(
                .picture(
                    luma: values(picture.luma, rows: picture.height),
                    chroma: values(picture.chroma, rows: picture.height / 2),
                    width: picture.width, height: picture.height, captured: picture.captured))
            whilePicture()
        }
    }

    private final class Supply: DoorSupply {
        enum Call: Hashable {
            case want(DoorFormat?)
            case streamEnded(Int)
            case close
        }
        private(set) var calls: [Call] = []

        func want(_ format: DoorFormat?) { calls.append(.want(format)) }
        func streamEnded(_ number: Int) { calls.append(.streamEnded(number)) }
        func close() { calls.append(.close) }
    }

    private final class World {
        let loop: EventLoop
        let screen = Screen()
        let supply = Supply()
        private(set) var consumer: DoorConsumer!
        /// How often the door was told that a frame had been shown.
        private(set) var frames = 0

        init() throws {
            loop = try EventLoop()
            consumer = DoorConsumer(camera: 1, owner: .process(1), on: screen, loop, supply) { [unowned self] in
                frames += 1
            }
        }

        static func streaming() throws -> (World, FrameSender) {
            let world = try World()
            return (world, try world.stream(1))
        }

        func stream(_ number: Int) throws -> FrameSender {
            let (sender, theirs) = try FrameSender.open(layout: layout)
            consumer.take(.stream(number, PassedOn(owning: theirs)))
            return sender
        }

        /// Until this was shown and nothing else, and all is done that was due.
        func shows(_ expected: [Shown], at place: SourceLocation = #_sourceLocation) throws {
            try loop.turn(until: { screen.shown.count >= expected.count }, "\(expected.count) things to be shown")
            try loop.turnWhatIsDue()
            #expect(screen.shown == expected, sourceLocation: place)
        }

        /// Until the sender's other end is closed.
        func ends(_ sender: FrameSender) throws { try loop.turn(until: { !sender.takeReleases() }, "the stream's end") }
    }

    /// A frame whose luma has this level, its chroma the next one, and what is behind its rows others. It was taken at so many
    /// nanoseconds.
    private func send(_ level: UInt8, on sender: FrameSender) throws {
        let index = try #require(sender.writable(), "a buffer, since all were given back")
        let memory = sender.memory(index)
        for place in 0..<Self.layout.bytes {
            let plane: UInt8 = place < Self.layout.lumaBytes ? 0 : 1
            memory[place] = level + plane + (place % Self.layout.stride < Self.layout.width ? 0 : 100)
        }
        sender.deliver(index, sequence: UInt64(level), timestamp: Int64(level), flags: [])
    }

    private static let interrupted = DoorSlate(
        kind: .interrupted, reason: "video-device-in-use-by-another-client", interrupter: "cheese")

    @Test("A program that begins to take pictures sees that it waits, and then each picture as it was taken")
    func pictures() throws {
        let world = try World()
        world.consumer.runs(Self.format)
        let sender = try world.stream(1)
        var expected = [Shown.waiting]
        try world.shows(expected)
        // More than there are buffers, which are given back.
        for level in UInt8(20)..<40 {
            try send(level, on: sender)
            expected.append(.picture(level))
            try world.shows(expected)
            #expect(sender.takeReleases())
        }
        #expect(sender.framesDropped == 0 && world.frames == 20 && world.supply.calls == [.want(Self.format)])
    }

    @Test("Of the frames that are there it shows the newest, and gives all back")
    func newest() throws {
        let (world, sender) = try World.streaming()
        for level in [UInt8(20), 30, 40, 50] {
            for level in level...level + 1 { try send(level, on: sender) }
            try world.loop.turnWhatIsDue()
            #expect(sender.takeReleases())
            // That it waits cuts nothing: the pictures go on.
            if level == 30 { world.consumer.take(.slate(.waiting)) }
        }
        #expect(world.screen.shown == [.picture(21), .picture(31), .waiting, .picture(41), .picture(51)])
        #expect(sender.framesSent == 8 && sender.framesDropped == 0 && world.frames == 4)
    }

    @Test("A frame goes back when it has been copied, and not before, so that nothing is written into it meanwhile")
    func givenBackAfterwards() throws {
        let (world, sender) = try World.streaming()
        var sent: UInt64?
        world.screen.whilePicture = {
            guard sent == nil else { return }
            // Of three frames, two are with a receiver that has given none back.
            #expect(sender.takeReleases())
            #expect(throws: Never.self) { for level in UInt8(21)...22 { try send(level, on: sender) } }
            sent = sender.framesSent
        }
        try send(20, on: sender)
        try world.shows([.picture(20), .picture(21)])
        #expect(sent == 2)
        #expect(sender.takeReleases())
        try world.shows([.picture(20), .picture(21), .picture(22)])
    }

    @Test("With another size in the stream its pictures have that size")
    func anotherSize() throws {
        let (world, sender) = try World.streaming()
        try send(20, on: sender)
        try world.shows([.picture(20)])
        #expect(sender.takeReleases())
        sender.replaceBuffers(by: try BufferPool(layout: PictureLayout(width: 192, height: 32, pixelFormat: "420v")))
        let index = try #require(sender.writable())
        let memory = sender.memory(index)
        for place in memory.indices { memory[place] = place < sender.layout.lumaBytes ? 7 : 8 }
        sender.deliver(index, sequence: 2, timestamp: 9, flags: [])
        try world.shows([.picture(20), .picture(luma: [7], chroma: [8], width: 192, height: 32, captured: 9)])
    }

    @Test(
        "Nothing that was taken before the cut is shown behind its slate",
        arguments: [
            interrupted, DoorSlate(kind: .switchedOff, reason: "video-device-blocked-by-privacy"),
            DoorSlate(kind: .noAccess, reason: "denied-by-policy"), DoorSlate(kind: .noBroker),
        ])
    func slateEndsTheStream(slate: DoorSlate) throws {
        let world = try World()
        world.consumer.runs(Self.format)
        let sender = try world.stream(1)
        try send(20, on: sender)
        try world.shows([.waiting, .picture(20)])
        #expect(sender.takeReleases())
        try send(21, on: sender)
        world.consumer.take(.slate(slate))
        #expect(world.screen.shown == [.waiting, .picture(20), .slate(slate)], "at once")
        try world.shows([.waiting, .picture(20), .slate(slate)])
        try world.ends(sender)
        #expect(world.frames == 1)
        #expect(world.supply.calls == [.want(Self.format)], "its session knows of the cut, and nothing ended by itself")
    }

    @Test(
        "A stream that ends by itself leaves a program waiting, whatever it saw before, and its session is told which one it was"
    )
    func streamEnds() throws {
        let world = try World()
        world.consumer.take(.slate(Self.interrupted))
        let sender = try world.stream(7)
        try send(20, on: sender)
        try world.shows([.slate(Self.interrupted), .picture(20)])
        sender.close()
        try world.shows([.slate(Self.interrupted), .picture(20), .waiting])
        #expect(world.supply.calls == [.streamEnded(7)])
    }

    @Test("Between a stream's end and why it was cut a program does not see that it waits")
    func noFlicker() throws {
        let (world, sender) = try World.streaming()
        try send(20, on: sender)
        try world.shows([.picture(20)])
        sender.close()
        try world.loop.turn(until: { !world.supply.calls.isEmpty }, "the stream's end")
        #expect(world.screen.shown == [.picture(20)])
        world.consumer.take(.slate(Self.interrupted))
        let next = try world.stream(2)
        try send(30, on: next)
        try world.shows([.picture(20), .slate(Self.interrupted), .picture(30)])
    }

    @Test("A frame with the stream's end behind it is not shown, since its buffer may be blank by now")
    func frameBeforeTheEnd() throws {
        let (world, sender) = try World.streaming()
        try send(20, on: sender)
        sender.close()
        try world.shows([.waiting])
        #expect(world.supply.calls == [.streamEnded(1)] && world.frames == 0)
    }

    @Test("A stream that says what no recorder core says ends with a sentence, and its session is told")
    func fault() throws {
        let world = try World()
        var (ours, theirs): (Int32, Int32) = (-1, -1)
        try #require(camarb_packet_pair(&ours, &theirs) == 0)
        defer { close(ours) }
        world.consumer.take(.stream(3, PassedOn(owning: theirs)))
        let record = FrameRecord.frame(FrameRecord.Frame(index: 0, sequence: 1, timestamp: 1, bytes: 0)).encode()
        try #require(camarb_packet_send(ours, record, record.count, -1) == 0)
        try world.loop.turn(until: { !world.screen.shown.isEmpty }, "a slate")
        let sentence = "a frame came in buffer 0, which was never announced"
        try world.shows([.slate(DoorSlate(kind: .noAccess, reason: sentence))])
        #expect(world.supply.calls == [.streamEnded(3)])
    }

    @Test("A stream takes the place of the one before, of which nothing is shown any more")
    func replaced() throws {
        let world = try World()
        let first = try world.stream(1)
        try send(20, on: first)
        let second = try world.stream(2)
        try send(30, on: second)
        try world.shows([.picture(30)])
        try world.ends(first)
        #expect(second.takeReleases())
        #expect(world.supply.calls == [])
    }

    @Test("A stream that somebody else has taken is none")
    func takenStream() throws {
        let world = try World()
        let (sender, theirs) = try FrameSender.open(layout: Self.layout)
        let passedOn = PassedOn(owning: theirs)
        #expect(passedOn.take() == theirs && passedOn.take() == -1)
        world.consumer.take(.stream(1, passedOn))
        try world.shows([])
        close(theirs)
        try world.ends(sender)
    }

    @Test("A program that pauses sees nothing more, and waits when it goes on; another format in between is no pause")
    func pauses() throws {
        let world = try World()
        let small = DoorFormat(width: 64, height: 48, rate: 15)
        world.consumer.runs(Self.format)
        let first = try world.stream(1)
        world.consumer.runs(small)
        try send(20, on: first)
        try world.shows([.waiting, .picture(20)])
        #expect(first.takeReleases())
        try send(21, on: first)
        world.consumer.pauses()
        try world.shows([.waiting, .picture(20)])
        try world.ends(first)
        world.consumer.runs(Self.format)
        try world.shows([.waiting, .picture(20), .waiting])
        #expect(world.supply.calls == [.want(Self.format), .want(small), .want(nil), .want(Self.format)])
    }

    @Test("Owners are told apart by their numbers, a process from a connection of the same number too")
    func owners() {
        let owners: [DoorConsumer.Owner] = [
            .process(0), .process(1), .process(.max), .process(-1), .connection(0), .connection(1), .connection(.max),
        ]
        #expect(Set(owners.map(\.number)).count == owners.count)
    }
}
