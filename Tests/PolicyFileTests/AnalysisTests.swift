import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import TomlFile

@Suite("Rules that can never answer")
struct AnalysisTests {
    private func warnings(_ rules: String, sources: String = "\"shell\"", ranks: String = "\"a\"") -> String {
        let text = "name = \"k\"\nsources = [\(sources)]\nranks = [\(ranks)]\n\(rules)"
        return PolicyFile.check(text, file: "p.toml")?.problems.map(\.message).joined(separator: "\n") ?? ""
    }

    private func rank(_ name: String, _ facts: String...) -> String {
        "[[rank]]\nname = \"\(name)\"\n\(facts.map { $0 + "\n" }.joined())rank = \"a\"\n"
    }

    @Test("Every policy that ships is clean", arguments: try Checkout.policies())
    func shipped(file: String) {
        #expect(PolicyFile.check(path: Checkout.path("policies/\(file)")) == nil)
    }

    @Test(
        "Facts that contradict each other are named, and no others",
        arguments: [
            (
                "presence = \"background\"|client = \"app\"|layout = \"split\"",
                "presence = \"background\" and layout = \"split\""
            ),
            ("focused = true|user = 1|presence = \"background\"", "focused = true and presence = \"background\""),
            ("foreground-apps = \"none\"|layout = \"split\"", "foreground-apps = \"none\" and layout = \"split\""),
            ("foreground-apps = \"none\"|focused = true", "foreground-apps = \"none\" and focused = true"),
            ("recording = true|bid = \"new\"", "recording = true and bid = \"new\""),
        ])
    func contradictions(facts: String, named: String) {
        let rule = rank("R", facts.split(separator: "|").joined(separator: "\n"))
        #expect(warnings(rule) == "rule \"R\" can never match: \(named) cannot be together")
    }

    @Test("Where nobody tells apps apart, what nobody can say never holds")
    func sources() {
        for fact in [
            "focused = true", "layout = \"split\"", "foreground-apps = \"several\"", "presence = \"background\"",
        ] {
            #expect(warnings(rank("R", fact), sources: "") == "rule \"R\" can never match: \(fact) never holds")
        }
        #expect(warnings(rank("R", "presence = \"background\""), sources: "\"login-session\"") == "")
        #expect(warnings(rank("R", "focused = true"), sources: "\"login-session\"").hasPrefix("rule \"R\" can never"))
        #expect(warnings(rank("R", "focused = true"), sources: "\"self-declared\"") == "")
    }

    @Test("Pressure means at least, so the milder rule hides the harder one behind it")
    func pressure() {
        let hidden = warnings(rank("Mild", "pressure = \"fair\"") + rank("Hard", "pressure = \"critical\""))
        #expect(hidden == "rule \"Hard\" can never answer: rule \"Mild\" (line 5) answers wherever it matches")
        #expect(warnings(rank("Hard", "pressure = \"critical\"") + rank("Mild", "pressure = \"fair\"")) == "")
    }

    @Test("A name is one of those that are named, or another: naming them all leaves the others")
    func names() {
        let named = rank("A", "app = \"a\"") + rank("B", "app = \"b\"")
        #expect(warnings(named + rank("Others")) == "")
        #expect(warnings(named + rank("A again", "app = \"a\"", "user = 7")).contains("rule \"A\" (line 5)"))
    }

    @Test("Rules of different causes hide nothing from each other")
    func causes() {
        let rule = { (name: String, cause: String) in
            "[[cause]]\nname = \"\(name)\"\nwhen = {}\ncause = \"\(cause)\"\n"
        }
        let background = "video-device-not-available-in-background"
        let rules = rank("R") + rule("One", background)
        #expect(warnings(rules + rule("Two", "audio-device-in-use-by-another-client")) == "")
        #expect(
            warnings(rules + rule("Two", background))
                == "rule \"Two\" can never answer: rule \"One\" (line 8) answers wherever it matches")
    }

    @Test("The values of an attribute are all there are: naming each hides the rest")
    func attributes() {
        let attribute = "[[attribute]]\nname = \"score\"\nvalues = [\"top\", \"cached\"]\n"
        let rules = rank("Top", "score = \"top\"") + rank("Cached", "score = \"cached\"")
        #expect(
            warnings(attribute + rules + rank("Rest"))
                == "rule \"Rest\" can never answer: rule \"Top\" (line 8) and rule \"Cached\" (line 12) together answer wherever it matches"
        )
    }

    @Test("A rank is given by a rule, or falls to apps that no rule matches")
    func ranks() {
        let rule = rank("R", "app = \"x\"")
        #expect(warnings(rule, ranks: "\"a\", \"weakest\"") == "")
        #expect(warnings(rule, ranks: "\"a\", \"middle\", \"weakest\"") == "no rule gives the rank \"middle\"")
        #expect(warnings(rank("All"), ranks: "\"a\", \"weakest\"") == "no rule gives the rank \"weakest\"")
    }

    @Test(
        "That an app which is alone breaks at-most is said, unless it is excused, kept out by rules, or the time is all there is",
        arguments: [
            ("when = {}|at-most = \"1min\"|in = \"1h\"", true),
            ("when = { app = \"x\" }|at-most = \"1min\"|in = \"1h\"|unless = { presence = \"background\" }", true),
            ("when = { app = \"x\" }|at-most = \"1min\"|in = \"1h\"|unless = { app = \"x\" }", false),
            ("when = { app = \"denied\" }|at-most = \"1min\"|in = \"1h\"", false),
            ("when = { app = \"dark\" }|at-most = \"1min\"|in = \"1h\"", false),
            ("when = { app = \"dim\" }|at-most = \"1min\"|in = \"1h\"", true),
            ("when = { bid = \"new\" }|at-most = \"1min\"|in = \"1h\"", false),
            ("when = { app = \"x\" }|within = \"1min\"|is = \"running\"", false),
        ])
    func alone(statement: String, isBroken: Bool) {
        let rules =
            "[[cause]]\nname = \"Dark\"\nwhen = { app = \"dark\" }\ncause = \"video-device-not-available-in-background\"\n"
            + "[[cause]]\nname = \"Dim\"\nwhen = { app = \"dim\" }\n"
            + "cause = \"video-device-not-available-in-background\"\naccess = [\"preview\"]\n"
            + "[[rank]]\nname = \"Denied\"\napp = \"denied\"\nbid = \"new\"\ndeny = true\n" + rank("R")
            + "lease = \"30s\"\n"
        let said = warnings(
            rules + "[[always]]\nname = \"S\"\n" + statement.split(separator: "|").joined(separator: "\n") + "\n")
        let alone = "is broken by an app that is alone: when its lease ends it asks again, and has the camera again"
        #expect(said.contains("the statement \"S\" \(alone)") == isBroken, "\(said)")
        #expect(said.isEmpty || isBroken || statement.contains("unless"), "\(said)")
    }

    @Test("A deny rule that hides is called one")
    func deny() {
        let deny = "[[rank]]\nname = \"Nobody\"\ndeny = true\n"
        #expect(
            warnings(deny + rank("R"), ranks: "\"a\"").hasPrefix(
                "rule \"R\" can never answer: the deny rule \"Nobody\" (line 5) answers wherever it matches"))
    }

    @Test("What the search says of a rule is what looking at every combination of facts says")
    func bruteForce() throws {
        var generator = PolicyGenerator(seed: 11)
        var hidden = 0
        for _ in 0..<400 {
            let policy = generator.ranksOverFewFacts()
            let found = PolicyFile.check(PolicyWriter.text(policy), file: "p.toml")?.problems ?? []
            let named = Set(found.map(\.message).filter { $0.hasPrefix("rule ") }.map { $0.split(separator: "\"")[1] })
            let answering = Set(
                PolicyGenerator.everyFact.compactMap { facts in
                    policy.rankRules.first { $0.when.allSatisfy { $0.holds(for: facts) } }?.name
                })
            let silent = policy.rankRules.map(\.name).filter { !answering.contains($0) }
            #expect(named == Set(silent.map { $0[...] }), "\(PolicyWriter.text(policy))")
            hidden += silent.count
        }
        #expect(hidden > 100)
    }

    @Test("As many rules as the bounds allow are looked at within the steps")
    func many() {
        // Each rule names an app and one of two facts: the pairs hide the last rule of each app together.
        var rules = ""
        for index in 0..<Bounds.rulesMax / 4 {
            rules += rank("\(index) f", "app = \"\(index)\"", "focused = true", "recording = true")
            rules += rank("\(index) u", "app = \"\(index)\"", "focused = false")
            rules += rank("\(index) r", "app = \"\(index)\"", "recording = false")
            rules += rank("\(index) hidden", "app = \"\(index)\"")
        }
        let found = warnings(rules).split(separator: "\n")
        #expect(found.count == Bounds.rulesMax / 4)
        #expect(
            found.last
                == "rule \"63 hidden\" can never answer: rule \"63 f\" (line 1265), rule \"63 u\" (line 1271) and rule \"63 r\" (line 1276) together answer wherever it matches"
        )
    }
}

extension PolicyGenerator {
    /// Every combination of a few facts that a session can have.
    static let everyFact: [Facts] = {
        var all: [Facts] = []
        for app in ["x", "y", nil] {
            for presence in [Presence.background] + Presence.Layout.allCases.map(Presence.foreground) {
                for (focused, several) in [(false, 0), (false, 1), (false, 2), (true, 1), (true, 2)]
                where presence.isForeground ? several > 0 : !focused {
                    for pressure in SystemPressure.allCases {
                        for (recording, isNew) in [(false, false), (false, true), (true, false)] {
                            all.append(
                                Facts(
                                    app: app, presence: presence, isFocused: focused,
                                    foregroundApps: Facts.ForegroundApps.allCases[several], camera: CameraID("c"),
                                    pressure: pressure, isRecording: recording, bidIsNew: isNew))
                        }
                    }
                }
            }
        }
        return all
    }()

    /// A policy whose rules read only those facts, so that they often meet.
    mutating func ranksOverFewFacts() -> Policy {
        let facts: [FactTest] =
            [.app("x"), .app("y"), .foreground(true), .foreground(false), .focused(true), .focused(false)]
            + [.recording(true), .recording(false), .bidIsNew(true), .bidIsNew(false)]
            + Presence.Layout.allCases.map(FactTest.layout) + SystemPressure.allCases.map { .pressure(atLeast: $0) }
            + Facts.ForegroundApps.allCases.map(FactTest.foregroundApps)
        let rules = (0..<Int.random(in: 2...9, using: &random)).map { index in
            var when: [FactTest] = []
            for fact in facts.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random))
            where !when.contains(where: { $0.written.key == fact.written.key }) {
                when.append(fact)
            }
            return RankRule(name: "\(index)", when: when, rank: 0)
        }
        return Policy(name: "few", sources: [.shell], ranks: ["a"], rankRules: rules)
    }
}
