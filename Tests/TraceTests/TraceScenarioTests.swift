import Arbiter
import ArbiterProtocol
import Campaigns
import PolicyFile
import Scenario
import Testing
import Workbench

/// What can be made of a trace.
@Suite("Scenarios and comparisons of traces")
struct TraceScenarioTests {
    /// The trace of what happens in a scenario.
    static func trace(_ scenario: String) throws -> TracePart {
        let parsed = try Scenario.parse(scenario, file: "test.scenario", policies: ".")
        var stage = Stage(Arbiter(policy: parsed.world.policy))
        #expect(parsed.run(on: &stage).passed)
        let bytes = TraceFileTests.written(stage.steps.map { ($0.event, $0.moment) }, parsed.world.policy)[0]
        return try #require(try TraceReader.read(bytes, file: "test.trace").first)
    }

    static let visit = """
        # A call takes the camera and gives it back.

        policy \"\"\"
        name = "visit"
        sources = []
        ranks = ["call", "usual"]

        [[rank]]
        name = "Calls come first"
        client = "voip"
        rank = "call"

        [[rank]]
        name = "Everybody else"
        rank = "usual"

        [contention]
        order = []
        tie = "holder"
        \"\"\"

        0s   connect photos
             session photos camera=back
             start photos
               photos didStartRunning
        1s   record photos
               photos recordingStarted 1
        2s   connect call kind=voip
             session call camera=back
             start call
               photos wasInterrupted #1 device-in-use by call, cutting recording 1
               photos didStopRunning
               call didStartRunning
               photos recordingFinished 1 interrupted after 1s, for device-in-use by call
        3s   stop call
               call didStopRunning
               photos interruptionEnded #1 after 1s, resuming, recording 1 was cut
               photos didStartRunning
        """

    @Test("A long random life becomes a scenario that passes", arguments: 1...12 as ClosedRange<UInt64>)
    func random(_ seed: UInt64) throws {
        let bytes = try TraceFileTests.files(seed: seed, isHonest: true)[0]
        let part = try #require(try TraceReader.read(bytes, file: "a.trace").first)
        let made = try TraceScenario(part, title: "A life")
        #expect(made.deviation == nil, "\(made.deviation ?? "")")
        #expect(try Scenario.parse(made.text, file: "made.scenario", policies: ".").run().passed)
    }

    @Test("A trace that begins in the middle is no scenario, and the place is its header")
    func middle() throws {
        let files = try TraceFileTests.files(rotations: [100])
        let part = try #require(try TraceReader.read(files[1], file: "b.trace").first)
        #expect {
            _ = try TraceScenario(part, title: "A life")
        } throws: { error in
            "\(error)".hasPrefix("b.trace:1: the trace begins in the middle, behind step 100")
        }
    }

    @Test("Under its own policy nothing changes", arguments: [1, 2, 3] as [UInt64])
    func unchanged(_ seed: UInt64) throws {
        let part = try #require(try TraceReader.read(TraceFileTests.files(seed: seed)[0], file: "a.trace").first)
        let same = try PolicyComparison(part, under: part.header.policy)
        let reloads = part.steps.count { if case .policyLoaded = $0.event { true } else { false } }
        #expect(same.inputs > 100)
        // Another policy that was loaded in its life is not loaded in the comparison: from there on they may differ.
        if reloads == 0 { #expect(same.changes.isEmpty) }
    }

    @Test(
        "Under another policy the sessions that have something else are named, with the line, the time and both rules")
    func compared() throws {
        let comparison = try PolicyComparison(try Self.trace(Self.visit), under: .firstCome)
        let said = comparison.changes.map { "\($0.session): \($0.before) → \($0.after)" }
        #expect(said.count == 2, "\(said)")
        #expect(said.first?.hasPrefix("photos: interrupted (device-in-use)") == true, "\(said)")
        #expect(said.first?.contains("→ running") == true, "\(said)")
        #expect(said.last?.hasPrefix("call: running") == true, "\(said)")
        #expect(said.last?.contains("→ interrupted (device-in-use)") == true, "\(said)")
        #expect(comparison.changes.allSatisfy { $0.moment == .zero + .seconds(2) && $0.event == "start call" })
        #expect(comparison.changes.allSatisfy { $0.line > 1 })
    }
}
