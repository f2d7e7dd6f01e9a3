import Arbiter
import ArbiterProtocol
import PolicyFile
import Scenario
import Testing
import Workbench

@Suite("What a counterexample ends in")
struct RepairTests {
    private static let booth = """
        name = "booth"
        ranks = ["call", "booth"]
        [[rank]]
        name = "The intercom"
        app = "intercom.service"
        rank = "RANK"
        [[rank]]
        name = "The booth"
        app = "photobooth.service"
        rank = "booth"
        min-hold = "10s"
        lease = "3min"
        [[never]]
        name = "The intercom waits for the booth"
        holder = { app = "photobooth.service" }
        waiting = { app = "intercom.service" }
        """

    private func search(_ text: String) throws -> (finding: PolicyWalk.Finding, report: RepairSearch.Report) {
        let walk = try PolicyWalk(PolicyFile.parse(text, file: "mutated"), clients: 2, cameras: 1, scope: .policy)
        var finding = try #require(walk.run(policyLine: block(text)).finding)
        let repairs = RepairSearch(walk, finding, policies: ".").run()
        finding.note(repairs) { _ in "booth.toml:5" }
        return (finding, repairs)
    }

    @Test("A table says who holds, who waits behind whom by which rank, and what ends when")
    func table() throws {
        let (finding, _) = try search(Self.booth.replacing("RANK", with: "booth"))
        let camera = try #require(finding.cameras.first)
        #expect(camera.holder?.session == "photobooth" && camera.holder?.rankRule == "The booth")
        #expect(camera.beneficiary == nil)
        #expect(
            camera.waiting.map(\.session) == ["intercom"] && camera.waiting[0].behind?.hasPrefix("photobooth") == true)
        #expect(
            camera.deadlines.map(\.what) == ["the min-hold of photobooth ends", "the lease of photobooth ends"])
        #expect(finding.scenario.contains("\n# camera back at 0s: streaming\n"), "\(finding.scenario)")
        try finding.runs()
    }

    @Test("A winner that waits for the holder's time is the beneficiary, and the rule of its rank is named")
    func beneficiary() throws {
        let text = Self.booth.replacing("RANK", with: "call").replacing("waiting =", with: "interrupted =")
        let camera = try #require(try search(text).finding.cameras.first)
        #expect(camera.beneficiary?.session == "intercom" && camera.beneficiary?.rankRule == "The intercom")
        #expect(camera.beneficiary?.rank == "call" && camera.waiting.isEmpty)
        #expect(camera.deadlines.map(\.at).sorted() == camera.deadlines.map(\.at))
    }

    @Test("A planted wrong rank is repaired by the change of that rule, which is verified and named with its place")
    func repair() throws {
        let (finding, report) = try search(Self.booth.replacing("RANK", with: "booth"))
        let repair = try #require(
            report.repairs.first { $0.change.what == .set(key: "rank", from: "\"booth\"", to: "\"call\"") })
        #expect(repair.change.place == .rule("The intercom") && repair.isWhole)
        let words =
            "#   changing `rank` of rule “The intercom” (booth.toml:5) from \"booth\" to \"call\" (verified in all "
        #expect(finding.scenario.contains(words))
        // An offered repair holds everywhere: verified once more from the beginning.
        for repair in report.repairs {
            let walk = try PolicyWalk(repair.change.policy, clients: 2, cameras: 1, scope: .policy)
            #expect(walk.run(policyLine: "repaired").finding == nil, "\(repair.words { _ in nil })")
        }
    }

    @Test("Where no single change repairs it, that is said, with how many were tried")
    func none() throws {
        // Ranks, ties and times say who runs, and nothing in them keeps an app from running that is alone.
        let text =
            Self.booth.replacing("RANK", with: "call") + """

                [[never]]
                name    = "The booth runs"
                running = { app = "photobooth.service" }
                """
        let (finding, report) = try search(text)
        #expect(report.repairs.isEmpty && report.tried > 20, "\(report.repairs.map { $0.words { _ in nil } })")
        #expect(
            finding.scenario.contains(
                "# No single change of the policy was found that repairs it: of \(report.tried), "))
    }
}
