import Arbiter
import ArbiterProtocol
import PolicyFile
import Scenario
import Testing
import Workbench

/// Scenarios that are suggested for what is missing, run as they are suggested.
@Suite("Suggested scenarios")
struct ScenarioSearchTests {
    /// What a policy's suggestions reach, told as files.
    private func suggested(
        _ text: String, clients: Int = 2, cameras: Int = 2, bounds: SearchBounds = SearchBounds()
    ) throws -> (report: ScenarioSearch.Report, after: PolicyCoverage) {
        let policy = try PolicyFile.parse(text, file: "suggested")
        var coverage = PolicyCoverage(policy)
        let search = ScenarioSearch(policy, coverage.gaps, clients: clients, cameras: cameras)
        let report = try search.run(bounds, policyLine: block(text))
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
        func rule(_ layout: String) -> String {
            """
            [[cause]]
            name = "In \(layout)"
            when = { layout = "\(layout)" }
            cause = "video-device-not-available-with-multiple-foreground-apps"

            """
        }
        let text = "name = \"names\"\nsources = [\"shell\"]\n" + rule("split") + rule("slide-over")
        let (_, after) = try suggested(text, clients: 1, cameras: 1)
        #expect(after.firedShare(of: .causeRules).percent == 100)
    }

    @Test("What no world shows is left, and whether all of them were looked at is said")
    func left() throws {
        // Nobody else's sessions are ever on this camera: an app has one there, and there is one app.
        let text = "name = \"alone\"\n[contention]\nsame-app = \"refuse\"\n"
        let (whole, _) = try suggested(text, clients: 1, cameras: 1)
        #expect(!whole.left.isEmpty && whole.cutOffBy == nil)
        let (cut, _) = try suggested(text, clients: 2, cameras: 1, bounds: SearchBounds(statesMax: 3))
        #expect(!cut.left.isEmpty && cut.cutOffBy == .states)
    }

    @Test("A scenario is as short as it can be: three lines for a rule that answers at once")
    func shortest() throws {
        let text = """
            name = "short"
            [[rank]]
            name = "Not this one"
            app = "liar.service"
            deny = true
            """
        let policy = try PolicyFile.parse(text, file: "short")
        let gap = PolicyCoverage.Gap(clause: .rankChoice(rule: "Not this one", .deny), lack: .neverFired)
        let report = try ScenarioSearch(policy, [gap], clients: 3, cameras: 2).run(policyLine: block(text))
        let one = try #require(report.suggestions.first)
        #expect(one.length == 1 && one.title == "The deny of \"Not this one\" decides.")
        #expect(
            one.scenario.hasSuffix(
                """
                0s   connect liar app=liar.service
                     session liar camera=back
                     start liar
                       refused RefusedByPolicy because "Not this one"

                """), "\(one.scenario)")
    }
}
