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
        let policy = try parse(
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
            """)
        #expect(policy.causeRules.first?.when == [fact])
        #expect(policy.rankRules.first?.when == [fact])
    }

    @Test("The conditions of a rule keep the order of the file")
    func order() throws {
        let policy = try parse(
            """
            name = "facts"
            [[cause]]
            name = "cause"
            when = { uses-audio = true, app = "z", microphone = "taken", client = "voip" }
            cause = "audio-device-in-use-by-another-client"
            """)
        #expect(
            policy.causeRules.first?.when == [.usesAudio(true), .app("z"), .microphoneTaken(true), .client(.voip)])
    }

    @Test("What is not written has the default of the policy as a value")
    func defaults() throws {
        #expect(try parse("name = \"least\"") == Policy(name: "least"))
    }
}
