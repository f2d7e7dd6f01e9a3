import ArbiterProtocol
import Bus
import System

/// The connections that hear news for all, side by side. Walking the clients would cost as much as telling them.
final class Audience {
    struct Listener {
        var connection: BusConnection
        var uid: UInt32
        /// It has called nothing yet, and gets no news before this moment: sd-bus takes anything that comes before the
        /// answer to its `Hello` for an error.
        var isSilentUntil: Int64?
    }
    private var listeners: [Listener] = []

    /// How long a client may take from connecting to its first call before it counts as one that only listens, in
    /// nanoseconds. Until then it misses only changes whose beginning it could not have known.
    static let silenceTimeMax: Int64 = 2_000_000_000

    var count: Int { listeners.count }

    func add(_ client: BrokerClient) {
        client.place = listeners.count
        listeners.append(
            Listener(
                connection: client.connection, uid: client.uid,
                isSilentUntil: EventLoop.now + Self.silenceTimeMax))
    }

    /// The last one takes its place.
    func remove(_ client: BrokerClient, _ clients: Clients) {
        guard let last = listeners.popLast(), client.place < listeners.count else { return }
        listeners[client.place] = last
        clients[last.connection.tag]?.place = client.place
    }

    func hasSpoken(_ client: BrokerClient) {
        if listeners[client.place].isSilentUntil != nil { listeners[client.place].isSilentUntil = nil }
    }

    func isSilent(_ client: BrokerClient) -> Bool { listeners[client.place].isSilentUntil != nil }

    /// One sealed message for clients that may know everything, and one for the others; none for them where `others` is nil.
    func tell(
        _ member: String, _ arguments: [WireValue], others: [WireValue]? = nil,
        to isTold: (UInt32) -> Bool = { _ in true }
    ) {
        var full: SealedSignal?
        var reduced: SealedSignal?
        for (place, listener) in listeners.enumerated() where listener.connection.isReady {
            if let until = listener.isSilentUntil {
                if EventLoop.now < until { continue }
                listeners[place].isSilentUntil = nil
            }
            if isTold(listener.uid) {
                if full == nil { full = Self.message(listener.connection, member, arguments) }
                if let full { listener.connection.send(full) }
            } else if let others {
                if reduced == nil { reduced = Self.message(listener.connection, member, others) }
                if let reduced { listener.connection.send(reduced) }
            }
        }
    }

    private static func message(
        _ connection: BusConnection, _ member: String, _ arguments: [WireValue]
    ) -> SealedSignal {
        SealedSignal(
            on: connection, path: ObjectPath.broker, interface: InterfaceName.broker, member: member, arguments)
    }
}
