import Arbiter
import ArbiterProtocol
import Explain
import Exploration
public import Scenario
import Timeline

import struct Explain.Explanation

/// A scenario that was lived through: what came of it, as a text and as a picture, and of each decision why.
public struct ToldScenario: Sendable {
    /// As many decisions of one scenario as somebody reads.
    static let reasonsMax = 120
    /// As many of one decision; the others are counted.
    static let verdictsMax = 12
    private static let brokenMax = 20

    public let title: String
    /// The name of the policy under which it was lived through.
    public let policy: String
    /// The scenario with what happened under each line.
    public let lines: [String]
    /// It came out as it was written.
    public let isAsWritten: Bool
    /// Broken promises of the broker, and at the end of the policy.
    public let broken: [String]
    let timeline: Timeline
    let reasons: [Reason]
    /// Decisions that have no reason here: there were too many, or time was up.
    let reasonsLeftOut: Int
    /// By lane and moment: which decision is behind what begins there.
    private let begun: [Place: DecisionID]
    /// As the last line leaves it.
    public let end: Stage
    public let names: Names

    struct Place: Hashable {
        var lane: String
        var moment: Moment
    }

    /// Why one decision fell as it did.
    struct Reason: Sendable {
        var decision: DecisionID
        var moment: Moment
        /// What happened, as a scenario's line.
        var event: String
        var verdicts: [Sentence]
        var verdictsLeftOut: Int
    }

    struct Sentence: Sendable {
        var lane: String
        var words: String
        var read: [String]
        var changes: [String]
        var searched: String
    }

    /// - Parameter mayGoOn: asked before each step and while reasons are searched; a clock belongs to the caller.
    public init(
        _ scenario: Scenario, title: String? = nil, stepsMax: Int = .max,
        while mayGoOn: @escaping @Sendable () -> Bool = { true }
    ) {
        var stage = Stage(Arbiter(policy: scenario.world.policy))
        stage.stepsMax = stepsMax
        stage.history = History()
        stage.mayGoOn = mayGoOn
        let outcome = scenario.run(on: &stage)
        let story = StepStory(from: Arbiter(policy: scenario.world.policy), names: scenario.names)
        self.init(
            title: title ?? (scenario.title.isEmpty ? scenario.file : scenario.title),
            policy: scenario.world.policy, lines: outcome.actual, isAsWritten: outcome.passed,
            broken: outcome.violations, stage, scenario.names, story, while: mayGoOn)
    }

    /// - Parameter story: as it was before the stage's first step.
    init(
        title: String, policy: Policy, lines: [String], isAsWritten: Bool, broken: [String], _ stage: Stage,
        _ names: Names, _ story: StepStory, while mayGoOn: () -> Bool
    ) {
        self.title = title
        self.policy = policy.name
        self.lines = lines
        self.isAsWritten = isAsWritten
        var broken = Array(broken.prefix(Self.brokenMax))
        if let statement = stage.arbiter.brokenStatement()?.statement {
            broken.append("at its end the statement “\(statement.name)” is broken")
        }
        self.broken = broken
        self.names = names
        (reasons, reasonsLeftOut) = Self.reasons(stage, names, while: mayGoOn)
        begun = Self.begun(stage, names)
        timeline = Self.timeline(stage, story)
        end = stage
    }

    /// Why what a span shows began; nil: no decision did it, or its reason was left out.
    func reason(of lane: String, at moment: Moment) -> (reason: Reason, words: String)? {
        guard let decision = begun[Place(lane: lane, moment: moment)],
            let reason = reasons.first(where: { $0.decision == decision })
        else { return nil }
        let own = reason.verdicts.filter { $0.lane == lane }
        return (reason, (own.isEmpty ? reason.verdicts : own).map(\.words).joined(separator: "; "))
    }

    // MARK: Reasons

    private static func reasons(
        _ stage: Stage, _ names: Names, while mayGoOn: () -> Bool
    ) -> (found: [Reason], leftOut: Int) {
        var decisions: [DecisionID] = []
        for step in stage.steps where !step.verdicts.isEmpty && decisions.last != step.decision {
            if !decisions.contains(step.decision) { decisions.append(step.decision) }
        }
        var found: [Reason] = []
        for decision in decisions {
            guard found.count < reasonsMax, mayGoOn() else { break }
            guard let explanation = stage.history?.explain(decision, of: stage.arbiter, while: mayGoOn) else {
                continue
            }
            found.append(reason(explanation, names))
        }
        return (found, decisions.count - found.count)
    }

    private static func reason(_ explanation: Explanation, _ names: Names) -> Reason {
        let event: String
        if let source = explanation.silenced {
            event = "what the \(source.rawValue) that left had said holds no more"
        } else if explanation.event == .timePassed {
            event = "a deadline came"
        } else {
            event = ScenarioWriter(names: names).text(of: explanation.event) ?? explanation.event.kind.rawValue
        }
        return Reason(
            decision: explanation.decision, moment: explanation.at, event: event,
            verdicts: explanation.verdicts.prefix(verdictsMax).map { verdict in
                let against = verdict.opponent.map { ", against \($0.name)" } ?? ""
                return Sentence(
                    lane: names.name(of: verdict.session),
                    words: "\(names.name(of: verdict.session)): \(verdict.outcome.description) because "
                        + "“\(verdict.rule)”\(against)",
                    read: verdict.read.map { "\($0.key) = \($0.value)" },
                    changes: verdict.changedBy.map(\.words) + verdict.stops.map { "\($0.name) stops" },
                    searched: verdict.searched?.words ?? "nothing, as it did not outlast its own step")
            }, verdictsLeftOut: max(0, explanation.verdicts.count - verdictsMax))
    }

    private static func begun(_ stage: Stage, _ names: Names) -> [Place: DecisionID] {
        var begun: [Place: DecisionID] = [:]
        for step in stage.steps {
            for effect in step.effects {
                switch effect {
                case .notify(_, let session, _, _):
                    begun[Place(lane: names.name(of: session), moment: step.moment)] = step.decision
                case .announce(.holderChanged(let camera, _)):
                    begun[Place(lane: camera.name, moment: step.moment)] = step.decision
                default: break
                }
            }
        }
        return begun
    }

    private static func timeline(_ stage: Stage, _ before: StepStory) -> Timeline {
        var story = before
        for step in stage.steps { story.note(step.event, step.effects, at: step.moment, decision: step.decision) }
        var builder = TimelineBuilder()
        for entry in story.entries { builder.note(entry) }
        // A little beyond the last event, so that what it led to shows.
        let whole = builder.timeline()
        return builder.timeline(until: whole.end + max(whole.duration / 25, .milliseconds(100)))
    }
}
