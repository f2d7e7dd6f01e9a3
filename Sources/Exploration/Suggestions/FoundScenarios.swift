import Arbiter
import ArbiterProtocol
import Scenario

/// The scenarios that a search has found, and what it still looks for.
struct FoundScenarios {
    private let policy: Policy
    private let gaps: [PolicyCoverage.Gap]
    private let policyLine: String
    private let policies: String
    private var wanted: [PolicyCoverage.Gap]
    private var found: [Told] = []
    private var misled: [PolicyCoverage.Gap: Int] = [:]

    /// A way that leads there, as it comes out.
    private struct Told {
        var text: String
        /// Everything of what was missing that it reaches.
        var closes: [PolicyCoverage.Gap]
        /// What it was found for.
        var goal: PolicyCoverage.Gap
        var length: Int
    }

    /// A way that, told as a scenario, does not lead there is one of many: one after another is tried, but not for ever.
    private static let misledMax = 400

    init(_ policy: Policy, _ gaps: [PolicyCoverage.Gap], policyLine: String, policies: String) {
        self.policy = policy
        self.gaps = gaps
        self.policyLine = policyLine
        self.policies = policies
        wanted = gaps
    }

    /// Nothing is left to look for.
    var isDone: Bool { wanted.isEmpty }

    /// What worlds of this size are to show.
    func wanted(in size: ScenarioSearch.Size) -> [PolicyCoverage.Gap] {
        wanted.filter { ($0.clause.group == .access) == size.variesRights && misled[$0, default: 0] < Self.misledMax }
    }

    /// Keeps a way that reaches something wanted.
    /// - Returns: false: it only seemed to.
    mutating func note(
        _ coverage: PolicyCoverage, _ path: [Int], _ world: SmallWorld, _ size: ScenarioSearch.Size
    ) -> Bool {
        let closed = coverage.closed(of: wanted(in: size))
        guard let first = closed.first else { return true }
        let events = world.events(along: path, policy, answers: false)
        let story = Story(world, policyLine: policyLine, policies: policies)
        for isManual in [false, true] {
            for isWhole in [false, true] {
                let text = story.text(events, "?", policy, [:], isManual: isManual, isWhole: isWhole)
                guard let told = tell(text), told.closes.contains(first) else { continue }
                wanted.removeAll(where: told.closes.contains)
                found.append(Told(text: told.text, closes: told.closes, goal: first, length: path.count))
                return true
            }
        }
        for gap in closed { misled[gap, default: 0] += 1 }
        return false
    }

    /// A text as it comes out, and everything of what was missing that it reaches.
    private func tell(_ text: String) -> (text: String, closes: [PolicyCoverage.Gap])? {
        guard let scenario = try? Scenario.parse(text, file: "story", policies: policies) else { return nil }
        let (outcome, coverages) = scenario.under(policy).runWithCoverage()
        guard outcome.violations.isEmpty, let coverage = coverages.first(where: { $0.policy == policy }) else {
            return nil
        }
        return (outcome.rewritten, coverage.closed(of: gaps))
    }

    /// As few as reach everything that all of them reach: always the one next that reaches most of the rest, of
    /// several the shortest. Each says what it reaches that none before it does.
    func fewest() -> [ScenarioSearch.Suggestion] {
        var rest = Set(found.flatMap(\.closes))
        var chosen: [ScenarioSearch.Suggestion] = []
        func gain(_ one: Told) -> Int { one.closes.filter(rest.contains).count }
        while !rest.isEmpty {
            let best = found.max { (gain($0), -$0.length) < (gain($1), -$1.length) }
            guard let best else { break }
            chosen.append(suggestion(best, best.closes.filter(rest.contains)))
            rest.subtract(best.closes)
        }
        return chosen
    }

    private func suggestion(_ told: Told, _ closes: [PolicyCoverage.Gap]) -> ScenarioSearch.Suggestion {
        let first = closes.contains(told.goal) ? told.goal : closes[0]
        let title = sentence(first)
        let others = closes.filter { $0 != first }.map { "# Besides: \(sentence($0))" }
        // A scenario's title is all of its first comment.
        let head = (["# \(title)"] + (others.isEmpty ? [] : [""] + others)).joined(separator: "\n")
        let body = told.text.drop { $0 != "\n" }
        return ScenarioSearch.Suggestion(title: title, scenario: head + body, closes: closes, length: told.length)
    }

    private func sentence(_ gap: PolicyCoverage.Gap) -> String {
        let claim = gap.claim(in: policy)
        return "\(claim.prefix(1).uppercased())\(claim.dropFirst())."
    }
}
