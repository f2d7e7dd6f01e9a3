import Arbiter
import ArbiterProtocol

extension Scenario {
    /// Runs the scenario against the core, on a virtual clock.
    public func run() -> Outcome {
        var stage = Stage(Arbiter(policy: world.policy))
        return run(on: &stage)
    }

    /// As `run()`, with the coverage of each policy that was in force, in that order.
    public func runWithCoverage() -> (outcome: Outcome, coverages: [PolicyCoverage]) { runWithCoverage(knowing: []) }

    /// As `run()`; the stage is left as the last line leaves it, with all its steps.
    public func run(on stage: inout Stage) -> Outcome {
        var writer = ScenarioWriter(names: names, origin: stage.now, shows: world.shows)
        for camera in world.cameras { stage.perform(.event(camera.event)) }
        var shown = stage.steps.count
        var refusals: [(notice: String, sentence: String)] = []
        var actual: [String] = []
        let indent = String(repeating: " ", count: Self.noticeIndent)

        /// The notices since the last call, at `moment` or at any.
        func notices(at moment: Moment? = nil) -> [String] {
            var lines: [String] = []
            while shown < stage.steps.count, moment == nil || stage.steps[shown].moment == moment {
                for effect in stage.steps[shown].effects {
                    guard let notice = writer.notice(effect) else { continue }
                    if case .refused(let refusal) = effect { refusals.append((notice, refusal.error.message)) }
                    lines.append(indent + notice)
                }
                shown += 1
            }
            return lines
        }
        /// Adds notices before a line, each under its time; those of `moment` are left to the line.
        func pass(to moment: Moment, leavingLast: Bool) {
            for fired in stage.advance(to: moment) where !(leavingLast && fired == moment) {
                let lines = notices(at: fired)
                if !lines.isEmpty { actual += [TimeText.write(fired)] + lines }
            }
        }

        for line in lines {
            switch line.content {
            case .verbatim: actual.append(line.text)
            case .notice: break
            case .time(let moment):
                pass(to: moment, leavingLast: true)
                actual.append(line.text)
                actual += notices()
            case .input(let moment, let actions):
                // Deadlines of the very moment of a line come before it.
                pass(to: moment, leavingLast: false)
                actual.append(line.text)
                for action in actions { stage.perform(action) }
                actual += notices()
            }
        }
        writer.names = names
        return Outcome(
            file: file, title: title, expected: normalized, actual: trimmedEnd(actual),
            violations: stage.violations.map(\.description), refusals: refusals, next: stage.nextMoment)
    }

    /// Without spaces at the ends of lines.
    private var normalized: [String] {
        trimmedEnd(
            lines.map { line in
                var text = line.text
                if case .notice(let notice) = line.content {
                    let words = notice.split(separator: " ", omittingEmptySubsequences: true)
                    text = String(repeating: " ", count: Self.noticeIndent) + words.joined(separator: " ")
                }
                return text
            })
    }

    private func trimmedEnd(_ lines: [String]) -> [String] {
        var lines = lines.flatMap { $0.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
        while lines.last?.isEmpty ?? false { lines.removeLast() }
        return lines + [""]
    }
}
