import Arbiter
package import ArbiterProtocol
import PolicyFile
package import Scenario
import Workbench

/// Lives one story with every check on; what the core does wrong may stop the process.
package struct FuzzRun {
    private var stage: Stage
    private var spotter = FeatureSpotter()
    private var judge: (any FuzzJudge)?
    private var verdict = FuzzVerdict(.kept)

    /// - Parameter judge: also looks at each step.
    package static func run(_ text: String, judge: (any FuzzJudge)? = nil) -> FuzzVerdict {
        do {
            // A story names no file, so that no folder is read.
            let scenario = try Scenario.parse(text, file: "story", policies: ".")
            var run = FuzzRun(scenario, judge)
            run.verdict.outcome = run.live(scenario)
            run.verdict.features = run.spotter.features
            run.verdict.compared = run.judge?.comparisons ?? 0
            if run.judge?.judgedAll == true { run.verdict.features.insert(.compared) }
            run.verdict.kinds = run.spotter.kinds
            return run.verdict
        } catch { return FuzzVerdict(.unreadable("\(error)")) }
    }

    /// One long life: the policy that it begins under, and at least so many steps, unless it breaks a promise.
    package static func life(_ seed: UInt64, steps: Int) throws -> (first: Policy, steps: [Stage.Step]) {
        var generator = StoryGenerator(SeededRandom(seed: seed), shares: true, behaves: false)
        // A turn is a step, or several.
        let text = try generator.story(turns: steps).text("A life of \(steps) turns.")
        let scenario = try Scenario.parse(text, file: "life", policies: ".")
        var stage = Stage(Arbiter(policy: scenario.world.policy))
        _ = scenario.run(on: &stage)
        return (scenario.world.policy, stage.takeSteps())
    }

    private init(_ scenario: Scenario, _ judge: (any FuzzJudge)?) {
        stage = Stage(Arbiter(policy: scenario.world.policy))
        self.judge = judge
        self.judge?.begin(scenario.world.policy)
        count(scenario.world.policy)
    }

    private mutating func count(_ policy: Policy) {
        verdict.policies += 1
        for key in policy.saidKeys { verdict.said[key, default: 0] += 1 }
    }

    /// Up to the first broken promise: what comes after it is not promised.
    private mutating func live(_ scenario: Scenario) -> FuzzVerdict.Outcome {
        var performed = 0
        func broken(_ message: String) -> FuzzVerdict.Outcome {
            .broken(FuzzVerdict.Broken(message, lines: performed, moment: stage.now))
        }
        for camera in scenario.world.cameras { stage.perform(.event(.cameraAppeared(camera.id, camera.capabilities))) }
        if let message = look() { return broken(message) }
        for line in scenario.lines {
            switch line.content {
            case .verbatim, .notice: continue
            case .time(let moment): _ = stage.advance(to: moment)
            case .input(let moment, let actions):
                _ = stage.advance(to: moment)
                if let message = look() { return broken(message) }
                performed += 1
                for action in actions { stage.perform(action) }
                if let message = look() { return broken(message) }
                continue
            }
            performed += 1
            if let message = look() { return broken(message) }
        }
        return .kept
    }

    private mutating func look() -> String? {
        var objection: String?
        var isNews = false
        for step in stage.takeSteps() {
            verdict.steps += 1
            if case .policyLoaded(let policy) = step.event { count(policy) }
            spotter.note(step)
            isNews = isNews || step.effects.contains { if case .notify = $0 { true } else { false } }
            // After an objection a judge knows nothing any more.
            if objection == nil { objection = judge?.judge(step) }
        }
        if let violation = stage.violations.first { return violation.message }
        if let objection { return objection }
        // Where nobody was told anything, nobody runs beside anybody else than before.
        if isNews { spotter.rest(stage.arbiter) }
        return judge?.rest(stage)
    }
}

/// A second check of a story, besides the stage's own: an arbiter written in another way, say.
package protocol FuzzJudge: Sendable {
    mutating func begin(_ policy: Policy)
    /// What is wrong with a step, as a sentence; nil: nothing. Steps come in their order; those that plug in the
    /// cameras of the world are the first.
    mutating func judge(_ step: Stage.Step) -> String?
    /// A line was performed, or time has passed up to the next one, and every step of it was judged.
    mutating func rest(_ stage: Stage) -> String?
    /// How often it compared all that is to be seen with what it expects, in this story.
    var comparisons: Int { get }
    /// It judged up to the end of the story, faults under way excepted.
    var judgedAll: Bool { get }
}

extension FuzzJudge {
    package mutating func begin(_ policy: Policy) {}
    package mutating func rest(_ stage: Stage) -> String? { nil }
    package var comparisons: Int { 0 }
    package var judgedAll: Bool { false }
}
