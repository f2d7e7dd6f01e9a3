import Arbiter
import ArbiterProtocol
import Testing

@Suite("The core is a function of its trace")
struct DeterminismTests {
    /// Many apps, clients and cameras, so that a hash order would show.
    private func trace() -> [Event] {
        var events: [Event] = []
        for name in ["c", "a", "b"] { events.append(.cameraAppeared(CameraID(name), SmallWorld.capabilities)) }
        events.append(.sourceAttached(.shell, user: nil))
        for number in 1...UInt64(40) {
            let app = AppID("app\(number % 17)", user: 1000 + UInt32(number % 3))
            events.append(.connected(ClientID(number), app: app, ClientIdentity()))
            events.append(
                .created(
                    SessionID(number), ClientID(number), camera: CameraID(["a", "b", "c"][Int(number % 3)]),
                    Configuration([.usesAudio: .flag(number % 2 == 0)]), reestablished: false))
            events.append(.startRunning(SessionID(number)))
            events.append(.placed(app, .foreground(.split), focused: number % 5 == 0, by: .shell))
        }
        events += [
            .microphone(AppID("app3", user: 1000), taken: true), .sleep(true), .sleep(false), .privacy(nil, on: true),
            .privacy(nil, on: false), .sourceGone(.shell, user: nil), .disconnected(ClientID(7)), .pressure(.critical),
        ]
        return events
    }

    private var policy: Policy {
        Policy(
            name: "busy", sources: [.shell],
            causeRules: [
                CauseRule(
                    name: "behind", when: [.foreground(false)], cause: .videoDeviceNotAvailableInBackground),
                CauseRule(
                    name: "phone", when: [.microphoneTaken(true), .usesAudio(true)],
                    cause: .audioDeviceInUseByAnotherClient),
            ], contention: Contention(order: [.focused, .newest]),
            cameras: [CameraRule(camera: CameraID("a"), conflicts: [CameraID("b")])])
    }

    private func run() -> [[Effect]] {
        var arbiter = Arbiter(policy: policy)
        var now = Moment.zero
        var all: [[Effect]] = []
        var events = trace()
        while !events.isEmpty {
            now = now + .milliseconds(1)
            let effects = arbiter.step(events.removeFirst(), at: now)
            all.append(effects)
            #expect(arbiter.violations() == [])
            for effect in effects.reversed() {
                switch effect {
                case .open(let camera, let grant, _, let configuration):
                    events.insert(.recorderStreaming(camera, grant, inForce: configuration), at: 0)
                case .cut(let camera, let grant, _, _, _): events.insert(.recorderCut(camera, grant), at: 0)
                default: break
                }
            }
        }
        return all
    }

    @Test("The same trace of events gives the same effects, whatever the hash seed of a collection")
    func sameTrace() {
        let first = run()
        // Each collection has a seed of its own for its storage, so repeating within a process is a real test.
        for _ in 0..<5 { #expect(run() == first) }
        #expect(first.joined().contains { if case .cut = $0 { true } else { false } })
    }
}
