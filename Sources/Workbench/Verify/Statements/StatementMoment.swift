import Arbiter
import ArbiterProtocol
import PolicyFile

/// A statement made ready once to be asked in many states: its facts as conditions on bits.
struct ReadyStatement: Sendable {
    let source: Statement
    let place: Int
    let kind: Kind
    /// Several of a `never` alone.
    let players: [(part: Statement.Part, when: Condition)]
    /// Which of the players `unless` and `by` are about.
    let subject: Int
    let unless: [(when: Condition, by: Condition?)]
    let by: Condition?

    /// An assertion without its words, which are told only of a statement that is broken.
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
}

/// The sessions that ask to run at one moment, in the order of their ids, with all that statements ask of each.
struct StatementMoment {
    let asking: [Asking]
    /// Every camera is free or streams, and nothing that was decided is still to be carried out.
    let isSettled: Bool
    private let policy: Policy
    /// By their rows; none where cameras have nothing to do with each other.
    private let cameras: [CameraID]

    struct Asking {
        let slot: Slot<Session>
        let id: SessionID
        let camera: Slot<Camera>
        let app: AppRef
        let facts: FactBits
        /// The other app whose bid keeps its camera from it.
        let interrupter: AppRef?
        /// Who gets its camera once the holder's grace or cut is over: the one that is told is the holder until then.
        let winners: (promised: Slot<Session>?, beneficiary: Slot<Session>?)
        /// Nothing that the machine forbids, and nothing that its client gave away, keeps it from its camera.
        let isEntitled: Bool
        fileprivate let parts: UInt8
    }

    /// Loops and no closures: one that has the state copies it.
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

    /// Whether a statement is about a session as it stands: nothing excuses it, and it waits behind the app that the
    /// statement speaks of, if it speaks of one.
    func isMeant(_ place: Int, _ statement: ReadyStatement) -> Bool {
        if let by = statement.by, !waits(place, behind: by) { return false }
        return !isExcused(place, statement)
    }

    private func isExcused(_ place: Int, _ statement: ReadyStatement) -> Bool {
        statement.unless.contains { excuse in
            excuse.when.holds(for: asking[place].facts) && (excuse.by.map { waits(place, behind: $0) } ?? true)
        }
    }

    /// Those of whom a statement asks something now, by their places: entitled to their camera and not excused, while those
    /// behind whom it counts ask to run.
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

    /// Whether an app has a session with these facts that asks for this camera, or for one that has to do with it.
    func isAsking(_ app: AppRef, near camera: Slot<Camera>, _ when: Condition) -> Bool {
        asking.contains { $0.app == app && when.holds(for: $0.facts) && touch($0.camera, camera) }
    }

    /// One camera, or two that exclude each other: by a conflict, or because both cost something of one budget.
    private func touch(_ one: Slot<Camera>, _ other: Slot<Camera>) -> Bool {
        if one == other { return true }
        if cameras.isEmpty { return false }
        let (a, b) = (cameras[Int(one.index)], cameras[Int(other.index)])
        return policy.conflict(a, b)
            || policy.contention.budget != nil && policy.cost(a).dearest > 0 && policy.cost(b).dearest > 0
    }

    /// A choice of one of each, on one camera, or on cameras that exclude each other, and each of another app; nil
    /// where there is none. The search is as long as the candidates are many.
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

extension StatementMoment.Asking {
    fileprivate init(_ slot: Slot<Session>, _ state: State) {
        let row = Int(slot.index)
        let look = state.look(at: slot)
        let own = Int(look.camera.index)
        // Nobody keeps from a client what it gave away.
        let hasLoweredItself = state.clients.rows[Int(state.sessions.rows[row].client.index)].hasLoweredItself
        let waits = state.sessions.rows[row].waits
        let isSharing = waits?.isSharing == true
        self.slot = slot
        id = SessionID(state.sessions.rows[row].id)
        camera = look.camera
        app = look.app
        facts = look.facts
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
    /// Which app of a symmetry keeps a session's camera from it, as bits to be mixed into a fingerprint; 0: none does.
    func markOfWhoIsInTheWay(of session: SessionID, _ symmetry: AppSymmetry) -> UInt64 {
        guard let slot = state.session(session), let app = state.sessions.rows[Int(slot.index)].waits?.interrupter,
            let place = symmetry.apps.firstIndex(where: { state.isApp(at: Int(app.slot.index), $0.app) })
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
