import Arbiter
package import ArbiterProtocol
package import System

package protocol CalendarObserverOwner: AnyObject {
    var policy: Policy { get }
    func calendarChanged(to mode: String?)
}

/// The mode of the policy's calendar, by the machine's local time, as a fact for the core.
///
/// The calendar is read when the broker begins, at each of its boundaries, when the clock is set or the machine wakes, and each
/// quarter of an hour, since clocks are put forward and back at one, and the machine may be in another zone by then. Without a
/// calendar in the policy nothing wakes the broker.
package final class CalendarObserver {
    private unowned let owner: any CalendarObserverOwner
    private let now: () -> Int64
    private let offset: (Int64) -> Int64
    private var timer: WallTimer?
    /// The calendar's mode, whatever was set by hand; as the owner received it last.
    package private(set) var mode: String?
    /// When the mode changes, in seconds since 1970; `nil` where it never does, or there is no calendar.
    package private(set) var change: Int64?
    /// When the calendar is read next, likewise; `nil` for only when the clock is set, or the machine wakes.
    package private(set) var next: Int64? { didSet { timer?.arm(at: next) } }

    package init(
        _ owner: any CalendarObserverOwner, on loop: EventLoop, now: @escaping () -> Int64 = { WallClock.now },
        offset: @escaping (Int64) -> Int64 = { WallClock.offset(at: $0) }
    ) throws(SystemFault) {
        (self.owner, self.now, self.offset) = (owner, now, offset)
        timer = try WallTimer(loop) { [unowned self] in look(at: self.owner.policy) }
        look(at: owner.policy)
    }

    /// Reports the calendar's present mode; of a policy to be loaded beforehand, so that no mode ends.
    package func look(at policy: Policy) {
        guard policy.hasCalendar else {
            (change, next) = (nil, nil)
            return report(nil)
        }
        WallClock.rereadZone()
        let now = now()
        let clock = CalendarClock(policy, offset: offset)
        change = clock.change(after: now)
        let quarter = (now / CalendarClock.quarter + 1) * CalendarClock.quarter
        next = min(change ?? quarter, quarter)
        report(clock.mode(at: now)?.name)
    }

    private func report(_ mode: String?) {
        guard mode != self.mode else { return }
        self.mode = mode
        owner.calendarChanged(to: mode)
    }

    /// The change in the machine's local time, as people write it; empty where there is none.
    package var changeWords: String { change.map { LocalDate($0 + offset($0)).words } ?? "" }
}
