import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import Workbench

/// The messages of broken statements. `Tests/statements` shows that each kind of statement is kept where it is true and
/// broken where it is false.
@Suite("What is said of broken statements")
struct StatementKindsTests {
    /// Two apps by name, the call before the booth, and everybody else behind them.
    private static func policy(_ statement: String, booth: String = "", cameras: String = "") -> String {
        """
        name = "kinds"
        ranks = ["call", "booth", "other"]
        [[attribute]]
        name = "duty"
        values = ["on", "off"]
        [[cause]]
        name = "Off duty"
        when = { duty = "off" }
        cause = "video-device-not-available-in-background"
        [[rank]]
        name = "Call"
        app = "call.service"
        rank = "call"
        [[rank]]
        name = "Booth"
        app = "booth.service"
        rank = "booth"
        \(booth)
        [contention]
        tie = "holder"
        cool-down = "20s"
        \(cameras)
        \(statement)
        """
    }

    private static func never(_ parts: String) -> String { "[[never]]\nname = \"s\"\n\(parts)" }
    private static func booth(_ demand: String) -> String {
        "[[always]]\nname = \"s\"\nwhen = { app = \"booth.service\", duty = \"on\" }\n\(demand)"
    }
    private static let excluding = "[[camera]]\nid = \"back\"\nconflicts = [\"front\"]\n[[camera]]\nid = \"front\"\n"

    private static let broken: [(policy: String, words: [String])] = [
        (policy(never("running = { app = \"booth.service\" }")), ["broken by booth (running)"]),
        (
            policy(never("waiting = { app = \"booth.service\" }\nby = { app = \"call.service\" }")),
            ["booth (waiting behind call)"]
        ),
        (policy(booth("is = \"running\"")), ["booth (not running, behind call)"]),
        (
            policy(
                never("holder = { app = \"call.service\", camera = \"front\" }\nacross = \"cameras\"\n")
                    + "waiting = { app = \"booth.service\", camera = \"back\" }", cameras: excluding),
            ["call (holder) and booth (waiting behind call)"]
        ),
        (
            policy(booth("is = \"running\"\nwithin = \"1min\"")),
            ["booth waits behind call on camera", "since 0s", "for longer than 1min"]
        ),
        (policy(booth("warned = \"20s\""), booth: "grace = \"10s\""), ["to call", "10s after it was told"]),
        (policy(booth("warned = \"20s\"")), ["booth loses camera", "to call", "without being told before"]),
        (
            policy(booth("warned = \"20s\""), booth: "grace = \"20s\"\nlease = \"1min\""),
            ["to its lease", "without being told before"]
        ),
        (
            policy(booth("at-most = \"40s\"\nin = \"2min\""), booth: "lease = \"20s\""),
            ["booth has held a camera for longer than 40s since 0s, within 2min"]
        ),
    ]

    @Test("Who broke a statement, behind whom and for how long is said, and its scenario runs", arguments: broken)
    func said(_ policy: String, _ words: [String]) throws {
        let report = try verify(policy, cameras: policy.contains("[[camera]]") ? 2 : 1, statesMax: 300_000)
        let finding = try #require(report.finding, "it holds: \(report)")
        #expect(finding.statement == "s")
        for word in words { #expect(finding.message.contains(word), "\(finding.message)") }
        try finding.runs()
    }

    @Test("Where the times have too little in common it is said that nothing was walked between deadlines")
    func unstepped() throws {
        let text = Self.policy(Self.booth("is = \"running\"\nwithin = \"3601s\"\n"))
        let report = try verify(text, statesMax: 300_000)
        #expect(report.timed?.step == nil && report.finding?.message.contains("for longer than 3601s") == true)
        let stepped = try verify(text.replacing("3601s", with: "1h"), statesMax: 300_000)
        #expect(stepped.timed?.step == .seconds(20) && stepped.finding != nil)
    }
}
