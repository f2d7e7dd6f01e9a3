import Arbiter
import Explain
import Testing
import Vocabulary

@Suite("An explanation names what would have changed the verdict")
struct ExplainTests {
    @Test("a denied start is changed only by a fact that ends the denial, never by one that takes access")
    func denied() {
        let deny = RankRule(name: "Pickers only", when: [.client(.app)], rank: 0, deny: true)
        var world = ExplainedWorld(Policy(name: "pickers", causeRules: [.background], rankRules: [deny]))
        world.start("photos")
        let verdict = world.lastVerdict
        #expect(verdict?.outcome == .refused)
        #expect(verdict?.rule == "Pickers only")
        #expect(Set(verdict?.changedBy.map { $0.map(\.key) } ?? []) == [["client"]])
        #expect(verdict?.searched == .upTo(facts: 1))
    }

    @Test(
        "a start without a right says which right was missing, and that being named or sitting at the seat would give it"
    )
    func noRight() {
        var world = ExplainedWorld(Policy(name: "usual"))
        world.app("backup", 1, login: .outside)
        world.step(.startRunning(SessionID(1)))
        let verdict = world.lastVerdict
        #expect(verdict?.outcome == .refused)
        #expect(verdict?.rule == "access: no right to the camera")
        let read = verdict?.read.map { "\($0.key) = \($0.value)" } ?? []
        #expect(read == ["right = \"none\"", "seat = \"seat0\"", "user = 1000"])
        let turns = verdict?.changedBy.flatMap { $0 } ?? []
        #expect(Set(turns.map(\.key)) == ["right"] && verdict?.searched == .upTo(facts: 1))
        #expect(
            turns.map(\.to) == [
                "\"an active login session of user 1000 at seat0\"", "\"users = [1000] in [access]\"",
                "\"services = [\"backup\"] in [access]\"",
            ])
    }

    @Test("a process outside any login session whose user's seat shows somebody else would run if it showed its user")
    func awayFromSeat() {
        var world = ExplainedWorld(Policy(name: "usual"))
        let login = LoginSessionID("1")
        world.step(.loginSession(login, LoginSessionFacts(active: false, user: ExplainedWorld.user)))
        world.app("backup", 1, login: .outside)
        world.step(.startRunning(SessionID(1)))
        let verdict = world.verdict(of: 1)
        #expect(verdict?.outcome == .interrupted(CauseSet([.loginSessionInactive])))
        #expect(verdict?.changedBy.contains { $0.map(\.key) == ["right"] } == true)
    }

    @Test("where a budget is in the way, no fact of the session is said to change it")
    func budget() {
        var world = ExplainedWorld(
            Policy(
                name: "budget", causeRules: [.background], contention: Contention(budget: 1),
                cameras: [CameraRule(camera: ExplainedWorld.camera, cost: 2)]))
        world.start("photos")
        let verdict = world.lastVerdict
        #expect(verdict?.rule == "budget")
        #expect(verdict?.changedBy.isEmpty == true)
        #expect(verdict?.searched == .upTo(facts: 3))
    }

    @Test("a search whose time is up says after how many attempts")
    func patience() {
        let world = ExplainedWorld.photosAndCall(.foreground(.split))
        func verdict(_ mayGoOn: () -> Bool) -> Explanation.Verdict? {
            world.history.explain(world.arbiter.lastDecision, of: world.arbiter, while: mayGoOn)?.verdicts.first
        }
        let whole = verdict { true }
        #expect(whole?.changedBy.isEmpty == false && whole?.searched == .upTo(facts: 1))
        let none = verdict { false }
        #expect(none?.rule == whole?.rule)
        #expect(none?.changedBy == [] && none?.searched == .first(attempts: 0))
    }

    @Test("the holder's own facts are named as the holder's: its app in the background would have let the newcomer in")
    func opponent() {
        let world = ExplainedWorld.photosAndCall(.foreground(.split))
        let verdict = world.verdict(of: 2)
        let photos = Explanation.Alteration.Subject.app(AppID("photos", user: ExplainedWorld.user))
        #expect(verdict?.outcome == .interrupted(CauseSet([.videoDeviceInUseByAnotherClient])))
        #expect(verdict?.changedBy.contains { $0.map(\.of) == [photos] && $0.map(\.key) == ["presence"] } == true)
        #expect(verdict?.changedBy.contains { $0.map(\.of) == [.session] && $0.map(\.key) == ["focused"] } == true)
        #expect(verdict?.changedBy.allSatisfy { $0.count == 1 } == true)
    }

    @Test(
        "where no single fact changes it, the pair does; and the focus is never proposed for an app in the background")
    func pair() {
        let world = ExplainedWorld.photosAndCall(.background)
        let verdict = world.verdict(of: 2)
        let words = verdict?.changedBy.map(\.words) ?? []
        #expect(
            words.contains(
                "presence = \"foreground\" (is \"background\") and focused = true (is false)"), "\(words)")
        #expect(verdict?.changedBy.allSatisfy { $0.count == 2 } == true)
        #expect(verdict?.changedBy.allSatisfy { $0.contains { $0.key == "presence" && $0.of == .session } } == true)
    }

    @Test("an attribute that would have won is named with the value that wins")
    func attribute() {
        var world = ExplainedWorld(
            Policy(
                name: "duty", attributes: [Attribute(name: "duty", values: ["on-call", "on-shift", "off"])],
                contention: Contention(order: [.attribute("duty")])))
        world.app("photos", 1)
        world.app("door", 2)
        world.step(.attribute(AppID("photos", user: 1000), name: "duty", value: "on-shift"))
        world.step(.startRunning(SessionID(1)))
        world.step(.startRunning(SessionID(2)))
        let verdict = world.lastVerdict
        #expect(verdict?.read.map(\.key) == ["duty"])
        #expect(
            verdict?.changedBy.map(\.words) == ["duty = \"on-call\" (is \"off\")"])
    }

    @Test("of two apps of one name, no source places the one that only claims it, so its place changes nothing")
    func twoOfOneName() {
        var world = ExplainedWorld.shelled(order: [.focused], causes: [.background])
        world.app("notes", 1)
        world.app("notes", 2, verified: false)
        world.place("notes", .foreground(.fullscreen), focused: true)
        world.step(.startRunning(SessionID(1)))
        world.step(.startRunning(SessionID(2)))
        let verdict = world.verdict(of: 2)
        #expect(verdict?.outcome == .interrupted(CauseSet([.videoDeviceNotAvailableInBackground])))
        #expect(verdict?.changedBy == [])
        #expect(verdict?.searched == .upTo(facts: 3))
        #expect(world.explain(world.arbiter.lastDecision - 1)?.verdicts.first?.session == SessionID(1))
    }

    @Test("what a step itself took away would have changed it: sensitive content, a priority that a client gave up")
    func takenByTheStep() {
        var world = ExplainedWorld(
            Policy(
                name: "ranks", ranks: ["usual", "low"], rankRules: [RankRule(name: "Everybody", rank: 0)],
                contention: Contention(order: [])))
        world.start("photos", "call")
        world.step(.loweredPriority(ClientID(1), rank: "low"))
        #expect(world.verdict(of: 1)?.changedBy.map(\.words) == ["lowered-priority = none (is \"low\")"])
        world.step(.sensitiveContent(AppID("call", user: ExplainedWorld.user)))
        #expect(
            world.verdict(of: 2)?.changedBy.map { $0.map(\.key) } == [["sensitive-content-mitigation-activated"]])
    }

    @Test("an app that loses is told which other app's end alone would be enough: the holder's where nobody else waits")
    func stops() {
        var world = ExplainedWorld(Policy(name: "queue", contention: Contention(tie: .holder)))
        let notes = AppID("notes", user: ExplainedWorld.user)
        world.start("notes", "call", "photos")
        // With the holder gone the one that has waited longest is next.
        #expect(world.verdict(of: 3)?.stops == [])
        world.step(.closed(SessionID(2)))
        world.step(.stopRunning(SessionID(3)))
        world.step(.startRunning(SessionID(3)))
        #expect(world.verdict(of: 3)?.stops == [notes])
        #expect(world.verdict(of: 3)?.app == AppID("photos", user: ExplainedWorld.user))
    }

    @Test("a holder that a newcomer interrupts would have kept its camera, had that one not started")
    func newcomer() {
        var world = ExplainedWorld(Policy(name: "newest", contention: Contention(tie: .newcomer)))
        world.start("notes", "call")
        #expect(world.verdict(of: 1)?.stops == [AppID("call", user: ExplainedWorld.user)])
        #expect(world.verdict(of: 2)?.stops == [])
    }
}
