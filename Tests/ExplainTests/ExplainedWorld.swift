import Arbiter
import Explain
import Testing
import Vocabulary

/// One camera, its recorder, which answers at once unless it is told to wait, and a history of all of it.
struct ExplainedWorld {
    var arbiter: Arbiter
    var now = Moment.zero
    var history = History()
    /// The replies of a recorder that waits.
    private(set) var answers: [Event] = []
    var recorderAnswers = true

    static let user: UInt32 = 1000
    static let camera = CameraID("back")
    static let capabilities = CameraCapabilities(
        name: "Back", position: .back, sensorWidth: 1280, sensorHeight: 720,
        formats: [CameraFormat(pixelFormat: "420v", width: 1280, height: 720, minFrameRate: 1, maxFrameRate: 30)])

    init(_ policy: Policy) {
        arbiter = Arbiter(policy: policy)
        step(.cameraAppeared(Self.camera, Self.capabilities))
    }

    /// Photos has the focus and starts, and then the call.
    static func photosAndCall(_ call: Presence) -> ExplainedWorld {
        var world = shelled(order: [.focused], causes: [.background])
        world.app("photos", 1)
        world.app("call", 2)
        world.place("photos", .foreground(.split), focused: true)
        world.place("call", call, focused: false)
        world.step(.startRunning(SessionID(1)))
        world.step(.startRunning(SessionID(2)))
        return world
    }

    /// One whose shell says where apps are.
    static func shelled(order: [Contention.OrderKey] = [], causes: [CauseRule] = []) -> ExplainedWorld {
        var world = ExplainedWorld(
            Policy(name: "shelled", sources: [.shell], causeRules: causes, contention: Contention(order: order)))
        world.step(.sourceAttached(.shell, user: nil))
        return world
    }

    mutating func step(_ event: Event) {
        history.note(event, at: now, before: arbiter)
        let effects = arbiter.step(event, at: now)
        #expect(arbiter.violations() == [])
        for effect in effects {
            switch effect {
            case .open(let camera, let grant, _, let configuration):
                answers.append(.recorderStreaming(camera, grant, inForce: configuration))
            case .cut(let camera, let grant, _, _, _): answers.append(.recorderCut(camera, grant))
            default: break
            }
        }
        if recorderAnswers { answer() }
    }

    mutating func answer() {
        while !answers.isEmpty { step(answers.removeFirst()) }
    }

    mutating func app(
        _ name: String, _ id: UInt64, verified: Bool = true, login: LoginMembership = .seat,
        configured: Configuration = Configuration()
    ) {
        let identity = ClientIdentity(verified: verified, login: login)
        step(.connected(ClientID(id), app: AppID(name, user: Self.user), identity))
        step(.created(SessionID(id), ClientID(id), camera: nil, configured, reestablished: false))
    }

    mutating func place(_ app: String, _ presence: Presence, focused: Bool) {
        step(.placed(AppID(app, user: Self.user), presence, focused: focused, by: .shell))
    }

    /// Each asks for the camera, in this order; their sessions are numbered from 1.
    mutating func start(_ apps: String...) {
        for (index, name) in apps.enumerated() {
            app(name, UInt64(index + 1))
            step(.startRunning(SessionID(UInt64(index + 1))))
        }
    }

    func explain(_ id: DecisionID) -> Explanation? { history.explain(id, of: arbiter) }

    /// The first verdict of the last step.
    var lastVerdict: Explanation.Verdict? { explain(arbiter.lastDecision)?.verdicts.first }

    /// The latest verdict about a session, with its explanation.
    func verdict(of session: UInt64) -> Explanation.Verdict? {
        explain(0)?.verdicts.last { $0.session == SessionID(session) }
    }
}

extension CauseRule {
    static let background = CauseRule(
        name: "In front only", when: [.foreground(false)], cause: .videoDeviceNotAvailableInBackground)
}
