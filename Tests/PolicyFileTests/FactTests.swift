import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import TomlFile

@Suite("Facts in a policy file")
struct FactTests {
    static let all: [FactTest] =
        [.app("a.service"), .claimedApp("phone"), .user(1000), .camera(CameraID("usb-1.4"))]
        + Facts.LoginState.allCases.map(FactTest.loginSession) + Presence.Layout.allCases.map(FactTest.layout)
        + Facts.ForegroundApps.allCases.map(FactTest.foregroundApps) + ClientKind.allCases.map(FactTest.client)
        + CameraPosition.allCases.map(FactTest.position) + SystemPressure.allCases.map { .pressure(atLeast: $0) }
        + [true, false].flatMap { yes -> [FactTest] in
            [
                .foreground(yes), .focused(yes), .multitasking(yes), .usesAudio(yes), .microphoneTaken(yes),
                .recording(yes), .bidIsNew(yes), .operatorChosen(yes),
            ]
        }

    @Test("A fact reads back as it is written, in a cause rule and in a rank rule", arguments: all)
    func roundTrip(fact: FactTest) throws {
        let (key, value) = fact.written
        let policy = try PolicyFile.parse(
            """
            name = "facts"
            ranks = ["a"]
            [[cause]]
            name = "cause"
            when = { \(key) = \(value) }
            cause = "video-device-not-available-in-background"
            [[rank]]
            name = "rank"
            \(key) = \(value)
            rank = "a"
            """, file: "p.toml")
        #expect(policy.causeRules.first?.when == [fact])
        #expect(policy.rankRules.first?.when == [fact])
    }

    @Test("The conditions of a rule keep the order of the file")
    func order() throws {
        let policy = try PolicyFile.parse(
            """
            name = "facts"
            [[cause]]
            name = "cause"
            when = { uses-audio = true, app = "z", microphone = "taken", client = "voip" }
            cause = "audio-device-in-use-by-another-client"
            """, file: "p.toml")
        #expect(
            policy.causeRules.first?.when == [.usesAudio(true), .app("z"), .microphoneTaken(true), .client(.voip)])
    }

    @Test("What is not written has the default of the policy as a value")
    func defaults() throws {
        let policy = try PolicyFile.parse("name = \"least\"", file: "p.toml")
        #expect(policy == Policy(name: "least"))
    }

    @Test("A rule that denies needs no rank")
    func deny() throws {
        let policy = try PolicyFile.parse(
            """
            name = "deny"
            [[rank]]
            name = "No browser"
            claimed-app = "browser"
            deny = true
            """, file: "p.toml")
        #expect(
            policy.rankRules == [RankRule(name: "No browser", when: [.claimedApp("browser")], rank: 0, deny: true)])
    }

    @Test("All of contention and of cameras is read")
    func everything() throws {
        let policy = try PolicyFile.parse(
            """
            name = "all"
            pressure-settle = "1500ms"
            [contention]
            order = ["recording", "oldest"]
            tie = "newcomer"
            same-app = "refuse"
            newcomer = "refuse"
            loser = "evict"
            sharing = "none"
            re-decide = "open"
            cool-down = "1h"
            budget = 100
            strongest-may-exceed = true
            backfill = true
            [[camera]]
            id = "a"
            conflicts = ["b", "c"]
            cost = 60
            """, file: "p.toml")
        #expect(
            policy
                == Policy(
                    name: "all",
                    contention: Contention(
                        order: [.recording, .oldest], tie: .newcomer, sameApp: .refuse, newcomer: .refuse,
                        loser: .evict,
                        reDecide: .open, coolDown: .seconds(3600), budget: 100, strongestMayExceed: true, backfill: true
                    ),
                    cameras: [CameraRule(camera: CameraID("a"), conflicts: [CameraID("b"), CameraID("c")], cost: 60)],
                    pressureSettle: .milliseconds(1500)))
    }
}
