import Arbiter
import ArbiterProtocol
import PolicyFile
import Scenario
import TomlFile

/// What somebody has typed, and wants to see the outcome of.
public struct PlayQuestion: Sendable {
    /// What the policy's file is called, from which its includes count.
    public var file: String
    /// Empty: the scenario's own policy.
    public var policy: String
    public var scenario: String
    /// Lines of what may happen next; empty: nothing does.
    public var plan: String

    /// As many bytes of a policy, and of a scenario or a plan, as a person types; a question costs in proportion.
    public static let policyBytesMax = 128 * 1024
    public static let scenarioBytesMax = 64 * 1024

    public init(file: String, policy: String, scenario: String, plan: String) {
        self.file = file
        self.policy = policy
        self.scenario = scenario
        self.plan = plan
    }
}

/// The outcome as a part of the page: checked, lived through, explained, and what comes next.
public struct PlayAnswer: Sendable {
    /// HTML, escaped.
    public let text: String

    /// - Parameter mayGoOn: asked between steps; a clock belongs to the caller.
    public init(_ question: PlayQuestion, while mayGoOn: @escaping @Sendable () -> Bool) {
        let answer = markup {
            if question.policy.utf8.count > PlayQuestion.policyBytesMax {
                Self.tooLong("policy", PlayQuestion.policyBytesMax)
            } else if max(question.scenario.utf8.count, question.plan.utf8.count) > PlayQuestion.scenarioBytesMax {
                Self.tooLong("scenario", PlayQuestion.scenarioBytesMax)
            } else {
                Self.outcome(question, while: mayGoOn)
            }
        }
        text = answer.html
    }

    private static func tooLong(_ what: String, _ bytes: Int) -> Markup {
        status(.bad, "The \(what) is longer than the \(grouped(bytes)) bytes that are looked at here.")
    }

    private static func status(_ mark: Mark, _ words: String) -> Markup {
        html("p", .style("verdict-line"), .set("data-status")) { mark.shown(words) }
    }

    /// A long policy has a third of them, and its check takes some milliseconds.
    private static let rulesMax = 64
    /// A scenario of a thousand lines; more is a load, and its picture shows nothing.
    private static let stepsMax = 5000
    private static let linesMax = 2000

    private static func outcome(_ question: PlayQuestion, while mayGoOn: @escaping @Sendable () -> Bool) -> Markup {
        var policy: Policy?
        var warnings: [FileProblem] = []
        if question.policy.contains(where: { !$0.isWhitespace }) {
            do throws(FileProblems) {
                let parsed = try PolicyFile.parse(question.policy, file: question.file, includes: true)
                policy = parsed
                // What every rule hides is looked for among all facts, and has no clock: `policy check` takes longer.
                if parsed.causeRules.count + parsed.rankRules.count <= rulesMax {
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
        let told = ToldScenario(policy.map { scenario.0.under($0) } ?? scenario.0, stepsMax: stepsMax, while: mayGoOn)
        guard !told.end.wasStopped, told.lines.count <= linesMax else { return late }
        return markup {
            result(told, question, dropping: scenario.dropped)
            if !warnings.isEmpty {
                html("h2") { "The policy's check" }
                problems(warnings)
            }
            html("h2") { "What comes next" }
            next(told, question, while: mayGoOn)
        }
    }

    private static let late = status(
        .unsure, "NOT COMPLETE: this takes more than the second that a question has. Ask with fewer lines.")

    /// A scenario without a `policy` line is read for the policy that was typed beside it.
    private static func read(_ text: String, hasPolicy: Bool) throws(ScenarioError) -> (Scenario, dropped: Int) {
        let hasLine = text.split(separator: "\n").contains { $0.hasPrefix("policy ") || $0 == "policy" }
        guard hasPolicy, !hasLine else { return (try Scenario.parse(text, file: "scenario", policies: "."), 0) }
        do throws(ScenarioError) {
            return (try Scenario.parse("policy built-in\n" + text, file: "scenario", policies: "."), 1)
        } catch {
            throw ScenarioError(
                error.problems.map { problem in
                    var problem = problem
                    problem.line = max(1, problem.line - 1)
                    return problem
                })
        }
    }

    /// As many problems as somebody mends before looking again.
    private static let problemsMax = 50

    private static func mistakes(_ what: String, _ number: Int, _ found: [some ShownProblem]) -> Markup {
        markup {
            status(.bad, "The \(what) has \(count(number, "problem")).")
            problems(found)
        }
    }

    private static func problems(_ found: [some ShownProblem]) -> Markup {
        html("ul", .style("plain")) {
            found.prefix(problemsMax).map { problem in
                html("li", .style("problem"), .set("data-file", problem.file), .set("data-line", "\(problem.line)")) {
                    html("pre") { problem.description }
                }
            }
        }
    }

    private static func result(_ told: ToldScenario, _ question: PlayQuestion, dropping count: Int) -> Markup {
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
            html("pre", .id("outcome"), .set("tabindex", "0"), .set("aria-label", "The outcome")) {
                told.lines.dropFirst(count).map { line in
                    let isNew = !line.isEmpty && !typed.contains(line.split(separator: " ").joined(separator: " "))
                    return markup {
                        if isNew { html("ins", .style("new")) { line } } else { line }
                        "\n"
                    }
                }
            }
            html("div", .style("told"), .id("played")) {
                told.picture(id: "played", label: "Who had the camera")
                told.reasonList(id: "played")
            }
        }
    }

    /// What happens by itself is shown so far: a lease may end in a day.
    private static let firingsMax = 20

    private static func next(
        _ told: ToldScenario, _ question: PlayQuestion, while mayGoOn: @escaping @Sendable () -> Bool
    ) -> Markup {
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
                planned(told, question.plan, while: mayGoOn)
            }
        }
    }

    private static func byItself(_ told: ToldScenario) -> [String] {
        var ahead = told.end
        _ = ahead.takeSteps()
        var firings = 0
        while let next = ahead.nextMoment, firings < firingsMax {
            firings += 1
            _ = ahead.advance(to: next)
        }
        var writer = ScenarioWriter(names: told.names)
        return ahead.takeSteps().flatMap { step in
            let lines = writer.lines(step.event, at: step.moment, step.effects)
            // Time that passes without any news is none.
            return lines.count > 1 ? lines : []
        }
    }

    private static func planned(
        _ told: ToldScenario, _ plan: String, while mayGoOn: @escaping @Sendable () -> Bool
    ) -> Markup {
        do throws(ScenarioError) {
            let lines = try Scenario.plan(
                plan, on: told.end.arbiter, at: told.end.now, names: told.names, policies: ".", while: mayGoOn)
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
