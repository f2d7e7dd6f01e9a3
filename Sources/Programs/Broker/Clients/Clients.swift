import Arbiter
import ArbiterProtocol
import Bus
import CLinux
import Explain
import Glibc
import System

/// The registry of connected clients: their identities, the budgets of their users, and the owner of each session. It decides
/// nothing about cameras: a client's coming and going are events for the core.
final class Clients: BrokerPart {
    var all: [UInt64: BrokerClient] = [:]
    var lastClient: UInt64 = 0
    var budgets: Budgets
    private var holding: [ClientID] = []
    var halfOpen = HalfOpenConnections()
    var disconnects = Tally()
    let lines: ClientLines
    private var freed = FreedMemory()
    private(set) var processes: ProcessWatcher?
    /// They take the descriptors that clients pass: a client's file must never come into this process.
    let keepers: DescriptorKeepers

    var owners: [UInt64: Owned] = [:]
    struct Owned {
        var client: BrokerClient
        /// The session's name in traces.
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

    // MARK: Budgets

    func charge(
        _ resource: Budgets.Resource, _ amount: Int = 1, to client: BrokerClient, _ advice: String
    ) throws(BrokerError) {
        try charge(resource, amount, to: client.uid, advice)
    }

    func charge(
        _ resource: Budgets.Resource, _ amount: Int, to user: UInt32, _ advice: String
    ) throws(BrokerError) {
        do throws(Budgets.Refusal) { try budgets.charge(resource, amount, to: user) } catch {
            throw BrokerError(.limitExceeded, "\(error.sentence) \(advice)")
        }
    }

    func release(_ resource: Budgets.Resource, _ amount: Int, of user: UInt32) {
        budgets.release(resource, amount, of: user)
        guard freed.note(resource, amount) else { return }
        broker.loop.arm(&freed.timer, at: freed.nextTime(at: EventLoop.now)) { [unowned self] in
            freed.wasGivenBack(at: EventLoop.now)
            camarb_give_back_heap()
        }
    }

    /// The connections of a camera's holder come first in each turn of the loop, and its user has a part of each budget in any case.
    func noteHolders() {
        budgets.holders = Set(cameras.order.compactMap { $0.holder?.user })
        let before = holding
        holding = cameras.order.compactMap { broker.arbiter.holder(of: $0.camera) }.compactMap { owner(of: $0)?.id }
        // All others stay as they are.
        for client in (before + holding).compactMap({ self[$0.rawValue] }) {
            let isFirst = trust.isTrusted(client) || holding.contains(client.id)
            if client.connection.account.isFirst != isFirst {
                client.connection.account = .user(client.uid, isFirst: isFirst)
            }
        }
    }

    /// The budgets that a client may know: its own user's; a trusted one, everybody's and the sums.
    func budgetUses(for client: BrokerClient) -> [BudgetUse] {
        func use(of user: UInt32?, _ resource: Budgets.Resource, _ used: Int, _ most: Int) -> BudgetUse {
            BudgetUse {
                ($0.user, $0.resource, $0.used, $0.most) = (user, resource.wireName, UInt64(used), UInt64(most))
            }
        }
        func uses(of user: UInt32) -> [BudgetUse] {
            Budgets.Resource.allCases.map { use(of: user, $0, budgets.use(of: user, $0), budgets.most(of: user, $0)) }
                .filter { $0.used > 0 }
        }
        guard trust.isTrusted(client) else { return uses(of: client.uid) }
        let sums = Budgets.Resource.allCases.map { use(of: nil, $0, budgets.useOfAll($0), budgets.bound($0).inAll) }
        return sums + budgets.users.prefix(Self.shownUsersMax).flatMap(uses)
    }

    /// Users that a status lists budgets of: as many as people use a machine, and the answer stays short.
    private static let shownUsersMax = 64

    // MARK: Listening

    /// Listens on the sockets that the service manager passed, else on the one of the options, else on the usual one.
    func listen() throws(SystemFault) -> [UnixListener] {
        let refused: (SystemFault) -> Void = { [unowned self] fault in refusedConnection("\(fault)", of: nil) }
        let accepted: (Int32) -> Void = { [unowned self] descriptor in accept(descriptor) }
        let given = broker.options.socket
        var listeners: [UnixListener] = []
        for descriptor in given == nil ? ServiceManager.listeners() : [] {
            listeners.append(
                try UnixListener(adopting: descriptor, on: broker.loop, onRefused: refused, onConnection: accepted))
        }
        if !listeners.isEmpty { return listeners }
        let path = if let given { given } else { try Self.usualSocket() }
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            // Where its folder is not there and cannot be made, listening says why.
            _ = mkdir(String(path[..<slash]), 0o755)
        }
        return [try UnixListener(path: path, on: broker.loop, onRefused: refused, onConnection: accepted)]
    }

    private static func usualSocket() throws(SystemFault) -> String {
        if let given = getenv("CAMARB_SOCKET"), given[0] != 0 { return String(cString: given) }
        if getuid() == 0 { return SocketAddress.system }
        guard let path = SocketAddress.user else {
            throw SystemFault("find a place for the socket without XDG_RUNTIME_DIR (use --socket PATH)", ENOENT)
        }
        return path
    }
}

/// Names in use, each once: `photos`, `photos-2`, `photos-3`, the smallest number that is free. Finding a free name
/// costs one look-up for each taken name of the same word, and never a walk over all names.
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

/// About how much of the heap has become free since it was last given back to the machine. glibc keeps freed memory for the
/// next allocation, a flood's for good. Giving back looks through the whole heap, some milliseconds for a hundred megabytes,
/// and so happens when it is worth it, and seldom.
private struct FreedMemory {
    /// Below this nobody would notice. In bytes.
    static let worthwhileBytes = 4 << 20
    /// Between a large release and giving back, in nanoseconds: a user's connections end one by one when it leaves.
    static let delay: Int64 = 500_000_000
    /// Between two times, in nanoseconds: a client that takes and releases in a loop costs a thousandth of the broker's time.
    static let pause: Int64 = 5_000_000_000

    var timer: Timer?
    private var bytes = 0
    private var lastTime: Int64 = 0

    mutating func note(_ resource: Budgets.Resource, _ amount: Int) -> Bool {
        bytes += amount * resource.bytes
        return bytes >= Self.worthwhileBytes && timer?.deadline == nil
    }

    func nextTime(at now: Int64) -> Int64 { max(now + Self.delay, lastTime + Self.pause) }

    mutating func wasGivenBack(at now: Int64) {
        bytes = 0
        lastTime = now
    }
}

extension EventLoop {
    /// Arms a timer, which it makes where there is none. Where none can be had, the work is not done.
    func arm(_ timer: inout Timer?, at moment: Int64?, _ work: @escaping () -> Void) {
        if timer == nil { timer = try? addTimer(work) }
        timer?.arm(at: moment)
    }
}
