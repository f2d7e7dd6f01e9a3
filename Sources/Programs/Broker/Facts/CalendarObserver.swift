import Arbiter
package import ArbiterProtocol
package import System

package protocol CalendarObserverOwner: AnyObject {
    var policy: Policy { get }
    /// The calendar says another mode, or none any more.
    func calendarSays(_ mode: String?)
}

/// The policy's calendar as a fact for the core: which mode it says now, by the machine's local time.
///
/// It is looked at when the broker begins, at each of its boundaries, when somebody sets the clock or the machine wakes,
/// and each quarter of an hour, since clocks are put forward and back at one, and somebody may have given the machine
/// another zone. Without a calendar in the policy nothing wakes the broker.
package final class CalendarObserver {
    private unowned let owner: any CalendarObserverOwner
    private let now: () -> Int64
    private let offset: (Int64) -> Int64
    private var timer: WallTimer?
    /// The mode that the calendar says, whatever was set by hand; as the owner was told last.
    package private(set) var mode: String?
    /// When it says something else, in seconds since 1970; nil: never, or there is no calendar.
    package private(set) var change: Int64?
    /// When it is looked at next, likewise; nil: only when the clock is set, or the machine wakes.
    package private(set) var next: Int64? { didSet { timer?.arm(at: next) } }

    package init(
        _ owner: any CalendarObserverOwner, on loop: EventLoop, now: @escaping () -> Int64 = { WallClock.now },
        offset: @escaping (Int64) -> Int64 = { WallClock.offset(at: $0) }
    ) throws(SystemFault) {
        self.owner = owner
        self.now = now
        self.offset = offset
        timer = try WallTimer(loop) { [unowned self] in look(at: self.owner.policy) }
        look(at: owner.policy)
    }

    /// Tells the core what the calendar says now. A policy to be loaded is told of beforehand, so that no mode ends.
    package func look(at policy: Policy) {
        guard policy.hasCalendar else {
            change = nil
            next = nil
            return say(nil)
        }
        WallClock.rereadZone()
        let now = now()
        let clock = CalendarClock(policy, offset: offset)
        change = clock.change(after: now)
        let quarter = (now / CalendarClock.quarter + 1) * CalendarClock.quarter
        next = min(change ?? quarter, quarter)
        say(clock.mode(at: now)?.name)
    }

    private func say(_ mode: String?) {
        guard mode != self.mode else { return }
        self.mode = mode
        owner.calendarSays(mode)
    }

    /// The change in the machine's local time, as people write it; empty when there is none.
    package var changeWords: String { change.map { LocalDate($0 + offset($0)).words } ?? "" }
}
