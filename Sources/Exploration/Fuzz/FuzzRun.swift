import Arbiter
import PolicyFile
import Scenario

/// Lives one story with every check on.
///
/// What the core does wrong may stop the process; a caller that must survive that runs stories in another one.
public struct FuzzRun {
    private var stage: Stage
    private var spotter = FeatureSpotter()
    private var judge: (any FuzzJudge)?
    private var steps = 0
    private var policies = 0
    private var said: [PolicyKey: Int] = [:]

    /// - Parameter judge: also looks at each step.
    public static func run(_ text: String, judge: (any FuzzJudge)? = nil) -> FuzzVerdict {
        do {
            // A story names no file, so that no folder is read.
            let scenario = try Scenario.parse(text, file: "story", policies: ".")
            var run = FuzzRun(scenario, judge)
            let outcome = run.live(scenario)
            var verdict = FuzzVerdict(outcome)
            verdict.steps = run.steps
            verdict.policies = run.policies
            verdict.features = run.spotter.features
            verdict.compared = run.judge?.comparisons ?? 0
            if run.judge?.judgedAll == true { verdict.features.insert(.compared) }
            verdict.kinds = run.spotter.kinds
            verdict.said = run.said
            return verdict
        } catch {
            return FuzzVerdict(.unreadable("\(error)"))
        }
    }

    private init(_ scenario: Scenario, _ judge: (any FuzzJudge)?) {
        stage = Stage(Arbiter(policy: scenario.world.policy))
        self.judge = judge
        self.judge?.begin(scenario.world.policy)
        count(scenario.world.policy)
    }

    private mutating func count(_ policy: Policy) {
        policies += 1
        for key in policy.saidKeys { said[key, default: 0] += 1 }
    }

    /// Up to the first broken promise: what comes after it is not promised.
    private mutating func live(_ scenario: Scenario) -> FuzzVerdict.Outcome {
        var performed = 0
        func broken(_ message: String) -> FuzzVerdict.Outcome {
            .broken(FuzzVerdict.Broken(message, lines: performed, moment: stage.now))
        }
        for camera in scenario.world.cameras {
            stage.perform(.event(.cameraAppeared(camera.id, camera.capabilities)))
        }
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

    /// At what happened since the last look.
    private mutating func look() -> String? {
        var objection: String?
        var isNews = false
        for step in stage.takeSteps() {
            steps += 1
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
