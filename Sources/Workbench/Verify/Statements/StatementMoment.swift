import Arbiter
import ArbiterProtocol
import PolicyFile

/// A statement prepared once for many states, with its facts as conditions on bits.
struct ReadyStatement: Sendable {
    let source: Statement
    let place: Int
    let kind: Kind
    /// Only a `never` has several.
    let players: [(part: Statement.Part, when: Condition)]
    /// The player that `unless` and `by` are about.
    let subject: Int
    let unless: [(when: Condition, by: Condition?)]
    let by: Condition?

    /// The assertion without its payload, which a switch would copy.
    enum Kind: Sendable { case never, always, fair, within, warned, atMost }

    var when: Condition { players[0].when }
    var part: Statement.Part { players[0].part }

    init(_ statement: Statement, at place: Int = 0, _ names: PolicyNames) {
        source = statement
        self.place = place
        kind =
            switch statement.assertion {
            case .never: .never
            case .always: .always
            case .fair: .fair
            case .within: .within
            case .warned: .warned
            case .atMost: .atMost
            }
        players = zip(statement.parts, statement.roles).map { ($0, names.condition($1)) }
        subject = statement.subject
        unless = statement.unless.map { (names.condition($0.when), $0.by.map { names.condition($0) }) }
        by = statement.by.map { names.condition($0) }
    }

    static func all(_ arbiter: Arbiter) -> [ReadyStatement] {
        let names = arbiter.state.policy.names
        return arbiter.policy.statements.enumerated().map { ReadyStatement($1, at: $0, names) }
    }

    /// - Parameter isBehind: whether the session waits behind an app of these facts.
    func isExcused(_ facts: FactBits, _ isBehind: (Condition) -> Bool) -> Bool {
        unless.contains { $0.when.holds(for: facts) && ($0.by.map(isBehind) ?? true) }
    }
}

/// The sessions that ask to run at one moment, in the order of their ids, with what statements read of each.
struct StatementMoment {
    let asking: [Asking]
    /// Every camera is free or streams, and no decision is still to be carried out.
    let isSettled: Bool
    private let policy: Policy
    /// By their rows; empty where cameras are not linked.
    private let cameras: [CameraID]

    struct Asking {
        let slot: Slot<Session>
        let id: SessionID
        let camera: Slot<Camera>
        let app: AppRef
        let facts: FactBits
        /// The other app whose bid keeps its camera from it.
        let interrupter: AppRef?
        /// The sessions that get its camera after a cut, and after the holder's grace: `interrupter` is the holder until then.
        let winners: (promised: Slot<Session>?, beneficiary: Slot<Session>?)
        /// Neither the machine nor a rank that its client lowered keeps it from its camera.
        let isEntitled: Bool
        fileprivate let parts: UInt8
    }

    /// Loops and no closures: a closure that has the state copies it.
    init(_ state: State) {
        policy = state.policy.source
        var asking: [Asking] = []
        for row in state.sessions.rows.indices where state.sessions.rows[row].request != nil {
            asking.append(Asking(Slot(row), state))
        }
        if asking.count > 1 { asking.sort { $0.id < $1.id } }
        self.asking = asking
        isSettled = Self.isSettled(state)
        var cameras: [CameraID] = []
        if state.policy.linksCameras {
            for row in state.cameras.rows.indices { cameras.append(state.id(Slot<Camera>(row))) }
        }
        self.cameras = cameras
    }

    private static func isSettled(_ state: State) -> Bool {
        for timer in state.timers where timer.kind == .backoff { return false }
        for row in state.cameras.rows.indices {
            guard state.cameras.rows[row].promise == nil else { return false }
            switch state.cameras.rows[row].tenancy {
            case .free: break
            case .streaming(let held): if held.contest != nil { return false }
            case .surviving, .starting, .lost, .revoking: return false
            }
        }
        return true
    }

    func places(_ when: Condition) -> [Int] { asking.indices.filter { when.holds(for: asking[$0].facts) } }

    /// Whether a statement is about a session as it stands: it is not excused, and waits behind the app that the statement names.
    func isMeant(_ place: Int, _ statement: ReadyStatement) -> Bool {
        if let by = statement.by, !waits(place, behind: by) { return false }
        return !isExcused(place, statement)
    }

    private func isExcused(_ place: Int, _ statement: ReadyStatement) -> Bool {
        statement.isExcused(asking[place].facts) { waits(place, behind: $0) }
    }

    /// The sessions that have to play the statement's part now: entitled to their camera and not excused, while the apps behind
    /// which it counts ask to run.
    func obliged(_ statement: ReadyStatement) -> [Int] {
        if let by = statement.by, places(by).isEmpty { return [] }
        return places(statement.when).filter { asking[$0].isEntitled && !isExcused($0, statement) }
    }

    private func waits(_ place: Int, behind by: Condition) -> Bool {
        let one = asking[place]
        guard let app = one.interrupter else { return false }
        if isAsking(app, near: one.camera, by) { return true }
        return [one.winners.promised, one.winners.beneficiary].contains { winner in
            guard let winner, let won = asking.first(where: { $0.slot == winner })?.app else { return false }
            return won != one.app && isAsking(won, near: one.camera, by)
        }
    }

    /// Whether an app has a session with these facts that asks for this camera, or for a linked one.
    func isAsking(_ app: AppRef, near camera: Slot<Camera>, _ when: Condition) -> Bool {
        asking.contains { $0.app == app && when.holds(for: $0.facts) && touch($0.camera, camera) }
    }

    /// One camera, or two that exclude each other by a conflict or by their costs.
    private func touch(_ one: Slot<Camera>, _ other: Slot<Camera>) -> Bool {
        if one == other { return true }
        return !cameras.isEmpty && policy.links(cameras[Int(one.index)], cameras[Int(other.index)])
    }

    /// One of each, on one camera or on cameras that exclude each other, and each of another app.
    func fill(_ candidates: [[Int]], across: Bool, _ chosen: [Int] = []) -> [Int]? {
        guard chosen.count < candidates.count else { return chosen }
        for place in candidates[chosen.count] {
            let one = asking[place]
            let fits = chosen.allSatisfy { other in
                one.app != asking[other].app
                    && (across ? touch(one.camera, asking[other].camera) : one.camera == asking[other].camera)
            }
            if fits, let filled = fill(candidates, across: across, chosen + [place]) { return filled }
        }
        return nil
    }

    func plays(_ part: Statement.Part, _ place: Int) -> Bool { asking[place].parts & part.bit != 0 }

    func isKept(_ place: Int, _ part: Statement.Part) -> Bool {
        asking.contains {
            $0.camera == asking[place].camera && $0.app == asking[place].app && $0.parts & part.bit != 0
        }
    }
}

extension Policy {
    /// Whether two cameras exclude each other by a conflict, or share a budget.
    func links(_ a: CameraID, _ b: CameraID) -> Bool {
        conflict(a, b) || contention.budget != nil && cost(a).dearest > 0 && cost(b).dearest > 0
    }
}

extension StatementMoment.Asking {
    fileprivate init(_ slot: Slot<Session>, _ state: State) {
        let row = Int(slot.index)
        let look = state.look(at: slot)
        let own = Int(look.camera.index)
        // A client that lowered its rank is kept from nothing.
        let hasLoweredItself = state.clients.rows[Int(state.sessions.rows[row].client.index)].hasLoweredItself
        let waits = state.sessions.rows[row].waits
        let isSharing = waits?.isSharing == true
        self.slot = slot
        id = SessionID(state.sessions.rows[row].id)
        (camera, app, facts) = (look.camera, look.app, look.facts)
        interrupter = waits?.interrupter == look.app ? nil : waits?.interrupter
        winners = (state.cameras.rows[own].promise?.session, state.cameras.rows[own].contest?.beneficiary)
        isEntitled = look.machine.isEmpty && !hasLoweredItself
        // A contest or a promise is a bid that has won.
        var hasWon = winners.promised == slot
        for camera in state.cameras.rows.indices where state.cameras.rows[camera].contest?.beneficiary == slot {
            hasWon = true
        }
        var parts: UInt8 = state.cameras.rows[own].tenancy.holder == slot ? Statement.Part.holder.bit : 0
        if state.sessions.rows[row].has.contains(.recording) { parts |= Statement.Part.recording.bit }
        if interrupter != nil, !hasLoweredItself, !isSharing, !hasWon { parts |= Statement.Part.waiting.bit }
        switch state.sessions.rows[row].shown {
        case .running(let access):
            parts |= Statement.Part.running.bit
            if access != .all { parts |= Statement.Part.restricted.bit }
            if isSharing { parts |= Statement.Part.sharer.bit }
        case .interrupted: parts |= Statement.Part.interrupted.bit
        case .stopped, .pending: break
        }
        self.parts = parts
    }
}

extension Statement.Part {
    fileprivate var bit: UInt8 {
        switch self {
        case .holder: 1
        case .running: 2
        case .restricted: 4
        case .recording: 8
        case .sharer: 16
        case .waiting: 32
        case .interrupted: 64
        }
    }
}

extension Arbiter {
    /// A mark for a session's fingerprint: which app keeps its camera from it; 0 for none.
    func markOfWhoIsInTheWay(of session: SessionID, _ symmetry: AppSymmetry) -> UInt64 {
        guard let slot = state.session(session), let app = state.sessions.rows[Int(slot.index)].waits?.interrupter,
            let place = symmetry.apps.firstIndex(where: { state.isApp(at: Int(app.slot.index), $0.app) })
        else { return 0 }
        return UInt64(place + 1).mixed
    }
}

extension UInt64 {
    /// Spread over all bits, so that it stays apart from flags (SplitMix64).
    var mixed: UInt64 {
        var random = SeededRandom(seed: self)
        return random.next()
    }
}
