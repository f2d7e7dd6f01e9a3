import Arbiter
public import ArbiterProtocol
import Glibc
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
/// A line that begins with a time, or is indented by five, is an input; times count from 0 and never go back. A line indented
/// by seven is a notice that the input above it led to. A time alone lets time pass: the notices below it come from deadlines
/// and from slow recorders. `docs/scenarios.md` has the whole language.
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
        public var shows = Shows()
    }

    /// What is part of the expectations beside what sessions are told.
    public struct Shows: Sendable {
        /// Broker-wide news.
        public var announcements = false
        /// The orders to the recorders.
        public var orders = false
        /// Refusals say why in their sentence instead of by their rule.
        public var sentences = false

        public init() {}
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
        case notice(String)
    }

    /// The same scenario with another policy at its beginning; what it reloads later stays.
    public func under(_ policy: Policy) -> Scenario {
        var scenario = self
        scenario.world.policy = policy
        return scenario
    }

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

    /// Every word that an input line can begin with.
    public static let inputWords = EventDescription.commands
    /// Every word that says what a recorder does or says.
    public static let recorderWords = ScenarioParser.verbs
    /// Every word that describes the world, before the first input.
    public static let worldWords = ScenarioParser.worldCommands

    /// Reads one input line (without time and indentation) against names; a block follows behind `"""` and a line feed.
    /// - Throws: what is wrong with it, with its place in the line.
    public static func input(
        _ text: String, names: inout Names, policies: String = "."
    ) throws(ScenarioError) -> [Action] {
        var parser = ScenarioParser(file: "input", policies: policies, names: names)
        let scenario = try parser.parse(String(repeating: " ", count: inputIndent) + text)
        names = scenario.names
        for line in scenario.lines { if case .input(_, let actions) = line.content { return actions } }
        return []
    }

    /// What the scenario's world and inputs do, in order, without their times.
    public var setup: [Action] {
        world.cameras.map { .event($0.event) }
            + lines.flatMap { line -> [Action] in
                if case .input(_, let actions) = line.content { actions } else { [] }
            }
    }

    /// Reads a scenario file. `policies`: the folder that `policy FILE` is relative to; `dropIns`: one whose drop-ins are
    /// read over each of these files.
    /// - Throws: every problem of the text at once, or that the file cannot be read.
    public static func load(path: String, policies: String, dropIns: String? = nil) throws(ScenarioError) -> Scenario {
        // Each of its lines would be a problem, and none would say what is wrong.
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
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw fault(path, "cannot be read") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw fault(path, "cannot be read") }
            if count == 0 { break }
            bytes += chunk[..<count]
            // Enough to see that it is too much.
            if bytes.count > ScenarioText.bytesMax { break }
        }
        return try ScenarioText.read(bytes, file: path)
    }

    private static func fault(_ path: String, _ what: String) -> ScenarioError {
        var fault = ScenarioError(path, "the file \(what): \(String(cString: strerror(errno)))")
        fault.isFault = true
        return fault
    }

    /// A `policy` or `policy-reload` line with the policy itself in it, as a block: for a policy that is in no one file.
    /// Users and groups have their numbers in it, so that it means the same everywhere.
    public static func policyLine(_ command: String, _ policy: Policy) -> String {
        policy == .firstCome ? "\(command) built-in" : "\(command) \(policyBlock(policy))"
    }

    /// The same without the command.
    public static func policyBlock(_ policy: Policy) -> String {
        "\"\"\"\n" + PolicyWriter.text(policy, numbersOnly: true) + "\"\"\""
    }
}

/// What an input line does, with its names resolved. Grants and interruption ids are known only while it runs.
public enum Action: Hashable, Sendable {
    case event(Event)
    /// `ready NAME [#N]`: nil answers the latest warning.
    case ready(SessionID, InterruptionID?)
    /// A recorder says what the event says, as far as the line does; the stage knows the rest. `grant` nil: of the grant it
    /// has.
    case answer(Event, grant: GrantID?)
    /// From here on the recorder behaves so; `camera` nil: every one.
    case behave(CameraID?, RecorderBehaviour)
}

/// How a camera's recorder deals with orders.
public struct RecorderBehaviour: Hashable, Sendable {
    /// No answer by itself at all: a trace brings the answers as lines.
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
    /// From a recording's last frame to its finished file.
    public var finishDelay: Duration = .zero
    /// Every `open` fails with this sentence.
    public var openFailure: String?
    /// Every batch is refused with this sentence.
    public var configureRefusal: String?

    public static let works = RecorderBehaviour()
    public static let manual = RecorderBehaviour(isManual: true)
}
