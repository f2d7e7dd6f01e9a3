public import Arbiter
import ArbiterProtocol
import EventTable
import ReferenceArbiter
public import Scenario

/// Compares the real arbiter with the naive one after each line of a story: which session has each camera, what state
/// each session is in, and which ones record.
///
/// It judges while recorders behave. Once one fails, is late or refuses, and once a camera came back without what a
/// session needs, it only notes facts until nothing of that is left, and goes on from what came of it. It does not look at
/// what happens between an order and its answer either.
public struct ReferenceJudge: FuzzJudge {
    private var reference = ReferenceArbiter(policy: PolicyAsHouse(.firstCome))
    private var recordings: [RecordingID: SessionID] = [:]
    /// The app each question is about: numbers are the core's.
    private var questions: [QuestionID: WholeWorld.App] = [:]
    /// What is recorded for grants of before a restart.
    private var survivors: [GrantID: RecordingID] = [:]
    /// When each recorder was told to begin or to end, while it has not answered.
    private var orders: [CameraID: Moment] = [:]
    /// A fault is under way.
    private var isSilent = false
    public private(set) var comparisons = 0
    /// What both last agreed on; nil: something happened since.
    private var agreed: ReferenceArbiter.Judgement?

    public init() {}

    public var judgedAll: Bool { !isSilent }

    public mutating func begin(_ policy: Policy) {
        self = ReferenceJudge()
        reference = ReferenceArbiter(policy: PolicyAsHouse(policy))
    }

    public mutating func judge(_ step: Stage.Step) -> String? {
        agreed = nil
        for case .notify(_, let session, _, let notice) in step.effects {
            if case .recordingStarted(let id) = notice { recordings[id] = session }
            if case .sessionStopped(.configurationLost, _) = notice { isSilent = true }
        }
        for case .announce(.question(let question)) in step.effects {
            questions[question.id] = WholeWorld.App(question.app, isClaimed: question.isClaimed)
        }
        if isLate(step) { isSilent = true }
        switch step.event {
        case .recorderGone, .deviceFailed, .recorderRefusedConfiguration: isSilent = true
        default: break
        }
        if isSilent {
            note(step)
            return nil
        }
        switch step.event {
        case .recorderTrouble, .timePassed, .openStream, .capturePhoto, .capturePhotoBracket: return nil
        case _ where step.event.described.traits.contains(.answer): return nil
        default: break
        }
        reference.pass(to: step.moment)
        return take(step)
    }

    /// Facts are noted during a fault, too. What the naive arbiter makes of them meanwhile is forgotten.
    private mutating func note(_ step: Stage.Step) {
        switch step.event {
        case .reserved(_, _, let survivor?): survivors[survivor.grant] = survivor.recording
        case .recordingFinished(let id, _, _, _, _, _, _): recordings[id] = nil
        default: break
        }
        let isRefused = step.effects.contains { if case .refused = $0 { true } else { false } }
        reference.pass(to: step.moment)
        if !isRefused { _ = reference.take(step.event) }
    }

    /// Times of a grant whose order was answered late run longer than where answers take no time.
    private mutating func isLate(_ step: Stage.Step) -> Bool {
        var isLate = false
        switch step.event {
        case .recorderStreaming(let camera, _, _), .recorderCut(let camera, _):
            isLate = orders.removeValue(forKey: camera).map { $0 < step.moment } ?? false
        default: break
        }
        for effect in step.effects {
            switch effect {
            case .open(let camera, _, _, _), .resume(let camera, _, _, _), .cut(let camera, _, _, _, _):
                orders[camera] = step.moment
            default: break
            }
        }
        return isLate
    }

    private mutating func take(_ step: Stage.Step) -> String? {
        let refusal = step.effects.lazy.compactMap { if case .refused(let refusal) = $0 { refusal } else { nil } }.first
        let isRefused = refusal != nil
        if let refusal, refusal.error.kind == .unsupportedConfiguration, refusal.rule == Law.budget.text,
            reference.hasRoom(for: step.event)
        {
            return "the reference has room for a configuration where the core has none"
        }
        switch step.event {
        case .reserved(_, _, let survivor?): survivors[survivor.grant] = survivor.recording
        case .reclaimed(let session, let grant) where !isRefused:
            if let recording = survivors.removeValue(forKey: grant) { recordings[recording] = session }
        case .recordingFinished(let id, _, _, _, _, _, _):
            for (camera, state) in reference.world.cameras where state.survivor?.recording == id {
                reference.world.cameras[camera]?.survivor?.recording = nil
            }
            // By itself: one that was ordered to end is no recording any more.
            guard let session = recordings.removeValue(forKey: id), reference.judgement.recording.contains(session)
            else { return nil }
            if recordings.contains(where: { $0.key > id && $0.value == session }) { return nil }
            reference.world.sessions[session]?.isRecording = false
            reference.world.sessions[session]?.isPaused = false
            reference.judge()
            return nil
        // What cameras can do, and which interruption was the last: the core's word is taken.
        case .commitConfiguration(let session) where isRefused:
            reference.closeBatch(session)
            return nil
        case .created, .configure, .beginConfiguration, .ready, .questionAnswered: if isRefused { return nil }
        default: break
        }
        if case .questionAnswered(let id, let answer) = step.event {
            guard let app = questions[id], reference.answer(app, answer) else {
                return "the reference asks nothing about question \(id), and the core took an answer"
            }
            reference.judge()
            return nil
        }
        let isTaken = reference.take(step.event)
        if isTaken != isRefused { return nil }
        return "the reference \(isTaken ? "took" : "refused") what the core \(isRefused ? "refused" : "took")"
    }

    public mutating func rest(_ stage: Stage) -> String? {
        // What is due at this very moment happens with the next line, and on both sides then.
        if stage.nextMoment.map({ $0 <= stage.now }) == true { return nil }
        reference.pass(to: stage.now)
        if isSilent {
            guard reference.resume(from: stage.arbiter) else { return nil }
            (isSilent, orders) = (false, [:])
        }
        if reference.judgement == agreed { return nil }
        let status = stage.arbiter.status()
        guard status.cameras.allSatisfy({ [.free, .streaming, .reserved].contains($0.tenancy) }) else {
            isSilent = true
            return nil
        }
        comparisons += 1
        agreed = reference.judgement
        return difference(status)
    }

    private func difference(_ status: Status) -> String? {
        let judgement = reference.judgement
        for camera in status.cameras where camera.holder != judgement.holders[camera.id] {
            return
                "the reference differs: camera \(camera.id.name) is \(spoken(camera.holder)), by the reference \(spoken(judgement.holders[camera.id]))"
        }
        for session in status.sessions where shown(session) != judgement.sessions[session.id] {
            return
                "the reference differs: session \(session.id.rawValue) is \(spoken(shown(session))), by the reference \(spoken(judgement.sessions[session.id]))"
        }
        for session in status.sessions where session.isRecording != judgement.recording.contains(session.id) {
            return
                "the reference differs: session \(session.id.rawValue) \(session.isRecording ? "records" : "does not record")"
        }
        return nil
    }

    private func shown(_ session: Status.SessionStatus) -> ReferenceArbiter.Shown? {
        switch session.state {
        case .stopped: .stopped
        case .running: .running(session.access)
        case .interrupted: .interrupted(Set(session.causes.ordered))
        // Behaving recorders answer at once.
        case .starting: nil
        }
    }

    private func spoken(_ holder: SessionID?) -> String { holder.map { "held by \($0.rawValue)" } ?? "free" }

    private func spoken(_ shown: ReferenceArbiter.Shown?) -> String {
        switch shown {
        case nil: "starting or unknown"
        case .stopped: "stopped"
        case .running(let access): "running, may \(access.names.joined(separator: " "))"
        case .interrupted(let causes):
            "interrupted by \(causes.sorted { $0.rawValue < $1.rawValue }.map(\.shortName).joined(separator: " "))"
        }
    }
}
