import Arbiter
import ArbiterProtocol
import Exploration
import ReferenceArbiter
import Scenario

/// The real arbiter and the naive one, given the same events, with a recorder that answers at once.
struct SideBySide {
    private(set) var arbiter: Arbiter
    private(set) var reference: ReferenceArbiter
    /// The interruption that each session was last told of.
    private(set) var announced: [SessionID: InterruptionID] = [:]
    private var deadlines: [SessionID: Moment] = [:]
    private var recordings: [CameraID: RecordingID] = [:]
    /// What the two last agreed on.
    private(set) var judgement = ReferenceArbiter.Judgement()
    var now: Moment { reference.world.now }

    /// Which notices, causes and reasons came up: a comparison that never met a rule says nothing about it.
    private(set) var met: Set<String> = []
    /// What happened, as a scenario's lines; kept only where it is asked for.
    private(set) var trace: [String] = []
    private var writer: ScenarioWriter?

    init(policy: Policy, house: any HousePolicy, keepsTrace: Bool = false) {
        writer = keepsTrace ? ScenarioWriter() : nil
        arbiter = Arbiter(policy: policy)
        reference = ReferenceArbiter(policy: house)
    }

    /// All durations of the three policies are whole seconds, so a look each second misses nothing.
    static let tick = Duration.seconds(1)

    /// Both take an event. Returns what they disagree on, or nil.
    mutating func take(_ event: Event, at moment: Moment) -> String? {
        while now + Self.tick < moment {
            if let difference = look(.timePassed, at: now + Self.tick) { return difference }
        }
        if moment > now, let difference = look(.timePassed, at: moment) { return difference }
        return look(event, at: moment)
    }

    private mutating func look(_ event: Event, at moment: Moment) -> String? {
        // The broker takes no word from a source that is not attached.
        switch event {
        case .placed(_, _, _, let source), .unplaced(_, let source):
            guard reference.world.hears(source) else { return nil }
        default: break
        }
        // Ids of interruptions are the core's own: the reference is not asked about one that is not the latest.
        var isStale = false
        if case .ready(let session, let id) = event { isStale = announced[session] != id }
        let (wasRefused, wasQuiet) = drive(event, at: moment)
        let before = judgement
        reference.pass(to: moment)
        let isRefused = isStale || !reference.take(event)
        judgement = reference.judgement
        if wasRefused != isRefused {
            return "the core \(wasRefused ? "refused" : "took") it, the reference did not"
        }
        if let deadline = arbiter.deadline, deadline <= moment {
            return "the core's deadline is not in the future: \(deadline.nanoseconds) ns"
        }
        // Time passes often, and mostly nothing comes of it.
        if event == .timePassed, wasQuiet, judgement == before { return nil }
        let violations = arbiter.violations()
        if !violations.isEmpty { return violations.joined(separator: "; ") }
        return difference()
    }

    /// Steps the core, and answers its orders until it has none.
    private mutating func drive(_ event: Event, at moment: Moment) -> (wasRefused: Bool, wasQuiet: Bool) {
        var pending = [event]
        var wasRefused = false
        var wasQuiet = true
        while !pending.isEmpty {
            let event = pending.removeFirst()
            let effects = arbiter.step(event, at: moment)
            if event != .timePassed || !effects.isEmpty, let lines = writer?.lines(event, at: moment, effects) {
                trace += lines
            }
            wasQuiet = wasQuiet && effects.isEmpty
            for effect in effects {
                switch effect {
                case .refused: wasRefused = true
                case .cut(let camera, let grant, let why, _, _):
                    pending.append(.recorderCut(camera, grant))
                    if let recording = recordings.removeValue(forKey: camera) {
                        pending.append(finished(recording, why))
                    }
                case .open(let camera, let grant, _, let configuration):
                    pending.append(.recorderStreaming(camera, grant, inForce: configuration))
                case .startRecording(let camera, _, _, let recording): recordings[camera] = recording
                case .stopRecording(let camera, let recording, let why, _):
                    recordings[camera] = nil
                    pending.append(finished(recording, why))
                case .notify(_, let session, _, let notice): meet(notice, session, at: moment)
                default: break
                }
            }
        }
        return (wasRefused, wasQuiet)
    }

    private mutating func meet(_ notice: SessionEvent, _ session: SessionID, at moment: Moment) {
        met.insert(notice.wireName)
        switch notice {
        case .willBeInterrupted(let id, _, let deadline, _):
            announced[session] = id
            deadlines[session] = deadline
        case .wasInterrupted(let id, let causes, _, _, _):
            met.formUnion(causes.ordered.map(\.shortName))
            guard announced[session] == id, let deadline = deadlines[session] else { break }
            met.insert(moment == deadline ? "cut at the deadline" : "cut before the deadline")
        case .sessionStopped(let reason, _): met.insert(reason.rawValue)
        default: break
        }
    }

    private func finished(_ recording: RecordingID, _ why: RecordingEnd) -> Event {
        .recordingFinished(recording, why: why, frames: 1, duration: .zero, bytes: 1)
    }

    private func difference() -> String? {
        let status = arbiter.status()
        var core = ReferenceArbiter.Judgement()
        for camera in status.cameras { core.holders[camera.id] = camera.holder }
        for session in status.sessions {
            switch session.state {
            case .stopped: core.sessions[session.id] = .stopped
            case .running: core.sessions[session.id] = .running(session.access)
            case .interrupted: core.sessions[session.id] = .interrupted(Set(session.causes.ordered))
            case .starting:
                return "session \(session.id.rawValue) is still starting, with a recorder that answers at once"
            }
            if session.isRecording { core.recording.insert(session.id) }
        }
        guard core != judgement else { return nil }
        var lines: [String] = []
        for id in Set(core.sessions.keys).union(judgement.sessions.keys).sorted()
        where core.sessions[id] != judgement.sessions[id] {
            lines.append(
                "session \(id.rawValue): \(spoken(core.sessions[id])); reference: \(spoken(judgement.sessions[id]))")
        }
        for id in Set(core.holders.keys).union(judgement.holders.keys).sorted()
        where core.holders[id] != judgement.holders[id] {
            lines.append("\(id.name): \(spoken(core.holders[id])); reference: \(spoken(judgement.holders[id]))")
        }
        if core.recording != judgement.recording {
            lines.append(
                "recording: \(core.recording.map(\.rawValue).sorted()); reference: \(judgement.recording.map(\.rawValue).sorted())"
            )
        }
        return lines.joined(separator: "\n")
    }

    private func spoken(_ holder: SessionID?) -> String { holder.map { "held by \($0.rawValue)" } ?? "free" }

    private func spoken(_ shown: ReferenceArbiter.Shown?) -> String {
        switch shown {
        case nil: "unknown"
        case .stopped: "stopped"
        case .running(let access): "running, may \(access.names.joined(separator: " "))"
        case .interrupted(let causes):
            "interrupted by \(CauseSet(causes).ordered.map(\.shortName).joined(separator: " "))"
        }
    }
}

extension WholeWorld {
    /// Some speaker of that kind is there.
    func hears(_ source: PresenceSource) -> Bool { speakers.contains { $0.source == source && $0.isThere } }
}
