import Arbiter
import ArbiterProtocol
import Testing

@Suite("An explanation names what would have changed the verdict")
struct ExplainTests {
    @Test("a denied start is turned only by a fact that ends the denial, never by one that takes access")
    func denied() {
        let background = CauseRule(
            name: "In front only", when: [.foreground(false)], cause: .videoDeviceNotAvailableInBackground)
        let deny = RankRule(name: "Pickers only", when: [.client(.app)], rank: 0, deny: true)
        var world = SmallWorld(Policy(name: "pickers", causeRules: [background], rankRules: [deny]))
        world.app("photos", 1)
        world.step(.startRunning(SessionID(1)))
        let verdict = world.arbiter.explain(world.arbiter.lastDecision)?.verdicts.first
        #expect(verdict?.outcome == .refused)
        #expect(verdict?.rule == "Pickers only")
        #expect(Set(verdict?.turnedBy.map(\.key) ?? []) == ["client"])
    }

    @Test("where a budget is in the way, no fact of the session is said to turn it")
    func budget() {
        let background = CauseRule(
            name: "In front only", when: [.foreground(false)], cause: .videoDeviceNotAvailableInBackground)
        var world = SmallWorld(
            Policy(
                name: "budget", causeRules: [background], contention: Contention(budget: 1),
                cameras: [CameraRule(camera: SmallWorld.camera, cost: 2)]))
        world.app("photos", 1)
        world.step(.startRunning(SessionID(1)))
        let verdict = world.arbiter.explain(world.arbiter.lastDecision)?.verdicts.first
        #expect(verdict?.rule == "budget")
        #expect(verdict?.turnedBy.isEmpty == true)
    }

    @Test("an attribute that would have won is named with the value that wins")
    func attribute() {
        var world = SmallWorld(
            Policy(
                name: "duty", attributes: [Attribute(name: "duty", values: ["on-call", "on-shift", "off"])],
                contention: Contention(order: [.attribute("duty")])))
        world.app("photos", 1)
        world.app("door", 2)
        world.step(.attribute(AppID("photos", user: 1000), name: "duty", value: "on-shift"))
        world.step(.startRunning(SessionID(1)))
        world.step(.startRunning(SessionID(2)))
        let verdict = world.arbiter.explain(world.arbiter.lastDecision)?.verdicts.first
        #expect(verdict?.read.map(\.key) == ["duty"])
        #expect(verdict?.turnedBy.map(\.to) == ["\"on-call\""])
        #expect(verdict?.turnedBy.map(\.from) == ["\"off\""])
    }
}
