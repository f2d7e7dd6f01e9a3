public import Arbiter
public import ArbiterProtocol
import Explain

extension Scenario {
    /// A thousand lines; more is not a question but a load on the broker.
    static let planBytesMax = 64 * 1024
    /// What a plan may set in motion: at some microseconds each, a blink of the broker's thread.
    static let planStepsMax = 5000

    /// What would happen: event lines are performed on a copy of the arbiter, and come back with their notices.
    ///
    /// The lines are those of a scenario; their indentation is free, and times count from now. Recorders
    /// answer at once, which is the best guess: what they really do, only the world knows. Behind the lines stand
    /// comments: which sessions would be interrupted, in which order, and what would let a request through that fails.
    /// - Parameters:
    ///   - names: what the broker calls its clients and sessions (`ScenarioWriter.names` of its journal);
    ///     nil: by their apps.
    ///   - user: whose apps are meant where a line does not say.
    /// - Throws: every problem of the text at once. Nothing changes either way.
    public static func plan(
        _ text: String, on arbiter: Arbiter, at now: Moment, names: Names? = nil, user: UInt32 = Names.usualUser,
        policies: String = "."
    ) throws(ScenarioError) -> [String] {
        try plan(text, on: arbiter, at: now, names: names, user: user, policies: policies, while: { true }) ?? []
    }

    /// As above, for as long as the asker's patience lasts.
    /// - Parameter mayGoOn: asked before each step and each attempt to change a verdict, some microseconds to a
    ///   millisecond apart. A clock belongs to the caller.
    /// - Parameter policy: loaded before the first line; nil: the one in force stays.
    /// - Parameter dropIns: the folder of drop-ins that a broker reads over each of its policies.
    /// - Returns: nil: it was not done when `mayGoOn` said no; there is no half an answer.
    public static func plan(
        _ text: String, on arbiter: Arbiter, at now: Moment, names: Names? = nil, user: UInt32 = Names.usualUser,
        policies: String = ".", dropIns: String? = nil, loading policy: Policy? = nil,
        while mayGoOn: @escaping @Sendable () -> Bool
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
    /// What a simulated recorder answers goes without saying; what follows from it does not.
    mutating func planned(_ step: Stage.Step) -> ArraySlice<String> {
        lines(step.event, at: step.moment, step.effects).dropFirst(step.event.isRecorderAnswer ? 1 : 0)
    }
}

extension Event {
    package var isRecorderAnswer: Bool { described.origin == .recorder }
}
