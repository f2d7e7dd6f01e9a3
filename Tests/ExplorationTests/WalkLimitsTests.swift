import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import Workbench

/// Verdicts say what no walk read: by the language's own list of keys and the core's own list of events.
@Suite struct WalkLimitsTests {
    private func parse(_ text: String) throws -> Policy { try PolicyFile.parse(text, file: "limits") }

    @Test("A key that no walk varies is named by a verdict about a policy that says it, and by a comparison")
    func newKey() throws {
        let policies = [try parse(#"name = "old""#), try parse("name = \"new\"\n[contention]\ntie = \"newcomer\"")]
        let mood = PolicyKey("contention", "mood")
        let said = policies.map(\.decidingKeys)
        #expect(WalkedKeys.notWalked(said[1].union([mood]), policies) == [mood])
        #expect(WalkedKeys.notCompared(policies[0].keysThatDiffer(from: policies[1]).union([mood]), policies) == [mood])
        #expect(WalkedKeys.notWalked(said[1], policies).isEmpty)
        let summary = try parse("name = \"old\"\nsummary = \"another\"")
        #expect(policies[0].keysThatDiffer(from: summary).isEmpty)
    }

    @Test("Every key of the language is walked, left to the world, or stands in no policy that is read")
    func everyKey() {
        // Statements are what walks are held to.
        let unread = WalkedKeys.notWalked(PolicyFile.language.filter { !["never", "always"].contains($0.table) }, [])
        #expect(unread == [PolicyKey("", "include")], "a file that builds on others is one policy when it is read")
    }

    @Test("Every event happens in some world or is named, and its name says no more where it happens")
    func everyEvent() throws {
        let policy = try parse(
            """
            name = "all"
            sources = ["shell"]
            ranks = ["a", "b"]
            [[mode]]
            name = "night"
            [[rank]]
            name = "A"
            mode = "night"
            rank = "a"
            """)
        let limits = try [WalkScope.policy, .everything].map {
            try PolicyWalk(policy, clients: 1, cameras: 1, scope: $0).neverVaried
        }
        for words in ["sensitive content", "restarts of the broker", "modes set by hand (the calendar says each)"] {
            #expect(limits.allSatisfy { $0.contains(words) }, "\(words)")
        }
        for words in ["reloads", "sleep", "the privacy switch", "configurations", "vanishing clients"] {
            #expect(limits[0].contains(words) && !limits[1].contains(words), "\(words)")
        }
        #expect(!limits[0].contains("modes") && !limits[0].contains("pressure"))
    }
}
