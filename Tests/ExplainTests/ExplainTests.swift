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

    private static let login = LoginSessionID("c1")

    private static func login(isActive: Bool) -> Event {
        .loginSession(login, LoginSessionFacts(active: isActive, user: ExplainedWorld.user))
    }

    /// The hindrances of a start, with the event that ends each, by the fact that is to be named.
    private static let hindrances: [(key: String, stands: Event, over: Event)] = {
        let (camera, caller) = (ExplainedWorld.camera, AppID("caller", user: ExplainedWorld.user))
        let silent = Event.configure(SessionID(1), Configuration([.usesAudio: .flag(false)]))
        let plugged = Event.cameraAppeared(camera, ExplainedWorld.capabilities)
        return [
            ("video-device-disconnected", .cameraDisappeared(camera), plugged),
            ("video-device-blocked-by-privacy", .privacy(nil, on: true), .privacy(nil, on: false)),
            ("system-sleep", .sleep(true), .sleep(false)),
            ("login-session-inactive", login(isActive: false), login(isActive: true)),
            ("video-device-in-use-by-another-client", .heldOutside(camera, true), .heldOutside(camera, false)),
            ("microphone", .microphone(caller, taken: true), .microphone(caller, taken: false)),
            ("uses-audio", .microphone(caller, taken: true), silent),
            ("pressure", .pressure(.serious), .pressure(.nominal)),
        ]
    }()

    @Test("change the fact that is named before the same start, and the decision changes", arguments: hindrances)
    func inTheWay(_ key: String, _ stands: Event, _ over: Event) {
        let rules = [
            CauseRule(
                name: "On the phone", when: [.microphoneTaken(true), .usesAudio(true)],
                cause: .audioDeviceInUseByAnotherClient),
            CauseRule(
                name: "Hot", when: [.pressure(atLeast: .serious)], cause: .videoDeviceNotAvailableDueToSystemPressure,
                access: [.preview]),
        ]
        var world = ExplainedWorld(Policy(name: "machine", causeRules: rules, pressureSettle: .zero))
        world.step(Self.login(isActive: true))
        world.app("photos", 1, login: .session(Self.login), configured: Configuration([.usesAudio: .flag(true)]))
        world.step(stands)
        var other = world
        world.step(.startRunning(SessionID(1)))
        let verdict = world.explain(0)?.verdicts.first { $0.outcome != .granted }
        let found = verdict?.changedBy ?? []
        #expect(found.contains { $0.map(\.key) == [key] }, "\(found.map(\.words))")
        other.step(over)
        other.now = .zero + .seconds(1)
        other.step(.startRunning(SessionID(1)))
        let status = other.arbiter.status(of: SessionID(1))
        #expect(status?.state == .running && status?.access == .all)
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
        #expect(verdict?.changedBy == [] && verdict?.searched == .upTo(facts: 3))
    }

    @Test("an app that loses is told which other app's end alone would be enough, and a holder which newcomer's")
    func stops() {
        let (notes, call) = (AppID("notes", user: ExplainedWorld.user), AppID("call", user: ExplainedWorld.user))
        var queue = ExplainedWorld(Policy(name: "queue", contention: Contention(tie: .holder)))
        queue.start("notes", "call")
        #expect(queue.verdict(of: 2)?.stops == [notes])
        // With the holder gone the one that has waited longest is next.
        queue.app("photos", 3)
        queue.step(.startRunning(SessionID(3)))
        #expect(queue.verdict(of: 3)?.stops == [])
        var newest = ExplainedWorld(Policy(name: "newest", contention: Contention(tie: .newcomer)))
        newest.start("notes", "call")
        #expect(newest.verdict(of: 1)?.stops == [call] && newest.verdict(of: 2)?.stops == [])
    }
}
