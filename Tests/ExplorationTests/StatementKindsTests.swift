import Arbiter
import Exploration
import PolicyFile
import Scenario
import Testing

/// What a statement can say besides parts and facts: each key where it is kept, and where it is broken.
@Suite("What statements can say")
struct StatementKindsTests {
    /// Two apps by name, the call before the booth, and everybody else behind them.
    private static func policy(call: String = "", booth: String = "", rest: String = "", statement: String) -> String {
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
        \(call)
        [[rank]]
        name = "Booth"
        app = "booth.service"
        rank = "booth"
        \(booth)
        [contention]
        tie = "holder"
        cool-down = "20s"
        \(rest)
        \(statement)
        """
    }

    private func verify(_ text: String, clients: Int = 2, cameras: Int = 1) throws -> PolicyWalk.Report {
        let policy = try PolicyFile.parse(text, file: "kinds")
        return try PolicyWalk(policy, clients: clients, cameras: cameras, scope: .policy).run(
            SearchBounds(statesMax: 300_000), policyLine: "\"\"\"\n\(text)\n\"\"\"")
    }

    private func holds(
        _ text: String, cameras: Int = 1, applies: Bool = true, _ place: SourceLocation = #_sourceLocation
    ) throws {
        let report = try verify(text, cameras: cameras)
        #expect(report.finding == nil, "\(report.finding?.scenario ?? "")", sourceLocation: place)
        #expect(report.isComplete && report.applied == [applies ? report.applied[0] : 0], sourceLocation: place)
        #expect(applies == (report.applied[0] > 0), "\(report)", sourceLocation: place)
    }

    /// Its scenario is what happens.
    private func broken(
        _ text: String, cameras: Int = 1, _ words: [String], _ place: SourceLocation = #_sourceLocation
    ) throws {
        let report = try verify(text, cameras: cameras)
        let finding = try #require(report.finding, "it holds: \(report)", sourceLocation: place)
        #expect(finding.statement == "s", sourceLocation: place)
        for word in words {
            #expect(finding.message.contains(word), "\(finding.message)", sourceLocation: place)
        }
        let outcome = try Scenario.parse(finding.scenario, file: "finding", policies: ".").run()
        #expect(outcome.passed, "\(outcome.report)", sourceLocation: place)
    }

    // MARK: Moments

    @Test("Facts that excuse a session")
    func unless() throws {
        func never(_ unless: String) -> String {
            Self.policy(statement: "[[never]]\nname = \"s\"\nrunning = { app = \"booth.service\" }\n\(unless)")
        }
        try broken(never(""), ["broken by booth (running)"])
        try broken(never("unless = { duty = \"off\" }"), [])
        // Whoever runs has had its first frame, and its bid is new no longer.
        try holds(never("unless = [{ duty = \"off\" }, { duty = \"on\", bid = \"standing\" }]"))
    }

    @Test("Behind whom a session waits")
    func behindWhom() throws {
        func never(_ narrowed: String) -> String {
            Self.policy(statement: "[[never]]\nname = \"s\"\nwaiting = { app = \"booth.service\" }\n\(narrowed)")
        }
        try broken(never("by = { app = \"call.service\" }"), ["booth (waiting behind call)"])
        try broken(
            never("unless = { by = { app = \"call.service\", duty = \"off\" } }"), ["booth (waiting behind call)"])
        // Nobody else is before the booth.
        try holds(never("unless = { by = { app = \"call.service\" } }"))
        // Who is off duty has no camera to keep from anybody.
        try holds(never("by = { app = \"call.service\", duty = \"off\" }"))
        let always = "[[always]]\nname = \"s\"\nwhen = { app = \"booth.service\", duty = \"on\" }\nis = \"running\"\n"
        try broken(Self.policy(statement: always), ["booth (not running, behind call)"])
        try holds(Self.policy(statement: always + "unless = { by = { app = \"call.service\" } }"))
    }

    @Test("Parts on cameras that exclude each other")
    func across() throws {
        func never(_ across: String, waiting: String = "booth") -> String {
            let cameras = "[[camera]]\nid = \"back\"\nconflicts = [\"front\"]\n[[camera]]\nid = \"front\"\n"
            return Self.policy(
                rest: cameras,
                statement: "[[never]]\nname = \"s\"\nholder = { app = \"call.service\", camera = \"front\" }\n"
                    + "waiting = { app = \"\(waiting).service\", camera = \"back\" }\n\(across)")
        }
        try broken(never("across = \"cameras\""), cameras: 2, ["call (holder) and booth (waiting behind call)"])
        let one = try verify(never(""), cameras: 2)
        #expect(one.isComplete && one.applied == [0], "on one camera they never meet")
        let other = never("across = \"cameras\"").replacing("holder = { app = \"call", with: "holder = { app = \"booth")
            .replacing("waiting = { app = \"booth", with: "waiting = { app = \"call")
        try holds(other, cameras: 2)
    }

    // MARK: Time

    private static let booth = "[[always]]\nname = \"s\"\nwhen = { app = \"booth.service\", duty = \"on\" }\n"

    @Test("Who waits plays its part in time, or the one in its way is named")
    func within() throws {
        let statement = Self.booth + "is = \"running\"\nwithin = \"1min\"\n"
        try broken(
            Self.policy(statement: statement),
            ["booth waits behind call on camera", "since 0s", "for longer than 1min"])
        try holds(Self.policy(call: "lease = \"1min\"", statement: statement))
        try broken(Self.policy(call: "lease = \"80s\"", statement: statement), ["booth waits behind call"])
        try holds(Self.policy(statement: statement + "unless = { by = { app = \"call.service\" } }"))
    }

    @Test("Who loses its camera was told so long before")
    func warned() throws {
        let statement = Self.booth + "warned = \"20s\"\n"
        try holds(Self.policy(booth: "grace = \"20s\"", statement: statement))
        try broken(Self.policy(booth: "grace = \"10s\"", statement: statement), ["to call", "10s after it was told"])
        try broken(Self.policy(statement: statement), ["booth loses camera", "to call", "without being told before"])
        try broken(
            Self.policy(booth: "grace = \"20s\"\nlease = \"1min\"", statement: statement),
            ["to its lease", "without being told before"])
        try broken(Self.policy(call: "immediate = true", booth: "grace = \"20s\"", statement: statement), ["to call"])
        // There is nobody else to whom it could lose its camera.
        try holds(
            Self.policy(
                call: "immediate = true", booth: "grace = \"20s\"",
                statement: statement + "unless = { by = { app = \"call.service\" } }"), applies: false)
    }

    @Test("An app holds cameras for so long at most in any such time")
    func atMost() throws {
        let statement = Self.booth + "at-most = \"40s\"\nin = \"2min\"\n"
        try broken(
            Self.policy(booth: "lease = \"20s\"", statement: statement),
            ["booth has held a camera for longer than 40s since 0s, within 2min"])
        // A bid is new until the first frame, and that comes at once.
        try holds(Self.policy(statement: statement.replacing("duty = \"on\"", with: "bid = \"new\"")), applies: false)
    }

    @Test("Where the times have too little in common it is said that nothing was walked between deadlines")
    func unstepped() throws {
        let text = Self.policy(statement: Self.booth + "is = \"running\"\nwithin = \"3601s\"\n")
        let report = try verify(text)
        #expect(report.timed?.step == nil && report.finding?.message.contains("for longer than 3601s") == true)
        let stepped = try verify(text.replacing("3601s", with: "1h"))
        #expect(stepped.timed?.step == .seconds(20) && stepped.finding != nil)
    }
}
