import Arbiter
import ArbiterProtocol
import Campaigns
import Scenario
import Testing
import Workbench

@Suite("Snapshots of the core")
struct SnapshotTests {
    private func restored(_ arbiter: Arbiter) throws -> Arbiter {
        let text = try JSONEncoding.json(of: arbiter.snapshot()).text
        let snapshot = try JSONDecoding.value(
            Arbiter.Snapshot.self, from: JSONReader.read(text), userInfo: [.policy: arbiter.policy])
        #expect((try JSONEncoding.json(of: snapshot)) == (try JSONEncoding.json(of: arbiter.snapshot())))
        #expect(try JSONEncoding.json(of: snapshot).text == text, "a snapshot of what was restored is another text")
        return try Arbiter(restoring: snapshot)
    }

    @Test(
        "What goes on from a snapshot does what the original does, to the last effect",
        arguments: [1, 2, 3, 4] as [UInt64])
    func goesOn(_ seed: UInt64) throws {
        let (policy, steps) = try FuzzRun.life(seed, steps: 1500)
        var original = Arbiter(policy: policy)
        var copy: Arbiter?
        var compared = 0
        for (index, step) in steps.enumerated() {
            // Several in one life, each from another state; the copy before has come far enough by then.
            if index % 307 == 150 { copy = try restored(original) }
            let effects = original.step(step.event, at: step.moment)
            #expect(effects == step.effects)
            if copy != nil {
                #expect(copy?.step(step.event, at: step.moment) == effects, "step \(index)")
                #expect(copy?.lastDecision == original.lastDecision)
                compared += 1
            }
        }
        #expect(compared > 1000)
    }

    @Test("A snapshot that contradicts itself is refused with a sentence")
    func contradiction() throws {
        var arbiter = Arbiter(policy: .firstCome)
        let back = CameraCapabilities(name: "back", position: .back, sensorWidth: 4, sensorHeight: 4, formats: [])
        _ = arbiter.step(.cameraAppeared(CameraID("back"), back), at: .zero)
        _ = arbiter.step(
            .connected(ClientID(1), app: AppID("a", user: 1), ClientIdentity()), at: .zero)
        let good = try JSONEncoding.json(of: arbiter.snapshot()).text
        let bad = good.replacing("\"cameraOrder\":[{\"index\":0}]", with: "\"cameraOrder\":[]")
        #expect(bad != good)
        let snapshot = try JSONDecoding.value(
            Arbiter.Snapshot.self, from: JSONReader.read(bad), userInfo: [.policy: Policy.firstCome])
        #expect(throws: Arbiter.BrokenSnapshot.self) { try Arbiter(restoring: snapshot) }
    }

    @Test("A member that is missing is named with its place")
    func missing() throws {
        let text = try JSONEncoding.json(of: Arbiter(policy: .firstCome).snapshot()).text
            .replacing("\"lastOrdinal\":0", with: "\"lastNumber\":0")
        do {
            _ = try JSONDecoding.value(
                Arbiter.Snapshot.self, from: JSONReader.read(text), userInfo: [.policy: Policy.firstCome])
            Issue.record("it was read")
        } catch let problem as JSONDecoding.Problem {
            #expect(problem.message == "state.lastOrdinal is missing")
        }
    }
}
