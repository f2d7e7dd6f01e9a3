import Arbiter
import ArbiterProtocol
import Testing

import struct Arbiter.Explanation

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
        let verdict = world.history.explain(world.arbiter.lastDecision, of: world.arbiter)?.verdicts.first
        #expect(verdict?.outcome == .refused)
        #expect(verdict?.rule == "Pickers only")
        #expect(Set(verdict?.turnedBy.map { $0.map(\.key) } ?? []) == [["client"]])
        #expect(verdict?.searched == .upTo(facts: 1))
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
        let verdict = world.history.explain(world.arbiter.lastDecision, of: world.arbiter)?.verdicts.first
        #expect(verdict?.rule == "budget")
        #expect(verdict?.turnedBy.isEmpty == true)
        #expect(verdict?.searched == .upTo(facts: 3))
    }

    @Test("the holder's own facts are named as the holder's: its app in the background would have let the newcomer in")
    func opponent() {
        var world = shelled(order: [.focused], causes: [Self.background])
        world.app("photos", 1)
        world.app("call", 2)
        world.place("photos", .foreground(.split), focused: true)
        world.place("call", .foreground(.split), focused: false)
        world.step(.startRunning(SessionID(1)))
        world.step(.startRunning(SessionID(2)))
        let verdict = world.verdict(of: 2)
        let photos = Explanation.Turn.Subject.app(AppID("photos", user: 1000))
        #expect(verdict?.outcome == .interrupted(CauseSet([.videoDeviceInUseByAnotherClient])))
        #expect(verdict?.turnedBy.contains { $0.map(\.of) == [photos] && $0.map(\.key) == ["presence"] } == true)
        #expect(verdict?.turnedBy.contains { $0.map(\.of) == [.session] && $0.map(\.key) == ["focused"] } == true)
        #expect(verdict?.turnedBy.allSatisfy { $0.count == 1 } == true)
    }

    @Test("where no single fact turns it, the pair does; and the focus is never proposed for an app in the background")
    func pair() {
        var world = shelled(order: [.focused], causes: [Self.background])
        world.app("photos", 1)
        world.app("call", 2)
        world.place("photos", .foreground(.split), focused: true)
        world.place("call", .background, focused: false)
        world.step(.startRunning(SessionID(1)))
        world.step(.startRunning(SessionID(2)))
        let verdict = world.verdict(of: 2)
        let words = verdict?.turnedBy.map(\.words) ?? []
        #expect(
            words.contains(
                "presence = \"foreground\" (is \"background\") and focused = true (is false)"), "\(words)")
        #expect(verdict?.turnedBy.allSatisfy { $0.count == 2 } == true)
        #expect(verdict?.turnedBy.allSatisfy { $0.contains { $0.key == "presence" && $0.of == .session } } == true)
    }

    @Test("a loser that held the camera is told what would have kept it")
    func holder() {
        var world = shelled(order: [.focused], causes: [])
        world.app("photos", 1)
        world.app("call", 2)
        world.place("photos", .foreground(.split), focused: true)
        world.step(.startRunning(SessionID(1)))
        world.step(.startRunning(SessionID(2)))
        world.place("call", .foreground(.split), focused: true)
        let verdict = world.verdict(of: 1)
        #expect(verdict?.turnedBy.contains { $0.map(\.of) == [.session] && $0.map(\.key) == ["focused"] } == true)
    }

    @Test("the latest decision names itself, also when it is asked for as 0")
    func latest() {
        var world = shelled(order: [], causes: [])
        world.app("photos", 1)
        world.step(.startRunning(SessionID(1)))
        let explained = world.history.explain(0, of: world.arbiter)
        #expect(explained?.decision != 0)
        #expect(explained?.decision == world.arbiter.explain(0)?.decision)
    }

    @Test("decisions are explained however long ago the copy was made that they are lived again from")
    func longAgo() {
        var world = shelled(order: [.focused], causes: [Self.background])
        world.app("photos", 1)
        world.step(.startRunning(SessionID(1)))
        world.place("photos", .foreground(.fullscreen), focused: true)
        var decisions: [DecisionID] = []
        for _ in 0..<300 {
            world.place("photos", .background, focused: false)
            decisions.append(world.arbiter.lastDecision)
            world.place("photos", .foreground(.fullscreen), focused: true)
        }
        for decision in decisions {
            let verdict = world.history.explain(decision, of: world.arbiter)?.verdicts.first {
                $0.session == SessionID(1)
            }
            #expect(verdict?.turnedBy.map { $0.map(\.key) } == [["presence"]], "decision \(decision)")
        }
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
        let verdict = world.history.explain(world.arbiter.lastDecision, of: world.arbiter)?.verdicts.first
        #expect(verdict?.read.map(\.key) == ["duty"])
        #expect(
            verdict?.turnedBy.map(\.words) == ["duty = \"on-call\" (is \"off\")"])
    }

    private static let background = CauseRule(
        name: "In front only", when: [.foreground(false)], cause: .videoDeviceNotAvailableInBackground)

    /// A world whose shell says where apps are.
    private func shelled(order: [Contention.OrderKey], causes: [CauseRule]) -> SmallWorld {
        var world = SmallWorld(
            Policy(name: "shelled", sources: [.shell], causeRules: causes, contention: Contention(order: order)))
        world.step(.sourceAttached(.shell, user: nil))
        return world
    }
}

extension SmallWorld {
    fileprivate mutating func place(_ app: String, _ presence: Presence, focused: Bool) {
        step(.placed(AppID(app, user: 1000), presence, focused: focused, by: .shell))
    }

    /// The latest verdict about a session, with its explanation.
    fileprivate func verdict(of session: UInt64) -> Explanation.Verdict? {
        history.explain(0, of: arbiter)?.verdicts.last { $0.session == SessionID(session) }
    }
}
