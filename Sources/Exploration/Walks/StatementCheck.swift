public import Arbiter
public import ArbiterProtocol

/// A policy's statements, made ready once to be asked in many states.
public struct StatementCheck: Sendable {
    private let sources: [Statement]
    private let assertions: [Assertion]

    /// A statement without its words, which are told only of one that is broken.
    private enum Assertion: Sendable {
        case never([(part: Statement.Part, when: Condition)])
        case always(when: Condition, part: Statement.Part)
    }

    /// - Parameter arbiter: one under the policy that is asked about.
    public init(_ arbiter: Arbiter) {
        let names = arbiter.state.policy.names
        sources = arbiter.policy.statements
        assertions = sources.map { statement in
            switch statement.assertion {
            case .never(let players): .never(players.map { ($0.part, names.condition($0.when)) })
            case .always(let when, let part): .always(when: names.condition(when), part: part)
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
            let culprits: [Slot<Session>]?
            switch assertions[index] {
            case .never(let players):
                let candidates = players.map { moment.places($0.when) }
                guard moment.fill(candidates) != nil else { continue }
                applied[index] += 1
                culprits = moment.culprits(players, candidates, arbiter.state)
            case .always(let when, let part):
                let asked = moment.obliged(when, arbiter.state)
                if asked.isEmpty { continue }
                applied[index] += 1
                // No one state breaks it: `FairSearch` looks for a loop.
                if sources[index].isFair { continue }
                culprits = moment.culprit(asked, part, arbiter.state).map { [$0] }
            }
            if let culprits { return (sources[index], culprits.map { arbiter.state.id($0) }) }
        }
        return nil
    }
}

extension Arbiter {
    /// The first of the policy's statements that this state breaks, and by which sessions; nil when all hold.
    public func brokenStatement() -> (statement: Statement, sessions: [SessionID])? {
        StatementCheck(self).broken(in: self)
    }
}

/// The sessions that ask to run at one moment, each looked at once. The state is passed to each method: kept, it would
/// be copied.
private struct StatementMoment {
    let asking: [(slot: Slot<Session>, session: Session, look: Look)]

    init(_ state: borrowing State) {
        var asking: [(slot: Slot<Session>, session: Session, look: Look)] = []
        for slot in state.sessionSlots.slots {
            let session = state.sessions.rows[Int(slot.index)]
            if session.request != nil { asking.append((slot, session, state.look(at: slot))) }
        }
        self.asking = asking
    }

    /// Those of which a statement's facts are true, by their places.
    func places(_ when: Condition) -> [Int] { asking.indices.filter { when.holds(for: asking[$0].look.facts) } }

    /// A choice of one of each, on one camera and each of another app; nil where there is none.
    func fill(_ candidates: [[Int]]) -> [Int]? {
        /// Fills the parts from the first on; the search is as long as the parts are many.
        func fill(_ index: Int, _ chosen: [Int]) -> [Int]? {
            guard index < candidates.count else { return chosen }
            for place in candidates[index] {
                let one = asking[place].look
                guard
                    chosen.allSatisfy({
                        asking[$0].look.camera == one.camera && asking[$0].look.app != one.app
                    })
                else { continue }
                if let found = fill(index + 1, chosen + [place]) { return found }
            }
            return nil
        }
        return fill(0, [])
    }

    /// Sessions on one camera that together play all these parts, each of another app.
    func culprits(
        _ players: [(part: Statement.Part, when: Condition)], _ candidates: [[Int]], _ state: borrowing State
    ) -> [Slot<Session>]? {
        var playing: [[Int]] = []
        for index in players.indices {
            var places: [Int] = []
            for place in candidates[index] where plays(players[index].part, place, state) { places.append(place) }
            playing.append(places)
        }
        return fill(playing)?.map { asking[$0].slot }
    }

    /// The sessions that have to play a part now, by their places: none while something is under way.
    func obliged(_ when: Condition, _ state: borrowing State) -> [Int] {
        guard isSettled(state) else { return [] }
        var obliged: [Int] = []
        for place in places(when) where asking[place].look.machine.isEmpty {
            if !hasLoweredItself(asking[place].session, state) { obliged.append(place) }
        }
        return obliged
    }

    func culprit(_ obliged: [Int], _ part: Statement.Part, _ state: borrowing State) -> Slot<Session>? {
        for one in obliged.map({ asking[$0] }) {
            var isKept = false
            for place in asking.indices where !isKept {
                let other = asking[place].look
                isKept = other.camera == one.look.camera && other.app == one.look.app && plays(part, place, state)
            }
            if !isKept { return one.slot }
        }
        return nil
    }

    private func plays(_ part: Statement.Part, _ place: Int, _ state: borrowing State) -> Bool {
        let (slot, session, look) = asking[place]
        let camera = state.cameras.rows[Int(session.camera.index)]
        switch (part, session.shown) {
        case (.holder, _): return camera.tenancy.held?.session == slot
        case (.running, .running): return true
        case (.restricted, .running(let access)): return access != .all
        case (.recording, _): return session.has.contains(.recording)
        case (.sharer, .running): return session.waits?.isSharing == true
        case (.waiting, _):
            // A contest or a promise is a bid that has won.
            guard let interrupter = session.waits?.interrupter, interrupter != look.app,
                !hasLoweredItself(session, state)
            else { return false }
            return session.waits?.isSharing != true && camera.promise?.session != slot
                && !state.cameras.rows.contains { $0.tenancy.held?.contest?.beneficiary == slot }
        case (.interrupted, .interrupted): return true
        case (.running, _), (.restricted, _), (.sharer, _), (.interrupted, _): return false
        }
    }

    /// Nobody keeps from a client what it gave away.
    private func hasLoweredItself(_ session: Session, _ state: borrowing State) -> Bool {
        state.clients.rows[Int(session.client.index)].hasLoweredItself
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
