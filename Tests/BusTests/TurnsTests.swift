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

    func signal(_ peer: Int, _ member: String) { clients[peer].tell(member) }
}

@Suite struct TurnsTests {
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
        try peers.loop.turn(until: { peers.arrived.count == 3 && parts.count == 3 })
        // Nothing of the same peer is read before the work is done, and another peer does not wait for its end.
        #expect(parts.allSatisfy { !$0.contains("After") } && peers.arrived.last?.member == "After")
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

    @Test("A job runs on a thread of its own and its handler on the loop's")
    func whereJobsRun() throws {
        let loop = try EventLoop()
        let side = try SideWork(on: loop)
        let here = pthread_self()
        var threads: [pthread_t] = []
        let isBegun = side.begin({ pthread_self() }, done: { threads = [$0, pthread_self()] })
        #expect(isBegun)
        try loop.turn(until: { !threads.isEmpty })
        #expect(threads[0] != here && threads[1] == here)
    }

    @Test func processorTimeIsUsedUpByWork() {
        let time = ProcessorTime(1_000_000)
        var work = 0
        while time.isLeft, work < 100_000_000 { work += 1 }
        #expect(!time.isLeft && work > 0)
        #expect(!ProcessorTime(0).isLeft)
    }
}
