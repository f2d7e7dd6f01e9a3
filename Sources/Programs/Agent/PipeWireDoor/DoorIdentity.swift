import ArbiterProtocol
import CPipeWire
import Glibc
import System

enum DoorIdentity: Hashable, Sendable {
    /// A process of this user's with its start time: the broker checks it itself.
    case process(Int32, began: UInt64)
    /// The consumer's own name, as a claim.
    case claim(String)

    /// Named by its start time, so that a later process of the same number is not meant; `isStill` is checked in
    /// between.
    init?(_ process: Int32, user: UInt32, isStill: (Int64) -> Bool) {
        guard let before = ProcessFacts(of: process), before.user == user, isStill(before.began),
            let after = ProcessFacts(of: process), after.began == before.began
        else { return nil }
        self = .process(process, began: UInt64(before.began))
    }
}

final class DoorIdentities {
    private let user: UInt32
    private var owners = SocketOwners()
    /// The start time of each connection's process, read when PipeWire reported the connection: a later owner of its
    /// number is another process. A number that was reused by then stays unnoticed.
    private var beginnings: [UInt32: Int64] = [:]
    /// More connections than a PipeWire of one user has.
    private static let socketsMax: Int32 = 4096
    private static let holdersMax: Int32 = 16

    init(user: UInt32) { self.user = user }

    func forgetAll() {
        owners = SocketOwners()
        beginnings = [:]
    }

    /// New connections without a query; they are resolved in the same turn of the loop, before others come.
    func came(_ connections: [SocketOwners.Connection]) {
        for connection in connections where connection.process > 0 {
            beginnings[connection.client] = ProcessFacts(of: connection.process)?.began
        }
        owners.came(connections, sockets: Self.sockets())
    }

    func went(_ client: UInt32) {
        beginnings[client] = nil
        owners.went(client)
    }

    func identity(_ consumer: camarb_door_event) -> DoorIdentity {
        let claimed = consumer.claimed_process > 0 ? consumer.claimed_process : nil
        if consumer.is_portal {
            if let process = portalsProcess(consumer, claimed) { return process }
        } else if consumer.process > 0, consumer.user == Int64(user), let began = beginnings[consumer.client],
            let identity = DoorIdentity(consumer.process, user: user, isStill: { $0 == began })
        {
            return identity
        }
        return .claim(Self.claim(consumer, claimed, user: user))
    }

    private func portalsProcess(_ consumer: camarb_door_event, _ claimed: Int32?) -> DoorIdentity? {
        func find() -> Int32? {
            owners.process(
                of: consumer.client, madeBy: consumer.process, claimed: claimed,
                holders: { Self.holders($0, user: user) })
        }
        guard let process = find() else { return nil }
        return DoorIdentity(process, user: user) { _ in find() == process }
    }

    /// The portal's app id for a sandboxed app, else the app of the claimed process, else its own name.
    private static func claim(_ consumer: camarb_door_event, _ claimed: Int32?, user: UInt32) -> String {
        let sandboxed = text(consumer.portal_app)
        if !sandboxed.isEmpty { return AppIdentity.safe(sandboxed[...]) }
        if let name = claimed.flatMap({ AppIdentity.name(of: $0, user: user) }) { return name }
        let name = AppIdentity.safe(text(consumer.name)[...])
        return name.isEmpty ? "a program in PipeWire" : name
    }

    private static func sockets() -> Set<UInt32> {
        var path = [CChar](repeating: 0, count: 256)
        guard camarb_door_socket_path(&path, path.count) else { return [] }
        var inodes = [UInt32](repeating: 0, count: Int(socketsMax))
        let count = camarb_socket_peers(path, &inodes, socketsMax)
        return Set(inodes.prefix(max(0, Int(count))))
    }

    private static func holders(_ socket: UInt32, user: UInt32) -> [Int32] {
        var processes = [pid_t](repeating: 0, count: Int(holdersMax))
        let count = camarb_socket_holders(socket, user, &processes, holdersMax)
        return Array(processes.prefix(max(0, Int(count))))
    }
}
