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

    @Test("Where only a login session tells apps apart, none has the focus; where an app says so of itself, it may")
    func sources() {
        let focused = rank("R", "focused = true")
        for fact in ["focused = true", "layout = \"split\""] {
            #expect(warnings(rank("R", fact), sources: "") == "rule \"R\" can never match: \(fact) never holds")
        }
        #expect(warnings(focused, sources: "\"login-session\"").hasPrefix("rule \"R\" can never"))
        #expect(warnings(focused, sources: "\"self-declared\"") == "")
        #expect(warnings(rank("R", "presence = \"background\""), sources: "\"login-session\"") == "")
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

    @Test("The weakest rank falls to apps that no rule matches, where there can be one")
    func ranks() {
        #expect(warnings(rank("R", "app = \"x\""), ranks: "\"a\", \"weakest\"") == "")
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
        let alone = "is broken by an app that is alone: a lease ends, and begins again at once"
        #expect(said.contains("the statement \"S\" \(alone)") == isBroken, "\(said)")
        #expect(said.isEmpty || isBroken || statement.contains("unless"), "\(said)")
    }

    @Test("What the search says of a rule is what looking at every combination of facts says")
    func bruteForce() throws {
        var state: UInt64 = 11
        func below(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
        var hidden = 0
        for _ in 0..<400 {
            let policy = Self.ranksOverFewFacts(below)
            let found = PolicyFile.check(PolicyWriter.text(policy), file: "p.toml")?.problems ?? []
            let named = Set(found.map(\.message).filter { $0.hasPrefix("rule ") }.map { $0.split(separator: "\"")[1] })
            let answering = Set(
                Self.everyFact.compactMap { facts in
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

extension AnalysisTests {
    /// Every combination of a few facts that a session can have.
    private static let everyFact: [Facts] = {
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

    private static let fewTests: [FactTest] =
        [.app("x"), .app("y"), .foreground(true), .foreground(false), .focused(true), .focused(false)]
        + [.recording(true), .recording(false), .bidIsNew(true), .bidIsNew(false)]
        + Presence.Layout.allCases.map(FactTest.layout) + SystemPressure.allCases.map { .pressure(atLeast: $0) }
        + Facts.ForegroundApps.allCases.map(FactTest.foregroundApps)

    /// A policy whose rules read only those facts, so that they often meet.
    private static func ranksOverFewFacts(_ below: (Int) -> Int) -> Policy {
        let rules = (0..<2 + below(8)).map { index in
            var when: [FactTest] = []
            for _ in 0..<below(4) {
                let test = fewTests[below(fewTests.count)]
                if !when.contains(where: { $0.written.key == test.written.key }) { when.append(test) }
            }
            return RankRule(name: "\(index)", when: when, rank: 0)
        }
        return Policy(name: "few", sources: [.shell], ranks: ["a"], rankRules: rules)
    }
}
