package import Arbiter
package import ArbiterProtocol
import Explain
package import Scenario

/// One state of a walk: the arbiter, what recorders owe it, and what its clients were told.
package struct ExploredState: Sendable {
    package var arbiter: Arbiter
    package var checker = TraceChecker()
    package var duties = RecorderDuties()
    package var now = Moment.zero
    private var deadline: Moment?
    private(set) var policy: Fingerprint

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
        if case .policyLoaded = event { policy = arbiter.policy.fingerprint }
        deadline = arbiter.deadline
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
        if case .policyLoaded = event { policy = arbiter.policy.fingerprint }
        deadline = arbiter.deadline
        if let deadline, deadline < now || (deadline == now && event.isTimePassed) {
            wrong.append("the deadline \(TimeText.write(deadline)) is not in the future")
        }
        return wrong
    }

    private static func check(
        _ event: Event, _ effects: [Effect], _ after: Arbiter, wasDue: Bool, _ checker: inout TraceChecker,
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
        now = other.now
        deadline = other.deadline
        policy = other.policy
    }

    package var fingerprint: Fingerprint {
        var writer = FingerprintWriter()
        writer.combine(arbiter.fingerprint(policy))
        writer.combine(words: checker)
        writer.combine(words: duties)
        return writer.finished()
    }

    /// The event that an action means now; nil where it cannot happen: a client that is there cannot connect.
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
            // Its id would not be fresh: somebody of that id is owed the end of a file.
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
}

extension Event {
    fileprivate var isTimePassed: Bool { if case .timePassed = self { true } else { false } }
}

extension ExploredState {
    /// Once nothing is under way any more, a session that waits for the camera waits for one that has it.
    package var lostWakeUp: String? {
        guard duties.areDone, arbiter.deadline ?? .distantFuture == .distantFuture, arbiter.isAnybodyUnserved else {
            return nil
        }
        if !arbiter.isAnybodyPerhapsForgotten { return nil }
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
