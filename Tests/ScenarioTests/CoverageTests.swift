import Arbiter
import ArbiterProtocol
import PolicyFile
import Scenario
import Testing

/// A client with a session, which starts.
private func starts(_ app: String, at time: String = "0s", on camera: String = "back") -> String {
    "\(time)   connect \(app)\n     session \(app) camera=\(camera)\n     start \(app)\n"
}

/// A scenario under the policy that `policy` writes, and what it reaches of it.
private func coverage(_ policy: String, _ events: String) throws -> PolicyCoverage {
    let world = "policy \"\"\"\nname = \"example\"\n\(policy)\n\"\"\"\ncamera back\ncamera front\ncamera wide\n"
    let scenario = try Scenario.parse("# Apps.\n\n\(world)\n\(events)", file: "example.scenario", policies: "policies")
    let coverages = scenario.runWithCoverage().coverages
    #expect(coverages.count == 1)
    return try #require(coverages.first)
}

private func rank(_ name: String, _ lines: String) -> String { "[[rank]]\nname = \"\(name)\"\n\(lines)\n" }

private func cause(_ name: String, _ when: String, of cause: String, also line: String = "") -> String {
    "[[cause]]\nname = \"\(name)\"\nwhen = { \(when) }\n\(line)cause = \"video-device-not-available-\(cause)\"\n"
}

private func hot(_ name: String, when: String, also line: String = "") -> String {
    cause(name, when, of: "due-to-system-pressure", also: line)
}

/// Cameras that each cost so much.
private func costs(_ cost: Int, _ cameras: String...) -> String {
    cameras.map { "[[camera]]\nid = \"\($0)\"\ncost = \(cost)\n" }.joined()
}

private let twoApps = starts("photos") + starts("notes")
private let conflict = "[[camera]]\nid = \"back\"\nconflicts = [\"front\"]\n"

@Suite("Rule coverage")
struct CoverageTests {
    /// The coverage of one policy by one scenario.
    struct Example: CustomTestStringConvertible {
        var testDescription: String
        var policy: String
        var events: String
        /// Clauses by their titles, or by their keys: `+` decided, `-` did not, `=` was seen not to match or to be
        /// equal, `≠` was not, and `×` can decide nothing.
        var expected: [String]

        init(_ claim: String, _ policy: String, _ events: String, _ expected: String...) {
            (testDescription, self.policy, self.events, self.expected) = (claim, policy, events, expected)
        }
    }

    @Test(
        "A clause is reached where it decided, and nowhere else",
        arguments: rules + ranks + choices + givesWay + shareWith)
    func reached(_ example: Example) throws {
        let found = try coverage(example.policy, example.events)
        func has(_ clauses: some Sequence<PolicyClause>, _ name: Substring) -> Bool {
            clauses.contains {
                let title = $0.title(in: found.policy)
                return title == name || title.hasPrefix("\(name):")
            }
        }
        for expected in example.expected {
            let name = expected.dropFirst()
            let isSo =
                switch expected.first {
                case "+": has(found.fired, name)
                case "-": !has(found.fired, name)
                case "=": has(found.unmatched, name)
                case "≠": !has(found.unmatched, name)
                default: !has(found.clauses, name)
                }
            #expect(isSo, "\(expected)")
        }
    }

    private static let firstAnswers =
        hot("First", when: "", also: "access = [\"preview\"]\n") + hot("Second", when: "pressure = \"critical\"")
    private static let pressures = starts("photos") + "1s   pressure critical\n2s   pressure serious\n10s\n"
    private static let sameAnswer =
        hot("Critical", when: "pressure = \"critical\"")
        + hot("Serious", when: "pressure = \"serious\"")

    static let rules = [
        Example(
            "a rule that does not match", hot("Hot", when: "pressure = \"serious\""), starts("photos"),
            "-[[cause]] \"Hot\"", "=[[cause]] \"Hot\""),
        Example(
            "a rule that answers", hot("Hot", when: "pressure = \"serious\""),
            "0s   pressure critical\n\(starts("photos"))", "+[[cause]] \"Hot\"", "≠[[cause]] \"Hot\""),
        Example(
            "a rule behind the one that answered was not asked",
            firstAnswers, twoApps, "+[[cause]] \"First\"", "-[[cause]] \"Second\"", "≠[[cause]] \"Second\""),
        Example(
            "a fact does not decide where another rule says the same without it", sameAnswer, pressures,
            "+[[cause]] \"Critical\"", "-pressure = \"critical\" of \"Critical\"",
            "+pressure = \"serious\" of \"Serious\""),
        Example(
            "a demand for strong identities, where a weak one is refused", "[access]\nidentity = \"strong\"",
            starts("photos").replacing("connect photos", with: "connect photos weak"), "+[access] identity: strong"),
        Example("no weak identity", "[access]\nidentity = \"strong\"", starts("photos"), "-[access] identity: strong"),
        Example(
            "a denied start reaches the rule that denies it", rank("Not notes", "app = \"notes\"\ndeny = true"),
            twoApps, "+[[rank]] \"Not notes\"", "+deny of \"Not notes\"", "=[[rank]] \"Not notes\""),
    ]

    private static let score = """
        [[attribute]]
        name = "score"
        values = ["high", "low"]
        default = "low"
        [contention]
        order = ["score"]
        tie = "holder"
        """
    private static let turns = starts("photos") + starts("notes", at: "1s")
    private static let lease = "ranks = [\"all\"]\n" + rank("All", "rank = \"all\"\nlease = \"10s\"")
    private static let booth =
        "ranks = [\"call\", \"booth\"]\n" + rank("Call", "app = \"call\"\nrank = \"call\"")
        + rank("Booth", "rank = \"booth\"\ngrace = \"5s\"\nmin-hold = \"10s\"\n")
    private static let across = ["grace of \"Booth\" across cameras", "min-hold of \"Booth\" across cameras"]

    private static func callsBooth(on camera: String) -> String {
        starts("booth") + starts("call", at: "1s", on: camera) + "12s\n"
    }

    static let ranks = [
        Example(
            "the key that decided, and those before it were equal; nothing behind newest is ever compared",
            "[contention]\norder = [\"operator\", \"newest\", \"focused\"]", twoApps, "+order: newest",
            "-order: operator", "=order: operator", "×order: focused", "×tie"),
        Example(
            "an attribute in the order list is a key like any other", score, twoApps, "-order: score", "=order: score"),
        Example(
            "an attribute decides", score, "\(twoApps)1s   attribute notes score high\n", "+order: score", "+loser"),
        Example(
            "an order key only where what follows it would have said otherwise",
            "[contention]\norder = [\"newest\"]\ntie = \"newcomer\"", turns, "-order: newest"),
        Example(
            "a cool-down where an app would have waited anyway",
            "\(lease)[contention]\ntie = \"holder\"\ncool-down = \"30s\"",
            "\(starts("photos"))\(starts("notes", at: "5s"))12s  start photos\n", "-cool-down"),
        Example(
            "a grace and a min-hold on one camera", "\(booth)\(conflict)", callsBooth(on: "back"),
            "+grace of \"Booth\"", "+min-hold of \"Booth\"", "-\(across[0])", "-\(across[1])"),
        Example(
            "a grace and a min-hold count once more where the next app is on another camera", "\(booth)\(conflict)",
            callsBooth(on: "front"), "+grace of \"Booth\"", "+\(across[0])", "+\(across[1])"),
        Example(
            "a grace and a min-hold across a budget",
            "\(booth)[contention]\nbudget = 100\n\(costs(60, "back", "front"))", callsBooth(on: "front"),
            "+min-hold of \"Booth\"", "+\(across[0])", "+\(across[1])"),
        Example("cameras that do not touch", booth, starts("booth"), "×\(across[0])", "×\(across[1])"),
    ]

    private static let twoCameras = starts("photos") + starts("notes", on: "front")
    /// Apps that are ranked by their names, the strongest first; the last rank is everybody else's.
    private static let ranked =
        "ranks = [\"one\", \"two\", \"three\"]\n" + rank("one", "app = \"one\"\nrank = \"one\"")
        + rank("two", "app = \"two\"\nrank = \"two\"")
    /// The second waits for the first, which excludes it; what the third wants excludes only the second.
    private static let filled =
        "\(ranked)[contention]\norder = []\nbackfill = true\n\(conflict)"
        + "[[camera]]\nid = \"front\"\nconflicts = [\"wide\"]\n"
    private static let waiting = starts("one") + starts("two", at: "1s", on: "front")
    private static let sharing = "[contention]\nsharing = \"read-only\""
    private static let mirror = """
        0s   connect mirror user=1001
             session mirror camera=back sharingMode=sharedReadOnly
             start mirror
        """

    private static func threeCameras(_ first: String, _ second: String) -> String {
        starts(first) + starts(second, at: "1s", on: "front") + starts("one", at: "2s", on: "wide")
    }

    static let choices = [
        Example(
            "an app comes second and waits; no bid is stronger than the holder's", "[contention]\ntie = \"holder\"",
            twoApps, "+tie", "+newcomer", "×loser"),
        Example(
            "an app is evicted", "[contention]\ntie = \"newcomer\"\nloser = \"evict\"", twoApps, "+tie", "+loser",
            "-cool-down"),
        Example(
            "the budget has room", "[contention]\nbudget = 200\n\(costs(60, "back", "front"))", twoCameras, "-budget"),
        Example("nobody watches", sharing, starts("photos"), "-sharing"),
        Example("a stronger app waits for another camera, and nobody is served", filled, waiting, "-backfill"),
        Example(
            "a weaker app is served meanwhile", filled, "\(waiting)\(starts("three", at: "2s", on: "wide"))",
            "+backfill"),
    ]

    /// Where the weakest came first, both choices send it away.
    static let givesWay = ["weakest", "longest-held"].flatMap { (choice: String) -> [Example] in
        let policy =
            "\(ranked)[contention]\nbudget = 100\ngives-way = \"\(choice)\"\n\(costs(50, "back", "front", "wide"))"
        return [
            Example("\(choice), and both the same", policy, threeCameras("three", "two"), "-gives-way"),
            Example("\(choice), and not the other", policy, threeCameras("two", "three"), "+gives-way"),
        ]
    }

    static let shareWith = ["user", "everyone"].flatMap { (choice: String) -> [Example] in
        let policy = "\(sharing)\nshare-with = \"\(choice)\""
        let own = mirror.replacing(" user=1001", with: "")
        return [
            Example("another's session watches, or may not", policy, "\(starts("photos"))\(mirror)", "+share-with"),
            Example("one's own session watches", policy, "\(starts("photos"))\(own)", "-share-with"),
        ]
    }

    @Test("A name in [access] is reached when an app's right to a camera rests on it, and on nothing before it")
    func access() throws {
        let policy = """
            [access]
            users = [1002]
            groups = [44, 100]
            services = ["door.service", "intercom.service"]
            """
        let events = [
            "student user=1003 login=none groups=44", "door.service login=none",
            "liar app=intercom.service user=1004 login=none claimed",
        ]
        let found = try coverage(
            policy,
            events.map { words in
                let app = words.prefix { $0 != " " }
                return "0s   connect \(words)\n     session \(app) camera=back\n     start \(app)\n"
            }.joined())
        #expect(found.firedShare(of: .access).reached == 2 && found.firedShare(of: .access).all == 5)
        #expect(
            found.gaps.prefix(3).map { $0.sentence(in: found.policy) } == [
                "[access] user 1002: no scenario has a camera by it",
                "[access] group 100: no scenario has a camera by it",
                "[access] service \"intercom.service\": no scenario has a camera by it",
            ])
    }

    @Test("A grace, a min-hold, a lease and an immediate rank are reached one by one")
    func rankChoices() throws {
        let policy =
            "ranks = [\"alarm\", \"call\", \"booth\"]\n"
            + rank("Alarm", "app = \"alarm\"\nrank = \"alarm\"\nimmediate = true")
            + rank("Call", "app = \"call\"\nrank = \"call\"")
            + rank("Booth", "rank = \"booth\"\ngrace = \"5s\"\nmin-hold = \"10s\"\nlease = \"30s\"")
        func reached(_ events: String) throws -> Set<PolicyClause.RankChoice> {
            let found = try coverage(policy, starts("booth") + events)
            return Set(
                PolicyClause.RankChoice.allCases.filter { choice in
                    found.fired.contains { if case .rankChoice(_, choice) = $0 { true } else { false } }
                })
        }
        #expect(try reached("").isEmpty)
        #expect(try reached(starts("call", at: "1s")) == [.minHold])
        #expect(try reached(starts("call", at: "20s")) == [.grace])
        #expect(try reached(starts("call", at: "1s") + "12s\n") == [.minHold, .grace])
        #expect(try reached("31s\n") == [.lease])
        #expect(try reached(starts("alarm", at: "1s")) == [.immediate])
        #expect(try reached(starts("alarm", at: "31s")) == [.lease], "nothing stood in its way")
    }

    @Test("A group without rules is not covered by being empty")
    func empty() throws {
        let found = try coverage("[contention]\ntie = \"holder\"", twoApps)
        #expect(found.firedShare(of: .causeRules).percent == nil)
        var tally = CoverageTally()
        tally.expect(.init(path: "example.toml", policy: found.policy))
        let report = try #require(tally.policies.first).report { _ in nil }
        #expect(report[0] == "example.toml: 0.0 %, 0 of 3, in 0 scenarios")
        #expect(report[2] == "  [access]          none: nothing to cover")
        #expect(report[3] == "  [[cause]] rules   none: nothing to cover")
        #expect(report.last == "  example.toml: same-app: newest: no scenario made it decide anything")
    }

    @Test("A rule of two facts takes three situations: both hold, and each alone is missing")
    func twoFacts() throws {
        let policy = "sources = [\"shell\"]\n" + hot("Hot in front", when: "pressure = \"critical\", focused = true")
        let begin = starts("photos").replacing("connect photos", with: "connect photos presence=fullscreen")
        /// Of each fact, whether it was seen to decide, and to be the only one missing.
        func table(_ situations: String...) throws -> [String] {
            let found = try coverage(policy, "0s   shell attach\n" + begin + situations.joined())
            #expect(found.firedShare(of: .facts).all == 2 && found.unmatchedShare(of: .facts).all == 2)
            return [FactTest.pressure(atLeast: .critical), .focused(true)].map { test in
                let clause = PolicyClause.fact(rule: "Hot in front", test)
                return (found.fired.contains(clause) ? "T" : "–") + (found.unmatched.contains(clause) ? "F" : "–")
            }
        }
        let (cool, heat) = ("1s   pressure nominal\n", "2s   pressure critical\n")
        let focused = "3s   presence photos fullscreen focused\n"
        // Neither holds: that shows nothing of either.
        #expect(try table(cool) == ["––", "––"])
        #expect(try table(heat) == ["––", "–F"])
        #expect(try table(focused) == ["–F", "––"])
        #expect(try table(focused, "4s   pressure critical\n") == ["TF", "T–"])
        #expect(try table(heat, focused) == ["T–", "TF"])
        #expect(try table(heat, focused, "4s   pressure nominal\n9s\n") == ["TF", "TF"])
    }

    @Test("What no session can show is proven, with the rule or the facts that stand against it, and not counted")
    func proofs() throws {
        func unreachable(_ policy: String) throws -> [String] {
            let policy = try PolicyFile.parse("name = \"example\"\n\(policy)", file: "example")
            return PolicyCoverage(policy).unreachable.map { "\($0.gap.claim(in: policy)): \($0.why)" }
        }
        #expect(
            try unreachable(Self.sameAnswer).first
                == "\"Critical\" decides by pressure = \"critical\": without the rule the answer would be the same")
        let proven = try unreachable(
            "sources = [\"shell\"]\nranks = [\"call\", \"other\"]\n"
                + rank("Anybody focused", "focused = true\nrank = \"call\"")
                + rank("Focused in front", "focused = true\npresence = \"foreground\"\nrank = \"other\"")
                + cause("Seen and focused", "presence = \"foreground\", focused = true", of: "in-background"))
        #expect(proven.contains("[[rank]] \"Focused in front\" answers: \"Anybody focused\" answers before it then"))
        let background = "would decide but for presence = \"foreground\": an app in the background has no focus"
        #expect(proven.contains("\"Seen and focused\" \(background)"), "\(proven)")
    }
}
