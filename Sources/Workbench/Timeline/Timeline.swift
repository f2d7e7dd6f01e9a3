public import ArbiterProtocol

/// Lanes over time: one for each app's session, one for each camera. A value that renderers draw;
/// `TimelineBuilder` makes it from events.
public struct Timeline: Hashable, Sendable {
    public var begin: Moment
    /// Not before `begin`.
    public var end: Moment
    /// In the order in which they first appeared, apps before cameras.
    public var lanes: [Lane]
    /// Facts of the machine: a microphone taken, an app placed, a switch thrown.
    public var notes: [Note]

    public var duration: Duration { end - begin }

    public struct Lane: Hashable, Sendable {
        public enum Kind: Hashable, Sendable { case app, camera }
        public var kind: Kind
        public var name: String
        /// In order, without overlap; without a span the lane does not exist.
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

    /// A lane's state over a span.
    public enum State: Hashable, Sendable {
        case stopped
        /// Access is there, frames are not yet.
        case starting
        case running
        case restricted(Access, CauseSet)
        case interrupted(InterruptionID, CauseSet, by: Interrupter?, saying: String)
        /// A camera's: the holder's name.
        case held(by: String)
        /// A camera's.
        case free

        /// A few words in a drawing; empty where the glyph is enough.
        public var label: String { labels[0] }

        /// The label, then a shorter one.
        var labels: [String] {
            switch self {
            case .stopped, .free: [""]
            case .starting: ["starting"]
            case .running: ["running"]
            case .restricted(let access, let causes):
                ["\(access.words) only\(causes.reason.map { ": \($0.shortName)" } ?? "")", "\(access.words) only"]
            case .interrupted(_, let causes, let interrupter, let message):
                [
                    causes.words + (interrupter.map { " by \($0.description)" } ?? "")
                        + (message.isEmpty ? "" : ": “\(message)”"), causes.reason?.shortName ?? "",
                ]
            case .held(let holder): [holder]
            }
        }

        /// The cause that gives it its colour.
        public var reason: Cause? {
            switch self {
            case .restricted(_, let causes), .interrupted(_, let causes, _, _): causes.reason
            case .stopped, .starting, .running, .held, .free: nil
            }
        }
    }

    /// A recording lies over the spans of its lane.
    public struct Recording: Hashable, Sendable {
        public var id: RecordingID
        public var begin: Moment
        /// The moment of its last frame, as far as events have it.
        public var end: Moment
        /// Nil while it runs, or while its file is being finished.
        public var finished: RecordingFinished?
    }

    /// A grace, in which the app may finish.
    public struct Warning: Hashable, Sendable {
        public var begin: Moment
        public var end: Moment
        public var cause: Cause
        public var deadline: Moment
        public var isWithdrawn: Bool
    }

    /// An event of one moment on a lane.
    public struct Mark: Hashable, Sendable {
        public enum Kind: Hashable, Sendable, CaseIterable { case photo, stoppedForGood, trouble }
        public var moment: Moment
        public var kind: Kind
        public var label: String

        var words: String { kind == .stoppedForGood ? "stopped: \(label)" : label }
    }

    public struct Note: Hashable, Sendable {
        public var moment: Moment
        public var text: String
    }

    /// A time that ran on a camera.
    public struct Deadline: Hashable, Sendable {
        public enum Kind: String, Hashable, Sendable, CaseIterable {
            /// The holder's time: at its end the session is stopped.
            case lease
            /// A stream was ordered cut: a recorder that has not confirmed it by then is killed.
            case confirmation
        }
        public var kind: Kind
        public var begin: Moment
        /// It was due, or was met.
        public var end: Moment
        /// As it was in the end: a policy may make it shorter, sleep longer.
        public var due: Moment

        public var isMet: Bool { end < due }
    }
}

protocol TimelinePart {
    var begin: Moment { get }
    var end: Moment { get }
}

extension Timeline.Span: TimelinePart {}
extension Timeline.Recording: TimelinePart {}
extension Timeline.Warning: TimelinePart {}
extension Timeline.Deadline: TimelinePart {}

extension Access {
    fileprivate var words: String { names.joined(separator: "+") }
}

/// The picture in words; times count from its beginning.
extension Timeline {
    /// A moment's place in the picture, from 0 to 1.
    func share(_ moment: Moment) -> Double {
        let whole = Double(duration.wholeNanoseconds)
        return whole > 0 ? min(1, max(0, Double((moment - begin).wholeNanoseconds) / whole)) : 0
    }

    func time(_ moment: Moment) -> String { (moment - begin).shortText }

    /// `2s to 4s`, or `4.2s on` for a part that lasts until the picture's end.
    func times(_ begin: Moment, _ end: Moment) -> String {
        end < self.end ? "\(time(begin)) to \(time(end))" : "\(time(begin)) on"
    }

    /// `device-in-use, due 5s, over at 2s`.
    func words(_ warning: Warning) -> String {
        let isKnown = warning.deadline < .distantFuture
        let due = isKnown ? ", due \(time(warning.deadline))" : ""
        let isCut = isKnown && warning.end >= warning.deadline && !warning.isWithdrawn
        let end = isCut ? "and then cut" : "\(warning.isWithdrawn ? "withdrawn" : "over") at \(time(warning.end))"
        return "\(warning.cause.shortName)\(due), \(end)"
    }

    /// `due 3min, over at 3min`.
    func words(_ deadline: Deadline) -> String {
        let isLease = deadline.kind == .lease
        let end =
            if !deadline.isMet {
                isLease ? "ran out" : "not confirmed: the recorder was killed"
            } else if deadline.end < end {
                "\(isLease ? "over" : "confirmed") at \(time(deadline.end))"
            } else {
                isLease ? "still running" : "still waiting"
            }
        return "due \(time(deadline.due)), \(end)"
    }

    /// A row for each part of the picture, by table; empty tables are left out.
    func tables(_ lanes: [Lane]) -> [(title: String, rows: [String])] {
        func rows<Part>(_ parts: KeyPath<Lane, [Part]>, _ words: (String, Part) -> String?) -> [String] {
            lanes.flatMap { lane in lane[keyPath: parts].compactMap { words(lane.shownName, $0) } }
        }
        let tables = [
            (
                "interrupted",
                rows(\.interruptions) { "\($0) #\($1.id)  \(times($1.begin, $1.end))  \($1.words)" }
            ),
            (
                "restricted",
                rows(\.spans) { name, span in
                    guard case .restricted = span.state else { return nil }
                    return "\(name)  \(times(span.begin, span.end))  \(span.state.label.printable)"
                }
            ),
            ("told to yield", rows(\.warnings) { "\($0)  \(time($1.begin))  \(words($1))" }),
            ("recorded", rows(\.recordings) { "\($0) \($1.id)  \(times($1.begin, $1.end))  \($1.words)" }),
            (
                "held",
                rows(\.spans) { name, span in
                    guard case .held(let holder) = span.state else { return nil }
                    return "\(name)  \(times(span.begin, span.end))  by \(holder.printable)"
                }
            ),
            ("deadlines", rows(\.deadlines) { "\($0) \($1.kind.rawValue)  \(time($1.begin))  \(words($1))" }),
            (
                "besides",
                rows(\.marks) { $1.kind == .photo ? nil : "\($0)  \(time($1.moment))  \($1.words.printable)" }
            ),
            ("meanwhile", notes.map { "\(time($0.moment))  \($0.text.printable)" }),
        ]
        return tables.filter { !$0.1.isEmpty }
    }
}

extension Timeline.Recording {
    var words: String {
        guard let finished else { return "not finished" }
        return finished.why.rawValue + (finished.duration.map { " after \($0.shortText)" } ?? "")
            + (finished.frames.map { $0 == 0 ? "" : ", \($0) frames" } ?? "")
    }
}

extension Timeline.Lane {
    var shownName: String { name.printable }

    /// One interruption from its beginning to its end, with its causes in order.
    struct Interruption {
        var id: InterruptionID
        var begin: Moment
        var end: Moment
        var labels: [String]
        var words: String { labels.joined(separator: ", then ") }
    }

    var interruptions: [Interruption] {
        var rows: [Interruption] = []
        for span in spans {
            guard case .interrupted(let id, _, _, _) = span.state else { continue }
            let label = span.state.label.printable
            // Another session of the same name begins its numbers anew.
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

extension [Timeline.Lane] {
    var marks: [Timeline.Mark.Kind] {
        Timeline.Mark.Kind.allCases.filter { kind in contains { $0.marks.contains { $0.kind == kind } } }
    }

    /// The states of a legend, those with a cause once for each cause.
    var statesToExplain: [(state: Timeline.State, words: String)] {
        let states = Set(flatMap { $0.spans.map(\.state) })
        let plain: [(state: Timeline.State, words: String)] = [
            (.running, "running"), (.starting, "starting"), (.stopped, "stopped"),
        ]
        let restricted = states.filter { if case .restricted = $0 { true } else { false } }
        let interrupted = states.filter { if case .interrupted = $0 { true } else { false } }
        let isHeld = states.contains { if case .held = $0 { true } else { false } }
        return plain.filter { states.contains($0.state) }
            + (restricted.contains { $0.reason == nil } ? [(.restricted(.none, CauseSet()), "restricted")] : [])
            + CauseSet(restricted.compactMap(\.reason)).ordered.map {
                (.restricted(.none, CauseSet([$0])), "restricted: \($0.shortName)")
            }
            + CauseSet(interrupted.compactMap(\.reason)).ordered.map {
                (.interrupted(0, CauseSet([$0]), by: nil, saying: ""), "interrupted: \($0.shortName)")
            } + (isHeld ? [(.held(by: ""), "holds the camera")] : [])
    }
}
