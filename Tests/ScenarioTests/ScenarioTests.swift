import Arbiter
import ArbiterProtocol
import Explain
import Foundation
import Scenario
import Synchronization
import Testing

private let policies = ScenarioFilesTests.policies

private func parse(_ text: String) throws(ScenarioError) -> Scenario {
    try Scenario.parse(text, file: "test.scenario", policies: policies)
}

@Suite struct ScenarioReaderTests {
    @Test("Times are read and written in their shortest form")
    func times() {
        for (text, shortest) in [
            ("2s", "2s"), ("1.5s", "1.5s"), ("250ms", "250ms"), ("1500ms", "1.5s"), ("2min", "120s"), ("0s", "0s"),
            ("0.25s", "250ms"), ("1.000000001s", "1.000000001s"), ("1h", "3600s"), ("1000000ns", "1ms"),
        ] {
            #expect(TimeText.parse(text).map { TimeText.write($0) } == shortest)
        }
        // None is negative, and the least one has no positive of its own; somebody may still say one.
        #expect(TimeText.write(.nanoseconds(Int64.min)) == "-9223372036.854775808s")
        #expect(TimeText.write(.milliseconds(-250)) == "-250ms")
        for text in [
            "", "s", "2", "-1s", "1.s", "1.0000000001s", "9999999999999s", "2 s", "１s", "2 s s", "nans", "infs",
            "9999999h", ".5s",
        ] {
            #expect(TimeText.parse(text) == nil, "“\(text)” is no time")
        }
    }
}

@Suite struct ScenarioRunTests {
    private let text = """
        # A second app slides over: preview stops and comes back.

        0s   connect photos presence=fullscreen
             session photos camera=back
             start photos
               photos didStartRunning
        # Here it comes.
        2s   presence notes slide-over
               photos wasInterrupted #1 multiple-foreground-apps by notes
               photos didStopRunning
        5s   presence notes gone
               photos interruptionEnded #1 after 3s, resuming
               photos didStartRunning

        """

    @Test("A wrong expectation fails with a diff, and rewriting gives the right text with its comments kept")
    func rewrites() throws {
        let wrong = text.split(separator: "\n", omittingEmptySubsequences: false).filter {
            !$0.contains("didStopRunning")
        }.joined(separator: "\n").replacing("resuming", with: "not resuming")
        let outcome = try parse(wrong).run()
        #expect(!outcome.passed)
        #expect(outcome.report.contains("+        photos didStopRunning"))
        #expect(outcome.report.contains("-        photos interruptionEnded #1 after 3s, not resuming"))
        #expect(outcome.rewritten == text)
    }

    @Test("What deadlines and slow recorders lead to stands under its own time, inserted where it is missing")
    func insertsTimes() throws {
        let outcome = try parse(
            """
            # The file comes late.
            policy ios9.toml
            0s   connect photos presence=fullscreen
                 session photos camera=back
                 recorder back slow-open 300ms
                 start photos
            1s
            """
        ).run()
        #expect(outcome.rewritten.contains("start photos\n300ms\n       photos didStartRunning\n1s\n"))
    }
}

@Suite struct ScenarioWriterTests {
    @Test("Two apps of one name keep their own names")
    func names() {
        var writer = ScenarioWriter()
        writer.learn(.connected(ClientID(7), app: AppID("photos", user: 1000), ClientIdentity()))
        writer.learn(.connected(ClientID(9), app: AppID("photos", user: 1001), ClientIdentity()))
        writer.learn(.created(SessionID(3), ClientID(9), camera: nil, Configuration(), reestablished: false))
        #expect(writer.text(of: .startRunning(SessionID(3))) == "start photos-2")
        #expect(writer.text(of: .disconnected(ClientID(7))) == "disconnect photos")
        #expect(writer.text(of: .startRunning(SessionID(99))) == "start session-99")
    }

    @Test("A hostile name cannot break out of its line")
    func hostileName() {
        var writer = ScenarioWriter()
        let app = AppID("a\" b\n0s   sleep", user: 1000)
        let lines = writer.lines(.connected(ClientID(1), app: app, ClientIdentity(verified: false)), at: .zero, [])
        #expect(lines == ["0s   connect \"a' b 0s   sleep\" unverified"])
    }
}

@Suite struct ScenarioPlanTests {
    private static let photosRuns = """
        # Photos runs.
        policy desktop.toml
        0s   connect photos presence=fullscreen focused
             connect call presence=fullscreen
             session photos camera=back
             session call camera=back
             start photos
        """

    private func ran(_ text: String) throws -> Stage {
        let before = try parse(text)
        var stage = Stage(Arbiter(policy: before.world.policy))
        _ = before.run(on: &stage)
        return stage
    }

    @Test("A plan says what would happen, and changes nothing")
    func plan() throws {
        var stage = try ran(Self.photosRuns)
        let arbiter = stage.arbiter
        let planned = try Scenario.plan("start call\n2s presence call fullscreen focused", on: arbiter, at: stage.now)
        #expect(
            planned == [
                "0s   start call", "       call wasInterrupted #1 device-in-use by photos",
                "2s   presence call fullscreen focused", "       photos wasInterrupted #1 device-in-use by call",
                "       photos didStopRunning", "       call interruptionEnded #1 after 2s, resuming",
                "       call didStartRunning", "# Interrupted, in this order:",
                "#   1. photos at 2s: device-in-use because \"order: focused\"",
            ])
        #expect(try JSONEncoding.json(of: arbiter.snapshot()) == JSONEncoding.json(of: stage.arbiter.snapshot()))
        let refused = try Scenario.plan("start call", on: arbiter, at: stage.now)?.filter { $0.hasPrefix("#") }
        #expect(
            refused == [
                "# Nobody would be interrupted.",
                "# call would wait because \"order: focused\", against photos. It would get through with:",
                "#   focused = true (is false)", "#   or operator = \"chosen\" (is \"none\")",
                "#   or photos's presence = \"background\" (is \"foreground\")",
            ])
        stage.perform(.event(.startRunning(SessionID(2))))
        let again = try Scenario.plan("start call", on: stage.arbiter, at: stage.now)?.filter { $0.hasPrefix("#") }
        #expect(
            again == [
                "# Nobody would be interrupted.",
                "# call has asked already, and would go on waiting: device-in-use because \"order: focused\", against photos.",
            ])
    }

    @Test("A plan whose time is up has no answer, and what is in time has the same one")
    func patience() throws {
        let stage = try ran(Self.photosRuns)
        let (arbiter, now) = (stage.arbiter, stage.now)
        let text = "start call\n2s stop call\n3s start call"
        let asked = Mutex(0)
        func plan(answering most: Int) throws -> [String]? {
            asked.withLock { $0 = 0 }
            return try Scenario.plan(text, on: arbiter, at: now) {
                asked.withLock { count in
                    count += 1
                    return count <= most
                }
            }
        }
        let whole = try Scenario.plan(text, on: arbiter, at: now)
        #expect(try plan(answering: .max) == whole)
        // However early it ends: between lines, inside them, while verdicts are searched.
        let times = asked.withLock { $0 }
        #expect(times > 10)
        for most in [0, 1, 2, 3, 5, 8, times / 2, times - 1] { #expect(try plan(answering: most) == nil) }
        #expect(try plan(answering: times) == whole)
    }

    @Test("A plan is about the apps of the user that asks")
    func whose() throws {
        let lines = try Scenario.plan(
            "connect photos\n2s presence notes fullscreen", on: Arbiter(policy: .firstCome), at: .zero, user: 0)
        #expect(lines?.contains("0s   connect photos user=0") == true)
        // Another user's has to be named, and then is written so.
        let others = try Scenario.plan(
            "presence notes@1001 fullscreen", on: Arbiter(policy: .firstCome), at: .zero, user: 0)
        #expect(lines?.contains("2s   presence notes fullscreen") == true)
        #expect(others?.contains("0s   presence notes@1001 fullscreen") == true)
    }

    @Test("A plan looks beyond a grace: which session is cut when, and which recording with it")
    func grace() throws {
        let stage = try ran(
            """
            # The booth records.
            policy \"""
            name = "booth"
            ranks = ["call", "booth"]
            [[rank]]
            name = "The intercom"
            app = "intercom"
            rank = "call"
            [[rank]]
            name = "Photo booth"
            rank = "booth"
            grace = "5s"
            \"""
            0s   connect booth
                 session booth camera=back
                 start booth
                 record booth
                 connect intercom
                 session intercom camera=back
            """)
        #expect(
            try Scenario.plan("start intercom", on: stage.arbiter, at: stage.now)?.drop { !$0.hasPrefix("#") } == [
                "# Interrupted, in this order:",
                "#   1. booth at 5s: device-in-use because \"The intercom\", told at 0s; cuts recording 1",
            ])
    }

    @Test(
        "A plan reads no file but a policy of the broker's own folder, and is bounded in its text",
        arguments: ["../secret.toml", "/etc/passwd", "sub/x.toml", "secret", "large"])
    func refused(_ name: String) {
        let isLarge = name == "large"
        let text = isLarge ? String(repeating: "sleep\nwake\n", count: 10_000) : "policy-reload \(name)"
        let error = #expect(throws: ScenarioError.self) {
            try Scenario.plan(text, on: Arbiter(policy: .firstCome), at: .zero, policies: policies)
        }
        #expect((error?.problems.first?.message.contains("broker's folder") == true) == !isLarge)
    }
}
