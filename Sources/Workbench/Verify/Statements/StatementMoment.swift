import Arbiter
import ArbiterProtocol
import PolicyFile

/// The sessions that ask to run at one moment, each looked at once. The state is passed to each method: kept, it would be copied.
struct StatementMoment {
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

    /// Whether a statement is about a session as it stands: nothing excuses it, and it waits behind the app that the
    /// statement speaks of, if it speaks of one.
    func isMeant(_ place: Int, _ scope: StatementScope, _ state: borrowing State) -> Bool {
        if scope.isEmpty { return true }
        if let by = scope.by, !waits(place, behind: by, state) { return false }
        return !isExcused(place, scope, state)
    }

    /// Whether those ask to run behind whom a statement counts.
    func isAnybodyInTheWay(_ scope: StatementScope, _ state: borrowing State) -> Bool {
        scope.by.map { !places($0).isEmpty } ?? true
    }

    func isExcused(_ place: Int, _ scope: StatementScope, _ state: borrowing State) -> Bool {
        for excuse in scope.unless where excuse.when.holds(for: asking[place].look.facts) {
            guard let by = excuse.by else { return true }
            if waits(place, behind: by, state) { return true }
        }
        return false
    }

    private func waits(_ place: Int, behind by: Condition, _ state: borrowing State) -> Bool {
        guard let app = interrupter(of: place) else { return false }
        let camera = asking[place].look.camera
        if isAsking(app, near: camera, by, state) { return true }
        // The one that is told is the holder, also while it only has its grace or its cut left: then it is the winner for
        // whom the session waits.
        let row = state.cameras.rows[Int(camera.index)]
        for winner in [row.promise?.session, row.contest?.beneficiary] {
            guard let winner, let won = asking.first(where: { $0.slot == winner })?.look.app else { continue }
            if won != asking[place].look.app, isAsking(won, near: camera, by, state) { return true }
        }
        return false
    }

    /// The other app whose bid keeps a session's camera from it.
    func interrupter(of place: Int) -> AppRef? {
        guard let app = asking[place].session.waits?.interrupter, app != asking[place].look.app else { return nil }
        return app
    }

    /// Whether an app has a session with these facts that asks for this camera, or for one that has to do with it.
    func isAsking(_ app: AppRef, near camera: Slot<Camera>, _ when: Condition, _ state: borrowing State) -> Bool {
        for place in asking.indices where asking[place].look.app == app && when.holds(for: asking[place].look.facts) {
            if touch(asking[place].look.camera, camera, state) { return true }
        }
        return false
    }

    /// One camera, or two that exclude each other: by a conflict, or because both cost something of one budget.
    private func touch(_ one: Slot<Camera>, _ other: Slot<Camera>, _ state: borrowing State) -> Bool {
        if one == other { return true }
        let policy = state.policy
        guard policy.linksCameras else { return false }
        let (a, b) = (state.id(one), state.id(other))
        if policy.source.conflict(a, b) { return true }
        return policy.source.contention.budget != nil && policy.source.cost(a).dearest > 0
            && policy.source.cost(b).dearest > 0
    }

    /// A choice of one of each, on one camera, or on cameras that exclude each other, and each of another app; nil
    /// where there is none.
    func fill(_ candidates: [[Int]], across: Bool, _ state: borrowing State) -> [Int]? {
        var chosen: [Int] = []
        return fill(0, candidates, across, &chosen, state) ? chosen : nil
    }

    /// Fills the parts from this one on; the search is as long as the parts are many.
    private func fill(
        _ index: Int, _ candidates: [[Int]], _ across: Bool, _ chosen: inout [Int], _ state: borrowing State
    ) -> Bool {
        guard index < candidates.count else { return true }
        for place in candidates[index] {
            var fits = true
            for other in chosen where fits {
                let (one, other) = (asking[place].look, asking[other].look)
                fits =
                    one.app != other.app
                    && (across ? touch(one.camera, other.camera, state) : one.camera == other.camera)
            }
            guard fits else { continue }
            chosen.append(place)
            if fill(index + 1, candidates, across, &chosen, state) { return true }
            chosen.removeLast()
        }
        return false
    }

    /// Nothing that the machine forbids, and nothing that its client gave away, keeps it from its camera.
    func isEntitled(_ place: Int, _ state: borrowing State) -> Bool {
        asking[place].look.machine.isEmpty && !hasLoweredItself(asking[place].session, state)
    }

    /// Whether a session plays a part, or another one of its app on the same camera does.
    func isKept(_ place: Int, _ part: Statement.Part, _ state: borrowing State) -> Bool {
        let one = asking[place].look
        for other in asking.indices {
            let look = asking[other].look
            if look.camera == one.camera, look.app == one.app, plays(part, other, state) { return true }
        }
        return false
    }

    func plays(_ part: Statement.Part, _ place: Int, _ state: borrowing State) -> Bool {
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
                && !state.cameras.rows.contains { $0.contest?.beneficiary == slot }
        case (.interrupted, .interrupted): return true
        case (.running, _), (.restricted, _), (.sharer, _), (.interrupted, _): return false
        }
    }

    /// Nobody keeps from a client what it gave away.
    private func hasLoweredItself(_ session: Session, _ state: borrowing State) -> Bool {
        state.clients.rows[Int(session.client.index)].hasLoweredItself
    }
}

extension Arbiter {
    /// Which app of a cast keeps a session's camera from it, as bits to be mixed into a fingerprint; 0: none does.
    func markOfWhoIsInTheWay(of session: SessionID, _ cast: FoldedCast) -> UInt64 {
        guard let slot = state.session(session), let app = state.sessions.rows[Int(slot.index)].waits?.interrupter,
            let place = cast.apps.firstIndex(where: { state.isApp(at: Int(app.slot.index), $0.app) })
        else { return 0 }
        return UInt64(place + 1).mixed
    }
}

extension UInt64 {
    /// Spread over all bits, so that what is mixed in stays apart from flags (SplitMix64).
    var mixed: UInt64 {
        var random = SeededRandom(seed: self)
        return random.next()
    }
}

/// What narrows a statement to some of its subjects, as conditions on bits.
struct StatementScope: Sendable {
    let unless: [(when: Condition, by: Condition?)]
    let by: Condition?

    init(_ statement: Statement, _ names: PolicyNames) {
        unless = statement.unless.map { (names.condition($0.when), $0.by.map { names.condition($0) }) }
        by = statement.by.map { names.condition($0) }
    }

    var isEmpty: Bool { by == nil && unless.isEmpty }
}
