import Arbiter
import ArbiterProtocol

/// How long one obligation has gone on. A walk watches one at a time, and begins to watch, or does not, whenever one
/// begins: what is broken is broken by one of them, and the way on which that one is watched is among those that are
/// walked. So the obligations of a state do not multiply.
struct ObligationWatch: Hashable, Sendable {
    let obligation: TimedStatements.Obligation
    let limit: Limit
    /// Since it began.
    private(set) var spent = Duration.zero
    /// Of that, how long the camera was held.
    private(set) var held = Duration.zero

    enum Limit: Hashable, Sendable {
        case within(Duration)
        case warned(Duration)
        case atMost(Duration, in: Duration)

        init?(_ statement: Statement) {
            switch statement.assertion {
            case .within(_, _, let time): self = .within(time)
            case .warned(_, let time): self = .warned(time)
            case .atMost(_, let time, let window): self = .atMost(time, in: window)
            case .never, .always, .fair: return nil
            }
        }
    }

    init?(_ obligation: TimedStatements.Obligation, _ statement: Statement) {
        guard let limit = Limit(statement) else { return nil }
        self.obligation = obligation
        self.limit = limit
    }

    /// Lets time pass.
    /// - Parameter goesOn: what is watched went on all the time.
    /// - Returns: whether the statement is broken by now.
    mutating func pass(_ time: Duration, goesOn: Bool) -> Bool {
        switch limit {
        case .within(let most):
            spent += time
            return spent > most
        case .warned(let least):
            // Longer than it asks for is all the same.
            spent = min(spent + time, least)
            return false
        case .atMost(let most, let window):
            let counted = min(time, window - spent)
            spent += time
            if goesOn { held += counted }
            return held > most
        }
    }

    /// It was told for shorter than the statement says.
    var isTooShort: Bool { if case .warned(let least) = limit { spent < least } else { false } }

    /// Nothing that comes can break it any more.
    /// - Parameter goesOn: what is watched still goes on.
    func isOver(goesOn: Bool) -> Bool {
        switch limit {
        // The holds of a window need not be one.
        case .atMost(_, let window): spent >= window
        case .within, .warned: !goesOn
        }
    }

    /// How long until it can break, or is over, at the earliest; nil: no time changes it.
    var rest: Duration? {
        switch limit {
        case .within(let most): most - spent
        case .warned(let least): spent < least ? least - spent : nil
        case .atMost(let most, let window): min(most - held, window - spent)
        }
    }

    /// As bits to be mixed into the fingerprint of a session that it is about.
    func mark(of session: SessionID, _ arbiter: Arbiter) -> UInt64 {
        switch obligation.subject {
        case .session(session): break
        case .session: return 0
        case .app(let app):
            guard let slot = arbiter.state.session(session) else { return 0 }
            let client = arbiter.state.sessions.rows[Int(slot.index)].client
            guard arbiter.state.clients.rows[Int(client.index)].app == app else { return 0 }
        }
        let times = UInt64(bitPattern: spent.wholeNanoseconds).mixed ^ UInt64(bitPattern: held.wholeNanoseconds)
        return (times.mixed ^ UInt64(obligation.statement + 1)).mixed
    }
}
