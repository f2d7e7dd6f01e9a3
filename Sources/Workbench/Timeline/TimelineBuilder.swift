public import ArbiterProtocol

/// A part of the picture that is not a session's event.
public enum TimelineFact: Hashable, Sendable {
    case appeared(lane: String)
    case left(lane: String)
    case holder(camera: String, String?)
    /// A time runs on a camera, or has another end now; nil where it is over.
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

    /// A lane's present state; nil where it is unknown or has left.
    public func state(of lane: String) -> Timeline.State? { index(lane, .app).flatMap { open[$0]?.state } }

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
            (begin, latest) = (moment, moment)
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
        guard open[lane]?.state != state else { return }
        endSpan(lane, at: now)
        open[lane]?.state = state
        open[lane]?.since = now
    }

    private mutating func endSpan(_ lane: Int, at now: Moment) {
        guard let last = open[lane], now > last.since else { return }
        lanes[lane].spans.append(Timeline.Span(begin: last.since, end: now, state: last.state))
    }

    public mutating func note(_ fact: TimelineFact, at moment: Moment) {
        let now = moved(to: moment)
        switch fact {
        case .appeared(let name): _ = lane(name, .app, at: now, .stopped)
        case .left(let name):
            guard let place = index(name, .app) else { return }
            endRecording(place, at: now)
            endWarning(place, at: now)
            endSpan(place, at: now)
            open[place] = nil
        case .holder(let camera, let holder):
            let place = lane(camera, .camera, at: now, .free)
            change(place, to: holder.map { .held(by: $0) } ?? .free, at: now)
        case .deadline(let camera, let kind, let due):
            let place = lane(camera, .camera, at: now, .free)
            // A cut that was not confirmed in time waits anew, for the killed recorder; a lease only continues.
            if due == nil || kind == .confirmation { endDeadlines(place, [kind], at: now) }
            guard let due else { return }
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

    private mutating func endWarning(_ lane: Int, at now: Moment, isWithdrawn: Bool = false) {
        guard let last = open[lane], let told = last.session.warning else { return }
        lanes[lane].warnings.append(
            Timeline.Warning(
                begin: last.warnedSince, end: now, cause: told.cause, deadline: told.deadline, isWithdrawn: isWithdrawn
            ))
    }

    private mutating func endDeadlines(_ lane: Int, _ kinds: [Timeline.Deadline.Kind], at now: Moment) {
        for var deadline in open[lane]?.deadlines ?? [] where kinds.contains(deadline.kind) && now > deadline.begin {
            deadline.end = now
            lanes[lane].deadlines.append(deadline)
        }
        open[lane]?.deadlines.removeAll { kinds.contains($0.kind) }
    }

    /// The picture up to `end`, or up to the latest event, at which open parts end.
    public func timeline(until end: Moment? = nil) -> Timeline {
        var copy = self
        let now = copy.moved(to: end ?? latest)
        for lane in copy.lanes.indices {
            copy.endRecording(lane, at: now)
            copy.endWarning(lane, at: now)
            copy.endDeadlines(lane, Timeline.Deadline.Kind.allCases, at: now)
            copy.endSpan(lane, at: now)
        }
        // A camera that nobody held the whole time would only push the others apart.
        let cameras = copy.lanes.filter { $0.kind == .camera && $0.spans.contains { $0.state != .free } }
        return Timeline(
            begin: copy.begin ?? now, end: now, lanes: copy.lanes.filter { $0.kind == .app } + cameras, notes: notes)
    }
}

extension Timeline.State {
    /// A sharer is restricted, too, without a cause.
    fileprivate init(_ session: SessionView) {
        if let interruption = session.interruption {
            self = .interrupted(
                interruption.id, interruption.causes, by: interruption.interrupter, saying: interruption.message)
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
