import Agent
import Testing

/// Which process is behind a connection that the desktop portal made for it.
@Suite final class SocketOwnersTests {
    private let portal: Int32 = 10
    private var owners = SocketOwners()

    /// The portal makes these connections at once, and these sockets are there then.
    private func portalMade(_ clients: UInt32..., sockets: Set<UInt32>) {
        let made = clients.map { SocketOwners.Connection(client: $0, process: portal) }
        owners.came(made, sockets: sockets)
    }

    private func process(_ client: UInt32, claimed: Int32? = nil, held: [UInt32: [Int32]]) -> Int32? {
        owners.process(of: client, madeBy: portal, claimed: claimed) { held[$0] ?? [] }
    }

    @Test("a connection and its socket come together, so that one new socket beside one new connection are the same")
    func together() {
        portalMade(1, sockets: [100])
        portalMade(2, sockets: [100, 200])
        let held: [UInt32: [Int32]] = [100: [31], 200: [portal, 32]]
        #expect([process(1, held: held), process(2, held: held)] == [31, 32])
        // A socket that nobody shows is nobody's.
        #expect(process(1, claimed: 31, held: [:]) == nil)
    }

    @Test("of two that came at once neither is told apart, whatever they claim, until the other has gone")
    func atOnce() {
        portalMade(1, 2, sockets: [100, 200])
        let held: [UInt32: [Int32]] = [100: [31], 200: [32]]
        #expect(process(1, claimed: 32, held: held) == nil)
        // A process that hides what it holds is not taken for the one that shows it.
        #expect(process(1, held: [200: [32]]) == nil)
        owners.went(2)
        owners.came([], sockets: [100])
        #expect(process(1, held: held) == 31)
    }

    @Test("an agent that comes later takes what is left once everybody has one of his own sockets")
    func elimination() {
        owners.came(
            [.init(client: 1, process: 20), .init(client: 2, process: portal), .init(client: 3, process: 31)],
            sockets: [100, 200, 300])
        // The browser plays sound on a connection of its own, too.
        #expect(process(2, held: [100: [20], 200: [31], 300: [31]]) == 31)
    }

    @Test("of processes that hold a socket together the one is meant that the connection claims, and else none")
    func heldTogether() {
        portalMade(1, sockets: [100])
        for (claimed, found) in [(32, 32), (99, nil), (nil, nil)] as [(Int32?, Int32?)] {
            #expect(process(1, claimed: claimed, held: [100: [31, 32]]) == found)
        }
    }

    @Test("a process that opens more sockets than are looked at is found by none of them")
    func many() {
        let sockets = Set<UInt32>(100..<109)
        owners.came(sockets.map { .init(client: $0, process: portal) }, sockets: sockets)
        #expect(process(100, held: Dictionary(uniqueKeysWithValues: sockets.map { ($0, [31]) })) == nil)
    }
}
