import Arbiter
import ArbiterProtocol
import Explain
import Testing

/// A small world with a recorder that answers at once.
struct SmallWorld {
    var arbiter: Arbiter

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
            let effects = arbiter.step(events.removeFirst(), at: .zero)
            #expect(arbiter.violations() == [])
            all += effects
            for effect in effects {
                switch effect {
                case .open(let camera, let grant, _, let configuration):
                    events.append(.recorderStreaming(camera, grant, inForce: configuration))
                case .cut(let camera, let grant, _, _, _): events.append(.recorderCut(camera, grant))
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
}

/// The part of a handover that no notice and no scenario shows.
@Suite("A handover")
struct HandoverTests {
    let newest = Policy(name: "newest", contention: Contention(order: [.newest]))

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
        #expect(next(world.step(.disconnected(ClientID(2)))) == [SessionID(1)], "the one that is left")
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
        #expect(world.arbiter.status(of: SessionID(3))?.state == .running)
    }
}
