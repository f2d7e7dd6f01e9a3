import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import Workbench

/// Pairs of policies that differ for somebody, each by what one key says: a comparison sees it, or names the key.
@Suite("Policies that differ")
struct PoliciesApartTests {
    struct Pair: Sendable, CustomTestStringConvertible {
        var first: String
        var second: String
        /// By which they differ.
        var key: String
        /// No walk compares it.
        var isNamed = false
        var testDescription: String { "\(key)\(isNamed ? " (named)" : "")" }

        init(_ key: String, _ first: String, _ second: String, isNamed: Bool = false) {
            (self.key, self.first, self.second, self.isNamed) = (key, first, second, isNamed)
        }

        /// The second has this in place of that.
        init(_ key: String, _ first: String, _ that: String, _ this: String, isNamed: Bool = false) {
            self.init(key, first, first.replacing(that, with: this), isNamed: isNamed)
        }

        /// The second says the key, and the first leaves it out, or says another value of it.
        static func said(_ words: String, before first: String = "", instead: String = "") -> Pair {
            let parts = words.split(separator: ".", maxSplits: 1).map(String.init)
            let head = first.contains("[\(parts[0])]") ? first : first + "[\(parts[0])]\n"
            let key = "\(parts[0]).\(parts[1].prefix { $0 != " " })"
            return Pair(key, instead.isEmpty ? first : head + instead, head + parts[1])
        }

        var policies: [Policy] {
            get throws { try [first, second].map { try PolicyFile.parse("name = \"p\"\n" + $0, file: "p") } }
        }
    }

    private static let desk = """
        ranks = ["call", "booth"]
        [[rank]]
        name = "The call"
        app = "call"
        rank = "call"

        """
    private static let rest = "[[rank]]\nname = \"Rest\"\nrank = \"booth\"\n"
    private static let hidden = """
        sources = ["shell"]
        [[cause]]
        name = "Hidden"
        when = { presence = "background" }
        cause = "video-device-not-available-in-background"

        """
    private static let hot = """
        pressure-settle = "5s"
        [[cause]]
        name = "Hot"
        when = { pressure = "serious" }
        cause = "video-device-not-available-due-to-system-pressure"

        """
    private static let duty =
        "[[attribute]]\nname = \"duty\"\nvalues = [\"on\", \"off\"]\ndefault = \"off\"\n"
        + "[contention]\norder = [\"duty\"]\n"
    private static let night = """
        ranks = ["guard", "rest"]
        [[mode]]
        name = "night"
        at = "22:00-06:00"
        set-by = ["root"]
        [[rank]]
        name = "The guard at night"
        app = "guard"
        mode = "night"
        rank = "guard"

        """
    private static let sound = """
        ranks = ["loud", "quiet"]
        [[camera]]
        id = "back"
        conflicts = ["front"]
        [[rank]]
        name = "With sound"
        uses-audio = true
        rank = "loud"
        [contention]
        newcomer = "refuse"
        same-app = "refuse"

        """
    private static let two = "[[camera]]\nid = \"back\"\ncost = 50\n[[camera]]\nid = \"front\"\ncost = 50\n"
    private static let budget = "[contention]\nbudget = 100\n"
    private static let three =
        [("left", 60), ("right", 30), ("wide", 60)].map { "[[camera]]\nid = \"\($0)\"\ncost = \($1)\n" }.joined()
        + budget
    private static let shared = "[contention]\nsharing = \"read-only\"\n"
    private static let lease =
        "ranks = [\"all\"]\n[[rank]]\nname = \"Everybody\"\nrank = \"all\"\nlease = \"20s\"\n"
    private static let focus = "sources = [\"shell\"]\n[contention]\norder = [\"focused\"]\n"

    private static let told: [Pair] = [
        Pair("sources", hidden, "[\"shell\"]", "[]"), Pair("sources", hidden, "[\"shell\"]", "[\"agent\"]"),
        Pair("ranks", desk, "[\"call\", \"booth\"]", "[\"booth\", \"call\"]"),
        Pair("pressure-settle", hot, "5s", "20s"),
        .said("access.seat = false"), .said("access.users = [1001]"), .said("access.groups = [44]"),
        .said("access.services = [\"a.service\"]"), .said("access.identity = \"strong\""),
        .said("access.apps = \"ask\"", instead: "apps = \"all\""),
        Pair("attribute.values", duty, "[\"on\", \"off\"]", "[\"off\", \"on\"]"),
        Pair("attribute.default", duty, "= \"off\"", "= \"on\""),
        Pair("cause.when", hot, "serious", "critical"),
        Pair("cause.cause", hot, "due-to-system-pressure", "in-background"),
        Pair("cause.access", hot, hot + "access = [\"preview\"]"),
        Pair("rank.rank", desk, "rank = \"call\"", "rank = \"booth\""),
        Pair("rank.deny", desk, "rank = \"call\"", "deny = true"),
        Pair(
            "rank.immediate", desk + rest + "grace = \"5s\"", desk + "immediate = true\n" + rest + "grace = \"5s\""),
        Pair("rank.grace", desk + rest, desk + rest + "grace = \"5s\""),
        Pair("rank.min-hold", desk + rest, desk + rest + "min-hold = \"5s\""),
        Pair("rank.lease", desk, desk + "lease = \"5s\""),
        Pair("rank.pause", lease, lease + "pause = \"5s\"\n"),
        Pair("contention.order", duty, "order = [\"duty\"]", ""),
        .said("contention.tie = \"newcomer\""), .said("contention.same-app = \"replace\""),
        .said("contention.own-conflict = \"refuse\"", before: sound), .said("contention.newcomer = \"refuse\""),
        .said("contention.loser = \"evict\"", before: desk), .said("contention.sharing = \"read-only\""),
        .said("contention.share-with = \"everyone\"", before: shared),
        .said("contention.sharers = [\"preview\"]", before: shared),
        .said("contention.re-decide = \"open\"", before: focus),
        .said("contention.cool-down = \"0s\"", before: lease),
        Pair("contention.budget", two, two + "[contention]\nbudget = 99"),
        Pair("contention.gives-way", desk + three, desk + three + "gives-way = \"longest-held\""),
        Pair(
            "contention.strongest-may-exceed", desk + two + "[contention]\nbudget = 99",
            desk + two + "[contention]\nbudget = 99\nstrongest-may-exceed = true"),
        Pair("contention.backfill", desk + three, desk + three + "backfill = true"),
        Pair("camera.conflicts", "[[camera]]\nid = \"back\"", "[[camera]]\nid = \"back\"\nconflicts = [\"front\"]"),
        Pair("camera.cost", two + budget, "= 50", "= 60"),
        Pair("camera.cost", two + budget, "= 50", "= { \"1920x1080@30\" = 50, \"1280x720@60\" = 80 }"),
    ]

    /// A rule with each fact, beside none.
    private static let facts = [
        "app = \"a\"", "claimed-app = \"a\"", "user = 1001", "login-session = \"active\"", "presence = \"background\"",
        "layout = \"split\"", "focused = true", "foreground-apps = \"several\"", "client = \"voip\"",
        "multitasking = true", "camera = \"back\"", "position = \"front\"", "uses-audio = true",
        "microphone = \"taken\"", "pressure = \"fair\"", "recording = true", "bid = \"standing\"",
        "operator = \"chosen\"", "mode = \"night\"",
    ].map { fact in
        let text = "sources = [\"shell\"]\nranks = [\"first\", \"second\"]\n[[mode]]\nname = \"night\"\n"
        let key = fact.prefix { $0 != " " }
        return Pair("rank.\(key)", text, text + "[[rank]]\nname = \"A\"\nrank = \"first\"\n" + fact)
    }

    private static let named =
        [
            Pair("mode.at", night, "22:00", "23:00", isNamed: true),
            Pair("mode.set-by", night, "root", "operator", isNamed: true),
            Pair("sources", hidden, "[\"shell\"]", "[\"shell\", \"agent\"]", isNamed: true),
            Pair(
                "sources", hidden.replacing("\"shell\"", with: "\"shell\", \"agent\", \"self-declared\""),
                "\"agent\", \"self-declared\"", "\"self-declared\", \"agent\"", isNamed: true),
            Pair("contention.serve", shared, shared + "serve = \"largest\"\n", isNamed: true),
            Pair("shell.unit", hidden, hidden + "[shell]\nunit = \"shell.service\"", isNamed: true),
            Pair("agent.unit", hidden, hidden + "[agent]\nunit = \"agent.service\"", isNamed: true),
        ]
        + [
            "watch = false", "memory = { critical = 50 }", "processor = { fair = 50 }", "temperature = { fair = 50 }",
            "throttling = \"critical\"",
        ].map { Pair("pressure.\($0.prefix { $0 != " " })", hot, hot + "[pressure]\n" + $0, isNamed: true) }

    private static let pairs = told + facts + named

    @Test("Each is told apart, or its key is named, either way round", arguments: pairs)
    func apart(_ pair: Pair) throws {
        let policies = try pair.policies
        #expect(Arbiter(policy: policies[0]).fingerprint() != Arbiter(policy: policies[1]).fingerprint())
        let size = ["gives-way", "backfill"].contains { pair.key.hasSuffix($0) } ? 3 : 2
        for (one, other) in [(policies[0], policies[1]), (policies[1], policies[0])] {
            #expect(one.keysThatDiffer(from: other).map(\.description).contains(pair.key))
            #expect(PolicyDifference.idleRanksOfEquals(one, other) == nil)
            let difference = try PolicyDifference(one, other, clients: size, cameras: size, scope: .policy)
            let report = difference.run(SearchBounds(statesMax: 100_000), stepsBehind: 0)
            #expect(difference.keysNotCompared.map(\.description) == (pair.isNamed ? [pair.key] : []))
            #expect((report.witness == nil) == pair.isNamed, "\(report.witness?.inputs ?? [])")
            #expect(!pair.isNamed || report.cutOffBy == nil)
        }
    }

    @Test("Every key that can decide stands in some pair")
    func everyKey() {
        let keys = Set(Self.pairs.map(\.key))
        // Statements decide nothing, nor do names, words for people and what a policy builds on; a camera's id says which
        // one it is.
        let undeciding = ["name", "summary", "message", "message-to-others", "include", "id"]
        let others = PolicyFile.language.filter { key in
            !["never", "always"].contains(key.table) && !undeciding.contains(key.name)
        }
        #expect(others.map(\.description).filter { !keys.contains($0) } == [])
    }
}
