import Agent
import Testing

/// Which process is behind a connection that the desktop portal made for it.
@Suite struct SocketOwnersTests {
    private let portal: Int32 = 10

    private func process(
        _ owners: SocketOwners, _ client: UInt32, claimed: Int32? = nil, held: [UInt32: [Int32]]
    ) -> Int32? {
        owners.process(of: client, madeBy: portal, claimed: claimed) { held[$0] ?? [] }
    }

    @Test("a connection and its socket come together, so that one new socket beside one new connection are the same")
    func together() {
        var owners = SocketOwners()
        owners.came([.init(client: 1, process: portal)], sockets: [100])
        owners.came([.init(client: 2, process: portal)], sockets: [100, 200])
        let held: [UInt32: [Int32]] = [100: [31], 200: [portal, 32]]
        #expect(process(owners, 1, held: held) == 31)
        #expect(process(owners, 2, held: held) == 32)
    }

    @Test("of two that came at once neither is told apart, whatever they claim, until the other has gone")
    func atOnce() {
        var owners = SocketOwners()
        let both = [100, 200] as Set<UInt32>
        owners.came([.init(client: 1, process: portal), .init(client: 2, process: portal)], sockets: both)
        let held: [UInt32: [Int32]] = [100: [31], 200: [32]]
        #expect(process(owners, 1, claimed: 32, held: held) == nil)
        // A process that hides what it holds is not taken for the one that shows it.
        #expect(process(owners, 1, held: [200: [32]]) == nil)
        owners.went(2)
        owners.came([], sockets: [100])
        #expect(process(owners, 1, held: held) == 31)
    }

    @Test("an agent that comes later takes what is left once everybody has one of his own sockets")
    func elimination() {
        var owners = SocketOwners()
        owners.came(
            [
                .init(client: 1, process: 20), .init(client: 2, process: portal), .init(client: 3, process: 31),
            ], sockets: [100, 200, 300])
        // The browser plays sound on a connection of its own, too.
        let held: [UInt32: [Int32]] = [100: [20], 200: [31], 300: [31]]
        #expect(process(owners, 2, held: held) == 31)
    }

    @Test("of processes that hold a socket together the one is meant that the connection claims, and else none")
    func heldTogether() {
        var owners = SocketOwners()
        owners.came([.init(client: 1, process: portal)], sockets: [100])
        let held: [UInt32: [Int32]] = [100: [31, 32]]
        #expect(process(owners, 1, claimed: 32, held: held) == 32)
        #expect(process(owners, 1, claimed: 99, held: held) == nil)
        #expect(process(owners, 1, held: held) == nil)
    }

    @Test("a process that opens more sockets than are looked at is found by none of them")
    func many() {
        var owners = SocketOwners()
        let sockets = Set<UInt32>(100..<109)
        owners.came(sockets.map { .init(client: $0, process: portal) }, sockets: sockets)
        #expect(process(owners, 100, held: Dictionary(uniqueKeysWithValues: sockets.map { ($0, [31]) })) == nil)
    }

    @Test("a socket that nobody shows is nobody's")
    func hidden() {
        var owners = SocketOwners()
        owners.came([.init(client: 1, process: portal)], sockets: [100])
        #expect(process(owners, 1, claimed: 31, held: [:]) == nil)
    }
}
