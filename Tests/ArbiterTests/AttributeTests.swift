import Arbiter
import ArbiterProtocol
import Testing

@Suite("Attributes of apps")
struct AttributeTests {
    private let photos = AppID("photos", user: 1000)

    private func world() -> SmallWorld {
        var world = SmallWorld(
            Policy(
                name: "duty", attributes: [Attribute(name: "duty", values: ["on-call", "on-shift", "off"])],
                contention: Contention(order: [.attribute("duty")])))
        world.app("photos", 1)
        world.step(.attribute(photos, name: "duty", value: "on-call"))
        world.step(.startRunning(SessionID(1)))
        return world
    }

    private func duty(_ world: SmallWorld) -> String? {
        world.arbiter.facts(of: SessionID(1))?.attribute("duty")?.value
    }

    @Test("A client that only claims to be a vouched-for app lowers nothing of it")
    func claimed() {
        var world = world()
        world.step(.connected(ClientID(2), app: photos, ClientIdentity(verified: false)))
        world.step(.loweredAttribute(ClientID(2), attribute: "duty", to: "off"))
        #expect(duty(world) == "on-call")
        world.step(.connected(ClientID(3), app: photos, ClientIdentity()))
        world.step(.loweredAttribute(ClientID(3), attribute: "duty", to: "on-shift"))
        #expect(duty(world) == "on-shift")
    }

    @Test("Attributes belong to a bounded number of apps, and forgetting one makes room")
    func bounded() {
        var world = world()
        for number in 1..<Bound.attributedAppsMax {
            world.step(.attribute(AppID("app\(number)", user: 1000), name: "duty", value: "off"))
        }
        let late = Event.attribute(AppID("late", user: 1000), name: "duty", value: "off")
        guard case .refused(let refusal)? = world.arbiter.step(late, at: .zero).first else {
            Issue.record("one app too many was taken")
            return
        }
        #expect(refusal.error.kind == .limitExceeded)
        world.step(.attribute(AppID("app1", user: 1000), name: "duty", value: nil))
        #expect(world.arbiter.step(late, at: .zero).isEmpty)
    }

    @Test("A value that is taken back leaves nothing behind")
    func forgotten() {
        var world = world()
        let apps = world.arbiter.state.apps.rows.count
        let door = AppID("door", user: 1000)
        world.step(.attribute(door, name: "duty", value: "off"))
        #expect(world.arbiter.state.app(door) != nil)
        world.step(.attribute(door, name: "duty", value: nil))
        #expect(world.arbiter.state.app(door) == nil)
        world.step(.attribute(AppID("gate", user: 1000), name: "duty", value: "off"))
        #expect(world.arbiter.state.apps.rows.count == apps + 1, "the row is given out again")
    }
}
