import Arbiter
import ArbiterProtocol
import PolicyFile
import Scenario
import Testing
import Workbench

/// Scenarios that are suggested for what is missing, run as they are suggested.
@Suite("Suggested scenarios")
struct ScenarioSearchTests {
    /// The coverage of a policy's suggestions, as files.
    private func suggested(
        _ text: String, clients: Int = 2, cameras: Int = 2
    ) throws -> (report: ScenarioSearch.Report, after: PolicyCoverage) {
        let policy = try PolicyFile.parse(text, file: "suggested")
        var coverage = PolicyCoverage(policy)
        let search = ScenarioSearch(policy, coverage.gaps, clients: clients, cameras: cameras)
        let report = try search.run(policyLine: block(text))
        for suggestion in report.suggestions {
            let scenario = try Scenario.parse(suggestion.scenario, file: "suggestion", policies: ".")
            #expect(scenario.title == suggestion.title)
            let (outcome, coverages) = scenario.runWithCoverage()
            #expect(outcome.passed, "\(outcome.report)")
            for one in coverages where one.policy == policy { coverage.merge(one) }
        }
        return (report, coverage)
    }

    private static let policies: [String] = [
        // Facts, of which each has to decide and to be the only one missing.
        """
        name = "facts"
        sources = ["shell"]
        [[cause]]
        name = "Hot in front"
        when = { pressure = "critical", focused = true, uses-audio = true }
        cause = "video-device-not-available-due-to-system-pressure"
        """,
        // A warning and a min-hold across cameras, a lease and a cool-down, and names in [access].
        """
        name = "cameras"
        ranks = ["call", "booth"]
        [access]
        users = [1003]
        services = ["door.service"]
        [[rank]]
        name = "Call"
        client = "voip"
        rank = "call"
        [[rank]]
        name = "Booth"
        rank = "booth"
        grace = "2s"
        min-hold = "4s"
        lease = "8s"
        [contention]
        cool-down = "4s"
        [[camera]]
        id = "back"
        conflicts = ["front"]
        """,
        // Order keys of which each has to turn something, and a choice that only the machine's sleep shows.
        """
        name = "order"
        sources = ["shell"]
        [contention]
        order = ["focused", "recording"]
        tie = "newcomer"
        newcomer = "refuse"
        re-decide = "open"
        """,
    ]

    @Test("From nothing to everything: what is suggested reaches all that there is", arguments: policies)
    func everything(_ text: String) throws {
        let (report, after) = try suggested(text)
        #expect(after.total.percent == 100, "\(after.gaps.map { $0.sentence(in: after.policy) })")
        #expect(report.left.isEmpty && report.cutOffBy == nil)
        // Each is there for something that no other one is for.
        let all = report.suggestions.flatMap(\.closes)
        #expect(Set(all).count == all.count && !report.suggestions.contains { $0.closes.isEmpty })
    }

    @Test("Layouts and kinds that only names of rules tell apart are all suggested")
    func names() throws {
        let rules = ["split", "slide-over"].map { layout in
            "[[cause]]\nname = \"In \(layout)\"\nwhen = { layout = \"\(layout)\" }\n"
                + "cause = \"video-device-not-available-with-multiple-foreground-apps\"\n"
        }
        let text = "name = \"names\"\nsources = [\"shell\"]\n" + rules.joined()
        let (_, after) = try suggested(text, clients: 1, cameras: 1)
        #expect(after.firedShare(of: .causeRules).percent == 100)
    }

    @Test("What no world shows is left")
    func left() throws {
        // Nobody else's sessions are ever on this camera: an app has one there, and there is one app.
        let text = "name = \"alone\"\n[contention]\nsame-app = \"refuse\"\n"
        let (whole, _) = try suggested(text, clients: 1, cameras: 1)
        #expect(!whole.left.isEmpty && whole.cutOffBy == nil)
    }
}
