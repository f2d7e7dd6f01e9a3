package import Arbiter
package import ArbiterProtocol
import Explain
package import Scenario

package struct StepStory {
    package private(set) var entries: [LogEntry] = []
    private var writer: ScenarioWriter
    private var lanes: Set<String> = []
    /// Cameras that appear before the first client are not news.
    private var isInhabited = false
    /// Goes through the same steps: a lease's end is in its state and in no effect.
    private var arbiter: Arbiter
    private var due: [CameraID: [Timeline.Deadline.Kind: Moment]] = [:]

    package init(from arbiter: Arbiter, names: Names = Names()) {
        self.arbiter = arbiter
        writer = ScenarioWriter(names: names)
    }

    package mutating func note(
        _ event: Event, _ effects: [Effect], at moment: Moment, decision: DecisionID = 0
    ) {
        writer.learn(event)
        tell(event, effects, at: moment, decision: decision)
    }

    private mutating func tell(_ event: Event, _ effects: [Effect], at moment: Moment, decision: DecisionID) {
        _ = arbiter.step(event, at: moment)
        defer { noteDeadlines(at: moment) }
        switch event {
        case .connected: isInhabited = true
        case .cameraAppeared where !isInhabited: return
        default: break
        }
        let fact = TimelineFact(
            event: event.kind.rawValue, about: event.name(writer.names), note: event.note(writer.names))
        if let fact { note(fact, at: moment) }
        for effect in effects {
            switch effect {
            case .notify(_, let session, let sequence, let event):
                entries.append(
                    .event(
                        moment, app: writer.names.name(of: session),
                        SessionSignal(sequence: sequence, decision: decision, event: event)))
            case .announce(.holderChanged(let camera, let app)):
                note(.holder(camera: camera.name, app?.name), at: moment)
            default: break
            }
        }
    }

    private mutating func noteDeadlines(at now: Moment) {
        for camera in arbiter.status().cameras {
            for kind in Timeline.Deadline.Kind.allCases {
                let until =
                    switch kind {
                    case .lease: camera.leaseUntil
                    case .confirmation: camera.revokedAt
                    }
                guard until != due[camera.id]?[kind] else { continue }
                due[camera.id, default: [:]][kind] = until
                note(.deadline(camera: camera.id.name, kind, due: until), at: now)
            }
        }
    }

    private mutating func note(_ fact: TimelineFact, at moment: Moment) {
        switch fact {
        case .appeared(let lane): lanes.insert(lane)
        case .left(let lane): lanes.remove(lane)
        case .holder, .deadline, .note: break
        }
        entries.append(.fact(moment, fact))
    }

    /// Begins a part of a trace: sessions and holders of its snapshot appear at its moment.
    package mutating func begin(_ header: TraceHeader, _ arbiter: Arbiter, at moment: Moment?) {
        self.arbiter = arbiter
        writer.names = header.names(of: arbiter)
        guard let moment else { return }
        isInhabited = true
        let status = arbiter.status()
        for session in status.sessions {
            let lane = writer.names.name(of: session.id)
            note(.appeared(lane: lane), at: moment)
            for event in session.eventsThatLeadToIt {
                entries.append(.event(moment, app: lane, SessionSignal(sequence: 0, decision: 0, event: event)))
            }
        }
        for camera in status.cameras { note(.holder(camera: camera.id.name, camera.holderApp?.name), at: moment) }
        noteDeadlines(at: moment)
    }

    package mutating func note(_ replayed: Replay.Step) {
        writer.names.learn(replayed.step)
        let step = replayed.step
        tell(step.event, replayed.effects, at: step.moment, decision: step.decision)
    }

    /// After missing steps no lane is sure any more.
    package mutating func lose(_ count: UInt64) {
        guard let last = entries.last?.moment else { return }
        for lane in lanes.sorted() { note(.left(lane: lane), at: last) }
        note(.note("\(count) steps are missing here"), at: last)
    }
}
