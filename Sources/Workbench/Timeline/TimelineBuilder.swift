public import ArbiterProtocol

/// Something that is no session's event and belongs into the picture.
public enum TimelineFact: Hashable, Sendable {
    case appeared(lane: String)
    case left(lane: String)
    case holder(camera: String, String?)
    /// A time runs on a camera, or has another end now; nil: it is over, or no longer stands.
    case deadline(camera: String, Timeline.Deadline.Kind, due: Moment?)
    case note(String)
}

/// Makes a timeline of events as they come. Events of a lane come in the order of their sequence numbers;
/// a moment before the latest one counts as the latest, so that a lane never runs backwards.
public struct TimelineBuilder: Hashable, Sendable {
    private struct Open: Hashable {
        var state: Timeline.State
        var since: Moment
        var session = SessionView()
        var warnedSince = Moment.zero
        var recordingSince = Moment.zero
        var deadlines: [Timeline.Deadline] = []
    }

    private var begin: Moment?
    private var latest = Moment.zero
    private var lanes: [Timeline.Lane] = []
    private var open: [Open?] = []
    private var notes: [Timeline.Note] = []

    public init() {}

    /// The state a lane is in now; nil for one that is unknown or left.
    public func state(of lane: String) -> Timeline.State? { index(lane, .app).flatMap { open[$0]?.state } }

    /// Whether a lane records now.
    public func isRecording(_ lane: String) -> Bool {
        index(lane, .app).flatMap { open[$0]?.session.recordingUnderWay } != nil
    }

    /// The app lanes' names, in order of appearance.
    public var appLanes: [String] { lanes.filter { $0.kind == .app }.map(\.name) }

    private func index(_ name: String, _ kind: Timeline.Lane.Kind) -> Int? {
        lanes.firstIndex { $0.name == name && $0.kind == kind }
    }

    private mutating func moved(to moment: Moment) -> Moment {
        if begin == nil {
            begin = moment
            latest = moment
        }
        latest = max(latest, moment)
        return latest
    }

    private mutating func lane(
        _ name: String, _ kind: Timeline.Lane.Kind, at now: Moment, _ state: Timeline.State
    ) -> Int {
        if let known = index(name, kind) {
            if open[known] == nil { open[known] = Open(state: state, since: now) }
            return known
        }
        lanes.append(Timeline.Lane(kind: kind, name: name))
        open.append(Open(state: state, since: now))
        return lanes.count - 1
    }

    private mutating func change(_ lane: Int, to state: Timeline.State, at now: Moment) {
        guard let before = open[lane], before.state != state else { return }
        if now > before.since {
            lanes[lane].spans.append(Timeline.Span(begin: before.since, end: now, state: before.state))
        }
        open[lane]?.state = state
        open[lane]?.since = now
    }

    public mutating func note(_ fact: TimelineFact, at moment: Moment) {
        let now = moved(to: moment)
        switch fact {
        case .appeared(let name): _ = lane(name, .app, at: now, .stopped)
        case .left(let name):
            guard let place = index(name, .app), let last = open[place] else { return }
            endRecording(place, at: now)
            endWarning(place, at: now, isWithdrawn: false)
            if now > last.since {
                lanes[place].spans.append(Timeline.Span(begin: last.since, end: now, state: last.state))
            }
            open[place] = nil
        case .holder(let camera, let holder):
            let place = lane(camera, .camera, at: now, .free)
            change(place, to: holder.map { .held(by: $0) } ?? .free, at: now)
        case .deadline(let camera, let kind, let due):
            let place = lane(camera, .camera, at: now, .free)
            guard let due else { return endDeadlines(place, at: now) { $0 == kind } }
            // A cut that was not confirmed in time waits anew, for the killed recorder; a lease only goes on.
            if kind == .confirmation { endDeadlines(place, at: now) { $0 == kind } }
            if let known = open[place]?.deadlines.firstIndex(where: { $0.kind == kind }) {
                open[place]?.deadlines[known].due = due
            } else {
                open[place]?.deadlines.append(Timeline.Deadline(kind: kind, begin: now, end: now, due: due))
            }
        case .note(let text): notes.append(Timeline.Note(moment: now, text: text))
        }
    }

    public mutating func note(_ event: SessionEvent, lane name: String, at moment: Moment) {
        let now = moved(to: moment)
        let place = lane(name, .app, at: now, .stopped)
        let before = open[place]?.session ?? SessionView()
        var session = before
        session.take(event)
        // A second warning of one interruption has another beneficiary and never a later deadline.
        if session.warning == nil { endWarning(place, at: now, isWithdrawn: event.isWithdrawal) }
        if before.warning == nil { open[place]?.warnedSince = now }
        if session.recordingUnderWay != before.recordingUnderWay {
            endRecording(place, at: now)
            open[place]?.recordingSince = now
        }
        open[place]?.session = session
        change(place, to: Timeline.State(session), at: now)
        if case .recordingFinished(let end) = event,
            let known = lanes[place].recordings.firstIndex(where: { $0.id == end.recording })
        {
            lanes[place].recordings[known].finished = end
        }
        if let (kind, label) = event.mark {
            lanes[place].marks.append(Timeline.Mark(moment: now, kind: kind, label: label))
        }
    }

    private mutating func endRecording(_ lane: Int, at now: Moment) {
        guard let last = open[lane], let id = last.session.recordingUnderWay else { return }
        lanes[lane].recordings.append(Timeline.Recording(id: id, begin: last.recordingSince, end: now))
    }

    private mutating func endWarning(_ lane: Int, at now: Moment, isWithdrawn: Bool) {
        guard let last = open[lane], let told = last.session.warning else { return }
        lanes[lane].warnings.append(
            Timeline.Warning(
                begin: last.warnedSince, end: now, cause: told.cause, deadline: told.deadline, isWithdrawn: isWithdrawn
            ))
    }

    private mutating func endDeadlines(_ lane: Int, at now: Moment, where ends: (Timeline.Deadline.Kind) -> Bool) {
        for var deadline in open[lane]?.deadlines ?? [] where ends(deadline.kind) {
            deadline.end = now
            // What came in the same moment was no wait.
            if deadline.end > deadline.begin { lanes[lane].deadlines.append(deadline) }
        }
        open[lane]?.deadlines.removeAll { ends($0.kind) }
    }

    /// The picture up to `end`, or up to the latest event. What is under way goes on until then.
    public func timeline(until end: Moment? = nil) -> Timeline {
        var copy = self
        let now = copy.moved(to: end ?? latest)
        for lane in copy.lanes.indices {
            copy.endRecording(lane, at: now)
            copy.endWarning(lane, at: now, isWithdrawn: false)
            copy.endDeadlines(lane, at: now) { _ in true }
            if let last = copy.open[lane], now > last.since {
                copy.lanes[lane].spans.append(Timeline.Span(begin: last.since, end: now, state: last.state))
            }
        }
        // A camera that nobody held the whole time would only push the others apart.
        let cameras = copy.lanes.filter { $0.kind == .camera && $0.spans.contains { $0.state != .free } }
        return Timeline(
            begin: copy.begin ?? now, end: now, lanes: copy.lanes.filter { $0.kind == .app } + cameras, notes: notes)
    }
}

extension Timeline.State {
    /// Access below everything shows as restricted; a sharer's too, though it has no cause.
    fileprivate init(_ session: SessionView) {
        if let interruption = session.interruption {
            self = .interrupted(interruption.id, interruption.causes, by: interruption.interrupter)
        } else if session.isRunning {
            self = session.may(.all) ? .running : .restricted(session.access.access, session.access.causes)
        } else {
            self = session.isStarting ? .starting : .stopped
        }
    }
}

extension SessionEvent {
    fileprivate var isWithdrawal: Bool { if case .interruptionWithdrawn = self { true } else { false } }

    fileprivate var mark: (Timeline.Mark.Kind, label: String)? {
        switch self {
        case .sessionStopped(let told): (.stoppedForGood, told.reason.rawValue)
        case .photoCaptured(let photo):
            if let error = photo.error { (.trouble, "no photo: \(error)") } else { (.photo, "photo \(photo.photo)") }
        case .runtimeError(let code, _): (.trouble, code)
        default: nil
        }
    }
}
