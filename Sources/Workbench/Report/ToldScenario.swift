public import Arbiter
public import ArbiterProtocol
public import Explain
public import Scenario

/// The outcome of a scenario, as a text and as a picture, with the reason of each decision.
public struct ToldScenario: Sendable {
    /// As many decisions of one scenario as somebody reads.
    private static let reasonsMax = 120
    private static let verdictsMax = 12
    private static let brokenMax = 20

    let title: String
    let policy: String
    /// The scenario with the outcome under each line.
    let lines: [String]
    let isAsWritten: Bool
    /// Broken promises of the broker, and at the end of the policy.
    let broken: [String]
    let timeline: Timeline
    private let reasons: [Explanation]
    /// Decisions without a reason here: there were too many, or time was up.
    private let reasonsLeftOut: Int
    private let begun: [Place: DecisionID]
    /// As the last line leaves it.
    let end: Stage
    let names: Names

    private struct Place: Hashable {
        var lane: String
        var moment: Moment
    }

    /// - Parameter mayGoOn: called before each step and while reasons are searched; a clock belongs to the caller.
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

    private init(
        title: String, policy: Policy, lines: [String], isAsWritten: Bool, broken: [String], _ stage: Stage,
        _ names: Names, _ before: StepStory, while mayGoOn: () -> Bool
    ) {
        (self.title, self.policy, self.lines, self.isAsWritten) = (title, policy.name, lines, isAsWritten)
        var broken = Array(broken.prefix(Self.brokenMax))
        if let statement = stage.arbiter.brokenStatement()?.statement {
            broken.append("at its end the statement “\(statement.name)” is broken")
        }
        (self.broken, self.names, end) = (broken, names, stage)
        (reasons, reasonsLeftOut) = Self.reasons(stage, while: mayGoOn)
        var (begun, story) = ([Place: DecisionID](), before)
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
            story.note(step.event, step.effects, at: step.moment, decision: step.decision)
        }
        (self.begun, timeline) = (begun, Timeline(story.entries))
    }

    /// The decision that began a span, and its words; nil without a decision or a reason.
    private func reason(of lane: String, at moment: Moment) -> (decision: DecisionID, words: String)? {
        guard let decision = begun[Place(lane: lane, moment: moment)],
            let reason = reasons.first(where: { $0.decision == decision })
        else { return nil }
        let told = reason.verdicts.prefix(Self.verdictsMax)
        let own = told.filter { names.name(of: $0.session) == lane }
        return (decision, (own.isEmpty ? Array(told) : own).map(words).joined(separator: "; "))
    }

    private static func reasons(
        _ stage: Stage, while mayGoOn: () -> Bool
    ) -> (found: [Explanation], leftOut: Int) {
        var decisions: [DecisionID] = []
        for step in stage.steps where !step.verdicts.isEmpty && !decisions.contains(step.decision) {
            decisions.append(step.decision)
        }
        var found: [Explanation] = []
        for decision in decisions {
            guard found.count < reasonsMax, mayGoOn() else { break }
            if let reason = stage.history?.explain(decision, of: stage.arbiter, while: mayGoOn) { found.append(reason) }
        }
        return (found, decisions.count - found.count)
    }

    private func event(of reason: Explanation) -> String {
        if let source = reason.silenced { return "what the \(source.rawValue) that left had said holds no more" }
        if reason.event == .timePassed { return "a deadline came" }
        return ScenarioWriter(names: names).text(of: reason.event) ?? reason.event.kind.rawValue
    }

    private func words(_ verdict: Explanation.Verdict) -> String {
        let against = verdict.opponent.map { ", against \($0.name)" } ?? ""
        return "\(names.name(of: verdict.session)): \(verdict.outcome.description) because “\(verdict.rule)”\(against)"
    }
}

extension ToldScenario {
    /// A day has many thousand inputs.
    private static let inputsMax = 400

    /// A trace's inputs under a policy. Recorders are simulated and answer at once, so that two policies can be compared.
    /// - Throws: a contradiction in the trace's snapshot.
    public init(
        _ part: TracePart, under policy: Policy, while mayGoOn: @escaping @Sendable () -> Bool
    ) throws(Arbiter.BrokenSnapshot) {
        let own = try part.header.arbiter()
        let begin = part.header.snapshot?.now ?? part.header.origin
        var stage = Stage(part.header.snapshot == nil ? Arbiter(policy: policy) : own, at: begin)
        stage.history = History()
        stage.mayGoOn = mayGoOn
        stage.checksEverything = false
        if part.header.snapshot != nil {
            stage.adopt()
            stage.perform(.event(.policyLoaded(policy)))
        }
        var names = part.header.names(of: own)
        let first = stage.arbiter
        var story = StepStory(from: first, names: names)
        if let snapshot = part.header.snapshot { story.begin(part.header, first, at: snapshot.now) }
        // The policy's change is where the picture begins, and no part of it.
        _ = stage.takeSteps()
        for step in part.steps.prefix(Self.inputsMax) {
            _ = stage.advance(to: step.moment)
            names.learn(step)
            if let action = Self.action(step.event) { stage.perform(action) }
        }
        var writer = ScenarioWriter(names: names, origin: part.header.origin)
        var lines: [String] = []
        for step in stage.steps {
            let told = writer.lines(step.event, at: step.moment, step.effects)
            lines += step.event.isRecorderAnswer ? Array(told.dropFirst()) : told
        }
        self.init(
            title: part.file, policy: policy, lines: lines, isAsWritten: true, broken: [], stage, names, story,
            while: mayGoOn)
    }

    /// The missing parts of a trace's picture, as sentences.
    public static func remarks(_ part: TracePart) -> [String] {
        var remarks = ["Recorders are simulated, and answer at once."]
        if part.steps.count > inputsMax {
            remarks.append("Only its first \(inputsMax) steps are drawn, of \(grouped(part.steps.count)).")
        }
        return remarks
    }

    /// nil for events that are not inputs, and for policies, which the page's policy replaces.
    private static func action(_ event: Event) -> Action? {
        switch event {
        case .timePassed, .policyLoaded: nil
        case .ready(let session, _): .ready(session, nil)
        default: event.isRecorderAnswer ? nil : .event(event)
        }
    }

    func shown(id: String, heading: String? = nil) -> Markup {
        html("div", ["class": "told", "id": id]) {
            if let heading { html("h4") { heading } }
            if !broken.isEmpty { list(broken, "marks bad") { words in "Broken: \(words)" } }
            picture(id: id, label: heading ?? title)
            reasonList(id: id)
            details("The scenario, with what it leads to") { listing(lines, "The scenario") }
        }
    }

    func picture(id: String, label: String) -> Markup {
        let svg = timeline.svgElement(id: "\(id)-picture", title: "\(label), under \(policy)") { lane, span in
            guard let (decision, words) = reason(of: lane.name, at: span.begin) else { return nil }
            return Timeline.Link(target: "\(id)-decision-\(decision)", words: words)
        }
        return markup {
            if timeline.lanes.isEmpty {
                soft("Nobody asked for a camera, so there is nothing to draw.")
            } else {
                region(label) { Markup(drawn: svg) }
                html(
                    "p",
                    ["class": "why", "data-hint": "Point at a span, or go to it by Tab: why it began stands here."]
                ) { "" }
            }
        }
    }

    func reasonList(id: String) -> Markup {
        markup {
            if !reasons.isEmpty {
                details("Why: \(count(reasons.count, "decision")), one by one", "reasons") {
                    html("ol") { reasons.map { item($0, id) } }
                    if reasonsLeftOut > 0 { soft("\(count(reasonsLeftOut, "more decision")) left out.") }
                }
            }
        }
    }

    private func item(_ reason: Explanation, _ id: String) -> Markup {
        let leftOut = reason.verdicts.count - Self.verdictsMax
        return html("li", ["id": "\(id)-decision-\(reason.decision)", "tabindex": "-1"]) {
            html("p") {
                html("b") { "at \(TimeText.write(reason.at))" }
                " "
                html("code") { event(of: reason) }
            }
            reason.verdicts.prefix(Self.verdictsMax).map { verdict in
                html("div", ["class": "verdict"]) {
                    html("p") { words(verdict) }
                    if !verdict.read.isEmpty {
                        let read = verdict.read.map { "\($0.key) = \($0.value)" }
                        soft("Facts read: \(read.joined(separator: ", "))")
                    }
                    soft(way(out: verdict))
                }
            }
            if leftOut > 0 { soft("And \(count(leftOut, "more session")).") }
        }
    }

    private func way(out verdict: Explanation.Verdict) -> String {
        let changes = verdict.changedBy.map(\.words) + verdict.stops.map { "\($0.name) stops" }
        guard changes.isEmpty else {
            return "It would have gone the other way with: \(changes.joined(separator: "; or "))"
        }
        let tried = verdict.searched?.words ?? "nothing, as it did not outlast its own step"
        return "Nothing found that would have changed it; tried: \(tried)."
    }
}

package func count(_ number: Int, _ what: String) -> String { "\(grouped(number)) \(what)\(number == 1 ? "" : "s")" }

/// The populations of a walk, and the bounds of its worlds.
package func populationsWords(_ walked: Int, of all: Int) -> String {
    walked == all
        ? (all == 1 ? "the one population" : "all \(grouped(all)) populations")
        : "\(grouped(walked)) of \(count(all, "population"))"
}

package func worldWords(_ clients: Int, _ cameras: Int) -> String {
    "up to \(count(clients, "client")) × \(count(cameras, "camera"))"
}

/// `1234567` as `1,234,567`.
package func grouped(_ number: Int) -> String {
    var text = ""
    for (place, digit) in String(number).reversed().enumerated() {
        if place > 0, place % 3 == 0, digit != "-" { text.append(",") }
        text.append(digit)
    }
    return String(text.reversed())
}
