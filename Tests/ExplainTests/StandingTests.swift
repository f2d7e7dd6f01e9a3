import Arbiter
import Explain
import Testing
import Vocabulary

@Suite("A session that is held off")
struct StandingTests {
    private static let kiosk = Policy(
        name: "kiosk", ranks: ["call", "booth"],
        rankRules: [
            RankRule(name: "The intercom", when: [.app("intercom")], rank: 0),
            RankRule(
                name: "Photo booth", when: [.app("booth")], rank: 1, grace: .seconds(5), minHold: .seconds(10),
                lease: .seconds(180)),
        ])

    /// The booth has the camera, and three seconds later the intercom wants it.
    private func world(_ policy: Policy = Self.kiosk) -> ExplainedWorld {
        var world = ExplainedWorld(policy)
        world.app("booth", 1)
        world.app("intercom", 2)
        world.step(.startRunning(SessionID(1)))
        world.now = .zero + .seconds(3)
        world.step(.startRunning(SessionID(2)))
        return world
    }

    private let booth = AppID("booth", user: ExplainedWorld.user)

    private func answer(_ world: ExplainedWorld, of app: String) -> Standing? {
        world.arbiter.standings(where: { $1.name == app }, at: world.now).first
    }

    @Test(
        "A newcomer that a min-hold holds off is explained by its decision, with what would give it the camera at once")
    func newcomer() throws {
        let world = world()
        let verdict = try #require(world.verdict(of: 2))
        #expect(verdict.outcome == .interrupted(CauseSet([.videoDeviceInUseByAnotherClient])))
        #expect(verdict.searched != nil, "the verdict stands, though the session has won")
        #expect(verdict.opponent == booth && verdict.stops == [booth])
    }

    @Test("How it stands is answered with since when, till when and by which rule")
    func now() throws {
        var world = world()
        world.now = .zero + .seconds(4)
        let standing = try #require(answer(world, of: "intercom"))
        #expect(standing.hasWon && standing.since == .zero + .seconds(3))
        #expect(standing.verdict.rule == "The intercom, after its time")
        #expect(standing.verdict.opponent == booth && standing.verdict.stops == [booth])
        let minHold = try #require(standing.limits.first)
        #expect(minHold.kind == .minHold && minHold.until == .zero + .seconds(10) && minHold.rule == "Photo booth")
        // The holder is granted, and nothing holds it off.
        let holder = try #require(answer(world, of: "booth"))
        #expect(holder.verdict.outcome == .granted && holder.limits.isEmpty && holder.since == .zero)
        // Who asks for nothing stands nowhere.
        world.step(.stopRunning(SessionID(2)))
        #expect(answer(world, of: "intercom") == nil)
    }

    @Test("It is answered also where the decision is older than what a history keeps")
    func longAgo() throws {
        var world = world()
        let decision = world.arbiter.lastDecision
        for _ in 0..<1100 { world.step(.pressure(.fair)) }
        #expect(world.explain(decision) == nil)
        let standing = try #require(answer(world, of: "intercom"))
        #expect(standing.hasWon && standing.since == .zero + .seconds(3))
        #expect(standing.limits.first?.kind == .minHold)
    }

    @Test("The step that warns the holder is explained: it decides about the holder, and says nothing to the newcomer")
    func warned() throws {
        var world = world()
        // The grace ends with the min-hold.
        world.now = .zero + .seconds(5)
        world.step(.timePassed)
        let verdict = try #require(world.explain(world.arbiter.lastDecision)?.verdicts.first)
        #expect(verdict.session == SessionID(1) && verdict.outcome == .warned(.seconds(5)))
        #expect(verdict.rule == "The intercom" && verdict.searched != nil)
        #expect(verdict.stops == [AppID("intercom", user: ExplainedWorld.user)])
        let standing = try #require(answer(world, of: "intercom"))
        #expect(standing.limits.map(\.kind) == [.minHold, .grace, .lease])
        #expect(standing.limits[1].until == .zero + .seconds(10))
    }
}
