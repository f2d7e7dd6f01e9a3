public import Arbiter
public import ArbiterProtocol

/// A policy's statements about single states. `TimedStatements` has those about time.
struct StatementCheck: Sendable {
    private let ready: [ReadyStatement]

    init(_ arbiter: Arbiter) { ready = ReadyStatement.all(arbiter) }

    /// The first statement that a state breaks, and by which sessions.
    /// - Parameter applied: counts up for each statement that applies: its apps ask for one camera together, or, for `[[always]]`,
    ///   a session has to play the part now.
    func broken(
        in arbiter: Arbiter, counting applied: inout [Int]
    ) -> (statement: Statement, sessions: [SessionID])? {
        // A policy that was loaded since has other statements, or none.
        if ready.isEmpty || arbiter.state.policy.source.statements.isEmpty { return nil }
        let moment = StatementMoment(arbiter.state)
        if moment.asking.isEmpty { return nil }
        for statement in ready {
            let culprits: [Int]?
            switch statement.kind {
            case .never:
                let candidates = statement.players.map { moment.places($0.when) }
                guard moment.meet(statement, candidates) else { continue }
                culprits = moment.culprits(statement, candidates)
            case .always:
                let obliged = moment.isSettled ? moment.obliged(statement) : []
                if obliged.isEmpty { continue }
                culprits = obliged.first { !moment.isKept($0, statement.part) && moment.isMeant($0, statement) }
                    .map { [$0] }
            case .fair:
                // No single state breaks it: `FairSearch` looks for a loop.
                let isAsked = moment.places(statement.when).contains {
                    moment.asking[$0].isEntitled && moment.isMeant($0, statement)
                }
                guard isAsked else { continue }
                culprits = nil
            case .within, .warned, .atMost: continue
            }
            applied[statement.place] += 1
            if let culprits { return (statement.source, culprits.map { moment.asking[$0].id }) }
        }
        return nil
    }

    /// The sessions that break a statement: `photobooth (holder) and intercom (waiting behind photobooth)`.
    func words(
        _ statement: Statement, _ sessions: [SessionID], in arbiter: Arbiter, _ name: (SessionID) -> String
    ) -> String {
        let words = sessions.enumerated().map { index, id in
            var role = statement.parts.indices.contains(index) ? statement.parts[index].rawValue : ""
            if !statement.isNever { role = "not \(role)" }
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
    /// The first of the policy's statements that this state breaks, and by which sessions.
    public func brokenStatement() -> (statement: Statement, sessions: [SessionID])? {
        var applied = policy.statements.map { _ in 0 }
        return StatementCheck(self).broken(in: self, counting: &applied)
    }

    /// The app whose bid keeps a session's camera from it, by the name of its session there, or of another session that asks.
    func whoIsInTheWay(of session: SessionID, _ name: (SessionID) -> String) -> String? {
        guard let slot = state.session(session) else { return nil }
        let row = state.sessions.rows[Int(slot.index)]
        guard let app = row.waits?.interrupter, row.waits?.isSharing != true,
            app != state.clients.rows[Int(row.client.index)].app
        else { return nil }
        return words(of: app, near: row.camera, name)
    }

    /// An app by the name of its session that asks for a camera, or for another camera; else by its own name.
    func words(of app: AppRef, near camera: Slot<Camera>, _ name: (SessionID) -> String) -> String {
        let asking = StatementMoment(state).asking.filter { $0.app == app }
        let one = asking.first { $0.camera == camera } ?? asking.first
        return one.map { name($0.id) } ?? state.id(app).name
    }
}

extension StatementMoment {
    /// Whether the sessions of a `never` ask together, and the subject has no excuse of its own.
    fileprivate func meet(_ statement: ReadyStatement, _ candidates: [[Int]]) -> Bool {
        var candidates = candidates
        candidates[statement.subject].removeAll { place in
            statement.unless.contains { $0.by == nil && $0.when.holds(for: asking[place].facts) }
        }
        // The app behind which the subject waits has to be there as well.
        guard let by = statement.by else { return fill(candidates, across: statement.source.isAcrossCameras) != nil }
        if candidates.count == 1 { candidates.append(places(by)) } else if places(by).isEmpty { return false }
        return fill(candidates, across: true) != nil
    }

    /// Sessions that together play all these parts, each of another app.
    fileprivate func culprits(_ statement: ReadyStatement, _ candidates: [[Int]]) -> [Int]? {
        let playing = statement.players.indices.map { index in
            candidates[index].filter { place in
                plays(statement.players[index].part, place)
                    && (index != statement.subject || isMeant(place, statement))
            }
        }
        return fill(playing, across: statement.source.isAcrossCameras)
    }
}
