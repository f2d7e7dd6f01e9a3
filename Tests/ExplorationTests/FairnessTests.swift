import Arbiter
import PolicyFile
import Scenario
import Testing
import Workbench

@Suite("Fairness, in all courses of events of small worlds")
struct FairnessTests {
    private func fairness(_ text: String, clients: Int) throws -> PolicyWalk.Fairness {
        let policy = try PolicyFile.parse(text, file: "fair")
        let walk = try PolicyWalk(policy, clients: clients, cameras: 1, scope: .policy)
        return try #require(walk.fairness(policyLine: block(text)))
    }

    private static let turns = """
        name  = "turns"
        ranks = ["everyone"]
        [[rank]]
        name  = "Everybody"
        rank  = "everyone"
        lease = "30s"
        [[always]]
        name = "Everybody's turn comes"
        when = {}
        is   = "running"
        fair = true
        """

    @Test("Leases and a cool-down give everybody their turn, however the others go on asking")
    func fair() throws {
        let fairness = try fairness(Self.turns, clients: 3)
        #expect(fairness.finding == nil, "\(fairness.finding?.scenario ?? "")")
        #expect(fairness.cutOffBy == nil && fairness.worlds == fairness.worldsInAll)
    }

    @Test("Without a lease the holder may stay for ever, and nothing has to happen any more")
    func standstill() throws {
        let fairness = try fairness(Self.turns.replacing("lease = \"30s\"\n", with: ""), clients: 2)
        let finding = try #require(fairness.finding)
        #expect(finding.statement == "Everybody's turn comes")
        #expect(finding.loop?.stem == 2 && finding.loop?.around == 0, "both start, and that is all")
        #expect(
            finding.scenario.contains(
                "# From here on nothing has to happen any more: photos-2 waits behind photos for ever."),
            "\(finding.scenario)")
        #expect(finding.scenario.contains("\n172800s\n"))
        #expect(finding.cameras.first?.holder?.session == "photos")
        #expect(finding.cameras.first?.waiting.map(\.behind) == ["photos"])
        try finding.runs()
    }

    @Test("What a client does within one moment is no loop: time has to pass")
    func zeno() throws {
        // Whoever has a newer bid comes first, and has it for as long as it takes to say so.
        let text = Self.turns + "\n[contention]\ncool-down = \"0s\"\n"
        #expect(try fairness(text, clients: 2).finding == nil)
    }

    @Test("A policy without such a statement is not walked for it, and one with it is not judged moment by moment")
    func separate() throws {
        let report = try verify(Self.turns)
        #expect(report.isComplete && report.applied.allSatisfy { $0 > 0 })
        let text = Self.turns.replacing("fair = true", with: "")
        let plain = try PolicyWalk(PolicyFile.parse(text, file: "plain"), clients: 2, cameras: 1, scope: .policy)
        #expect(plain.fairness(policyLine: "plain") == nil)
        #expect(plain.run(policyLine: "plain").finding != nil)
    }
}
