import ArbiterProtocol
import Bus
import System

/// The connections that receive broadcasts, side by side. Walking the clients would cost as much as sending.
final class Audience {
    struct Listener {
        var connection: BusConnection
        var uid: UInt32
        /// It has called nothing yet, and receives no broadcast before this moment: sd-bus takes anything that comes before the
        /// answer to its `Hello` for an error.
        var isSilentUntil: Int64?
    }
    private var listeners: [Listener] = []
    /// The listeners on the system bus, as one client: the bus passes each signal on to the programs that asked for it.
    var visitor: BrokerClient?

    /// From connecting until a client without a call counts as one that only listens, in nanoseconds. Until then it misses only
    /// changes whose beginning it could not have known.
    static let silenceTimeMax: Int64 = 2_000_000_000

    var count: Int { listeners.count }

    func add(_ client: BrokerClient) {
        client.listenerIndex = listeners.count
        listeners.append(
            Listener(
                connection: client.connection, uid: client.uid,
                isSilentUntil: EventLoop.now + Self.silenceTimeMax))
    }

    func remove(_ client: BrokerClient, _ clients: Clients) {
        guard let last = listeners.popLast(), client.listenerIndex < listeners.count else { return }
        listeners[client.listenerIndex] = last
        clients[last.connection.tag]?.listenerIndex = client.listenerIndex
    }

    func hasSpoken(_ client: BrokerClient) {
        if listeners[client.listenerIndex].isSilentUntil != nil { listeners[client.listenerIndex].isSilentUntil = nil }
    }

    func isSilent(_ client: BrokerClient) -> Bool { listeners[client.listenerIndex].isSilentUntil != nil }

    /// Sends one sealed message to the users of `mayKnow`, and one with `others` to all else, where that is given.
    func send(
        _ member: String, _ arguments: [WireValue], others: [WireValue]? = nil,
        to mayKnow: (UInt32) -> Bool = { _ in true }
    ) {
        var full: SealedSignal?
        var reduced: SealedSignal?
        for (index, listener) in listeners.enumerated() where listener.connection.isReady {
            if let until = listener.isSilentUntil {
                if EventLoop.now < until { continue }
                listeners[index].isSilentUntil = nil
            }
            if mayKnow(listener.uid) {
                if full == nil { full = SealedSignal(member, arguments, on: listener.connection) }
                if let full { listener.connection.send(full) }
            } else if let others {
                if reduced == nil { reduced = SealedSignal(member, others, on: listener.connection) }
                if let reduced { listener.connection.send(reduced) }
            }
        }
        guard let visitor, visitor.connection.isReady, let told = mayKnow(visitor.uid) ? arguments : others else {
            return
        }
        visitor.connection.signal(
            path: ObjectPath.broker, interface: InterfaceName.broker, member: member, told)
    }
}

extension SealedSignal {
    convenience init(_ member: String, _ arguments: [WireValue], on connection: BusConnection) {
        self.init(
            on: connection, path: ObjectPath.broker, interface: InterfaceName.broker, member: member, arguments)
    }
}
