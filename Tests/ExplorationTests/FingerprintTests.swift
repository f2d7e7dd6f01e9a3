import Arbiter
import ArbiterProtocol
import Campaigns
import Scenario
import Testing
import Workbench

@Suite struct FingerprintTests {
    /// Enough for every field of a state to differ somewhere.
    #if DEBUG
        private static let statesMax = 200
    #else
        private static let statesMax = 250
    #endif

    @Test("Two states have one fingerprint when their keys are equal, and only then, in every small world")
    func agreement() throws {
        for world in try ExploredWorld.deep() + ExploredWorld.meetings() {
            var walk = Walk(world, statesMax: Self.statesMax)
            walk.checksFingerprints = true
            if let counterexample = walk.run().counterexample {
                Issue.record("\(world.name): \(counterexample.message)\n\(counterexample.text)")
            }
        }
    }

    @Test("A fingerprint does not see when something happened, nor how many ids were given before")
    func history() {
        #expect(
            world(startingAt: .zero).fingerprint() == world(startingAt: Moment(nanoseconds: 7_000_000)).fingerprint())
        #expect(world(startingAt: .zero, oddLives: 3).fingerprint() == world(startingAt: .zero).fingerprint())
    }

    @Test("A fingerprint is the same in every run")
    func stability() {
        let fingerprint = Arbiter(policy: .firstCome).fingerprint()
        #expect(String(fingerprint.first, radix: 16) == "1d9b2e86b6c4aae6")
        #expect(String(fingerprint.second, radix: 16) == "92653b064304fe25")
    }

    @Test("Two interchangeable clients are folded: the one's state is the other's, and without folding it is not")
    func folding() {
        let states = [world(startingAt: .zero, starts: 1), world(startingAt: .zero, starts: 2)]
        #expect(states[0].fingerprint() != states[1].fingerprint())
        let cast = FoldedCast([(Self.app(1), 0), (Self.app(2), 0)])
        let folds = states.map { state in
            var fold = StateFold()
            state.fold(cast, into: &fold, session: { _ in 0 }, camera: { _ in 0 })
            return fold
        }
        #expect(folds[0].fingerprint(cast) == folds[1].fingerprint(cast))
        #expect(folds[0].fingerprint(cast.unfolded) != folds[1].fingerprint(cast.unfolded))
        // What a caller remembers of a session goes with it.
        var noted = StateFold()
        states[0].fold(cast, into: &noted, session: { $0.rawValue }, camera: { _ in 0 })
        #expect(noted.fingerprint(cast) != folds[0].fingerprint(cast))
    }

    @Test("A policy that was loaded tells two states apart, and loading the old one again makes them one")
    func policies() {
        var arbiter = world(startingAt: .zero)
        // A camera that starts is nearer to its deadline then.
        _ = arbiter.step(.timePassed, at: Moment(nanoseconds: 50_000_000))
        let before = arbiter.fingerprint()
        let other = Policy(name: "other", contention: Contention(tie: .newcomer))
        _ = arbiter.step(.policyLoaded(other), at: Moment(nanoseconds: 50_000_000))
        #expect(arbiter.fingerprint() != before)
        _ = arbiter.step(.policyLoaded(.firstCome), at: Moment(nanoseconds: 50_000_000))
        #expect(arbiter.fingerprint() == before)
    }

    private static func app(_ number: UInt64) -> AppID { AppID("app-\(number)", user: 1000) }

    /// Two clients with a session each on one camera; one of them asks for it.
    private func world(startingAt start: Moment, starts: UInt64 = 1, oddLives: Int = 0) -> Arbiter {
        var arbiter = Arbiter(policy: .firstCome)
        let camera = CameraID("back")
        let format = CameraFormat(pixelFormat: "420v", width: 640, height: 480, minFrameRate: 1, maxFrameRate: 30)
        _ = arbiter.step(
            .cameraAppeared(
                camera,
                CameraCapabilities(
                    name: "back", position: .back, sensorWidth: 640, sensorHeight: 480, formats: [format])),
            at: start)
        for number in UInt64(1)...2 {
            _ = arbiter.step(
                .connected(ClientID(number), app: Self.app(number), ClientIdentity()), at: start)
            _ = arbiter.step(
                .created(
                    SessionID(number), ClientID(number), camera: camera, Configuration(), reestablished: false),
                at: start)
        }
        for _ in 0..<oddLives {
            for case .open(_, let grant, _, _) in arbiter.step(.startRunning(SessionID(2)), at: start) {
                _ = arbiter.step(.stopRunning(SessionID(2)), at: start)
                _ = arbiter.step(.recorderCut(camera, grant), at: start)
            }
        }
        _ = arbiter.step(.startRunning(SessionID(starts)), at: start)
        return arbiter
    }
}
