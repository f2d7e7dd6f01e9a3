public import Arbiter
public import ArbiterProtocol
import PolicyFile

/// A scenario: a world, inputs at given times, and every notice they must lead to.
///
///     # A title in a sentence.
///
///     policy ios9.toml
///     camera back
///
///     0s   connect photos presence=fullscreen
///          session photos camera=back
///          start photos
///            photos didStartRunning
///
/// A line that begins with a time, or is indented by five, is an input; times count from 0 and never
/// go back. A line indented by seven is a notice that the input above it led to. A time alone lets
/// time pass: the notices below it come from deadlines and from slow recorders. `docs/scenarios.md`
/// has the whole language.
///
/// The run passes when rewriting the expectations with what happened changes nothing.
public struct Scenario: Sendable {
    public let file: String
    /// The first comment: what the scenario says.
    public let title: String
    public internal(set) var world: World
    public internal(set) var lines: [Line]
    /// What things are called when the last line has been read.
    public let names: Names
    /// The policy files that it names, each once, in the order of their lines.
    public let policyFiles: [NamedPolicy]

    /// A policy, and the path of the file it was read from.
    public struct NamedPolicy: Hashable, Sendable {
        public var path: String
        public var policy: Policy

        public init(path: String, policy: Policy) {
            self.path = path
            self.policy = policy
        }
    }

    /// What there is before the first event.
    public struct World: Sendable {
        public var policy: Policy
        /// In the order of their lines: the first is the one that `session` without `camera=` takes.
        public var cameras: [Camera]
        /// Broker-wide news are part of the expectations.
        public var showsAnnouncements = false
        /// So are the orders to the recorders.
        public var showsOrders = false
        /// Refusals say why in their sentence instead of by their rule.
        public var showsSentences = false
    }

    /// A camera as a line describes it.
    public struct Camera: Sendable {
        public var id: CameraID
        public var capabilities: CameraCapabilities
        public var seat = SeatID.usual

        var event: Event { .cameraAppeared(id, capabilities, seat: seat) }
    }

    /// One line of the text, as it was written.
    public struct Line: Sendable {
        public var number: Int
        public var text: String
        public var content: Content
    }

    public enum Content: Sendable {
        /// A comment, an empty line, or one that describes the world.
        case verbatim
        case time(Moment)
        case input(Moment, [Action])
        /// Without its indentation.
        case notice(String)
    }

    /// The same scenario with another policy at its beginning; what it reloads later stays.
    public func under(_ policy: Policy) -> Scenario {
        var scenario = self
        scenario.world.policy = policy
        return scenario
    }

    /// The columns of the language.
    static let inputIndent = 5
    static let noticeIndent = 7

    /// Reads a scenario. `policies`: the folder that `policy FILE` is relative to; `dropIns`: one whose drop-ins are read
    /// over each of these files.
    /// - Throws: every problem of the text at once.
    public static func parse(
        _ text: String, file: String, policies: String, dropIns: String? = nil
    ) throws(ScenarioError) -> Scenario {
        let text = try ScenarioText.read(Array(text.utf8), file: file)
        var parser = ScenarioParser(file: file, policies: policies, dropIns: dropIns)
        return try parser.parse(text)
    }
}
