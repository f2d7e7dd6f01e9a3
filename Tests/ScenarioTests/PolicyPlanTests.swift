import Arbiter
import ArbiterProtocol
import PolicyFile
import Scenario
import Testing

/// The effects that loading another policy would have on sessions.
@Suite("The plan of a policy")
struct PolicyPlanTests {
    private static let ranks = "name = \"p\"\nranks = [\"strong\", \"weak\"]\n"
    private static func rule(_ app: String, _ more: String) -> String {
        "[[rank]]\nname = \"\(app)'s\"\napp = \"\(app)\"\n\(more)\n"
    }

    /// Photos has the camera, and records; notes waits; maps has stopped.
    private static func arbiter() throws -> (arbiter: Arbiter, now: Moment) {
        let scenario = try Scenario.parse(
            """
            policy built-in
            camera back

            0s   connect photos
                 session photos
                 connect notes
                 session notes
                 connect maps
                 session maps
                 start photos
                 record photos
                 start notes

            """, file: "world", policies: ".")
        var stage = Stage(Arbiter(policy: scenario.world.policy))
        _ = scenario.run(on: &stage)
        return (stage.arbiter, stage.now)
    }

    /// Rules, when the first changes, and each as its app, its kind and the recording that it cuts.
    static let plans: [(String, Duration, [String])] = [
        (rule("notes", "rank = \"strong\""), .zero, ["photos interrupted 1", "notes runs"]),
        (
            rule("notes", "rank = \"strong\"") + rule("photos", "rank = \"weak\"\ngrace = \"5s\""), .seconds(5),
            ["photos interrupted 1", "notes runs"]
        ),
        // A session that may not have a camera any more, and one that stands still.
        (
            rule("photos", "deny = true") + rule("maps", "deny = true"), .zero,
            ["photos stopped 1", "maps refused", "notes runs"]
        ),
        (rule("photos", "rank = \"weak\"\nlease = \"3min\""), .seconds(180), ["photos leased"]),
    ]

    @Test("It names what becomes of whom, and when: also what only waits for a grace or a lease", arguments: plans)
    func changes(_ rules: String, _ first: Duration, _ changes: [String]) throws {
        let (arbiter, now) = try Self.arbiter()
        let policy = try PolicyFile.parse(Self.ranks + rules, file: "p")
        let plan = try #require(PolicyPlan(loading: policy, on: arbiter, at: now))
        let said = plan.changes.map { "\($0.app.name) \($0.kind.rawValue)\($0.recording.map { " \($0)" } ?? "")" }
        #expect(said == changes)
        #expect(plan.changes.first?.after == first)
        // Each by its rule, where one denies it.
        for change in plan.changes where change.kind == .stopped || change.kind == .refused {
            #expect(change.rule == "\(change.app.name)'s")
        }
        guard plan.changes.first?.kind == .interrupted else { return }
        #expect(plan.lines.contains { $0.contains("photos wasInterrupted") })
        #expect(
            plan.lines.contains {
                $0.hasPrefix("#   photos is interrupted\(first == .zero ? "" : " after 5s"): device-in-use")
            })
    }
}
