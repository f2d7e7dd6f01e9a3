public import ArbiterProtocol

/// What happened, as lanes over time: one for each app's session, one for each camera. A value that renderers draw;
/// `TimelineBuilder` makes it from events.
public struct Timeline: Hashable, Sendable {
    public var begin: Moment
    /// Not before `begin`.
    public var end: Moment
    /// In the order in which they first appeared, apps before cameras.
    public var lanes: [Lane]
    /// What the world did: a microphone taken, an app placed, a switch thrown.
    public var notes: [Note]

    public var duration: Duration { end - begin }

    public struct Lane: Hashable, Sendable {
        public enum Kind: Hashable, Sendable { case app, camera }
        public var kind: Kind
        public var name: String
        /// In order, without overlap; where there is none the lane did not exist yet, or any more.
        public var spans: [Span] = []
        public var recordings: [Recording] = []
        public var warnings: [Warning] = []
        /// A camera's.
        public var deadlines: [Deadline] = []
        public var marks: [Mark] = []
    }

    public struct Span: Hashable, Sendable {
        public var begin: Moment
        public var end: Moment
        public var state: State
    }

    /// What a lane does over a span.
    public enum State: Hashable, Sendable {
        case stopped
        /// Access is there, frames are not yet.
        case starting
        case running
        case restricted(Access, CauseSet)
        case interrupted(InterruptionID, CauseSet, by: Interrupter?)
        /// A camera's: the holder's name.
        case held(by: String)
        /// A camera's.
        case free

        /// The few words that name it; empty where the drawing says enough.
        public var label: String {
            switch self {
            case .stopped, .free: ""
            case .starting: "starting"
            case .running: "running"
            case .restricted(let access, let causes):
                "\(access.names.joined(separator: "+")) only\(causes.reason.map { ": \($0.shortName)" } ?? "")"
            case .interrupted(_, let causes, let interrupter):
                causes.ordered.map(\.shortName).joined(separator: ", ")
                    + (interrupter.map { " by \($0.description)" } ?? "")
            case .held(let holder): holder
            }
        }

        var labels: [String] {
            switch self {
            case .interrupted(_, let causes, _): [label, causes.reason?.shortName ?? ""]
            case .restricted(let access, _): [label, access.names.joined(separator: "+") + " only"]
            case .stopped, .starting, .running, .held, .free: [label]
            }
        }

        /// The cause that gives it its colour.
        public var reason: Cause? {
            switch self {
            case .restricted(_, let causes), .interrupted(_, let causes, _): causes.reason
            case .stopped, .starting, .running, .held, .free: nil
            }
        }
    }

    /// A recording lies over the spans of its lane.
    public struct Recording: Hashable, Sendable {
        public var id: RecordingID
        public var begin: Moment
        /// When its last frame was taken, as far as events say.
        public var end: Moment
        /// Nil while it runs, or while its file is being finished.
        public var finished: RecordingFinished?
    }

    /// A grace: the app was told, and may finish.
    public struct Warning: Hashable, Sendable {
        public var begin: Moment
        public var end: Moment
        public var cause: Cause
        public var deadline: Moment
        public var isWithdrawn: Bool
    }

    /// Something of a moment, on a lane.
    public struct Mark: Hashable, Sendable {
        public enum Kind: Hashable, Sendable, CaseIterable { case photo, stoppedForGood, trouble }
        public var moment: Moment
        public var kind: Kind
        public var label: String
    }

    public struct Note: Hashable, Sendable {
        public var moment: Moment
        public var text: String
    }

    /// A time that ran on a camera, and what was to happen when it was over.
    public struct Deadline: Hashable, Sendable {
        public enum Kind: String, Hashable, Sendable, CaseIterable {
            /// The holder's time: at its end the session is stopped.
            case lease
            /// A stream was ordered cut: a recorder that has not confirmed it by then is killed.
            case confirmation
        }
        public var kind: Kind
        public var begin: Moment
        /// When it no longer stood: it was due, or what it waited for had come.
        public var end: Moment
        /// As it was in the end: a policy may make it shorter, sleep longer.
        public var due: Moment

        public var isMet: Bool { end < due }

        /// `lease, due 3min, over at 3min`; times count from the picture's beginning.
        func words(since begin: Moment, until pictureEnd: Moment) -> String {
            let due = "due \((due - begin).shortText)"
            switch kind {
            case .lease:
                if !isMet { return "\(due), ran out" }
                return end < pictureEnd ? "\(due), over at \((end - begin).shortText)" : "\(due), still running"
            case .confirmation:
                if !isMet { return "\(due), not confirmed: the recorder was killed" }
                return end < pictureEnd ? "\(due), confirmed at \((end - begin).shortText)" : "\(due), still waiting"
            }
        }
    }

    func time(_ moment: Moment) -> String { (moment - begin).shortText }

    /// `2s to 4s`, or `4.2s on`: what goes on at the picture's end has none of its own, and the picture may end later than what
    /// is in it, so that the last of that shows.
    func words(from begin: Moment, to end: Moment) -> String {
        end < self.end ? "\(time(begin)) to \(time(end))" : "\(time(begin)) on"
    }
}

extension Timeline {
    func words(_ lane: Lane, _ row: Lane.Interruption) -> String {
        "\(lane.shownName) #\(row.id)  \(words(from: row.begin, to: row.end))  \(row.labels.joined(separator: ", then "))"
    }

    func words(_ lane: Lane, _ deadline: Deadline) -> String {
        let words = deadline.words(since: begin, until: end)
        return "\(lane.shownName) \(deadline.kind.rawValue)  \(time(deadline.begin))  \(words)"
    }

    func words(_ lane: Lane, _ mark: Mark) -> String? {
        mark.kind == .photo ? nil : "\(lane.shownName)  \(time(mark.moment))  \(mark.words.printable)"
    }

    func words(_ note: Note) -> String { "\(time(note.moment))  \(note.text.printable)" }
}

extension Timeline.Mark {
    var words: String { kind == .stoppedForGood ? "stopped: \(label)" : label }
}

extension Timeline.Lane {
    var shownName: String { name.printable }

    /// One interruption from its beginning to its end, with its causes in the order in which they came.
    struct Interruption {
        var id: InterruptionID
        var begin: Moment
        var end: Moment
        var labels: [String]
    }

    var interruptions: [Interruption] {
        var rows: [Interruption] = []
        for span in spans {
            guard case .interrupted(let id, _, _) = span.state else { continue }
            let label = span.state.label.printable
            // Numbers begin anew with another session of the same name; such a row does not go on.
            if let last = rows.indices.last, rows[last].id == id, rows[last].end == span.begin {
                rows[last].end = span.end
                if rows[last].labels.last != label { rows[last].labels.append(label) }
            } else {
                rows.append(Interruption(id: id, begin: span.begin, end: span.end, labels: [label]))
            }
        }
        return rows
    }
}

extension Timeline.Recording {
    var words: String {
        finished.map { end in
            end.why.rawValue + (end.duration.map { " after \($0.shortText)" } ?? "")
                + (end.frames.map { $0 == 0 ? "" : ", \($0) frames" } ?? "")
        } ?? "not finished"
    }
}

extension Timeline.Warning {
    /// `device-in-use, due 5s, over at 2s`; times count from the picture's beginning.
    func words(since begin: Moment) -> String {
        let isKnown = deadline < .distantFuture
        let due = isKnown ? ", due \((deadline - begin).shortText)" : ""
        if isWithdrawn { return "\(cause.shortName)\(due), withdrawn at \((end - begin).shortText)" }
        if isKnown, end >= deadline { return "\(cause.shortName)\(due), and then cut" }
        return "\(cause.shortName)\(due), over at \((end - begin).shortText)"
    }
}

extension [Timeline.Lane] {
    var marks: [Timeline.Mark.Kind] {
        Timeline.Mark.Kind.allCases.filter { kind in contains { $0.marks.contains { $0.kind == kind } } }
    }

    /// The states that a legend explains; of those with a cause one for each cause.
    var statesToExplain: [(state: Timeline.State, words: String)] {
        let states = Set(flatMap { $0.spans.map(\.state) })
        let plain: [(state: Timeline.State, words: String)] = [
            (.running, "running"), (.starting, "starting"), (.stopped, "stopped"),
        ]
        var found = plain.filter { states.contains($0.state) }
        let restricted = states.filter { if case .restricted = $0 { true } else { false } }
        if restricted.contains(where: { $0.reason == nil }) {
            found.append((.restricted(.none, CauseSet()), "restricted"))
        }
        for cause in CauseSet(restricted.compactMap(\.reason)).ordered {
            found.append((.restricted(.none, CauseSet([cause])), "restricted: \(cause.shortName)"))
        }
        let interrupted = states.filter { if case .interrupted = $0 { true } else { false } }
        for cause in CauseSet(interrupted.compactMap(\.reason)).ordered {
            found.append((.interrupted(0, CauseSet([cause]), by: nil), "interrupted: \(cause.shortName)"))
        }
        let isHeld = states.contains { if case .held = $0 { true } else { false } }
        if isHeld { found.append((.held(by: ""), "holds the camera")) }
        return found
    }
}
