public import Arbiter
public import Scenario

/// How often scenarios reach each clause of a policy: in how many of them it decided something.
public struct ScenarioReach: Sendable {
    public private(set) var coverage: PolicyCoverage
    public private(set) var scenarios = 0
    /// Titles of those that do not come out as written under this policy.
    public private(set) var failed: [String] = []
    private var fired: [PolicyClause: Int] = [:]

    public init(_ policy: Policy) { coverage = PolicyCoverage(policy) }

    /// Runs a scenario with this policy in the place of its own.
    public mutating func run(_ scenario: Scenario) {
        let (outcome, coverages) = scenario.under(coverage.policy).runWithCoverage()
        scenarios += 1
        if !outcome.passed { failed.append(scenario.title.isEmpty ? scenario.file : scenario.title) }
        for other in coverages where other.policy == coverage.policy {
            coverage.merge(other)
            for clause in other.fired { fired[clause, default: 0] += 1 }
        }
    }

    /// In how many scenarios it decided something.
    func count(of clause: PolicyClause) -> Int { fired[clause] ?? 0 }
}
