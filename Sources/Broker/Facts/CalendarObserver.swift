import Arbiter
import ArbiterProtocol
import Loop
import Machine

/// The policy's calendar as a fact for the core: which mode it says now, by the machine's local time.
///
/// It is looked at when the broker begins, at each of its boundaries, when somebody sets the clock or the machine wakes,
/// and each quarter of an hour, since clocks are put forward and back at one, and somebody may have given the machine
/// another zone. Without a calendar in the policy nothing wakes the broker.
///
/// Threading: on the loop's thread.
final class CalendarObserver {
    private unowned let broker: Broker
    private var timer: WallTimer?
    /// As the core was told last.
    private var said: String?
    /// When it says something else, in seconds since 1970; nil: never, or there is no calendar.
    private(set) var change: Int64?

    init(_ broker: Broker) throws(SystemFault) {
        self.broker = broker
        timer = try WallTimer(broker.loop) { [unowned self] in look(at: self.broker.arbiter.policy) }
        look(at: broker.arbiter.policy)
    }

    /// The mode that the calendar says, whatever was set by hand.
    var mode: String? { said }

    /// Tells the core what the calendar says now. Of a policy that is about to be loaded it is told beforehand, so that no
    /// mode ends for a moment.
    func look(at policy: Policy) {
        guard policy.hasCalendar else {
            change = nil
            timer?.arm(at: nil)
            return say(nil)
        }
        WallClock.rereadZone()
        let now = WallClock.now
        let clock = CalendarClock(policy, offset: WallClock.offset)
        change = clock.change(after: now)
        let quarter = (now / CalendarClock.quarter + 1) * CalendarClock.quarter
        timer?.arm(at: min(change ?? quarter, quarter))
        say(clock.mode(at: now)?.name)
    }

    private func say(_ mode: String?) {
        guard mode != said else { return }
        said = mode
        broker.step(.calendar(mode))
        broker.journal.send(.notice, "the calendar says \(mode.map { "mode \($0)" } ?? "no mode")")
    }

    /// The change in the machine's local time, as people write it; empty when there is none.
    var changeWords: String { change.map { LocalDate($0 + WallClock.offset(at: $0)).words } ?? "" }
}
