import Arbiter
public import ArbiterProtocol
import Glibc
import PolicyFile
import TomlFile

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
/// A line that begins with a time, or is indented by five, is an input; times count from 0 and never go back. A line indented
/// by seven is a notice that the input above it led to. A time alone lets time pass: the notices below it come from deadlines
/// and from slow recorders. `docs/scenarios.md` has the whole language.
///
/// The run passes when rewriting the expectations with what happened changes nothing.
public struct Scenario: Sendable {
    public let file: String
    /// The first comment.
    public let title: String
    public internal(set) var world: World
    public internal(set) var lines: [Line]
    /// As after the last line.
    public let names: Names
    /// The policy files that it names, each once, in the order of their lines.
    public let policyFiles: [NamedPolicy]

    public struct NamedPolicy: Hashable, Sendable {
        public var path: String
        public var policy: Policy

        public init(path: String, policy: Policy) { (self.path, self.policy) = (path, policy) }
    }

    /// The world before the first event.
    public struct World: Sendable {
        public var policy: Policy
        /// In the order of their lines: the first is the default of `session`.
        public var cameras: [Camera]
        public var shows = Shows()
    }

    /// The expectations beside notices to sessions.
    public struct Shows: Sendable {
        /// Broker-wide news.
        public var announcements = false
        /// The orders to the recorders.
        public var orders = false
        /// Refusals have their sentence instead of their rule.
        public var sentences = false

        public init() {}
    }

    public struct Camera: Sendable {
        public var id: CameraID
        public var capabilities: CameraCapabilities
        public var seat = SeatID.usual

        var event: Event { .cameraAppeared(id, capabilities, seat: seat) }
    }

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
        case notice(String)
    }

    /// The same scenario with another first policy; its `policy-reload` lines stay.
    public func under(_ policy: Policy) -> Scenario {
        var scenario = self
        scenario.world.policy = policy
        return scenario
    }

    static let inputIndent = 5
    static let noticeIndent = 7

    /// - Parameters:
    /// - policies: the folder that `policy FILE` is relative to.
    /// - dropIns: a folder whose drop-ins are read over each of these files.
    /// - Throws: every problem of the text at once.
    public static func parse(
        _ text: String, file: String, policies: String, dropIns: String? = nil
    ) throws(ScenarioError) -> Scenario {
        let text = try ScenarioText.read(Array(text.utf8), file: file)
        var parser = ScenarioParser(file: file, policies: policies, dropIns: dropIns)
        return try parser.parse(text)
    }

    /// Every word that an input line can begin with.
    public static let inputWords = EventDescription.commands
    /// Every word for a recorder's behaviour or answer.
    public static let recorderWords = ScenarioParser.verbs
    /// Every word that describes the world, before the first input.
    public static let worldWords = ScenarioParser.worldCommands

    /// Reads one input line (without time and indentation) against names; a block follows after `"""` and a line feed.
    /// - Throws: the problem, with its place in the line.
    public static func input(
        _ text: String, names: inout Names, policies: String = "."
    ) throws(ScenarioError) -> [Action] {
        var parser = ScenarioParser(file: "input", policies: policies, names: names)
        let scenario = try parser.parse(String(repeating: " ", count: inputIndent) + text)
        names = scenario.names
        for line in scenario.lines { if case .input(_, let actions) = line.content { return actions } }
        return []
    }

    /// The actions of world and inputs, in order, without their times.
    public var setup: [Action] {
        world.cameras.map { .event($0.event) }
            + lines.flatMap { line -> [Action] in
                if case .input(_, let actions) = line.content { actions } else { [] }
            }
    }

    /// As `parse`.
    /// - Throws: every problem of the text at once, or that the file cannot be read.
    public static func load(path: String, policies: String, dropIns: String? = nil) throws(ScenarioError) -> Scenario {
        // Each of its lines would be a problem.
        if path.hasSuffix(".toml") {
            throw ScenarioError(path, "this is a policy and no scenario; `camclient policy check` looks at policies")
        }
        return try parse(try read(path), file: path, policies: policies, dropIns: dropIns)
    }

    /// Replaces the file by `text`.
    /// - Throws: that the file cannot be written; it may then be cut short.
    public static func write(_ text: String, path: String) throws(ScenarioError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw fault(path, "cannot be written") }
        defer { close(descriptor) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, Array(rest), rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw fault(path, "cannot be written") }
            rest = rest.dropFirst(count)
        }
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private static func read(_ path: String) throws(ScenarioError) -> String {
        var bytes: [UInt8] = []
        let isRead = RegularFile.readEach(path) { chunk in
            bytes += chunk
            // Enough to see that it is too much.
            return bytes.count <= ScenarioText.bytesMax
        }
        guard isRead else { throw fault(path, "cannot be read") }
        return try ScenarioText.read(bytes, file: path)
    }

    private static func fault(_ path: String, _ what: String) -> ScenarioError {
        var fault = ScenarioError(path, "the file \(what): \(String(cString: strerror(errno)))")
        fault.isFault = true
        return fault
    }

    /// A `policy` or `policy-reload` line with the policy itself in it, as a block. Users and groups have their numbers
    /// in it, so that it means the same everywhere.
    public static func policyLine(_ command: String, _ policy: Policy) -> String {
        policy == .firstCome ? "\(command) \(builtInPolicy)" : "\(command) \(policyBlock(policy))"
    }

    public static func policyBlock(_ policy: Policy) -> String {
        "\"\"\"\n" + PolicyWriter.text(policy, numbersOnly: true) + "\"\"\""
    }
}

/// An input line with its names resolved. Grants and interruption ids are known only while it runs.
public enum Action: Hashable, Sendable {
    case event(Event)
    /// `ready NAME [#N]`: `nil` answers the latest warning.
    case ready(SessionID, InterruptionID?)
    /// An answer of a recorder, with the parts that the line has; `grant` is `nil` for the grant that it has.
    case answer(Event, grant: GrantID?)
    /// A change of behaviour from here on; `camera` is `nil` for all recorders.
    case behave(CameraID?, RecorderBehaviour)
}

public struct RecorderBehaviour: Hashable, Sendable {
    /// Lines, or a trace, bring its answers.
    public var isManual = false
    /// Takes orders and does nothing, until it is killed; the next process works.
    public var hangs = false
    /// As above, and the next process too.
    public var hangsAlways = false
    /// Dies of every `open`.
    public var diesOnOpen = false
    public var openDelay: Duration = .zero
    public var cutDelay: Duration = .zero
    public var configureDelay: Duration = .zero
    /// The time from a recording's last frame to its finished file.
    public var finishDelay: Duration = .zero
    /// Every `open` fails with this sentence.
    public var openFailure: String?
    /// Every batch is refused with this sentence.
    public var configureRefusal: String?

    public static let works = RecorderBehaviour()
    public static let manual = RecorderBehaviour(isManual: true)
}
