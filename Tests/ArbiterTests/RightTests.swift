import Arbiter
import ArbiterProtocol
import Explain
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

    @Test("Where nobody tells of login sessions, or tells of one elsewhere, no client in one has a seat's right")
    func untold() {
        let (me, policy) = (LoginSessionID("me"), Policy(name: "usual"))
        func isRefused(_ events: [Event]) -> Bool {
            refusal(start(policy, ClientIdentity(login: .session(me)), events: events).effects) != nil
        }
        func told(_ id: LoginSessionID, _ seat: SeatID?, user: UInt32 = 1000) -> Event {
            .loginSession(id, LoginSessionFacts(active: true, seat: seat, user: user))
        }
        #expect(isRefused([]))
        #expect(!isRefused([told(me, .usual)]))
        #expect(isRefused([told(me, nil)]))
        // Of more seats than are told apart the last ones are nobody's.
        let others = (1..<Bound.seatsMax).map {
            told(LoginSessionID("\($0)"), SeatID("seat\($0)"), user: UInt32($0))
        }
        #expect(isRefused(others + [told(me, SeatID("seat-beyond"))]))
    }

    @Test("Of a process in more groups than are kept none counts, and those that are kept are sorted")
    func groups() {
        #expect(ClientIdentity(groups: [44, 4, 44]).groups == [4, 44])
        #expect(ClientIdentity(groups: Array(0...UInt32(ClientIdentity.groupsMax))).groups == [])
    }

    @Test("Each law has a text of its own")
    func lawTexts() {
        #expect(Set(Law.allCases.map(\.text).filter { !$0.isEmpty }).count == Law.allCases.count)
    }
}
