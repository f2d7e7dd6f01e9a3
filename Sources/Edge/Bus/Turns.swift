import CLinux
import Glibc
import System

/// The turns of a loop's connections: one that has something to read asks, and has a slice of the loop's time when `TurnOrder`
/// says so. Between two turns the loop is served: timers, signals, new connections, and whichever may go at once.
struct Turns {
    /// A client's slice: nanoseconds of one turn, where nobody waits. A message that has
    /// been begun is finished; what single methods cost is bounded where they are.
    static let sliceMax: Int64 = 5_000_000
    /// The same while somebody waits, be it of the same account: where many connections talk without end, a call of a
    /// well-behaved client waits for one such slice, and for those that asked before and have had no more than it.
    static let sharedSliceMax: Int64 = 1_000_000

    private var order = TurnOrder()
    private var waiting: [UInt64: BusConnection] = [:]
    /// Readable for ever, and watched while somebody waits: among the loop's other sources, in their order. Deferred work
    /// would come before all of them each time, since libsystemd takes it for the oldest that is pending.
    private var source: IOSource?
    private var descriptor: Int32 = -1
    private var lastNumber: UInt64 = 0

    /// A connection's number in the order, from its beginning to its end.
    mutating func number() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    func mayGoAtOnce(_ connection: BusConnection, at now: Int64) -> Bool {
        order.mayGoAtOnce(connection.number, of: connection.account, at: now)
    }

    mutating func ask(_ connection: BusConnection) {
        waiting[connection.number] = connection
        order.ask(connection.number, of: connection.account)
        source?.isEnabled = true
    }

    var slice: Int64 { order.isEmpty ? Self.sliceMax : Self.sharedSliceMax }

    mutating func used(_ connection: BusConnection, _ cost: Int64, at now: Int64) {
        order.used(connection.number, of: connection.account, cost, at: now)
    }

    mutating func forget(_ connection: BusConnection) {
        if waiting.removeValue(forKey: connection.number) != nil {
            order.forget(connection.number)
            if order.isEmpty { source?.isEnabled = false }
        }
    }

    mutating func take() -> BusConnection? {
        let next = order.next()
        if order.isEmpty { source?.isEnabled = false }
        return next.flatMap { waiting.removeValue(forKey: $0.id) }
    }

    mutating func begin(_ traffic: BusTraffic, on loop: EventLoop) throws(SystemFault) {
        descriptor = camarb_eventfd()
        try check(descriptor, "create an eventfd")
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
        // The traffic outlives what it watches.
        source = try loop.addIO(descriptor, .readable) { [unowned traffic] _ in
            let connection = traffic.turns.take()
            connection?.takeTurn()
        }
        source?.isEnabled = false
    }

    mutating func end() {
        source?.cancel()
        source = nil
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }
}
