import Arbiter
import ArbiterProtocol
import Campaigns
import Scenario
import Testing
import Workbench

@Suite struct FingerprintTests {
    @Test("Two states have one fingerprint when their keys are equal, and only then, in every small world")
    func agreement() throws {
        // Enough for every field of a state to differ somewhere: in few deep worlds, and in the first states of many others.
        for (worlds, statesMax) in try [(ExploredWorld.deep(), 250), (ExploredWorld.meetings(), 80)] {
            for world in worlds {
                var walk = Walk(world, statesMax: statesMax)
                walk.checksFingerprints = true
                walk.run().expectKept()
            }
        }
    }

    @Test("A fingerprint does not see when something happened, nor how many ids were given before")
    func history() {
        let usual = world().fingerprint()
        #expect(world(startingAt: Moment(nanoseconds: 7_000_000)).fingerprint() == usual)
        #expect(world(oddLives: 3).fingerprint() == usual)
    }

    @Test("Two interchangeable clients have one state by symmetry reduction, and without it they have two")
    func symmetry() {
        let states = [world(starts: 1), world(starts: 2)]
        #expect(states[0].fingerprint() != states[1].fingerprint())
        let symmetry = AppSymmetry([(Self.app(1), 0), (Self.app(2), 0)])
        let forms = states.map { state in
            var canonical = CanonicalState()
            state.canonicalize(symmetry, into: &canonical, session: { _ in 0 }, camera: { _ in 0 })
            return canonical
        }
        #expect(forms[0].fingerprint(symmetry) == forms[1].fingerprint(symmetry))
        #expect(forms[0].fingerprint(symmetry.withoutReduction) != forms[1].fingerprint(symmetry.withoutReduction))
        // A caller's memory of a session goes with it.
        var noted = CanonicalState()
        states[0].canonicalize(symmetry, into: &noted, session: { $0.rawValue }, camera: { _ in 0 })
        #expect(noted.fingerprint(symmetry) != forms[0].fingerprint(symmetry))
    }

    private static func app(_ number: UInt64) -> AppID { AppID("app-\(number)", user: 1000) }

    /// Two clients with a session each on one camera; one of them asks for it.
    private func world(startingAt start: Moment = .zero, starts: UInt64 = 1, oddLives: Int = 0) -> Arbiter {
        var arbiter = Arbiter(policy: .firstCome)
        let camera = CameraID("back")
        func step(_ event: Event) -> [Effect] { arbiter.step(event, at: start) }
        let format = CameraFormat(pixelFormat: "420v", width: 640, height: 480, minFrameRate: 1, maxFrameRate: 30)
        let back = CameraCapabilities(
            name: "back", position: .back, sensorWidth: 640, sensorHeight: 480, formats: [format])
        _ = step(.cameraAppeared(camera, back))
        for number in UInt64(1)...2 {
            let (client, session) = (ClientID(number), SessionID(number))
            _ = step(.connected(client, app: Self.app(number), ClientIdentity()))
            _ = step(.created(session, client, camera: camera, Configuration(), reestablished: false))
        }
        for _ in 0..<oddLives {
            for case .open(_, let grant, _, _) in step(.startRunning(SessionID(2))) {
                _ = step(.stopRunning(SessionID(2)))
                _ = step(.recorderCut(camera, grant))
            }
        }
        _ = step(.startRunning(SessionID(starts)))
        return arbiter
    }
}
