public import Arbiter
public import ArbiterProtocol

/// A policy's statements, made ready once to be asked in many states.
public struct StatementCheck: Sendable {
    private let statements: [Compiled]

    private struct Compiled: Sendable {
        var source: Statement
        var players: [(part: Statement.Part, when: Condition)]
        /// Nil: no moment is excused.
        var always: (when: Condition, part: Statement.Part)?
    }

    /// - Parameter arbiter: one under the policy that is asked about.
    public init(_ arbiter: Arbiter) {
        let names = arbiter.state.policy.names
        statements = arbiter.policy.statements.map { statement in
            switch statement.claim {
            case .never(let players):
                Compiled(source: statement, players: players.map { ($0.part, names.condition($0.when)) })
            case .always(let when, let part):
                Compiled(source: statement, players: [], always: (names.condition(when), part))
            }
        }
    }

    /// The first of the statements that a state breaks, and by whom; nil when all hold.
    public func broken(in arbiter: Arbiter) -> (statement: Statement, sessions: [SessionID])? {
        if statements.isEmpty { return nil }
        let moment = StatementMoment(arbiter.state)
        for statement in statements {
            let culprits =
                if let always = statement.always {
                    moment.culprit(always.when, always.part).map { [$0] }
                } else {
                    moment.culprits(statement.players)
                }
            if let culprits { return (statement.source, culprits.map { arbiter.state.id($0) }) }
        }
        return nil
    }
}

extension Arbiter {
    /// The first of the policy's statements that this state breaks, and by whom; nil when all hold.
    public func brokenStatement() -> (statement: Statement, sessions: [SessionID])? {
        StatementCheck(self).broken(in: self)
    }
}

/// Who asks to run at one moment, each looked at once.
private struct StatementMoment {
    let state: State
    let asking: [(slot: Slot<Session>, session: Session, look: Look)]

    init(_ state: State) {
        self.state = state
        asking = state.sessionSlots.slots.compactMap { slot in
            let session = state.sessions[slot]
            return session.request == nil ? nil : (slot, session, state.look(at: slot))
        }
    }

    /// Sessions on one camera that together play all these parts, each of another app.
    func culprits(_ players: [(part: Statement.Part, when: Condition)]) -> [Slot<Session>]? {
        /// Fills the parts from the first on; each session fits or not, so the search is as long as the parts are many.
        func fill(_ index: Int, _ chosen: [Int]) -> [Slot<Session>]? {
            guard index < players.count else { return chosen.map { asking[$0].slot } }
            for place in asking.indices {
                let one = asking[place]
                guard
                    chosen.allSatisfy({
                        asking[$0].look.camera == one.look.camera && asking[$0].look.app != one.look.app
                    }), plays(players[index].part, place), players[index].when.holds(for: one.look.facts)
                else { continue }
                if let found = fill(index + 1, chosen + [place]) { return found }
            }
            return nil
        }
        return fill(0, [])
    }

    func culprit(_ when: Condition, _ part: Statement.Part) -> Slot<Session>? {
        guard isSettled else { return nil }
        for one in asking {
            guard when.holds(for: one.look.facts), one.look.machine.isEmpty, !hasLoweredItself(one.session) else {
                continue
            }
            let isKept = asking.indices.contains { place in
                let other = asking[place].look
                return other.camera == one.look.camera && other.app == one.look.app && plays(part, place)
            }
            if !isKept { return one.slot }
        }
        return nil
    }

    private func plays(_ part: Statement.Part, _ place: Int) -> Bool {
        let (slot, session, look) = asking[place]
        let camera = state.cameras[session.camera]
        switch (part, session.shown) {
        case (.holder, _): return camera.tenancy.held?.session == slot
        case (.running, .running): return true
        case (.restricted, .running(let access)): return access != .all
        case (.recording, _): return session.has.contains(.recording)
        case (.sharer, .running): return session.waits?.isSharing == true
        case (.waiting, _):
            // A contest or a promise is a claim that has won.
            guard let interrupter = session.waits?.interrupter, interrupter != look.app, !hasLoweredItself(session)
            else { return false }
            return session.waits?.isSharing != true && camera.promise?.session != slot
                && !state.cameras.rows.contains { $0.tenancy.held?.contest?.beneficiary == slot }
        case (.interrupted, .interrupted): return true
        case (.running, _), (.restricted, _), (.sharer, _), (.interrupted, _): return false
        }
    }

    /// Nobody keeps from a client what it gave away.
    private func hasLoweredItself(_ session: Session) -> Bool { state.clients[session.client].hasLoweredItself }

    /// Every camera is free or streams, and nothing that was decided is still to be carried out.
    private var isSettled: Bool {
        if state.timers.contains(where: { $0.kind == .backoff }) { return false }
        return state.cameras.rows.allSatisfy { camera in
            guard camera.promise == nil else { return false }
            return switch camera.tenancy {
            case .free: true
            case .streaming(let held): held.contest == nil
            case .starting, .lost, .revoking: false
            }
        }
    }
}
