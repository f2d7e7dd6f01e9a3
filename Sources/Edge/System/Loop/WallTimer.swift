import CLinux
import Glibc

/// A timer on the wall clock. It also calls its handler when that clock is set, and when the machine wakes.
public final class WallTimer {
    private let loop: EventLoop
    private let descriptor: Int32
    private var source: IOSource?
    /// In a simulation.
    private var timer: Timer?

    public init(_ loop: EventLoop, _ handler: @escaping () -> Void) throws(SystemFault) {
        self.loop = loop
        guard loop.virtualTime == nil else {
            descriptor = -1
            timer = try loop.addTimer(handler)
            return
        }
        let created = camarb_wall_timer()
        guard created >= 0 else { throw SystemFault("create a timer on the clock on the wall", -created) }
        descriptor = created
        source = try loop.addIO(created, .readable) { _ in
            camarb_wall_timer_take(created)
            handler()
        }
    }

    deinit {
        source?.cancel()
        if descriptor >= 0 { close(descriptor) }
    }

    /// - Parameter moment: in seconds since 1970; a past one is due at once. `nil`: only when the clock is set.
    public func arm(at moment: Int64?) {
        if let timer { return timer.arm(at: moment.map { $0 * 1_000_000_000 }) }
        _ = camarb_wall_timer_arm(descriptor, moment ?? Self.never)
    }

    /// The year 9999: the kernel takes no endless wait for a timer that ends when the clock is set.
    private static let never: Int64 = 253_370_764_800
}
