import Arbiter
import ArbiterProtocol
import Testing

/// A small world with a recorder that answers at once, unless it is told to wait.
struct SmallWorld {
    var arbiter: Arbiter
    var now = Moment.zero
    var recorderAnswers = true
    var notices: [String] = []

    static let camera = CameraID("back")
    static let capabilities = CameraCapabilities(
        name: "Back", position: .back, sensorWidth: 1280, sensorHeight: 720,
        formats: [CameraFormat(pixelFormat: "420v", width: 1280, height: 720, minFrameRate: 1, maxFrameRate: 30)])

    init(_ policy: Policy) {
        arbiter = Arbiter(policy: policy)
        step(.cameraAppeared(Self.camera, Self.capabilities))
    }

    @discardableResult
    mutating func step(_ event: Event) -> [Effect] {
        var all: [Effect] = []
        var events = [event]
        while !events.isEmpty {
            let event = events.removeFirst()
            let effects = arbiter.step(event, at: now)
            #expect(arbiter.violations() == [])
            all += effects
            for effect in effects {
                switch effect {
                case .notify(_, let session, _, let event): notices.append("\(session.rawValue) \(event.wireName)")
                case .open(let camera, let grant, _, let configuration) where recorderAnswers:
                    events.append(.recorderStreaming(camera, grant, inForce: configuration))
                case .cut(let camera, let grant, _, _, _) where recorderAnswers:
                    events.append(.recorderCut(camera, grant))
                case .killRecorder(let camera): events.append(.recorderGone(camera))
                default: break
                }
            }
        }
        return all
    }

    mutating func app(_ name: String, _ id: UInt64) {
        step(.connected(ClientID(id), app: AppID(name, user: 1000), ClientIdentity()))
        step(.created(SessionID(id), ClientID(id), camera: nil, Configuration(), reestablished: false))
    }

    mutating func heard() -> [String] {
        defer { notices = [] }
        return notices
    }
}

@Suite("A handover")
struct HandoverTests {
    let newest = Policy(name: "newest", contention: Contention(order: [.newest]))

    @Test("cuts first, tells second, and opens for the winner last")
    func order() {
        var world = SmallWorld(newest)
        world.app("photos", 1)
        world.app("call", 2)
        world.step(.startRunning(SessionID(1)))
        #expect(world.heard() == ["1 DidStartRunning"])
        let effects = world.step(.startRunning(SessionID(2)))
        #expect(world.heard() == ["1 WasInterrupted", "1 DidStopRunning", "2 DidStartRunning"])
        guard case .cut = effects.first else {
            Issue.record("the first order is not the cut: \(effects)")
            return
        }
        world.step(.stopRunning(SessionID(2)))
        #expect(world.heard() == ["2 DidStopRunning", "1 InterruptionEnded", "1 DidStartRunning"])
    }

    @Test("is one decision from the cut to the winner's first frame")
    func oneDecision() {
        var world = SmallWorld(newest)
        world.app("photos", 1)
        world.app("call", 2)
        world.step(.startRunning(SessionID(1)))
        let first = world.arbiter.lastDecision
        world.step(.startRunning(SessionID(2)))
        #expect(world.heard().last == "2 DidStartRunning")
        #expect(world.arbiter.lastDecision == first + 1)
    }

    /// Which session each cut names as the next.
    private func next(_ effects: [Effect]) -> [SessionID?] {
        effects.compactMap { effect -> SessionID?? in
            if case .cut(_, _, _, let next, _) = effect { .some(next) } else { nil }
        }
    }

    @Test("says with the cut which session is next; a stop without a waiter, and a failed device, are cut without one")
    func namesWhoFollows() {
        var world = SmallWorld(newest)
        world.app("photos", 1)
        world.app("call", 2)
        world.step(.startRunning(SessionID(1)))
        #expect(next(world.step(.startRunning(SessionID(2)))) == [SessionID(2)], "the stronger one")
        #expect(next(world.step(.stopRunning(SessionID(2)))) == [SessionID(1)], "the one that waited")
        world.step(.startRunning(SessionID(2)))
        #expect(
            next(world.step(.disconnected(ClientID(2)))) == [SessionID(1)], "the one that is left")
        #expect(next(world.step(.stopRunning(SessionID(1)))) == [nil], "nobody")
        world.app("call", 3)
        world.step(.startRunning(SessionID(1)))
        world.step(.startRunning(SessionID(3)))
        #expect(next(world.step(.deviceFailed(SmallWorld.camera, .device, message: "no data"))) == [nil])
    }

    @Test("that frees another camera is cut for nobody: its device is not wanted")
    func namesNobodyForAnotherCamera() {
        let front = CameraID("front")
        var policy = newest
        policy.cameras = [CameraRule(camera: SmallWorld.camera, conflicts: [front])]
        var world = SmallWorld(policy)
        world.step(.cameraAppeared(front, SmallWorld.capabilities))
        world.app("photos", 1)
        world.app("call", 2)
        world.step(.created(SessionID(3), ClientID(2), camera: front, Configuration(), reestablished: false))
        world.step(.startRunning(SessionID(1)))
        #expect(next(world.step(.startRunning(SessionID(3)))) == [nil])
        #expect(world.heard().last == "3 DidStartRunning")
    }

    @Test("waits for the cut, and kills the recorder at its deadline")
    func deadline() {
        var world = SmallWorld(newest)
        world.app("photos", 1)
        world.app("call", 2)
        world.step(.startRunning(SessionID(1)))
        world.recorderAnswers = false
        world.step(.startRunning(SessionID(2)))
        #expect(world.heard() == ["1 DidStartRunning", "1 WasInterrupted", "1 DidStopRunning"])
        guard let deadline = world.arbiter.deadline else {
            Issue.record("a revocation without a deadline")
            return
        }
        #expect(deadline == Moment.zero + Bound.cut)
        world.now = deadline
        world.recorderAnswers = true
        world.step(.timePassed)
        #expect(world.heard() == ["2 DidStartRunning"])
    }

    @Test("is undone when the winner vanishes before the cut is confirmed")
    func vanished() {
        var world = SmallWorld(newest)
        world.app("photos", 1)
        world.app("call", 2)
        world.step(.startRunning(SessionID(1)))
        world.recorderAnswers = false
        let effects = world.step(.startRunning(SessionID(2)))
        world.step(.disconnected(ClientID(2)))
        world.recorderAnswers = true
        for case .cut(let camera, let grant, _, _, _) in effects { world.step(.recorderCut(camera, grant)) }
        #expect(
            world.heard() == [
                "1 DidStartRunning", "1 WasInterrupted", "1 DidStopRunning", "1 InterruptionEnded", "1 DidStartRunning",
            ])
    }

    @Test("goes to a tied newcomer, and does not bounce back to one that waited already")
    func tie() {
        var world = SmallWorld(Policy(name: "tie", contention: Contention(tie: .newcomer)))
        for (id, name) in [(1, "a"), (2, "b"), (3, "c")] { world.app(name, UInt64(id)) }
        for id in 1...3 { world.step(.startRunning(SessionID(UInt64(id)))) }
        #expect(
            world.heard() == [
                "1 DidStartRunning", "1 WasInterrupted", "1 DidStopRunning", "2 DidStartRunning", "2 WasInterrupted",
                "2 DidStopRunning", "1 InterruptionChanged", "3 DidStartRunning",
            ])
        world.step(.stopRunning(SessionID(3)))
        #expect(
            world.heard() == ["3 DidStopRunning", "2 InterruptionChanged", "1 InterruptionEnded", "1 DidStartRunning"])
        world.step(.microphone(AppID("x", user: 1000), taken: true))
        world.step(.pressure(.fair))
        #expect(world.heard() == [])
    }

    @Test("with a grace is announced, and withdrawn when the interrupter leaves")
    func withdrawal() {
        var world = SmallWorld(
            Policy(
                name: "grace", rankRules: [RankRule(name: "all", rank: 0, grace: .seconds(5))],
                contention: Contention(order: [.newest])))
        world.app("photos", 1)
        world.app("call", 2)
        world.step(.startRunning(SessionID(1)))
        world.step(.startRunning(SessionID(2)))
        #expect(world.heard() == ["1 DidStartRunning", "1 WillBeInterrupted", "2 WasInterrupted"])
        world.step(.disconnected(ClientID(2)))
        #expect(world.heard() == ["1 InterruptionWithdrawn"])
        #expect(world.arbiter.deadline == nil)
    }
}
