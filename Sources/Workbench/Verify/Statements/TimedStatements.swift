import Arbiter
import ArbiterProtocol
import Explain

/// A policy's statements about time, made ready once to be asked along many ways. Each says of some subjects how long
/// something may go on: that a session waits (`within`), that an app holds cameras (`at-most`), and how long at least a
/// session has been told that it loses its camera (`warned`). What goes on in a state is an obligation. How long it has
/// gone on no state knows: that is what a `ObligationWatch` counts.
struct TimedStatements: Sendable {
    /// Of the policy's statements those about time, in their order, and their places among all.
    let sources: [Statement]
    let places: [Int]
    private let ready: [One]

    private struct One: Sendable {
        let when: Condition
        let scope: StatementScope
        let assertion: Statement.Assertion
    }

    init(_ arbiter: Arbiter) { self.init(arbiter.policy.statements, arbiter.state.policy.names) }

    private init(_ statements: [Statement], _ names: PolicyNames) {
        places = statements.indices.filter { statements[$0].isTimed }
        sources = places.map { statements[$0] }
        ready = sources.map {
            One(when: names.condition($0.roles.first ?? []), scope: StatementScope($0, names), assertion: $0.assertion)
        }
    }

    struct Obligation: Hashable, Sendable {
        /// The statement's place among those about time.
        var statement: Int
        var subject: Subject
    }

    enum Subject: Hashable, Sendable {
        case session(SessionID)
        case app(AppRef)
    }

    struct Situation {
        var obligations: [Obligation] = []
        /// A bit for each statement.
        var applied: UInt64 = 0
    }

    func situation(in arbiter: Arbiter) -> Situation { situation(arbiter.state) }

    private func situation(_ state: borrowing State) -> Situation {
        var found = Situation()
        let moment = StatementMoment(state)
        if moment.asking.isEmpty { return found }
        for index in ready.indices {
            switch ready[index].assertion {
            case .within(_, let part, _): noteWaiting(index, part, moment, state, &found)
            case .atMost: noteHolding(index, moment, state, &found)
            case .warned: noteTold(index, state, &found)
            case .never, .always, .fair: break
            }
        }
        return found
    }

    private func noteWaiting(
        _ index: Int, _ part: Statement.Part, _ moment: StatementMoment, _ state: borrowing State,
        _ found: inout Situation
    ) {
        let scope = ready[index].scope
        guard moment.isAnybodyInTheWay(scope, state) else { return }
        for place in moment.places(ready[index].when)
        where moment.isEntitled(place, state) && !moment.isExcused(place, scope, state) {
            found.applied |= 1 << UInt64(index)
            if moment.isKept(place, part, state) || !moment.isMeant(place, scope, state) { continue }
            let session = state.id(moment.asking[place].slot)
            found.obligations.append(Obligation(statement: index, subject: .session(session)))
        }
    }

    private func noteHolding(
        _ index: Int, _ moment: StatementMoment, _ state: borrowing State, _ found: inout Situation
    ) {
        for place in moment.places(ready[index].when)
        where moment.plays(.holder, place, state) && moment.isMeant(place, ready[index].scope, state) {
            found.applied |= 1 << UInt64(index)
            let one = Obligation(statement: index, subject: .app(moment.asking[place].look.app))
            if !found.obligations.contains(one) { found.obligations.append(one) }
        }
    }

    /// Holders that were told when they will be interrupted. Their facts count when they are.
    private func noteTold(_ index: Int, _ state: borrowing State, _ found: inout Situation) {
        for camera in state.cameras.rows {
            guard let held = camera.tenancy.held, held.contest?.announced != nil else { continue }
            let session = Subject.session(state.id(held.session))
            found.obligations.append(Obligation(statement: index, subject: session))
        }
    }

    // MARK: Losses

    /// A holder that lost its camera to another app's bid or to its lease, of which a statement says that it is warned.
    struct Loss {
        var obligation: Obligation
        var camera: CameraID
        /// Nil: to its lease, and nobody else's bid.
        var winner: AppRef?
        /// It was told before; how long before, a watch knows.
        var isTold: Bool
    }

    /// - Parameter events: what happened in between.
    func losses(_ before: Arbiter, _ events: [Event], _ after: Arbiter) -> [Loss] {
        guard ready.contains(where: { if case .warned = $0.assertion { true } else { false } }) else { return [] }
        var found: [Loss] = []
        for slot in before.state.cameraOrder {
            guard let held = before.state.cameras.rows[Int(slot.index)].tenancy.held else { continue }
            note(held, slot, before, events, after, &found)
        }
        return found
    }

    private func note(
        _ held: Held, _ camera: Slot<Camera>, _ before: Arbiter, _ events: [Event], _ after: Arbiter,
        _ found: inout [Loss]
    ) {
        let id = before.state.id(held.session)
        guard after.state.cameras.rows[Int(camera.index)].tenancy.held?.session != held.session,
            !events.contains(where: { $0.givesUp(id, before) }), let slot = after.state.session(id)
        else { return }
        let session = after.state.sessions.rows[Int(slot.index)]
        // Nobody keeps from a client what it gave away.
        if held.contest?.announced?.isReady == true { return }
        if after.state.clients.rows[Int(session.client.index)].hasLoweredItself { return }
        let own = before.state.look(at: held.session).app
        let isOver = held.leaseUntil.map { $0 <= after.state.now } ?? false
        var winner = session.waits?.interrupter
        if session.request == nil {
            // Evicted, or its lease is over: what comes next on its camera has won it.
            let row = after.state.cameras.rows[Int(camera.index)]
            let next = row.tenancy.held?.session ?? row.promise?.session
            winner = next.map {
                after.state.clients.rows[Int(after.state.sessions.rows[Int($0.index)].client.index)].app
            }
        }
        if winner == own { winner = nil }
        guard isOver || winner != nil else { return }
        let was = StatementMoment(before.state)
        guard let place = was.asking.firstIndex(where: { $0.slot == held.session }) else { return }
        let now = StatementMoment(after.state)
        for index in ready.indices {
            guard case .warned = ready[index].assertion, ready[index].when.holds(for: was.asking[place].look.facts)
            else { continue }
            func isBehind(_ by: Condition) -> Bool {
                winner.map { now.isAsking($0, near: camera, by, after.state) } ?? false
            }
            let scope = ready[index].scope
            if let by = scope.by, !isBehind(by) { continue }
            let isExcused = scope.unless.contains { excuse in
                excuse.when.holds(for: was.asking[place].look.facts) && (excuse.by.map(isBehind) ?? true)
            }
            if isExcused { continue }
            let obligation = Obligation(statement: index, subject: .session(id))
            found.append(
                Loss(
                    obligation: obligation, camera: before.state.id(camera), winner: winner,
                    isTold: held.contest?.announced != nil))
        }
    }
}

extension Event {
    /// Its client ends it, or says that it may be cut now.
    fileprivate func givesUp(_ session: SessionID, _ arbiter: Arbiter) -> Bool {
        switch self {
        case .stopRunning(session), .closed(session), .ready(session, _): true
        case .disconnected(let client): arbiter.sessions(of: client).contains(session)
        default: false
        }
    }
}

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
