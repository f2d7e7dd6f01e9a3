import Arbiter
import ArbiterProtocol
import Testing

@Suite("Before anybody is weighed: the right")
struct RightTests {
    /// A client with a session on a camera at a seat, and what came of its start.
    private func start(
        _ policy: Policy, _ identity: ClientIdentity, user: UInt32 = 1000, seat: SeatID = .usual, events: [Event] = []
    ) -> (arbiter: Arbiter, effects: [Effect]) {
        var arbiter = Arbiter(policy: policy)
        let app = AppID("photos", user: user)
        let begin: [Event] = [
            .cameraAppeared(SmallWorld.camera, SmallWorld.capabilities, seat: seat),
            .connected(ClientID(1), app: app, identity),
            .created(SessionID(1), ClientID(1), camera: nil, Configuration(), reestablished: false),
        ]
        for event in begin + events { _ = arbiter.step(event, at: .zero) }
        let effects = arbiter.step(.startRunning(SessionID(1)), at: .zero)
        #expect(arbiter.violations() == [])
        return (arbiter, effects)
    }

    private func refusal(_ effects: [Effect]) -> Refusal? {
        for case .refused(let refusal) in effects { return refusal }
        return nil
    }

    @Test("A refused start says which users may, and names none")
    func sentence() {
        let rights = Rights(users: [Rights.Account(name: "alice", number: 1001)], identity: .strong)
        let (arbiter, effects) = start(
            Policy(name: "lab", rights: rights), ClientIdentity(login: .outside), user: 65534)
        let refusal = refusal(effects)
        #expect(refusal?.error.kind == .accessDenied)
        #expect(refusal?.rule == "access: no right to the camera")
        #expect(
            refusal?.error.message
                == "photos of user 65534 has no right to camera \"back\": the policy \"lab\" gives it to root, "
                + "the user who sits at seat seat0, the users, groups and services that its [access] names, "
                + "each by a strong identity.")
        #expect(effects.count == 1)
        #expect(arbiter.asksToRun(SessionID(1)) == false)
    }

    @Test(
        "What gives the right is known of each session",
        arguments: [
            (RightReason.root, UInt32(0), ClientIdentity(login: .outside)),
            (.own, 1000, ClientIdentity(login: .outside, own: true)),
            (.user, 1001, ClientIdentity(login: .outside)),
            (.group, 1002, ClientIdentity(groups: [44], login: .outside)),
            (.service, 1003, ClientIdentity(login: .outside)),
            (.seat, 1003, ClientIdentity(verified: false)),
            (.none, 1003, ClientIdentity(verified: false, login: .outside)),
        ])
    func reasons(_ reason: RightReason, _ user: UInt32, _ identity: ClientIdentity) {
        let rights = Rights(
            users: [Rights.Account(number: 1001)], groups: [Rights.Account(number: 44)], services: ["photos"])
        let (arbiter, effects) = start(Policy(name: "lab", rights: rights), identity, user: user)
        #expect(arbiter.status(of: SessionID(1))?.right == reason)
        #expect((refusal(effects) == nil) == (reason != .none))
    }

    @Test("Where nobody tells of login sessions, no client has a seat's right: not even one that is in a session")
    func untold() {
        let identity = ClientIdentity(login: .session(LoginSessionID("3")))
        #expect(refusal(start(Policy(name: "usual"), identity).effects) != nil)
        let told = Event.loginSession(LoginSessionID("3"), LoginSessionFacts(active: true, user: 1000))
        #expect(refusal(start(Policy(name: "usual"), identity, events: [told]).effects) == nil)
        let remote = Event.loginSession(LoginSessionID("3"), LoginSessionFacts(active: true, seat: nil, user: 1000))
        #expect(refusal(start(Policy(name: "usual"), identity, events: [remote]).effects) != nil)
    }

    @Test("Of more seats than are told apart the last ones are nobody's")
    func manySeats() {
        let others = (1..<Bound.seatsMax).map { number in
            Event.loginSession(
                LoginSessionID("\(number)"),
                LoginSessionFacts(active: true, seat: SeatID("seat\(number)"), user: UInt32(number)))
        }
        let beyond = Event.loginSession(
            LoginSessionID("me"), LoginSessionFacts(active: true, seat: SeatID("seat-beyond"), user: 1000))
        let identity = ClientIdentity(login: .session(LoginSessionID("me")))
        #expect(refusal(start(Policy(name: "usual"), identity, events: others + [beyond]).effects) != nil)
    }

    @Test("Of a process in more groups than are kept none counts, and those that are kept are sorted")
    func groups() {
        #expect(ClientIdentity(groups: [44, 4, 44]).groups == [4, 44])
        #expect(ClientIdentity(groups: Array(0...UInt32(ClientIdentity.groupsMax))).groups == [])
    }
}
