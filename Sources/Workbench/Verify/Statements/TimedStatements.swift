import Arbiter
import ArbiterProtocol
import Explain

/// A policy's statements about time, made ready once to be asked along many tree. Each says of some subjects how long
/// something may go on: that a session waits (`within`), that an app holds cameras (`at-most`), and how long at least a
/// session has been told that it loses its camera (`warned`). What goes on in a state is an obligation. How long it has
/// gone on no state knows: that is what a `ObligationWatch` counts.
struct TimedStatements: Sendable {
    /// Of the policy's statements those about time, in their order.
    let ready: [ReadyStatement]

    init(_ arbiter: Arbiter) { ready = ReadyStatement.all(arbiter).filter(\.source.isTimed) }

    struct Obligation: Hashable, Sendable {
        var statement: Int
        var subject: Subject
    }

    enum Subject: Hashable, Sendable {
        case session(SessionID)
        case app(AppRef)
    }

    struct Situation {
        var obligations: [Obligation] = []
        var applied: UInt64 = 0

        mutating func note(_ statement: Int, _ subject: Subject) {
            let one = Obligation(statement: statement, subject: subject)
            if !obligations.contains(one) { obligations.append(one) }
        }
    }

    func situation(in arbiter: Arbiter) -> Situation {
        var found = Situation()
        let moment = StatementMoment(arbiter.state)
        if moment.asking.isEmpty { return found }
        for (index, statement) in ready.enumerated() {
            switch statement.kind {
            case .within:
                for place in moment.obliged(statement) {
                    found.applied |= 1 << UInt64(index)
                    if moment.isKept(place, statement.part) || !moment.isMeant(place, statement) { continue }
                    found.note(index, .session(moment.asking[place].id))
                }
            case .atMost:
                for place in moment.places(statement.when)
                where moment.plays(.holder, place) && moment.isMeant(place, statement) {
                    found.applied |= 1 << UInt64(index)
                    found.note(index, .app(moment.asking[place].app))
                }
            case .warned:
                // Holders that were told when they will be interrupted. Their facts count when they are.
                for camera in arbiter.state.cameras.rows {
                    guard let held = camera.tenancy.held, held.contest?.announced != nil else { continue }
                    found.note(index, .session(arbiter.state.id(held.session)))
                }
            case .never, .always, .fair: break
            }
        }
        return found
    }

    /// The loss of a camera, to another app's bid or at the end of a lease, before which a statement demands a warning.
    struct Loss {
        var obligation: Obligation
        var camera: CameraID
        /// `nil` where the lease ended, and no bid took the camera.
        var winner: AppRef?
        /// The holder received a warning; a watch measures how long before the loss.
        var isTold: Bool
    }

    func losses(_ before: Arbiter, _ events: [Event], _ after: Arbiter) -> [Loss] {
        guard ready.contains(where: { $0.kind == .warned }) else { return [] }
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
        guard let facts = was.asking.first(where: { $0.slot == held.session })?.facts else { return }
        let now = StatementMoment(after.state)
        func isBehind(_ by: Condition) -> Bool { winner.map { now.isAsking($0, near: camera, by) } ?? false }
        for (index, statement) in ready.enumerated() where statement.kind == .warned && statement.when.holds(for: facts)
        {
            if let by = statement.by, !isBehind(by) { continue }
            let isExcused = statement.unless.contains { $0.when.holds(for: facts) && ($0.by.map(isBehind) ?? true) }
            if isExcused { continue }
            found.append(
                Loss(
                    obligation: Obligation(statement: index, subject: .session(id)), camera: before.state.id(camera),
                    winner: winner, isTold: held.contest?.announced != nil))
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
