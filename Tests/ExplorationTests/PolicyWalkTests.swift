import Arbiter
import Exploration
import PolicyFile
import Scenario
import Testing

/// How far the walks of a test run go.
private enum Reach {
    #if DEBUG
        static let states = 2000
        static let auditedStates = 150
    #else
        // All shipped policies together in some seconds; `make verify` walks them whole.
        static let states = 12_000
        static let auditedStates = 2500
    #endif
}

private func shipped(_ name: String) throws -> Policy {
    try PolicyFile.load(path: "\(root)/policies/\(name)")
}

private let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")

/// Every policy in the folder would need a directory listing; these are the ones that make promises of their own.
private let promising = ["kiosk.toml", "desktop.toml", "ios9.toml"]

@Suite("Verifying a policy")
struct PolicyWalkTests {
    @Test("A shipped policy keeps its promises, as far as it is walked", arguments: promising)
    func shippedPolicies(_ name: String) throws {
        let policy = try shipped(name)
        #expect(!policy.statements.isEmpty)
        let report = try PolicyWalk(policy, clients: 3, cameras: 2).run(
            SearchBounds(statesMax: Reach.states), policyLine: name, policies: "\(root)/policies")
        #expect(report.finding == nil, "\(report.finding?.scenario ?? "")")
        print("walked \(report.states) states of the policy \(name)\(report.isComplete ? ", all there are" : "")")
    }

    /// A block of a scenario that holds a whole policy.
    private static func block(_ text: String) -> String { "\"\"\"\n\(text)\n\"\"\"" }

    private func verify(_ text: String, clients: Int = 2, isFolded: Bool = true) throws -> PolicyWalk.Report {
        let policy = try PolicyFile.parse(text, file: "mutated")
        return try PolicyWalk(policy, clients: clients, cameras: 1, isFolded: isFolded).run(
            SearchBounds(statesMax: 20_000), policyLine: Self.block(text))
    }

    private static let hidden = """
        name = "hidden"
        sources = ["shell"]
        [[cause]]
        name = "In the background"
        when = { presence = "background" }
        cause = "video-device-not-available-in-background"
        access = ["preview"]
        [[never]]
        name = "A hidden app sees"
        running = { presence = "background" }
        """

    @Test("A statement that a mutated policy breaks is found broken, by the shortest scenario, which runs")
    func brokenStatement() throws {
        let report = try verify(Self.hidden)
        let finding = try #require(report.finding)
        #expect(finding.statement == "A hidden app sees")
        // Nobody is placed at the beginning, which a shell that is there means as the background.
        #expect(finding.length == 2, "start, and the first frame")
        let outcome = try Scenario.parse(finding.scenario, file: "finding", policies: ".").run()
        #expect(outcome.passed, "\(outcome.report)")
        #expect(finding.scenario.contains("start photos\n       photos didStartRunning\n"))
        #expect(!finding.scenario.contains("photos-2"), "an app without a part is not in it")
        // As the policy was before it was mutated.
        let whole = Self.hidden.replacing("access = [\"preview\"]\n", with: "")
        #expect(try verify(whole).isComplete)
    }

    private static let booth = """
        name = "booth"
        ranks = ["call", "booth"]
        [[rank]]
        name = "The intercom"
        app = "intercom.service"
        rank = "RANK"
        [[rank]]
        name = "The booth"
        app = "photobooth.service"
        rank = "booth"
        grace = "5s"
        [[never]]
        name = "The intercom waits for the booth"
        holder = { app = "photobooth.service" }
        waiting = { app = "intercom.service" }
        [[always]]
        name = "The intercom runs"
        when = { app = "intercom.service" }
        is = "running"
        """

    @Test(
        "What only the policy does is found in the world without the machine's own events, by the same scenario or a shorter"
    )
    func scopes() throws {
        let policy = try PolicyFile.parse(Self.hidden, file: "mutated")
        let reports = try [WalkScope.policy, .everything].map { scope in
            try PolicyWalk(policy, clients: 2, cameras: 1, scope: scope).run(
                SearchBounds(statesMax: 20_000), policyLine: Self.block(Self.hidden))
        }
        #expect(reports.map { $0.finding?.statement } == ["A hidden app sees", "A hidden app sees"])
        // The first frame is no step of its own.
        #expect(reports.map { $0.finding?.length } == [1, 2])
        #expect(reports[0].finding?.scenario == reports[1].finding?.scenario)
        // Whole, the world without them is the smaller one.
        let sound = try PolicyFile.parse(Self.hidden.replacing("access = [\"preview\"]\n", with: ""), file: "sound")
        let whole = try [WalkScope.policy, .everything].map { scope in
            try PolicyWalk(sound, clients: 2, cameras: 1, scope: scope).run(policyLine: "sound")
        }
        #expect(whole.allSatisfy(\.isComplete) && whole[0].states < whole[1].states)
    }

    @Test("A rank that is too low is found by two apps that want one camera; a grace is not waiting")
    func brokenRank() throws {
        let weak = try verify(Self.booth.replacing("RANK", with: "booth"))
        let finding = try #require(weak.finding)
        #expect(finding.statement == "The intercom waits for the booth")
        #expect(finding.scenario.contains("start photobooth") && finding.scenario.contains("start intercom"))
        #expect(try Scenario.parse(finding.scenario, file: "finding", policies: ".").run().passed)
        // As it was meant; and whoever lowers itself, as any client may, gave it away.
        #expect(try verify(Self.booth.replacing("RANK", with: "call")).isComplete)
    }

    @Test(
        "Folding mirror images loses no broken promise, and makes the walk smaller",
        arguments: ["kiosk.toml", "desktop.toml"])
    func folding(_ name: String) throws {
        let policy = try shipped(name)
        let folded = try PolicyWalk(policy, clients: 2, cameras: 1).run(
            SearchBounds(statesMax: Reach.states), policyLine: name)
        let whole = try PolicyWalk(policy, clients: 2, cameras: 1, isFolded: false).run(
            SearchBounds(statesMax: 3 * Reach.states), policyLine: name)
        #expect(folded.finding == nil && whole.finding == nil)
        if folded.isComplete, whole.isComplete { #expect(folded.states < whole.states) }
        for text in [Self.hidden, Self.booth.replacing("RANK", with: "booth")] {
            let both = try [true, false].map { try verify(text, isFolded: $0) }
            #expect(both[0].finding?.statement == both[1].finding?.statement)
            #expect(both[0].finding?.length == both[1].finding?.length)
        }
    }

    @Test(
        "Two states of one fingerprint go on alike",
        arguments: ["kiosk.toml", "desktop.toml", "ios9.toml", "ipados16.toml", "login-session.toml", "windows.toml"])
    func audit(_ name: String) throws {
        let found = try PolicyWalk(try shipped(name), clients: 2, cameras: 2).audit(statesMax: Reach.auditedStates)
        #expect(found.difference == nil)
        #expect(found.folded < found.states)
    }

    private func walk(_ text: String, clients: Int = 2, pairsOnly: Bool = false) throws -> PolicyWalk {
        let policy = try PolicyFile.parse("name = \"p\"\nranks = [\"everyone\"]\n" + text, file: "p")
        return try PolicyWalk(policy, clients: clients, cameras: 1, scope: .policy, pairsOnly: pairsOnly)
    }

    @Test("Every cast is walked, or it is said how many were")
    func casts() throws {
        let kinds = (1...4).map {
            "[[rank]]\nname = \"\($0)\"\napp = \"\($0).service\"\nrank = \"everyone\"\nlease = \"\($0)s\"\n"
        }
        let all = try walk(kinds.joined(), clients: 3).run(policyLine: "p")
        #expect(all.casts == 35 && all.castsInAll == 35)
        let pairs = try walk(kinds.joined(), clients: 3, pairsOnly: true).run(policyLine: "p")
        #expect(pairs.casts < 35 && pairs.castsInAll == 35 && pairs.isComplete)
        let cut = try walk(kinds.joined(), clients: 3).run(SearchBounds(statesMax: 2000), policyLine: "p")
        #expect(cut.casts < 35 && cut.castsInAll == 35 && !cut.isComplete)
    }

    @Test("An attribute of which rules name the default alone changes, and a named camera looks wherever rules tell")
    func values() throws {
        let attribute = """
            [[attribute]]
            name = "duty"
            values = ["on", "off"]
            [[cause]]
            name = "Off duty"
            when = { duty = "off" }
            cause = "video-device-not-available-in-background"
            [[never]]
            name = "Somebody runs"
            running = {}
            """
        #expect(try walk(attribute).run(policyLine: "p").finding?.statement == "Somebody runs")
        let camera = """
            [[never]]
            name = "The door looks to the front"
            holder = { camera = "door", position = "front" }
            """
        #expect(try walk(camera).run(policyLine: "p").finding?.statement == "The door looks to the front")
    }

    @Test("A statement that applied in no state, or names what no rule knows, is told")
    func idleStatements() throws {
        let text = """
            [[rank]]
            name = "A"
            app = "a.service"
            rank = "everyone"
            [[never]]
            name = "nobody is meant"
            holder = { app = "a.service", claimed-app = "b" }
            [[never]]
            name = "somebody is meant"
            holder = { app = "a.service", operator = "chosen" }
            waiting = { operator = "chosen" }
            [[never]]
            name = "two are meant"
            holder = { app = "a.service" }
            waiting = { app = "a.service" }
            """
        let walk = try walk(text)
        let report = walk.run(policyLine: "p")
        // The operator chooses one app at a time, and one app is not two.
        #expect(report.applied == [0, 0, 0] && report.isComplete)
        #expect(walk.strangers == ["the statement “nobody is meant” speaks of the app “b”, which no rule knows"])
        let kiosk = try PolicyWalk(try shipped("kiosk.toml"), clients: 2, cameras: 1, scope: .policy)
        #expect(kiosk.strangers.isEmpty)
        #expect(kiosk.run(policyLine: "kiosk.toml").applied.allSatisfy { $0 > 0 })
    }

    @Test("What is the same in all worlds is named, and with everything less of it")
    func neverVaried() throws {
        let policy = try shipped("kiosk.toml")
        let limits = try [WalkScope.policy, .everything].map {
            try PolicyWalk(policy, clients: 1, cameras: 1, scope: $0).neverVaried
        }
        #expect(["reloads", "sleep", "the privacy switch", "configurations"].allSatisfy(limits[0].contains))
        #expect(!limits[1].contains("sleep") && !limits[1].contains("reloads"))
    }

    @Test("Bounds are honoured, and said")
    func bounds() throws {
        let policy = try shipped("kiosk.toml")
        let walk = try PolicyWalk(policy, clients: 3, cameras: 2)
        let states = walk.run(SearchBounds(statesMax: 100), policyLine: "kiosk.toml")
        #expect(states.states == 100 && states.cutOffBy == .states && !states.isComplete)
        let depth = walk.run(SearchBounds(depthMax: 2), policyLine: "kiosk.toml")
        #expect(depth.depth == 2 && depth.cutOffBy == .depth && depth.worlds > 1)
        for bound in [SearchBound.time, .memory] {
            var asked = 0
            // On one thread: where memory is short, several give it back first.
            let report = walk.run(policyLine: "kiosk.toml", threads: 1) { _ in
                asked += 1
                return asked == 2 ? bound : nil
            }
            #expect(report.cutOffBy == bound && asked == 2)
        }
    }

    @Test("Layouts that no rule tells apart are walked once, and those that one tells apart each")
    func layouts() throws {
        func layouts(_ rules: String) throws -> Set<String> {
            let policy = try PolicyFile.parse("name = \"p\"\nsources = [\"shell\"]\n" + rules, file: "p")
            let moves = try PolicyDifference(policy, policy, clients: 1, cameras: 1).worldTexts.flatMap(\.moves)
            return Set(
                moves.flatMap { $0 }.filter { $0.hasPrefix("presence ") }.compactMap { $0.split(separator: " ").last }
                    .map(String.init))
        }
        func rule(_ layout: String, _ access: String = "") -> String {
            "[[cause]]\nname = \"\(layout)\"\nwhen = { layout = \"\(layout)\" }\n"
                + "cause = \"video-device-not-available-with-multiple-foreground-apps\"\n\(access)\n"
        }
        #expect(try layouts(rule("split") + rule("slide-over")) == ["background", "fullscreen", "split"])
        let kept = "access = [\"preview\"]"
        #expect(
            try layouts(rule("split") + rule("slide-over", kept)) == [
                "background", "fullscreen", "split", "slide-over",
            ])
    }

    @Test("Cameras that touch each other are walked in every choice that differs by cost or conflict")
    func linkedCameras() throws {
        let policy = try shipped("android.toml")
        let stages = try PolicyDifference(policy, policy, clients: 1, cameras: 2).worldTexts.map(\.cameras)
        // Half the budget each; the same in conflict; and one that takes the whole budget beside another.
        #expect(
            Set(stages.map { $0.map { $0.split(separator: " ")[1] }.joined(separator: " ") }) == [
                "back front", "back wide", "back depth",
            ])
    }
}
