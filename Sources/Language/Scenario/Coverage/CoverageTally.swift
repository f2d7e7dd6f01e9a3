import Arbiter
import ArbiterProtocol
public import PolicyFile

/// The coverage of policy files, gathered over many scenarios. A policy that is written inside a scenario does not
/// count.
public struct CoverageTally: Sendable {
    /// In the order in which the files were first met.
    public private(set) var policies: [Entry] = []
    public private(set) var scenariosWithoutFile = 0

    public struct Entry: Sendable {
        public var path: String
        public var coverage: PolicyCoverage
        public var scenarios = 0
    }

    public init() {}

    /// Runs a scenario, and counts what it reaches.
    /// - Parameter files: the policies that the scenario has from files.
    public mutating func run(_ scenario: Scenario, files: [Scenario.NamedPolicy]? = nil) -> Outcome {
        let files = files ?? scenario.policyFiles
        let known = policies.first { $0.coverage.policy == scenario.world.policy }?.coverage.fired ?? []
        let (outcome, coverages) = scenario.runWithCoverage(knowing: known)
        var counted = false
        for coverage in coverages {
            guard let file = files.first(where: { $0.policy == coverage.policy }) else { continue }
            counted = true
            let index = entry(for: file)
            policies[index].coverage.merge(coverage)
            policies[index].scenarios += 1
        }
        if !counted { scenariosWithoutFile += 1 }
        return outcome
    }

    /// Adds a policy that perhaps no scenario meets to the report.
    public mutating func expect(_ file: Scenario.NamedPolicy) { _ = entry(for: file) }

    private mutating func entry(for file: Scenario.NamedPolicy) -> Int {
        if let index = policies.firstIndex(where: { $0.path == file.path && $0.coverage.policy == file.policy }) {
            return index
        }
        policies.append(Entry(path: file.path, coverage: PolicyCoverage(file.policy)))
        return policies.count - 1
    }
}

extension CoverageTally.Entry {
    /// A line with the sum, a row for each group, and every gap with its place.
    /// - Parameter place: the place of a part of the policy, as `FILE:LINE`.
    public func report(place: (PolicyPart) -> String?) -> [String] {
        let total = coverage.total
        var lines = [
            "\(path): \(Self.percent(total)), \(total.reached) of \(total.all), "
                + (scenarios == 1 ? "in 1 scenario" : "in \(scenarios) scenarios")
        ]
        func row(_ cells: [String]) -> String {
            var row = "  "
            for (cell, width) in zip(cells, [18, 14, 24]) {
                row += cell + String(repeating: " ", count: max(1, width - cell.count))
            }
            while row.last == " " { row.removeLast() }
            return row
        }
        lines.append(row(["", "made fire", "seen not to"]))
        for group in PolicyClause.Group.allCases {
            let fired = coverage.firedShare(of: group)
            guard fired.all > 0 else {
                lines.append(row([group.rawValue, "none: nothing to cover"]))
                continue
            }
            let unmatched = coverage.unmatchedShare(of: group)
            lines.append(row([group.rawValue, Self.count(fired), unmatched.all == 0 ? "–" : Self.count(unmatched)]))
        }
        for gap in coverage.gaps {
            let spot = place(gap.clause.part) ?? path
            lines.append("  \(spot): \(gap.sentence(in: coverage.policy))")
        }
        for (gap, why) in coverage.unreachable {
            let spot = place(gap.clause.part) ?? path
            lines.append("  \(spot): not counted: \(gap.claim(in: coverage.policy)), because \(why)")
        }
        return lines
    }

    private static func count(_ share: PolicyCoverage.Share) -> String { "\(share.reached) of \(share.all)" }

    /// With one decimal, cut and not rounded: only all of it is 100.0 %.
    public static func percent(_ share: PolicyCoverage.Share) -> String {
        guard share.all > 0 else { return "no rules, nothing to cover" }
        let tenths = 1000 * share.reached / share.all
        return tenths == 1000 ? "100 %" : "\(tenths / 10).\(tenths % 10) %"
    }
}
