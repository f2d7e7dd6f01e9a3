package import Arbiter
package import ArbiterProtocol
import Explain
package import Scenario

/// One state of a walk: the arbiter, what recorders owe it, and what its clients were told.
package struct ExploredState: Sendable {
    package var arbiter: Arbiter
    package var checker = ContractMonitor()
    package var duties = RecorderDuties()
    package var now = Moment.zero
    private var deadline: Moment?
    private var policy: Fingerprint

    package init(_ policy: Policy) {
        arbiter = Arbiter(policy: policy)
        self.policy = policy.fingerprint
    }

    package mutating func take(_ event: Event) -> (effects: [Effect], wrong: [String]) {
        var memory = StepMemory(for: arbiter)
        let wrong = take(event, in: &memory)
        return (memory.effects, wrong)
    }

    mutating func observe(_ event: Event) -> (effects: [Effect], verdicts: [Verdict]) {
        duties.note(event)
        let wasDue = deadline.map { $0 <= now } ?? false
        let (effects, verdicts) = arbiter.observedStep(event, at: now)
        _ = Self.check(event, effects, arbiter, wasDue: wasDue, &checker, &duties)
        noteStep(event)
        return (effects, verdicts)
    }

    package mutating func take(_ event: Event, in memory: inout StepMemory) -> [String] {
        if case .reserved(let camera, _, let survivor?) = event, checker.isUntouched(camera) {
            duties.survive(camera, survivor)
        }
        duties.note(event)
        let wasDue = deadline.map { $0 <= now } ?? false
        arbiter.step(event, at: now, in: &memory)
        var wrong = Self.check(event, memory.effects, arbiter, wasDue: wasDue, &checker, &duties)
        noteStep(event)
        if let deadline, deadline < now || (deadline == now && event == .timePassed) {
            wrong.append("the deadline \(TimeText.write(deadline)) is not in the future")
        }
        return wrong
    }

    private mutating func noteStep(_ event: Event) {
        if case .policyLoaded = event { policy = arbiter.policy.fingerprint }
        deadline = arbiter.deadline
    }

    private static func check(
        _ event: Event, _ effects: [Effect], _ after: Arbiter, wasDue: Bool, _ checker: inout ContractMonitor,
        _ duties: inout RecorderDuties
    ) -> [String] {
        let isRefused = if case .refused? = effects.last { true } else { false }
        if case .reclaimed(let session, let grant) = event, !isRefused { duties.reclaim(session, grant) }
        return checker.check(
            event, effects, at: after.state.now, wasDue: wasDue,
            terms: { session, moment in after.holdTerms(of: session, moment) }, eachOrder: { duties.take($0) })
    }

    mutating func become(_ other: borrowing ExploredState) {
        arbiter.become(other.arbiter)
        checker.become(other.checker)
        duties.become(other.duties)
        (now, deadline, policy) = (other.now, other.deadline, other.policy)
    }

    package var fingerprint: Fingerprint {
        var writer = FingerprintWriter()
        writer.combine(arbiter.fingerprint(policy))
        writer.combine(words: checker)
        writer.combine(words: duties)
        return writer.finished()
    }

    /// - Parameter mark: what a walk remembers of a session besides.
    package func canonicalize(
        _ symmetry: AppSymmetry, into canonical: inout CanonicalState, mark: ((SessionID) -> UInt64)? = nil
    ) {
        for row in arbiter.state.sessions.rows.indices {
            let session = SessionID(arbiter.state.sessions.rows[row].id)
            var own = checker.mark(of: session) | duties.mark(of: session) << 20
            if symmetry.tellsWhoIsInTheWay { own ^= arbiter.markOfWhoIsInTheWay(of: session, symmetry) }
            if let mark { own ^= mark(session) }
            canonical.note(session: row, own)
        }
        for slot in arbiter.state.cameraOrder {
            let camera = arbiter.state.id(slot)
            // Under another policy the same state has other successors.
            let own = checker.mark(of: camera) | duties.mark(of: camera) << 8 ^ policy.first << 48
            canonical.note(camera: Int(slot.index), own)
        }
        arbiter.canonicalize(symmetry, into: &canonical)
    }
}

/// Which events may happen.
extension ExploredState {
    /// The event of an action at this moment; `nil` where it cannot happen: a client that is connected cannot connect.
    package func event(_ action: Action) -> Event? {
        switch action {
        case .event(let event): return isPossible(event) && duties.allows(event) ? event : nil
        case .ready(let session, _): return checker.warning(of: session).map { .ready(session, $0) }
        case .answer(.recorderStreaming(let camera, _, _), _):
            return duties.answers([]).first { if case .recorderStreaming(camera, _, _) = $0 { true } else { false } }
        case .answer, .behave: return nil
        }
    }

    func isPossible(_ event: Event) -> Bool {
        switch event {
        case .connected(let client, _, _): arbiter.app(of: client) == nil
        case .declared(let client, _), .declaredPresence(let client, _, _), .loweredPriority(let client, _),
            .loweredAttribute(let client, _, _), .disconnected(let client):
            arbiter.app(of: client) != nil
        case .created(let session, let client, _, _, _):
            // An id is not fresh while the end of a file is owed to it.
            arbiter.app(of: client) != nil && !checker.remembers(session) && !duties.owesFile(of: session)
        case .startRunning(let session), .reclaimed(let session, _), .stopRunning(let session),
            .beginConfiguration(let session), .commitConfiguration(let session), .configure(let session, _),
            .openStream(let session), .capturePhoto(let session), .capturePhotoBracket(let session, _),
            .attachMicrophone(let session, _), .startRecording(let session, _), .stopRecording(let session),
            .pauseRecording(let session), .resumeRecording(let session), .appendMetadata(let session),
            .ready(let session, _), .continueAfterSensitiveContent(let session), .closed(let session):
            checker.exists(session)
        default: true
        }
    }

    /// The machine is whole and awake, no camera is configured, and the policy is not the built-in one.
    var isUndisturbed: Bool { arbiter.isMachineWhole && policy != Self.builtIn && !arbiter.isAnybodyZoomed }
    private static let builtIn = Policy.firstCome.fingerprint
}

/// Recorders that answer at once.
extension ExploredState {
    /// Two recorders that answer each other's orders for ever would be the arbiter's fault.
    static let answersMax = 200
    static let endless = "orders and answers do not come to an end"

    package mutating func answerAll() -> (effects: [Effect], wrong: [String]) {
        var effects: [Effect] = []
        var wrong: [String] = []
        for _ in 0..<Self.answersMax {
            guard let answer = duties.firstAnswer else { return (effects, wrong) }
            let (more, mistakes) = take(answer)
            effects += more
            wrong += mistakes
        }
        return (effects, wrong + [Self.endless])
    }

    /// Takes the events of one moment and the recorders' answers.
    @discardableResult mutating func perform(_ events: [Event], at moment: Moment) -> [Effect] {
        now = moment
        var effects: [Effect] = []
        for event in events { effects += take(event).effects }
        return effects + answerAll().effects
    }

    /// The state once every grace and min-hold that was begun is over.
    func settled() -> ExploredState {
        var state = self
        // A grace, a min-hold and the next of each camera; more rounds would be cameras that change hands for ever.
        let roundsMax = 16
        for _ in 0..<roundsMax {
            guard state.arbiter.overview().cameras.contains(where: { $0.next != nil }),
                let deadline = state.arbiter.deadline, deadline < .distantFuture
            else { break }
            state.perform([.timePassed], at: max(deadline, state.now))
        }
        return state
    }
}

extension ExploredState {
    /// Nothing is under way and no deadline is set: no state follows without a new event.
    var isAtRest: Bool { duties.areDone && arbiter.deadline ?? .distantFuture == .distantFuture }

    /// Once nothing is under way, a session that waits for the camera waits for one that has it.
    package var lostWakeUp: String? {
        guard isAtRest, arbiter.isAnybodyUnserved, arbiter.isAnybodyPerhapsForgotten else { return nil }
        let status = arbiter.status()
        for session in status.sessions where session.causes == CauseSet([.videoDeviceInUseByAnotherClient]) {
            guard session.state != .stopped, session.waitsFor != nil else { continue }
            if !status.cameras.contains(where: { $0.holder != nil }) {
                return "4: session \(session.id.rawValue) waits, and nobody has a camera or ever will"
            }
        }
        let faults: Set<Cause> = [.recorderReset, .deviceError]
        for session in status.sessions
        where session.state == .interrupted && session.causes.ordered.allSatisfy(faults.contains) {
            return "4: session \(session.id.rawValue) waits for a recorder that nobody restarts"
        }
        for session in status.sessions where session.state == .starting {
            return "4: session \(session.id.rawValue) asks to run, nothing limits it, and nothing is under way"
        }
        return nil
    }
}
