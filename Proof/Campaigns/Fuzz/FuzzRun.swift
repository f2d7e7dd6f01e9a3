import Arbiter
package import ArbiterProtocol
import PolicyFile
package import Scenario
import Workbench

/// Runs one case with every check on; a mistake of the core may stop the process.
package struct FuzzRun {
    private var stage: Stage
    private var spotter = FeatureSpotter()
    private var judge: (any FuzzJudge)?
    private var verdict = FuzzVerdict(.kept)

    package static func run(_ text: String, judge: (any FuzzJudge)? = nil) -> FuzzVerdict {
        do {
            let scenario = try Scenario.parse(text, file: "run", policies: ".")
            var run = FuzzRun(scenario, judge)
            run.verdict.outcome = run.live(scenario)
            run.verdict.features = run.spotter.features
            run.verdict.compared = run.judge?.comparisons ?? 0
            if run.judge?.judgedAll == true { run.verdict.features.insert(.compared) }
            run.verdict.kinds = run.spotter.kinds
            return run.verdict
        } catch { return FuzzVerdict(.unreadable("\(error)")) }
    }

    /// One long run, of at least so many steps unless it breaks a promise, and its first policy.
    package static func longRun(_ seed: UInt64, steps: Int) throws -> (first: Policy, steps: [Stage.Step]) {
        var generator = CaseGenerator(SeededRandom(seed: seed), shares: true, behaves: false)
        let text = try generator.fuzzCase(turns: steps).text("A run of \(steps) turns.")
        let scenario = try Scenario.parse(text, file: "run", policies: ".")
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

    /// Up to the first broken promise.
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
            // After an objection a judge's state means nothing.
            if objection == nil { objection = judge?.judge(step) }
        }
        if let violation = stage.violations.first { return violation.message }
        if let objection { return objection }
        // Without a notice, the same sessions run as before.
        if isNews { spotter.rest(stage.arbiter) }
        return judge?.rest(stage)
    }
}

/// A second check of a case besides the stage's.
package protocol FuzzJudge: Sendable {
    mutating func begin(_ policy: Policy)
    /// An objection to a step, as a sentence. The first steps plug in the world's cameras.
    mutating func judge(_ step: Stage.Step) -> String?
    /// After all steps of a line, or of the time up to the next line.
    mutating func rest(_ stage: Stage) -> String?
    /// In this case.
    var comparisons: Int { get }
    /// Whether it judged up to the end of the case.
    var judgedAll: Bool { get }
}

extension FuzzJudge {
    package mutating func begin(_ policy: Policy) {}
    package mutating func rest(_ stage: Stage) -> String? { nil }
    package var comparisons: Int { 0 }
    package var judgedAll: Bool { false }
}
