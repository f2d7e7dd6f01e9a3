import Arbiter
import Campaigns
import PolicyFile
import Scenario
import Testing
import Workbench

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

@Suite("Verifying a policy")
struct PolicyWalkTests {
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

    private static let sound = hidden.replacing("access = [\"preview\"]\n", with: "")

    @Test("A statement that a mutated policy breaks is found broken, by the shortest scenario, which runs")
    func brokenStatement() throws {
        let report = try verify(Self.hidden, scope: .everything, statesMax: 20_000)
        let finding = try #require(report.finding)
        #expect(finding.statement == "A hidden app sees")
        // Nobody is placed at the beginning, which a shell that is there means as the background.
        #expect(finding.length == 2, "start, and the first frame")
        try finding.runs()
        #expect(finding.scenario.contains("start photos\n       photos didStartRunning\n"))
        #expect(!finding.scenario.contains("photos-2"), "an app without a part is not in it")
        // As the policy was before it was mutated.
        #expect(try verify(Self.sound, scope: .everything, statesMax: 20_000).isComplete)
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
        let scopes = [WalkScope.policy, .everything]
        let reports = try scopes.map { try verify(Self.hidden, scope: $0, statesMax: 20_000) }
        #expect(reports.map { $0.finding?.statement } == ["A hidden app sees", "A hidden app sees"])
        // The first frame is no step of its own.
        #expect(reports.map { $0.finding?.length } == [1, 2])
        #expect(reports[0].finding?.scenario == reports[1].finding?.scenario)
        // Whole, the world without them is the smaller one.
        let whole = try scopes.map { try verify(Self.sound, scope: $0) }
        #expect(whole.allSatisfy(\.isComplete) && whole[0].states < whole[1].states)
    }

    @Test("A rank that is too low is found by two apps that want one camera; a grace is not waiting")
    func brokenRank() throws {
        func verified(_ rank: String) throws -> PolicyWalk.Report {
            try verify(Self.booth.replacing("RANK", with: rank), scope: .everything, statesMax: 20_000)
        }
        let finding = try #require(try verified("booth").finding)
        #expect(finding.statement == "The intercom waits for the booth")
        #expect(finding.scenario.contains("start photobooth") && finding.scenario.contains("start intercom"))
        try finding.runs()
        // As it was meant; and whoever lowers itself, as any client may, gave it away.
        #expect(try verified("call").isComplete)
    }

    @Test(
        "Folding mirror images loses no broken promise, and makes the walk smaller",
        arguments: ["kiosk.toml", "desktop.toml"])
    func folding(_ name: String) throws {
        let policy = try Checkout.policy(name)
        let folded = try PolicyWalk(policy, clients: 2, cameras: 1).run(
            SearchBounds(statesMax: Reach.states), policyLine: name)
        let whole = try PolicyWalk(policy, clients: 2, cameras: 1, isFolded: false).run(
            SearchBounds(statesMax: 3 * Reach.states), policyLine: name)
        #expect(folded.finding == nil && whole.finding == nil)
        if folded.isComplete, whole.isComplete { #expect(folded.states < whole.states) }
        for text in [Self.hidden, Self.booth.replacing("RANK", with: "booth")] {
            let both = try [true, false].map {
                try verify(text, scope: .everything, isFolded: $0, statesMax: 20_000)
            }
            #expect(both[0].finding?.statement == both[1].finding?.statement)
            #expect(both[0].finding?.length == both[1].finding?.length)
        }
    }

    @Test(
        "Two states of one fingerprint go on alike",
        arguments: ["kiosk.toml", "desktop.toml", "ios9.toml", "ipados16.toml", "login-session.toml", "windows.toml"])
    func audit(_ name: String) throws {
        let found = try PolicyWalk(Checkout.policy(name), clients: 2, cameras: 2).audit(statesMax: Reach.auditedStates)
        #expect(found.difference == nil)
        #expect(found.folded < found.states)
    }

    private func walk(_ text: String) throws -> PolicyWalk {
        let policy = try PolicyFile.parse("name = \"p\"\nranks = [\"everyone\"]\n" + text, file: "p")
        return try PolicyWalk(policy, clients: 2, cameras: 1, scope: .policy)
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
        let kiosk = try PolicyWalk(Checkout.policy("kiosk.toml"), clients: 2, cameras: 1, scope: .policy)
        #expect(kiosk.strangers.isEmpty)
        #expect(kiosk.run(policyLine: "kiosk.toml").applied.allSatisfy { $0 > 0 })
    }

    @Test("Bounds are honoured, and said")
    func bounds() throws {
        let walk = try PolicyWalk(Checkout.policy("kiosk.toml"), clients: 3, cameras: 2)
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
        let policy = try Checkout.policy("android.toml")
        let stages = try PolicyDifference(policy, policy, clients: 1, cameras: 2).worldTexts.map(\.cameras)
        // Half the budget each; the same in conflict; and one that takes the whole budget beside another.
        #expect(
            Set(stages.map { $0.map { $0.split(separator: " ")[1] }.joined(separator: " ") }) == [
                "back front", "back wide", "back depth",
            ])
    }
}
