import Arbiter
import ArbiterProtocol
import Bus
import Glibc
import System

/// The registry of connected clients: their identities, what they and their users have of what there is, and whose each
/// session is. It decides nothing about cameras: what a client's coming and going means is an event for the core.
final class Clients: BrokerPart {
    var all: [UInt64: BrokerClient] = [:]
    var lastClient: UInt64 = 0
    var budgets: Budgets
    var halfOpen = HalfOpenConnections()
    var disconnects = Tally()
    let lines: ClientLines
    var freed = FreedMemory()
    private(set) var processes: ProcessWatcher?
    /// They take what clients pass: a file must never come into this process.
    let keepers: DescriptorKeepers

    /// Whose session it is, and what traces call it.
    var owners: [UInt64: Owned] = [:]
    struct Owned {
        var client: BrokerClient
        var name: String
    }
    var lastSession: UInt64 = 0
    var names = NamePool()
    var sessionNames = NamePool()

    init(_ broker: Broker, keepers program: String) throws(SystemFault) {
        let journal = broker.journal
        budgets = Budgets(
            connections: .connections(
                ofUser: broker.options.connectionsPerUserMax, inAll: broker.options.connectionsMax),
            trusted: broker.options.isService ? [0] : [0, broker.trust.ownUser])
        lines = try ClientLines(.faults, journal, on: broker.loop)
        keepers = DescriptorKeepers(program: program, patience: broker.options.patience, on: broker.loop) {
            journal.send(.warning, $0)
        }
        super.init(of: broker)
        processes = try ProcessWatcher(on: broker.loop) { [unowned self] tag in processEnded(tag) }
    }

    subscript(id: UInt64) -> BrokerClient? { all[id] }
    var values: Dictionary<UInt64, BrokerClient>.Values { all.values }
    var count: Int { all.count }
    func owner(of session: SessionID) -> BrokerClient? { owners[session.rawValue]?.client }

    func disconnectAll() {
        for client in all.values { client.connection.close() }
        all = [:]
    }
}

/// Names in use, each once: `photos`, `photos-2`, `photos-3`, the smallest number that is free.
///
/// Finding one costs a look for each that has the same word, and never a walk over all names.
package struct NamePool: Sendable {
    private var taken: Set<String> = []

    package init() {}

    package mutating func take(_ wanted: String) -> String {
        var name = wanted
        var count = 2
        while !taken.insert(name).inserted {
            name = "\(wanted)-\(count)"
            count += 1
        }
        return name
    }

    package mutating func give(back name: String) { taken.remove(name) }
}

extension Clients {
    /// Where they connect: the sockets that the service manager passed, else the one that was asked for, else the usual one.
    func doors() throws(SystemFault) -> [UnixListener] {
        let refused: (SystemFault) -> Void = { [unowned self] fault in refusedConnection("\(fault)", of: nil) }
        let accepted: (Int32) -> Void = { [unowned self] descriptor in accept(descriptor) }
        let said = broker.options.socket
        var listeners: [UnixListener] = []
        for descriptor in said == nil ? ServiceManager.listeners() : [] {
            listeners.append(
                try UnixListener(adopting: descriptor, on: broker.loop, onRefused: refused, onConnection: accepted))
        }
        if !listeners.isEmpty { return listeners }
        let path = if let said { said } else { try Self.usualSocket() }
        Self.makeParent(of: path)
        return [try UnixListener(path: path, on: broker.loop, onRefused: refused, onConnection: accepted)]
    }

    private static func usualSocket() throws(SystemFault) -> String {
        if let said = getenv("CAMARB_SOCKET"), said[0] != 0 { return String(cString: said) }
        if getuid() == 0 { return SocketAddress.system }
        guard let path = SocketAddress.user else {
            throw SystemFault("find a place for the socket without XDG_RUNTIME_DIR (use --socket PATH)", ENOENT)
        }
        return path
    }

    private static func makeParent(of path: String) {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
        // There already, or it cannot be made: then listening says why.
        _ = mkdir(String(path[..<slash]), 0o755)
    }
}
