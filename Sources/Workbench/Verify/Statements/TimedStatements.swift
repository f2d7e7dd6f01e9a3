import Arbiter
import ArbiterProtocol
import Explain

/// A policy's statements about time, prepared once for many paths. Each limits how long something may go on: that a session waits
/// (`within`), that an app holds cameras (`at-most`), or how long before its loss a session was warned at least (`warned`). In one
/// state that is an obligation; an `ObligationWatch` counts how long it has gone on.
struct TimedStatements: Sendable {
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
                // Holders that were warned. Their facts count when they are interrupted.
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
        var isWarned: Bool
    }

    func losses(_ before: Arbiter, _ events: [Event], _ after: Arbiter) -> [Loss] {
        guard ready.contains(where: { $0.kind == .warned }) else { return [] }
        return before.state.cameraOrder.flatMap { slot in
            before.state.cameras.rows[Int(slot.index)].tenancy.held.map { losses(of: $0, slot, before, events, after) }
                ?? []
        }
    }

    private func losses(
        of held: Held, _ camera: Slot<Camera>, _ before: Arbiter, _ events: [Event], _ after: Arbiter
    ) -> [Loss] {
        let id = before.state.id(held.session)
        guard after.state.cameras.rows[Int(camera.index)].tenancy.held?.session != held.session,
            !events.contains(where: { $0.givesUp(id, before) }), let slot = after.state.session(id)
        else { return [] }
        let session = after.state.sessions.rows[Int(slot.index)]
        if held.contest?.announced?.isReady == true { return [] }
        if after.state.clients.rows[Int(session.client.index)].hasLoweredItself { return [] }
        let isOver = held.leaseUntil.map { $0 <= after.state.now } ?? false
        var winner = session.waits?.interrupter
        if session.request == nil {
            // Evicted, or its lease is over: the next session on its camera has won it.
            let row = after.state.cameras.rows[Int(camera.index)]
            let next = row.tenancy.held?.session ?? row.promise?.session
            winner = next.map {
                after.state.clients.rows[Int(after.state.sessions.rows[Int($0.index)].client.index)].app
            }
        }
        if winner == before.state.look(at: held.session).app { winner = nil }
        let was = StatementMoment(before.state)
        guard isOver || winner != nil, let facts = was.asking.first(where: { $0.slot == held.session })?.facts else {
            return []
        }
        let now = StatementMoment(after.state)
        func isBehind(_ by: Condition) -> Bool { winner.map { now.isAsking($0, near: camera, by) } ?? false }
        return ready.enumerated().compactMap { index, statement in
            guard statement.kind == .warned, statement.when.holds(for: facts), statement.by.map(isBehind) ?? true,
                !statement.isExcused(facts, isBehind)
            else { return nil }
            return Loss(
                obligation: Obligation(statement: index, subject: .session(id)), camera: before.state.id(camera),
                winner: winner, isWarned: held.contest?.announced != nil)
        }
    }
}

extension Event {
    /// The session's client ends it, or allows the cut.
    fileprivate func givesUp(_ session: SessionID, _ arbiter: Arbiter) -> Bool {
        switch self {
        case .stopRunning(session), .closed(session), .ready(session, _): true
        case .disconnected(let client): arbiter.sessions(of: client).contains(session)
        default: false
        }
    }
}

/// How long one obligation has gone on. A path watches one obligation at a time: whenever one begins, there is a path that watches
/// it and one that does not. So obligations do not multiply the states, and each violation is on the path that watches it.
struct ObligationWatch: Hashable, Sendable {
    let obligation: TimedStatements.Obligation
    let limit: Limit
    private(set) var spent = Duration.zero
    /// The part of it in which the camera was held.
    private(set) var held = Duration.zero

    enum Limit: Hashable, Sendable {
        case within(Duration)
        case warned(Duration)
        case atMost(Duration, in: Duration)
    }

    init?(_ obligation: TimedStatements.Obligation, _ statement: Statement) {
        self.obligation = obligation
        switch statement.assertion {
        case .within(_, _, let time): limit = .within(time)
        case .warned(_, let time): limit = .warned(time)
        case .atMost(_, let time, let window): limit = .atMost(time, in: window)
        case .never, .always, .fair: return nil
        }
    }

    /// - Parameter goesOn: the obligation stood all the time.
    /// - Returns: whether the statement is broken by now.
    mutating func pass(_ time: Duration, goesOn: Bool) -> Bool {
        switch limit {
        case .within(let most):
            spent += time
            return spent > most
        case .warned(let least):
            // A longer time makes no difference.
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

    /// No later state can break it.
    /// - Parameter goesOn: the obligation still stands.
    func isOver(goesOn: Bool) -> Bool {
        switch limit {
        // The holds of a window need not be one.
        case .atMost(_, let window): spent >= window
        case .within, .warned: !goesOn
        }
    }

    /// The earliest time in which it can break or be over; `nil` where no time changes it.
    var rest: Duration? {
        switch limit {
        case .within(let most): most - spent
        case .warned(let least): spent < least ? least - spent : nil
        case .atMost(let most, let window): min(most - held, window - spent)
        }
    }

    /// A mark for the fingerprint of a session that it is about.
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
