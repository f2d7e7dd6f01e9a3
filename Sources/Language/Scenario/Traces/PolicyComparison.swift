public import Arbiter
public import ArbiterProtocol
public import Explain

/// The results of a trace's inputs under another policy.
///
/// The inputs of clients and of the world are performed twice, under the trace's own policy and under the other, side
/// by side. Recorders are simulated in both and answer at once, since the trace has no answers to other orders. Apps
/// are taken to ask for the same things at the same moments, though other notices might have changed that.
public struct PolicyComparison {
    /// A session that has something else than under the trace's policy.
    public struct Change: Sendable {
        public var line: Int
        public var moment: Moment
        /// The step's event as a scenario line; `nil` where time passed.
        public var event: String?
        /// The journal's name of the session.
        public var session: String
        public var before: String
        public var after: String
    }

    public private(set) var changes: [Change] = []
    public private(set) var inputs = 0
    /// How many inputs of each kind could not be performed.
    public private(set) var leftOut: [String: Int] = [:]
    /// The inputs that were performed under the other policy, as scenario lines with the lines of the trace they stand
    /// in.
    private(set) var lines: [(line: Int, moment: Moment, text: String)] = []

    private var before: Stage
    private var after: Stage
    private var names: Names
    private let origin: Moment
    /// Differences that were reported, until they change.
    private var known: [SessionID: [String]] = [:]
    /// Recorders that were ordered killed: their end is an answer.
    private var killed: Set<CameraID> = []

    /// - Throws: the contradiction in the snapshot.
    public init(_ part: TracePart, under policy: Policy) throws(Arbiter.BrokenSnapshot) {
        let own = try part.header.arbiter()
        var other = Stage(part.header.snapshot == nil ? Arbiter(policy: policy) : own, at: part.start)
        var this = Stage(own, at: part.start)
        if part.header.snapshot != nil {
            this.adopt()
            other.adopt()
            other.perform(.event(.policyLoaded(policy)))
        }
        (this.checksEverything, other.checksEverything) = (false, false)
        (before, after) = (this, other)
        names = part.header.names(of: own)
        origin = part.header.origin
        var steps: [Replay.Step] = []
        _ = try Replay.run(part) { steps.append($0) }
        for step in steps { perform(step) }
    }

    private mutating func perform(_ replayed: Replay.Step) {
        let step = replayed.step
        _ = before.advance(to: step.moment)
        _ = after.advance(to: step.moment)
        _ = (before.takeSteps(), after.takeSteps())
        compare(step, event: nil)
        var writer = ScenarioWriter(names: names, origin: origin)
        names.learn(step)
        writer.names = names
        if let actions = actions(step.event) {
            inputs += 1
            for action in actions.before { before.perform(action) }
            for action in actions.after { after.perform(action) }
            let text = writer.text(of: step.event)
            if !actions.after.isEmpty, let text { lines.append((step.line, step.moment, line(of: step.event, text))) }
            compare(step, event: text)
        }
        for case .killRecorder(let camera) in replayed.effects { killed.insert(camera) }
    }

    private mutating func actions(_ event: Event) -> (before: [Action], after: [Action])? {
        func both(_ action: Action) -> (before: [Action], after: [Action]) { ([action], [action]) }
        switch event {
        case .timePassed: return nil
        case _ where event.described.traits.contains(.answer): return nil
        case .recorderRefusedConfiguration:
            leftOut["refusals of a configuration by the recorder", default: 0] += 1
            return nil
        case .recordingFinished(_, let why, _, _, _, _, _):
            switch why {
            case .durationLimit, .sizeLimit, .diskFull, .writeError:
                leftOut["recordings that ended by their limits or by a fault of the disk", default: 0] += 1
            case .stopped, .interrupted, .accessLost, .recorderReset, .sessionEnded: break
            }
            return nil
        case .recorderGone(let camera):
            if killed.remove(camera) != nil { return nil }
            return both(.answer(event, grant: nil))
        case .deviceFailed(let camera, _, _):
            let action = Action.answer(event, grant: nil)
            if !isHeld(camera, after) {
                leftOut["faults of a camera that nobody has under the other policy", default: 0] += 1
                return ([action], [])
            }
            return both(action)
        case .recorderTrouble:
            leftOut["messages of recorders", default: 0] += 1
            return nil
        case .ready(let session, _): return both(.ready(session, nil))
        case .policyLoaded:
            leftOut["loaded policies (the other one stays in force)", default: 0] += 1
            return ([.event(event)], [])
        default: return both(.event(event))
        }
    }

    /// A `ready` answers the latest warning: under the other policy it may be another.
    private func line(of event: Event, _ text: String) -> String {
        if case .ready(let session, _) = event { "ready \(names.name(of: session).scenarioWord)" } else { text }
    }

    private func isHeld(_ camera: CameraID, _ stage: Stage) -> Bool { stage.arbiter.status(of: camera)?.holder != nil }

    private mutating func compare(_ step: TraceStep, event: String?) {
        let (one, two) = (standings(before), standings(after))
        for session in Set(one.keys).union(two.keys).sorted() {
            let pair = [one[session]?.state ?? "not there", two[session]?.state ?? "not there"]
            guard pair[0] != pair[1] else {
                known[session] = nil
                continue
            }
            if known[session] == pair { continue }
            known[session] = pair
            changes.append(
                Change(
                    line: step.line, moment: step.moment, event: event, session: names.name(of: session),
                    before: one[session]?.said ?? pair[0], after: two[session]?.said ?? pair[1]))
        }
    }

    private func standings(_ stage: Stage) -> [SessionID: (state: String, said: String)] {
        let status = stage.arbiter.status()
        var standings: [SessionID: (state: String, said: String)] = [:]
        for session in status.sessions {
            var words = session.state.rawValue
            if !session.causes.isEmpty {
                words += " (\(session.causes.ordered.map(\.shortName).joined(separator: "+")))"
            }
            if session.state == .running, session.access != .all {
                words += " with \(session.access.names.joined(separator: "+"))"
            }
            let grant = session.isHolder ? status.cameras.first { $0.id == session.camera }?.rule : nil
            let rule = session.rule ?? grant
            standings[session.id] = (words, rule.map { "\(words) because “\($0)”" } ?? words)
        }
        return standings
    }
}

extension TracePart {
    fileprivate var start: Moment { header.snapshot?.now ?? min(header.origin, steps.first?.moment ?? header.origin) }
}
