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
        public enum Kind: Hashable, Sendable {
            case app, camera
        }
        public var kind: Kind
        public var name: String
        /// In order, without overlap; where there is none the lane did not exist yet, or any more.
        public var spans: [Span] = []
        public var recordings: [Recording] = []
        public var warnings: [Warning] = []
        /// A camera's.
        public var deadlines: [Deadline] = []
        public var marks: [Mark] = []

        public init(kind: Kind, name: String) {
            self.kind = kind
            self.name = name
        }
    }

    public struct Span: Hashable, Sendable {
        public var begin: Moment
        public var end: Moment
        public var state: State

        public init(begin: Moment, end: Moment, state: State) {
            self.begin = begin
            self.end = end
            self.state = state
        }
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

        /// Its label, and shorter ones for where that does not fit.
        var labels: [String] {
            switch self {
            case .interrupted(_, let causes, _):
                [label, causes.reason?.shortName ?? ""]
            case .restricted(let access, _):
                [label, access.names.joined(separator: "+") + " only"]
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
        public enum Kind: Hashable, Sendable {
            case photo, stoppedForGood, trouble
        }
        public var moment: Moment
        public var kind: Kind
        public var label: String
    }

    public struct Note: Hashable, Sendable {
        public var moment: Moment
        public var text: String
    }
}
