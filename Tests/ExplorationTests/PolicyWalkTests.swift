import Arbiter
import ArbiterProtocol
import Campaigns
import PolicyFile
import Scenario
import Testing
import Workbench

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

    /// Two apps of one rank, of which the one need not make way for the other.
    private static let booth = """
        name = "booth"
        ranks = ["booth"]
        [[rank]]
        name = "The intercom"
        app = "intercom.service"
        rank = "booth"
        [[rank]]
        name = "The booth"
        app = "photobooth.service"
        rank = "booth"
        grace = "5s"
        [[never]]
        name = "The intercom waits for the booth"
        holder = { app = "photobooth.service" }
        waiting = { app = "intercom.service" }
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
        try reports[0].finding?.runs()
        // Whole, the world without them is the smaller one.
        let whole = try scopes.map { try verify(Self.sound, scope: $0) }
        #expect(whole.allSatisfy(\.isComplete) && whole[0].states < whole[1].states)
    }

    @Test(
        "Symmetry reduction loses no broken promise, and makes the walk smaller",
        arguments: ["kiosk.toml", "desktop.toml"])
    func symmetry(_ name: String) throws {
        let policy = try Checkout.policy(name)
        let states = isDebug ? 2000 : 12_000
        let reduced = try PolicyWalk(policy, clients: 2, cameras: 1).run(
            SearchBounds(statesMax: states), policyLine: name)
        let whole = try PolicyWalk(policy, clients: 2, cameras: 1, reducesSymmetry: false).run(
            SearchBounds(statesMax: 3 * states), policyLine: name)
        #expect(reduced.finding == nil && whole.finding == nil)
        if reduced.isComplete, whole.isComplete { #expect(reduced.states < whole.states) }
        for text in [Self.hidden, Self.booth] {
            let both = try [true, false].map {
                try verify(text, scope: .everything, reducesSymmetry: $0, statesMax: 20_000)
            }
            #expect(both[0].finding?.statement == both[1].finding?.statement)
            #expect(both[0].finding?.length == both[1].finding?.length)
        }
    }

    @Test(
        "Two states of one fingerprint go on alike",
        arguments: ["kiosk.toml", "desktop.toml", "ios9.toml", "ipados16.toml", "login-session.toml", "windows.toml"])
    func audit(_ name: String) throws {
        let found = try PolicyWalk(Checkout.policy(name), clients: 2, cameras: 2).audit(statesMax: isDebug ? 150 : 1000)
        #expect(found.difference == nil)
        #expect(found.classes < found.states)
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

    // MARK: Fairness

    private func walk(_ text: String) throws -> PolicyWalk {
        try PolicyWalk(PolicyFile.parse(text, file: "fair"), clients: 2, cameras: 1, scope: .policy)
    }

    private static let turns = """
        name  = "turns"
        ranks = ["everyone"]
        [[rank]]
        name  = "Everybody"
        rank  = "everyone"
        lease = "30s"
        [[always]]
        name = "Everybody's turn comes"
        when = {}
        is   = "running"
        fair = true
        """

    @Test("What a client does within one moment is no loop: time has to pass")
    func zeno() throws {
        // Whoever has a newer bid comes first, and has it for as long as it takes to say so.
        let text = Self.turns + "\n[contention]\ncool-down = \"0s\"\n"
        let fairness = try #require(try walk(text).fairness(policyLine: block(text)))
        #expect(fairness.finding == nil && fairness.cutOffBy == nil && fairness.worlds == fairness.worldsInAll)
    }

    @Test("A policy without such a statement is not walked for it, and one with it is not judged moment by moment")
    func separate() throws {
        let report = try verify(Self.turns)
        #expect(report.isComplete && report.applied.allSatisfy { $0 > 0 })
        let plain = try walk(Self.turns.replacing("fair = true", with: ""))
        #expect(plain.fairness(policyLine: "plain") == nil)
        #expect(plain.run(policyLine: "plain").finding != nil)
    }
}
