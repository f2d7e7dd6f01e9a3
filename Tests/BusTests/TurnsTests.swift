import ArbiterProtocol
import Bus
import BusTesting
import Glibc
import Synchronization
import System
import Testing

/// Two peers of a server on one loop, each with an account of its own, and the order in which their messages arrived.
private final class TwoPeers: BusConnectionDelegate {
    let loop: EventLoop
    private(set) var servers: [BusConnection] = []
    private(set) var clients: [BusConnection] = []
    private let clientSide = Recorder()
    /// Of each message, the peer it came from and its member.
    var arrived: [(peer: UInt64, member: String)] = []
    var onMessage: (BusMessage) -> Void = { _ in }

    init() throws {
        loop = try EventLoop()
        for number: UInt32 in [1, 2] {
            let (a, b) = try socketPair()
            let server = try BusConnection(
                adopting: a, as: .server, on: loop, delegate: self, account: .user(number))
            server.tag = UInt64(number)
            servers.append(server)
            clients.append(try BusConnection(adopting: b, as: .client, on: loop, delegate: clientSide))
        }
        try loop.turn(until: { servers.allSatisfy(\.isReady) && clients.allSatisfy(\.isReady) })
    }

    func connectionReady(_ connection: BusConnection) {}
    func connection(_ connection: BusConnection, received message: BusMessage) {
        arrived.append((connection.tag, message.member))
        onMessage(message)
    }
    func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) {}

    func signal(_ peer: Int, _ member: String) { #expect(clients[peer].tell(member)) }
}

@Suite struct TurnsTests {
    @Test func whoFloodsDoesNotKeepAnotherAccountWaiting() throws {
        let peers = try TwoPeers()
        for _ in 0..<500 { peers.signal(0, "Flood") }
        peers.signal(1, "Call")
        try peers.loop.turn(until: { peers.arrived.count == 501 })
        let place = try #require(peers.arrived.firstIndex { $0.member == "Call" })
        // One turn that may have begun before it asked, and one that may have been asked for.
        #expect(place <= 2 * BusConnection.messagesPerTurnMax)
    }

    @Test func workThatIsLongerThanATurnGoesOnInItsOwnTurnsAndInOrder() throws {
        let peers = try TwoPeers()
        var parts: [String] = []
        peers.onMessage = { message in
            guard message.member == "Long" else { return }
            message.connection.goOn { _ in
                parts.append("part, after \(peers.arrived.map(\.member).joined(separator: " "))")
                return parts.count == 3
            }
        }
        peers.signal(0, "Long")
        peers.signal(0, "After")
        try peers.loop.turn(until: { peers.arrived.contains { $0.member == "Long" } })
        peers.signal(1, "Other")
        try peers.loop.turn(until: { peers.arrived.count == 3 })
        #expect(parts.count == 3)
        // Nothing of the same peer is read before the work is done, and another peer does not wait for its end.
        #expect(parts.allSatisfy { !$0.contains("After") })
        #expect(peers.arrived.last?.member == "After")
    }

    @Test func workOfAConnectionThatEndsIsDropped() throws {
        let peers = try TwoPeers()
        var parts = 0
        peers.onMessage = { message in
            message.connection.goOn { _ in
                parts += 1
                if parts == 2 { message.connection.close() }
                return false
            }
        }
        peers.signal(0, "Long")
        try peers.loop.turn(until: { parts == 2 })
        peers.onMessage = { _ in }
        peers.signal(1, "Other")
        try peers.loop.turn(until: { peers.arrived.count == 2 })
        #expect(parts == 2)
    }
}

@Suite struct SideWorkTests {
    @Test func oneJobAtATimeAndItsResultComesBackToTheLoop() throws {
        let loop = try EventLoop()
        let side = try SideWork(on: loop)
        let gate = Mutex(false)
        let gateIsOpen: @Sendable () -> Bool = { gate.withLock { $0 } }
        var results: [Int] = []
        let first = side.begin(
            {
                while !gateIsOpen() { sched_yield() }
                return 42
            }, done: { results.append($0) })
        let second = side.begin({ 43 }, done: { results.append($0) })
        #expect(first && !second && side.isBusy)
        #expect(results.isEmpty)
        gate.withLock { $0 = true }
        try loop.turn(until: { results == [42] })
        #expect(!side.isBusy)
        let third = side.begin({ 44 }, done: { results.append($0) })
        #expect(third)
        try loop.turn(until: { results == [42, 44] })
    }

    @Test("A job that is begun in the handler of another is done, and so on; while a handler runs none is under way")
    func jobsBegunInHandlers() throws {
        let loop = try EventLoop()
        let side = try SideWork(on: loop)
        var results: [Int] = []
        func begin(_ number: Int) {
            let isBegun = side.begin(
                { number * number },
                done: { result in
                    #expect(!side.isBusy)
                    results.append(result)
                    if number < 6 { begin(number + 1) }
                })
            #expect(isBegun && side.isBusy, "the job \(number)")
            let isSecondBegun = side.begin({ -1 }, done: { results.append($0) })
            #expect(!isSecondBegun, "one at a time, in a handler too")
        }
        begin(1)
        try loop.turn(until: { results.count == 6 })
        #expect(results == [1, 4, 9, 16, 25, 36] && !side.isBusy)
    }

    @Test("A job runs on a thread of its own and its handler on the loop's, once, whatever it gives, if it is nothing")
    func whereJobsRun() throws {
        let loop = try EventLoop()
        let side = try SideWork(on: loop)
        let here = pthread_self()
        var threads: [pthread_t] = []
        var isBegun = side.begin({ pthread_self() }, done: { threads = [$0, pthread_self()] })
        #expect(isBegun)
        try loop.turn(until: { !threads.isEmpty })
        #expect(threads[0] != here && threads[1] == here)
        var nothing: [Int?] = []
        isBegun = side.begin({ Int?.none }, done: { nothing.append($0) })
        #expect(isBegun)
        try loop.turn(until: { !nothing.isEmpty })
        var calls = 0
        isBegun = side.begin({}, done: { calls += 1 })
        #expect(isBegun)
        try loop.turn(until: { calls > 0 })
        try loop.settle()
        #expect(nothing == [nil] && calls == 1 && !side.isBusy)
    }

    @Test func processorTimeIsUsedUpByWork() {
        let time = ProcessorTime(1_000_000)
        var work = 0
        while time.isLeft, work < 100_000_000 { work += 1 }
        #expect(!time.isLeft && work > 0)
        #expect(!ProcessorTime(0).isLeft)
    }
}
