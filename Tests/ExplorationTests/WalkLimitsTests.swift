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
    }

    @Test("Every key of the language is walked, left to the world, or stands in no policy that is read")
    func everyKey() {
        let unread = WalkedKeys.notWalked(PolicyFile.language.filter { !$0.isStatement }, [])
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

    // MARK: What a policy says

    @Test(
        "Two policies differ by the keys that say otherwise, and by no others",
        arguments: [
            ("[access]\napps = \"ask\"", "", ["access.apps"]), ("summary = \"one\"", "summary = \"two\"", []),
            (
                "[[camera]]\nid = \"back\"\ncost = 5",
                "[[camera]]\nid = \"back\"\ncost = { \"1920x1080@30\" = 5, other = 4 }", ["camera.cost"]
            ),
        ])
    func differing(first: String, second: String, keys: [String]) throws {
        let policies = try [first, second].map { try parse("name = \"p\"\n" + $0) }
        #expect(policies[0].keysThatDiffer(from: policies[1]).map(\.description) == keys)
        #expect(Arbiter(policy: policies[0]).fingerprint() != Arbiter(policy: policies[1]).fingerprint())
    }

    @Test("Rules in another order are a difference, too")
    func order() throws {
        let rules = ["a", "b"].map {
            "[[rank]]\nname = \"\($0)\"\napp = \"\($0)\"\nrank = \"everyone\"\nlease = \"5s\"\n"
        }
        let policies = try [rules, rules.reversed()].map {
            try parse("name = \"p\"\nranks = [\"everyone\"]\n" + $0.joined())
        }
        #expect(!policies[0].keysThatDiffer(from: policies[1]).isEmpty)
    }
}

extension PolicyKey {
    /// Statements are what walks are held to.
    fileprivate var isStatement: Bool { ["never", "always"].contains(table) }
}
