import CLinux
import Glibc

/// The wall clock, in whole seconds since 1970 (UTC), and the machine's zone.
///
/// A simulation's begins at 1970 and has no zone, so that a run is the same on every machine.
public enum WallClock {
    public static var now: Int64 { VirtualTime.now.map { $0 / 1_000_000_000 } ?? camarb_wall_seconds() }

    /// In microseconds since 1970, by the machine's own clock.
    public static var microseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    /// Seconds that local time is ahead of UTC.
    public static func offset(at moment: Int64) -> Int64 { VirtualTime.now == nil ? camarb_local_offset(moment) : 0 }

    /// A moment of the machine's own clock as people read it, in the words of strftime(3).
    public static func written(_ seconds: Int, as format: String, isLocal: Bool = true) -> String {
        var seconds = seconds
        var parts = tm()
        if isLocal { localtime_r(&seconds, &parts) } else { gmtime_r(&seconds, &parts) }
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, text.count, format, &parts)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// `2026-11-23T09:12:00Z`, by the machine's own clock.
    public static var writtenNow: String { written(time(nil), as: "%Y-%m-%dT%H:%M:%SZ", isLocal: false) }

    /// Reads the zone again, after the machine got another one.
    public static func rereadZone() { if VirtualTime.now == nil { camarb_reread_zone() } }
}

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
