public import Arbiter
import ArbiterProtocol
import Explain
import Scenario
public import Trace

extension ToldScenario {
    /// As many inputs of a trace as one picture shows; a day has many thousand.
    static let inputsMax = 400

    /// What a trace's clients asked and its world did, under a policy. Recorders are simulated and answer at once: what a
    /// real one would have said to orders that it never got, nobody knows, and two policies can be compared so.
    /// - Throws: what contradicts itself in the trace's snapshot.
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

    /// What is not in a trace's picture, as sentences.
    public static func remarks(_ part: TracePart) -> [String] {
        var remarks = ["Recorders are simulated, and answer at once."]
        if part.steps.count > inputsMax {
            remarks.append("Only its first \(inputsMax) steps are drawn, of \(grouped(part.steps.count)).")
        }
        return remarks
    }

    /// Nil for what is no input, and for what the policy on the page takes the place of.
    private static func action(_ event: Event) -> Action? {
        switch event {
        case .timePassed, .policyLoaded: nil
        case .ready(let session, _): .ready(session, nil)
        default: event.isRecorderAnswer ? nil : .event(event)
        }
    }
}
