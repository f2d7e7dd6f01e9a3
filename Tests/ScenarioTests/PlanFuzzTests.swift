import Arbiter
import ArbiterProtocol
import Foundation
import Scenario
import Testing

/// A plan is a stranger's text that runs inside the broker: nothing that can be written may stop it.
@Suite struct PlanFuzzTests {
    private static let words = [
        "connect", "disconnect", "declare", "declare-presence", "lower", "session", "start", "stop", "begin", "commit",
        "configure", "stream", "photo", "record", "stop-record", "ready", "continue", "close", "presence", "shell",
        "agent", "microphone", "sensitive", "operator", "login-session", "plug", "unplug", "privacy", "held-outside",
        "pressure", "sleep", "wake", "recorder", "finished", "captured", "policy-reload", "reserve",
    ]
    private static let arguments = [
        "photos", "call", "nobody", "back", "front", "nowhere", "all", "on", "off", "taken", "released", "gone",
        "attach", "fullscreen", "background", "focused", "critical", "nominal", "c1", "active", "locked", "strong",
        "built-in", "camera=back", "camera=front", "camera=nowhere", "videoZoomFactor=2", "videoZoomFactor=-1",
        "videoZoomFactor=nan", "frameRate=inf", "audio", "of", "photos", "streaming", "cut", "failed", "\"x\"",
        "hangs", "always", "slow-cut", "9999999s", "crashes", "configured", "grant=1", "grant=99", "1", "2",
        "interrupted", "stopped", "1920x1080", "#1", "#99", "user=0", "user=1000", "claimed", "login=c1",
        "kind=picker", "manual", "dies-on-open", "works", "format=\"420v 1x1@1\"", "reestablished", "none",
    ]

    @Test("Random plans are answered or refused, and never stop the broker", arguments: UInt64(1)...20)
    func answers(_ seed: UInt64) throws {
        let policies = ScenarioFilesTests.root.appending(path: "policies").path
        let world = try Scenario.parse(
            """
            # Two apps, one camera held.
            policy kiosk.toml
            camera back
            camera front
            0s   connect photos
                 connect call
                 session photos camera=back
                 session call camera=back
                 start photos
                 start call
            """, file: "world", policies: policies)
        var stage = Stage(Arbiter(policy: world.world.policy))
        _ = world.run(on: &stage)
        var state = seed &* 0x9E37_79B9_7F4A_7C15
        func below(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
        var answered = 0
        for _ in 0..<150 {
            var time = 0
            var lines: [String] = []
            for _ in 0..<(1 + below(6)) {
                time += [0, 0, 1, 30, 9_000_000_000][below(5)]
                let rest = (0..<below(5)).map { _ in Self.arguments[below(Self.arguments.count)] }
                lines.append("\(time)s \(Self.words[below(Self.words.count)]) \(rest.joined(separator: " "))")
                // A plan of several lines is refused as a whole for one of them: most lines are tried alone, too.
                for text in [lines[lines.count - 1], lines.joined(separator: "\n")] {
                    do {
                        _ = try Scenario.plan(text, on: stage.arbiter, at: stage.now, policies: policies)
                        answered += 1
                    } catch {
                        #expect(!error.problems.isEmpty)
                    }
                }
            }
        }
        #expect(answered > 5)
    }
}
