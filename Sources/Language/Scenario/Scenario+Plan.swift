public import Arbiter
public import ArbiterProtocol
import Explain

extension Scenario {
    /// A thousand lines; more is a load on the broker.
    static let planBytesMax = 64 * 1024
    /// At some microseconds each, a blink of the broker's thread.
    static let planStepsMax = 5000

    /// Performs event lines on a copy of the arbiter, and returns them with their notices.
    ///
    /// The lines are those of a scenario; their indentation is free, and times count from now. Recorders answer at once.
    /// Behind the lines stand comments: the sessions that are interrupted, in their order, and changes that would let
    /// failing requests through.
    /// - Parameters:
    ///   - names: the broker's names of its clients and sessions (`ScenarioWriter.names` of its journal); `nil` for those
    ///     of their apps.
    ///   - user: the user of apps without `@user`.
    ///   - dropIns: the folder of drop-ins that a broker reads over each of its policies.
    ///   - policy: loaded before the first line; `nil` keeps the one in force.
    ///   - mayGoOn: called before each step and each attempt to change a verdict, some microseconds to a millisecond
    ///     apart. A clock belongs to the caller.
    /// - Returns: `nil` where `mayGoOn` ended it early.
    /// - Throws: every problem of the text at once.
    public static func plan(
        _ text: String, on arbiter: Arbiter, at now: Moment, names: Names? = nil, user: UInt32 = Names.usualUser,
        policies: String = ".", dropIns: String? = nil, loading policy: Policy? = nil,
        while mayGoOn: @escaping @Sendable () -> Bool = { true }
    ) throws(ScenarioError) -> [String]? {
        guard text.utf8.count <= planBytesMax else {
            throw ScenarioError("plan", "a plan has at most \(planBytesMax) bytes")
        }
        var names = names ?? Names(of: arbiter)
        names.user = user
        var parser = ScenarioParser(file: "plan", policies: policies, dropIns: dropIns, names: names)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let bare = line.drop { $0 == " " }
            guard let first = bare.first, first != "#", !first.isASCIIDigit else { return String(bare) }
            return String(repeating: " ", count: inputIndent) + bare
        }
        let scenario = try parser.parse(lines.joined(separator: "\n"))
        var stage = Stage(planning: arbiter, at: now, while: mayGoOn)
        stage.history = History()
        if let policy { stage.perform(.event(.policyLoaded(policy))) }
        var writer = ScenarioWriter(names: scenario.names, origin: now)
        for line in scenario.lines {
            guard mayGoOn() else { return nil }
            let offset: Duration
            switch line.content {
            case .time(let moment): offset = moment - .zero
            case .input(let moment, _): offset = moment - .zero
            case .verbatim, .notice: continue
            }
            _ = stage.advance(to: now + offset)
            if case .input(_, let actions) = line.content { for action in actions { stage.perform(action) } }
        }
        var planned: [String] = []
        if stage.wasStopped { return nil }
        for step in stage.steps {
            guard mayGoOn() else { return nil }
            planned += writer.planned(step)
        }
        let summary = PlanSummary(of: stage, from: now, names: writer.names, while: mayGoOn)
        return summary.isWhole ? planned + summary.lines : nil
    }
}

extension ScenarioWriter {
    /// Without the answers of simulated recorders, but with their consequences.
    mutating func planned(_ step: Stage.Step) -> ArraySlice<String> {
        lines(step.event, at: step.moment, step.effects).dropFirst(step.event.isRecorderAnswer ? 1 : 0)
    }
}

extension Event {
    package var isRecorderAnswer: Bool { described.origin == .recorder }
}
