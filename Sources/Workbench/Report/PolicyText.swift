import Arbiter
public import ArbiterProtocol
import PolicyFile
public import Scenario

/// A file of a policy, line by line, and the coverage of each line.
public struct PolicyText: Sendable {
    let name: String
    private(set) var lines: [String]

    public init(name: String, text: String) {
        self.name = name
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
    }

    struct Heat {
        /// Scenarios in which the line decided something: of several clauses the one reached most often.
        var count = 0
        var gaps: [String] = []

        /// The class of its colour.
        var step: Int { count == 0 ? 0 : count == 1 ? 1 : count < 5 ? 2 : 3 }
    }

    func heat(_ reach: ScenarioReach, _ policy: LoadedPolicy) -> [Int: Heat] {
        let begins = policy.origins.filter { $0.value.file == name }
        let starts = Set(begins.values.map(\.line))
        let gaps = reach.coverage.gaps
        var heat: [Int: Heat] = [:]
        for clause in reach.coverage.clauses {
            guard let begin = begins[clause.part]?.line else { continue }
            let block = block(from: begin, starts)
            var covered = Array(block)
            // A rank's key has a line of its own below its rule's header, which shows that key alone.
            let isChoice = if case .rankChoice = clause { true } else { false }
            if case .rankChoice(_, let choice) = clause { covered = block.filter { key(of: $0) == choice.rawValue } }
            if covered.isEmpty { covered = [begin] }
            let count = reach.count(of: clause)
            let lacks = gaps.filter { $0.clause == clause }.map { $0.sentence(in: reach.coverage.policy) }
            for line in covered {
                heat[line, default: Heat()].count = isChoice ? count : max(heat[line]?.count ?? 0, count)
                heat[line, default: Heat()].gaps += lacks
            }
        }
        return heat
    }

    /// The lines of a table, without comments and empty lines at its end.
    private func block(from begin: Int, _ starts: Set<Int>) -> ClosedRange<Int> {
        let rest = (begin + 1..<max(begin + 1, lines.count + 1)).prefix {
            !starts.contains($0) && !bare($0).hasPrefix("[")
        }
        return begin...(rest.last { !bare($0).isEmpty && !bare($0).hasPrefix("#") } ?? begin)
    }

    private func bare(_ line: Int) -> Substring {
        guard lines.indices.contains(line - 1) else { return "" }
        return lines[line - 1].drop { $0 == " " || $0 == "\t" }
    }

    private func key(of line: Int) -> String { String(bare(line).prefix { $0 != " " && $0 != "=" && $0 != "\t" }) }
}

struct LinePlace {
    var file: Int
    var line: Int
    var id: String { "file-\(file)-line-\(line)" }
}

/// For each clause of a policy, the number of scenarios in which it decided something.
public struct ScenarioReach: Sendable {
    private(set) var coverage: PolicyCoverage
    private(set) var scenarios = 0
    /// Titles of the scenarios with another outcome under this policy.
    private(set) var failed: [String] = []
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

    func count(of clause: PolicyClause) -> Int { fired[clause] ?? 0 }
}

extension PolicyReport {
    var textSection: PageSection? {
        guard !texts.isEmpty else { return nil }
        return PageSection("text", "The policy") {
            if reach != nil {
                html("p") {
                    "Beside each line: in how many scenarios it decided something. "
                    zip([3, 2, 1, 0], ["5× and more", "2× to 4×", "1×", "never"]).map { step, words in
                        markup {
                            html("span", ["class": "key heat-\(step)"]) { words }
                            " "
                        }
                    }
                    "A half ◐: something of the line has not been shown yet."
                }
            }
            texts.indices.map(lines(of:))
        }
    }

    private func lines(of file: Int) -> Markup {
        let text = texts[file]
        let heat = reach.map { text.heat($0, policy) } ?? [:]
        return region(text.name, "wide listing") {
            html("table") {
                html("caption") { text.name }
                html("thead", ["class": "unseen"]) {
                    html("tr") {
                        (reach == nil ? ["Line", "Text"] : ["Line", "Reached", "Text"]).map { name in
                            html("th", ["scope": "col"]) { name }
                        }
                    }
                }
                html("tbody") {
                    text.lines.enumerated().map { index, line in
                        lineRow(LinePlace(file: file, line: index + 1), line, heat[index + 1])
                    }
                }
            }
        }
    }

    private func lineRow(_ place: LinePlace, _ line: String, _ heat: PolicyText.Heat?) -> Markup {
        let step = heat.map { " heat-\($0.step)" } ?? ""
        return html("tr", ["id": place.id, "class": "line\(step)"]) {
            html("th", ["scope": "row"]) { "\(place.line)" }
            if reach != nil {
                html("td", ["class": "reach"]) {
                    if let heat {
                        html("span", ["title": heat.gaps.joined(separator: "; ")]) {
                            heat.count > 0 ? "\(heat.count)×\(heat.gaps.isEmpty ? "" : " ◐")" : "never"
                        }
                    }
                }
            }
            html("td", ["class": "code"]) { line }
        }
    }

    var coverageSection: PageSection? {
        guard let reach else { return nil }
        let coverage = reach.coverage
        return PageSection("coverage", "What scenarios reach") {
            html("p") {
                "\(CoverageTally.Entry.percent(coverage.total)): \(coverage.total.reached) of \(coverage.total.all), "
                    + "by \(count(reach.scenarios, "scenario"))."
            }
            table(
                "A rule counts when a scenario makes it decide, and once more when one sees it not match",
                ["Part", "Made to decide", "Seen not to match"],
                rows: PolicyClause.Group.allCases.map { group in
                    row(
                        head: Markup(group.rawValue),
                        [share(coverage.firedShare(of: group)), share(coverage.unmatchedShare(of: group))])
                })
            gaps(coverage)
            if !reach.failed.isEmpty {
                html("p") { "Not as written under this policy:" }
                list(reach.failed) { title in title }
            }
        }
    }

    private func share(_ share: PolicyCoverage.Share) -> Markup {
        guard share.all > 0 else { return html("span", ["class": "soft"]) { "nothing to cover" } }
        return (share.reached == share.all ? Mark.good : .unsure).shown("\(share.reached) of \(share.all)")
    }

    private func gaps(_ coverage: PolicyCoverage) -> Markup {
        markup {
            if coverage.gaps.isEmpty {
                html("p") { Mark.good.shown("No gap.") }
            } else {
                html("h3") { "Gaps" }
                list(coverage.gaps) { gap in
                    if let place = place(of: gap.clause.part) {
                        html("a", ["href": "#\(place.id)"]) { "line \(place.line)" }
                        ": "
                    }
                    gap.sentence(in: coverage.policy)
                }
            }
        }
    }
}
