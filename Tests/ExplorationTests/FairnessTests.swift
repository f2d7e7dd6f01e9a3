import Arbiter
import Exploration
import PolicyFile
import Scenario
import Testing

@Suite("Fairness, in all courses of events of small worlds")
struct FairnessTests {
    private func fairness(_ text: String, clients: Int) throws -> PolicyWalk.Fairness {
        let policy = try PolicyFile.parse(text, file: "fair")
        let walk = try PolicyWalk(policy, clients: clients, cameras: 1, scope: .policy)
        return try #require(walk.fairness(policyLine: "\"\"\"\n\(text)\n\"\"\""))
    }

    /// The scenario runs as it is told, and its policy is in it.
    private func runs(_ finding: PolicyWalk.Finding) throws {
        let outcome = try Scenario.parse(finding.scenario, file: "finding", policies: ".").run()
        #expect(outcome.passed, "\(outcome.report)")
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
        try runs(finding)
    }

    private static let strong = """
        name  = "strong"
        ranks = ["strong", "weak"]
        [[rank]]
        name  = "The weak one"
        app   = "weak.service"
        rank  = "weak"
        lease = "30s"
        [[rank]]
        name  = "All others"
        rank  = "strong"
        lease = "30s"
        [[always]]
        name = "The weak one's turn comes"
        when = { app = "weak.service" }
        is   = "running"
        fair = true
        """

    @Test("Two stronger apps that take turns keep a weaker one waiting: the loop is found, and told twice")
    func loop() throws {
        // One stronger app alone cools down after its lease.
        #expect(try fairness(Self.strong, clients: 2).finding == nil)
        let finding = try #require(try fairness(Self.strong, clients: 3).finding)
        let loop = try #require(finding.loop)
        #expect(loop.around > 0)
        #expect(finding.message.contains("weak goes on asking and never runs, in a loop of \(loop.around) steps"))
        let parts = finding.scenario.split(separator: "# The ").map(String.init)
        #expect(parts.count == 3, "before the loop, around it, and around once more: \(finding.scenario)")
        try #require(parts.count == 3)
        func inputs(_ text: String) -> [String] {
            text.split(separator: "\n").filter { $0.contains("start ") }.map { String($0.drop { $0 != "s" }) }
        }
        #expect(inputs(parts[1]) == inputs(parts[2]) && !inputs(parts[1]).isEmpty)
        #expect(!parts[1].contains("weak didStartRunning") && !parts[2].contains("weak didStartRunning"))
        #expect(finding.scenario.contains("# And the same state again: this can go on for ever."))
        try runs(finding)
    }

    @Test("What a client does within one moment is no loop: time has to pass")
    func zeno() throws {
        // Whoever has a newer bid comes first, and has it for as long as it takes to say so.
        let text = Self.turns + "\n[contention]\ncool-down = \"0s\"\n"
        #expect(try fairness(text, clients: 2).finding == nil)
    }

    @Test("A policy without such a statement is not walked for it, and one with it is not judged moment by moment")
    func separate() throws {
        let policy = try PolicyFile.parse(Self.turns, file: "fair")
        let walk = try PolicyWalk(policy, clients: 2, cameras: 1, scope: .policy)
        let report = walk.run(policyLine: "fair")
        #expect(report.isComplete && report.applied.allSatisfy { $0 > 0 })
        let plain = try PolicyFile.parse(Self.turns.replacing("fair = true", with: ""), file: "plain")
        #expect(try PolicyWalk(plain, clients: 2, cameras: 1, scope: .policy).fairness(policyLine: "plain") == nil)
        #expect(try PolicyWalk(plain, clients: 2, cameras: 1, scope: .policy).run(policyLine: "plain").finding != nil)
    }
}
