import Synchronization

/// The time of a simulation: it stands still while handlers run, and passes by `pass`, from one timer to the next.
///
/// There is one time in a process, since `EventLoop.now` belongs to no loop: while one of these lives, that returns its
/// time, and the timers of loops that were made with it are kept here and not by the kernel. Nothing else is simulated:
/// sockets are the kernel's, which delivers at once.
///
/// Threading: the loop's thread, apart from `EventLoop.now`.
public final class VirtualTime {
    /// Nanoseconds; negative while time is the machine's.
    private static let standing = Atomic<Int64>(-1)

    static var now: Int64? {
        let moment = standing.load(ordering: .relaxed)
        return moment < 0 ? nil : moment
    }

    private struct Armed {
        var deadline: Int64
        /// Of two timers with one deadline the one that was armed first fires first.
        var order: UInt64
        /// The timer removes itself before it goes.
        var timer: Unmanaged<Timer>
    }
    private var armed: [Armed] = []
    private var order: UInt64 = 0

    /// - Parameter moment: nanoseconds, as CLOCK_MONOTONIC would have them.
    /// - Precondition: there is no other one, and the moment is not negative.
    public init(beginningAt moment: Int64) {
        precondition(moment >= 0, "time begins at 0")
        let (isOurs, _) = Self.standing.compareExchange(expected: -1, desired: moment, ordering: .relaxed)
        precondition(isOurs, "a process has one time")
    }

    deinit { Self.standing.store(-1, ordering: .relaxed) }

    func set(_ deadline: Int64?, for timer: Timer) {
        let timer = Unmanaged.passUnretained(timer)
        armed.removeAll { $0.timer.toOpaque() == timer.toOpaque() }
        guard let deadline else { return }
        order += 1
        armed.append(Armed(deadline: deadline, order: order, timer: timer))
    }

    /// Lets time pass to the next timer and fires it, or to `moment` where none fires before.
    /// - Returns: whether one fired. An overdue one fires now.
    public func pass(atMostTo moment: Int64) -> Bool {
        let now = Self.standing.load(ordering: .relaxed)
        let next = armed.indices.min { (armed[$0].deadline, armed[$0].order) < (armed[$1].deadline, armed[$1].order) }
        guard let next, armed[next].deadline <= moment else {
            Self.standing.store(max(now, moment), ordering: .relaxed)
            return false
        }
        let due = armed.remove(at: next)
        Self.standing.store(max(now, due.deadline), ordering: .relaxed)
        // Held for the call: the handler may let go of the timer.
        let timer = due.timer.takeUnretainedValue()
        timer.fire()
        return true
    }
}
