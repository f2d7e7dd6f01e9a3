public import Arbiter
public import ArbiterProtocol

/// A policy's statements about single moments, made ready once to be asked in many states. Those about time are
/// `TimedStatements`.
public struct StatementCheck: Sendable {
    private let sources: [Statement]
    private let assertions: [(Assertion, StatementScope)]

    /// A statement without its words, which are told only of one that is broken.
    private enum Assertion: Sendable {
        case never([(part: Statement.Part, when: Condition)], subject: Int, across: Bool)
        case always(when: Condition, part: Statement.Part)
        /// No one state breaks it (`FairSearch` looks for a loop), but it applies in some.
        case fair(when: Condition)
        /// It is not about one moment.
        case other
    }

    /// - Parameter arbiter: one under the policy that is asked about.
    public init(_ arbiter: Arbiter) {
        let names = arbiter.state.policy.names
        sources = arbiter.policy.statements
        assertions = sources.map { statement in
            let scope = StatementScope(statement, names)
            switch statement.assertion {
            case .never(let players):
                let ready = players.map { ($0.part, names.condition($0.when)) }
                return (.never(ready, subject: statement.subject, across: statement.isAcrossCameras), scope)
            case .always(let when, let part): return (.always(when: names.condition(when), part: part), scope)
            case .fair(let when, _): return (.fair(when: names.condition(when)), scope)
            case .within, .warned, .atMost: return (.other, scope)
            }
        }
    }

    /// The first of the statements that a state breaks, and by which sessions; nil when all hold.
    public func broken(in arbiter: Arbiter) -> (statement: Statement, sessions: [SessionID])? {
        var applied = sources.map { _ in 0 }
        return broken(in: arbiter, counting: &applied)
    }

    /// The same, counting up for each statement that applies: its apps ask for one camera together, whatever part they
    /// play there, or for `[[always]]`, somebody has to play the part now.
    public func broken(
        in arbiter: Arbiter, counting applied: inout [Int]
    ) -> (statement: Statement, sessions: [SessionID])? {
        // Under a policy that was loaded since there are other statements, or none.
        if assertions.isEmpty || arbiter.state.policy.source.statements.isEmpty { return nil }
        let moment = StatementMoment(arbiter.state)
        if moment.asking.isEmpty { return nil }
        for index in assertions.indices {
            let culprits: [Int]?
            switch assertions[index] {
            case (.never(let players, let subject, let across), let scope):
                let candidates = players.map { moment.places($0.when) }
                let isThere = moment.applies(candidates, subject, across, scope, arbiter.state)
                guard isThere else { continue }
                applied[index] += 1
                culprits = moment.culprits(players, candidates, subject, across, scope, arbiter.state)
            case (.always(let when, let part), let scope):
                let asked = moment.obliged(when, scope, arbiter.state)
                if asked.isEmpty { continue }
                applied[index] += 1
                culprits = moment.culprit(asked, part, scope, arbiter.state).map { [$0] }
            case (.fair(let when), let scope):
                let isAsked = moment.places(when).contains {
                    moment.isEntitled($0, arbiter.state) && moment.isMeant($0, scope, arbiter.state)
                }
                if isAsked { applied[index] += 1 }
                continue
            case (.other, _): continue
            }
            if let culprits { return (sources[index], culprits.map { arbiter.state.id(moment.asking[$0].slot) }) }
        }
        return nil
    }

    /// Who breaks a statement in a state, and how: `photobooth (holder) and intercom (waiting behind photobooth)`.
    func words(
        _ statement: Statement, _ sessions: [SessionID], in arbiter: Arbiter, _ name: (SessionID) -> String
    ) -> String {
        let words = sessions.enumerated().map { index, id in
            var role = ""
            switch statement.assertion {
            case .never(let players): role = players.indices.contains(index) ? players[index].part.rawValue : ""
            case .always(_, let part): role = "not \(part.rawValue)"
            case .within, .warned, .atMost, .fair: break
            }
            if let behind = arbiter.whoIsInTheWay(of: id, name) {
                role =
                    role == Statement.Part.waiting.rawValue ? "waiting behind \(behind)" : "\(role), behind \(behind)"
            }
            return "\(name(id)) (\(role))"
        }
        return words.joined(separator: " and ")
    }
}

extension Arbiter {
    /// The first of the policy's statements that this state breaks, and by which sessions; nil when all hold.
    public func brokenStatement() -> (statement: Statement, sessions: [SessionID])? {
        StatementCheck(self).broken(in: self)
    }

    /// The app whose bid keeps a session's camera from it, by the name of its session that asks, of one on the same camera first.
    func whoIsInTheWay(of session: SessionID, _ name: (SessionID) -> String) -> String? {
        guard let slot = state.session(session) else { return nil }
        let row = state.sessions.rows[Int(slot.index)]
        guard let app = row.waits?.interrupter, row.waits?.isSharing != true,
            app != state.clients.rows[Int(row.client.index)].app
        else { return nil }
        return words(of: app, near: row.camera, name)
    }

    /// An app by the name of its session that asks for a camera, or for another one; where none does, by its own.
    func words(of app: AppRef, near camera: Slot<Camera>, _ name: (SessionID) -> String) -> String {
        let asking = StatementMoment(state).asking.filter { $0.look.app == app }
        let one = asking.first { $0.look.camera == camera } ?? asking.first
        return one.map { name(state.id($0.slot)) } ?? state.id(app).name
    }
}

extension StatementMoment {
    /// Whether those of whom a `never` speaks ask together, and the subject has no excuse of its own.
    fileprivate func applies(
        _ candidates: [[Int]], _ subject: Int, _ across: Bool, _ scope: StatementScope, _ state: borrowing State
    ) -> Bool {
        if scope.isEmpty { return fill(candidates, across: across, state) != nil }
        var candidates = candidates
        candidates[subject].removeAll { place in
            scope.unless.contains { $0.by == nil && $0.when.holds(for: asking[place].look.facts) }
        }
        // Behind whom it counts has to be there as well.
        guard let by = scope.by else { return fill(candidates, across: across, state) != nil }
        if candidates.count == 1 { candidates.append(places(by)) } else if places(by).isEmpty { return false }
        return fill(candidates, across: true, state) != nil
    }

    /// Sessions that together play all these parts, each of another app, by their places.
    fileprivate func culprits(
        _ players: [(part: Statement.Part, when: Condition)], _ candidates: [[Int]], _ subject: Int, _ across: Bool,
        _ scope: StatementScope, _ state: borrowing State
    ) -> [Int]? {
        var playing: [[Int]] = []
        for index in players.indices {
            var places: [Int] = []
            for place in candidates[index] where plays(players[index].part, place, state) {
                if index != subject || isMeant(place, scope, state) { places.append(place) }
            }
            playing.append(places)
        }
        return fill(playing, across: across, state)
    }

    /// The sessions that have to play a part now, by their places: none while something is under way.
    fileprivate func obliged(_ when: Condition, _ scope: StatementScope, _ state: borrowing State) -> [Int] {
        guard isSettled(state), isAnybodyInTheWay(scope, state) else { return [] }
        var obliged: [Int] = []
        for place in places(when) where isEntitled(place, state) && !isExcused(place, scope, state) {
            obliged.append(place)
        }
        return obliged
    }

    fileprivate func culprit(
        _ obliged: [Int], _ part: Statement.Part, _ scope: StatementScope, _ state: borrowing State
    ) -> Int? {
        for place in obliged where !isKept(place, part, state) && isMeant(place, scope, state) { return place }
        return nil
    }

    /// Every camera is free or streams, and nothing that was decided is still to be carried out.
    private func isSettled(_ state: borrowing State) -> Bool {
        if state.timers.contains(where: { $0.kind == .backoff }) { return false }
        return state.cameras.rows.allSatisfy { camera in
            guard camera.promise == nil else { return false }
            return switch camera.tenancy {
            case .free: true
            case .streaming(let held): held.contest == nil
            case .surviving, .starting, .lost, .revoking: false
            }
        }
    }
}
