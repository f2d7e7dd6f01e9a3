import Loop

/// The deadlines of all connections of a loop, behind one timer.
///
/// A timer source a connection would cost memory and time for something that nearly no connection has: a
/// connection is listed here only while it authenticates or waits for an answer.
struct BusDeadlines {
    private var entries: [ObjectIdentifier: (deadline: Int64, connection: BusConnection)] = [:]
    private var timer: Timer?

    mutating func set(_ deadline: Int64?, for connection: BusConnection) {
        let key = ObjectIdentifier(connection)
        if let deadline {
            entries[key] = (deadline, connection)
        } else if entries.removeValue(forKey: key) == nil {
            return
        }
        arm(connection.traffic, on: connection.loop)
    }

    private mutating func arm(_ traffic: BusTraffic, on loop: EventLoop) {
        if timer == nil {
            // Both outlive the timer: the loop owns the traffic, and that owns this value.
            timer = try? loop.addTimer { [unowned traffic, unowned loop] in traffic.deadlines.fire(traffic, on: loop) }
        }
        // An alarm that is set already and comes early enough stays: setting one costs a system call, and every call
        // to a recorder core would cost two. At worst it comes once for nothing.
        guard let next = entries.values.lazy.map(\.deadline).min() else { return }
        if let armed = timer?.deadline, armed <= next { return }
        timer?.arm(at: next)
    }

    private mutating func fire(_ traffic: BusTraffic, on loop: EventLoop) {
        let now = EventLoop.now
        let due = entries.values.filter { $0.deadline <= now }.map(\.connection)
        for connection in due { entries[ObjectIdentifier(connection)] = nil }
        arm(traffic, on: loop)
        // In turns of their own: what a connection does here may set deadlines again.
        for connection in due { loop.defer { connection.deadlinePassed() } }
    }
}
