import Arbiter
import ArbiterProtocol
import Campaigns
import Explain
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
        let (policy, steps) = try FuzzRun.longRun(seed, steps: 1500)
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

    @Test("A state that walks write over with another one is that other, to the last field", arguments: [8, 9, 10])
    func becomes(_ seed: UInt64) throws {
        let (policy, steps) = try FuzzRun.longRun(seed, steps: 200)
        var original = Arbiter(policy: policy)
        var reused = original
        for (index, step) in steps.enumerated() {
            _ = original.step(step.event, at: step.moment)
            // The overwritten snapshot is sometimes a state of long ago.
            if index % 3 == 0 { continue }
            reused.become(original)
            #expect((try JSONEncoding.json(of: reused.snapshot())) == (try JSONEncoding.json(of: original.snapshot())))
        }
    }

    /// The result of reading a core's snapshot in which one text replaces another.
    private func broken(_ arbiter: Arbiter, _ good: String, _ bad: String) throws -> Arbiter.Snapshot {
        let text = try JSONEncoding.json(of: arbiter.snapshot()).text
        #expect(text.contains(good))
        return try JSONDecoding.value(
            Arbiter.Snapshot.self, from: JSONReader.read(text.replacing(good, with: bad)),
            userInfo: [.policy: arbiter.policy])
    }

    @Test("A snapshot that contradicts itself is refused with a sentence, and a member that is missing with its place")
    func contradiction() throws {
        var arbiter = Arbiter(policy: .firstCome)
        let back = CameraCapabilities(name: "back", position: .back, sensorWidth: 4, sensorHeight: 4, formats: [])
        _ = arbiter.step(.cameraAppeared(CameraID("back"), back), at: .zero)
        let snapshot = try broken(arbiter, "\"cameraOrder\":[{\"index\":0}]", "\"cameraOrder\":[]")
        #expect(throws: Arbiter.BrokenSnapshot.self) { try Arbiter(restoring: snapshot) }
        let problem = #expect(throws: JSONDecoding.Problem.self) {
            _ = try broken(arbiter, "\"lastOrdinal\":", "\"lastNumber\":")
        }
        #expect(problem?.message == "state.lastOrdinal is missing")
    }
}
