import Arbiter
import ArbiterProtocol
import PolicyFile
import Scenario
import TomlFile

/// A policy with its file's name, from which its includes count; a scenario; and lines that may happen next. Without a policy the
/// scenario's own is in force.
public typealias PlayQuestion = (file: String, policy: String, scenario: String, plan: String)

/// The outcome as a part of the page: checked, carried out, explained, and the events that follow.
public struct PlayAnswer: Sendable {
    /// As much as a person types; a question costs in proportion.
    private static let policyBytesMax = 128 * 1024
    private static let scenarioBytesMax = 64 * 1024
    /// A long policy has a third of them, and its check takes some milliseconds.
    private static let rulesMax = 64
    /// A scenario of a thousand lines; the picture of a longer one shows nothing.
    private static let stepsMax = 5000
    private static let linesMax = 2000
    /// As many problems as somebody mends before looking again.
    private static let problemsMax = 50
    /// A lease may end in a day.
    private static let firingsMax = 20

    private let question: PlayQuestion
    private let mayGoOn: @Sendable () -> Bool

    /// - Parameter mayGoOn: called between steps; a clock belongs to the caller.
    public init(_ question: PlayQuestion, while mayGoOn: @escaping @Sendable () -> Bool) {
        (self.question, self.mayGoOn) = (question, mayGoOn)
    }

    /// HTML, escaped.
    public var text: String {
        if question.policy.utf8.count > Self.policyBytesMax { return tooLong("policy", Self.policyBytesMax).html }
        let isLong = max(question.scenario.utf8.count, question.plan.utf8.count) > Self.scenarioBytesMax
        return (isLong ? tooLong("scenario", Self.scenarioBytesMax) : outcome).html
    }

    private func tooLong(_ what: String, _ bytes: Int) -> Markup {
        status(.bad, "The \(what) is longer than the \(grouped(bytes)) bytes that are looked at here.")
    }

    private func status(_ mark: Mark, _ words: String) -> Markup {
        html("p", ["class": "verdict-line", "data-status": nil]) { mark.shown(words) }
    }

    private var outcome: Markup {
        var policy: Policy?
        var warnings: [FileProblem] = []
        if question.policy.contains(where: { !$0.isWhitespace }) {
            do throws(FileProblems) {
                let parsed = try PolicyFile.parse(question.policy, file: question.file, includes: true)
                policy = parsed
                // The check searches all facts for hidden rules, and has no clock.
                if parsed.causeRules.count + parsed.rankRules.count <= Self.rulesMax {
                    warnings = PolicyFile.check(question.policy, file: question.file, includes: true)?.problems ?? []
                }
            } catch {
                return mistakes("policy", error.problems.count + error.more, error.problems)
            }
        }
        guard mayGoOn() else { return late }
        let scenario: (Scenario, dropped: Int)
        do throws(ScenarioError) { scenario = try read(question.scenario, hasPolicy: policy != nil) } catch {
            return mistakes("scenario", error.problems.count, error.problems)
        }
        let told = ToldScenario(
            policy.map { scenario.0.under($0) } ?? scenario.0, stepsMax: Self.stepsMax, while: mayGoOn)
        guard !told.end.wasStopped, told.lines.count <= Self.linesMax else { return late }
        return markup {
            result(told, dropping: scenario.dropped)
            if !warnings.isEmpty {
                html("h2") { "The policy's check" }
                problems(warnings)
            }
            html("h2") { "What comes next" }
            next(told)
        }
    }

    private var late: Markup {
        status(.unsure, "NOT COMPLETE: this takes more than the second that a question has. Ask with fewer lines.")
    }

    /// A scenario without a `policy` line is read for the policy that was typed beside it.
    private func read(_ text: String, hasPolicy: Bool) throws(ScenarioError) -> (Scenario, dropped: Int) {
        let hasLine = text.split(separator: "\n").contains { $0.hasPrefix("policy ") || $0 == "policy" }
        guard hasPolicy, !hasLine else { return (try Scenario.parse(text, file: "scenario", policies: "."), 0) }
        do throws(ScenarioError) {
            return (try Scenario.parse("policy built-in\n" + text, file: "scenario", policies: "."), 1)
        } catch {
            var problems = error.problems
            for index in problems.indices { problems[index].line = max(1, problems[index].line - 1) }
            throw ScenarioError(problems)
        }
    }

    private func mistakes(_ what: String, _ number: Int, _ found: [some ShownProblem]) -> Markup {
        markup {
            status(.bad, "The \(what) has \(count(number, "problem")).")
            problems(found)
        }
    }

    private func problems(_ found: [some ShownProblem]) -> Markup {
        html("ul", ["class": "plain"]) {
            found.prefix(Self.problemsMax).map { problem in
                html("li", ["class": "problem", "data-file": problem.file, "data-line": "\(problem.line)"]) {
                    html("pre") { problem.description }
                }
            }
        }
    }

    private func result(_ told: ToldScenario, dropping count: Int) -> Markup {
        let typed = Set(
            question.scenario.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") })
        return markup {
            if !told.broken.isEmpty {
                status(.bad, "Broken: \(told.broken.joined(separator: "; ")).")
            } else if told.isAsWritten {
                status(.good, "It comes out as written.")
            } else {
                status(.unsure, "The outcome differs from what you wrote; new lines are marked.")
            }
            html("h2") { "The outcome under \(told.policy)" }
            html("pre", ["id": "outcome", "tabindex": "0", "aria-label": "The outcome"]) {
                told.lines.dropFirst(count).map { line in
                    let isNew = !line.isEmpty && !typed.contains(line.split(separator: " ").joined(separator: " "))
                    return markup {
                        if isNew { html("ins", ["class": "new"]) { line } } else { line }
                        "\n"
                    }
                }
            }
            html("div", ["class": "told", "id": "played"]) {
                told.picture(id: "played", label: "Who had the camera")
                told.reasonList(id: "played")
            }
        }
    }

    private func next(_ told: ToldScenario) -> Markup {
        let lines = byItself(told)
        return markup {
            if lines.isEmpty {
                html("p") { "Nothing happens by itself." }
            } else {
                html("p") { "By itself, if nobody does anything:" }
                listing(lines, "What happens by itself")
            }
            if question.plan.contains(where: { !$0.isWhitespace }) {
                html("h3") { "If this happens next" }
                planned(told)
            }
        }
    }

    private func byItself(_ told: ToldScenario) -> [String] {
        var ahead = told.end
        _ = ahead.takeSteps()
        var firings = 0
        while let next = ahead.nextMoment, firings < Self.firingsMax {
            firings += 1
            _ = ahead.advance(to: next)
        }
        var writer = ScenarioWriter(names: told.names)
        return ahead.takeSteps().flatMap { step in
            let lines = writer.lines(step.event, at: step.moment, step.effects)
            // Time that passes without an effect is left out.
            return lines.count > 1 ? lines : []
        }
    }

    private func planned(_ told: ToldScenario) -> Markup {
        do throws(ScenarioError) {
            let lines = try Scenario.plan(
                question.plan, on: told.end.arbiter, at: told.end.now, names: told.names, policies: ".", while: mayGoOn)
            guard let lines else { return late }
            return listing(lines, "The plan")
        } catch { return problems(error.problems) }
    }
}

private protocol ShownProblem: CustomStringConvertible {
    var file: String { get }
    var line: Int { get }
}

extension FileProblem: ShownProblem {}
extension ScenarioError.Problem: ShownProblem {}
