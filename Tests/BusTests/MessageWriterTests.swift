import ArbiterProtocol
import Bus
import BusTesting
import Glibc
import System
import Testing

@Suite("Messages that are written", .timeLimit(.minutes(10)))
struct MessageWriterTests {
    private static let values: [[WireValue]] = [
        [], [.boolean(true)], [.uint64(7), .uint64(8), .uint64(9)], [.string(""), .string("ä \u{1F3A5}")],
        [.boolean(false), .uint64(.max)], [.string("a"), .int64(-1), .string("bcd"), .double(2.5)],
        [.strings([]), .uint32(3)], [.strings(["x", "", "yz"])],
        [.array(type: "x", []), .array(type: "x", [.int64(.min), .int64(1)])],
        [.dictionary([:])],
        [
            .dictionary([
                "a": .uint64(1), "long key": .strings(["p", "q"]), "d": .double(-0.5), "o": .objectPath("/a/b"),
            ])
        ],
        [.dictionaries([]), .boolean(true)],
        [
            .dictionaries([
                ["n": .dictionary(["inside": .int32(-4)])], [:], ["s": .string(String(repeating: "z", count: 300))],
            ])
        ],
        [.structure(of: [0.25, 1]), .array(type: "d", [.double(2)])],
        [
            .boolean(false), .int32(-5), .uint32(.max), .int64(.min), .objectPath("/org/camarb"),
            .dictionaries([["b": .boolean(true), "as": .strings(["x", ""]), "in": .dictionary(["d": .double(0.5)])]]),
        ],
    ]

    @Test("Calls, answers and signals of all kinds are read as they were meant", arguments: values.indices)
    func allKinds(index: Int) throws {
        let values = Self.values[index]
        let pair = try Pair()
        pair.serverSide.onMessage = { message in
            let arguments = try? message.arguments()
            #expect(arguments == values)
            message.connection.signal(path: "/a/b", interface: "org.camarb.Test", member: "Said", values)
            message.answer(values)
        }
        #expect(try pair.echo(values).get() == values)
        let signal = try #require(pair.clientSide.messages.first)
        #expect(signal.kind == .signal)
        #expect(signal.path == "/a/b" && signal.interface == "org.camarb.Test" && signal.member == "Said")
        #expect(signal.sender == ":1.0")
        #expect(try signal.arguments() == values)
    }

    private static let status = BrokerStatus {
        ($0.version, $0.policy, $0.moment, $0.decision) = ("1", "desktop", Moment(nanoseconds: 4), 5)
        $0.placements = [1, 2].map { user in PlacementStatus { ($0.user, $0.standing) = (user, .lost) } }
        $0.unknown = [.windows]
        $0.loginSessions = [LoginSessionStatus { ($0.id, $0.user, $0.seat, $0.isActive) = ("c1", 3, "seat0", true) }]
        $0.budgets = [nil, 5].map { user in
            BudgetUse { ($0.user, $0.resource, $0.used, $0.most) = (user, "sessions", 3, 64) }
        }
        $0.cameras = [
            CameraStatus {
                ($0.camera, $0.name, $0.position, $0.present) = (CameraID("front"), "Front ä", .front, true)
                ($0.tenancy, $0.holder, $0.session) = (.streaming, .app("photos"), SessionID(1))
                ($0.generation, $0.waiting) = (2, [.app("call"), .anotherUsersApp])
            }
        ]
        $0.sessions = (1...3 as ClosedRange<UInt64>).map { number in
            SessionStatus {
                ($0.session, $0.app) = (SessionID(number), .app(String(repeating: "a", count: Int(number))))
                ($0.camera, $0.state, $0.access) = (CameraID("front"), .running, .all)
                $0.causes = CauseSet([.videoDeviceNotAvailableInBackground])
            }
        }
        $0.hasMoreSessions = true
    }

    @Test("A status is written as its dictionaries say, and what was kept of one is right at every place")
    func statusIsWritten() throws {
        let status = Self.status
        let (pair, wire) = (try Pair(), status.answer)
        var sessions: MessageWriter.Part?
        // All but the first message have the sessions that were kept of it, behind so many numbers.
        for count in [0, 1, 2, 3, 1] {
            let numbers = (0..<count).map { WireValue.uint32(UInt32($0)) }
            let values: [WireValue] = Array(wire.prefix(2)) + numbers + [wire[2], .boolean(true)]
            pair.serverSide.onMessage = { message in
                message.answer("a{sv}aa{sv}" + String(repeating: "u", count: count) + "aa{sv}b") { writer in
                    writer.append(status)
                    writer.append(each: status.cameras)
                    for number in 0..<count { writer.append(UInt32(number)) }
                    writer.append(kept: &sessions) { writer in writer.append(each: status.sessions) }
                    writer.append(true)
                }
            }
            #expect(try pair.echo([]).get() == values)
        }
        #expect(try BrokerStatus(answer: wire) == status)
        #expect(sessions != nil)
    }

    @Test("A text ends at a zero byte, and the message stays whole")
    func zeroBytes() throws {
        let pair = try Pair()
        pair.serverSide.onMessage = { $0.answer([.string("a\0b"), .uint32(5)]) }
        #expect(try pair.echo([]).get() == [.string("a"), .uint32(5)])
    }

    /// More than the kernel takes at once, to a peer that reads late: nothing is lost, doubled or reordered.
    @Test("What a peer has not read yet waits, and comes in order, what brings descriptors among it")
    func lateReader() throws {
        let pair = try Pair()
        let text = String(repeating: "t", count: 900)
        try pair.ready()
        // 180 KiB: more than a socket's buffer, and less than a peer may leave unread.
        for number in 0..<180 as Range<UInt64> {
            pair.server.tell("Tick", .uint64(number), .string(text))
        }
        try pair.loop.turn(until: { pair.clientSide.messages.count == 180 }, "180 signals")
        #expect(
            try pair.clientSide.messages.map { try $0.arguments() }
                == (0..<180).map { [.uint64($0), .string(text)] })
        #expect(pair.serverSide.ends.isEmpty)
    }

    /// As libraries do that wait until all their calls are written.
    @Test(
        "A client that writes calls until nothing more fits, and reads nothing before, gets its answers, and the loop rests"
    )
    func writesFirst() throws {
        let pair = try Pair()
        try pair.ready()
        let text = String(repeating: "t", count: 1000)
        var answers = 0
        // 200 KiB each way.
        for _ in 0..<200 {
            pair.call("Echo", [.string(text)]) { result in if case .success = result { answers += 1 } }
        }
        try pair.loop.turn(until: { answers == 200 }, "200 answers")
        // Nothing is left to do: a turn waits until its time is up.
        try pair.loop.settle()
        #expect(try pair.loop.turn(timeout: 1_000_000) == false)
    }

    @Test("What a peer has not read is bounded by its bytes and by its messages", arguments: [8000, 10])
    func bounds(length: Int) throws {
        let stranger = try Stranger()
        try stranger.authenticate()
        let text = WireValue.string(String(repeating: "t", count: length))
        var behind = 0
        while stranger.side.ends.isEmpty && behind < 4000 {
            stranger.server.tell("Tick", text)
            if stranger.server.isBehind { behind += 1 }
            _ = try stranger.loop.turn(timeout: 0)
        }
        #expect(stranger.side.ends == [.tooMuchQueued])
        // From half of the bound to the bound itself.
        let most = length == 10 ? BusConnection.queuedMessagesMax : BusConnection.queuedBytesMax / length
        #expect((most / 3...most * 2 / 3 + 2).contains(behind), "\(behind)")
    }
}
