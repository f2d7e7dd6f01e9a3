import Arbiter
import ArbiterProtocol
import PolicyFile
import Scenario
import Testing

/// What would become of whom if another policy were loaded now.
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

    private static func plan(_ policy: String) throws -> PolicyPlan {
        let (arbiter, now) = try arbiter()
        return try #require(
            PolicyPlan(loading: try PolicyFile.parse(Self.ranks + policy, file: "p"), on: arbiter, at: now))
    }

    private static func words(_ plan: PolicyPlan) -> [String] {
        plan.changes.map { "\($0.app.name) \($0.kind.rawValue) \($0.rule)\($0.recording.map { " cuts \($0)" } ?? "")" }
    }

    @Test("It names who would lose the camera, to whom, by which rule, and the recording that it cuts")
    func loses() throws {
        let plan = try Self.plan(Self.rule("notes", "rank = \"strong\""))
        #expect(plan.changes.map(\.kind) == [.interrupted, .runs])
        #expect(plan.changes.map(\.app.name) == ["photos", "notes"])
        #expect(plan.changes.first?.recording == 1 && plan.changes.first?.after == .zero)
        #expect(plan.lines.contains { $0.contains("photos wasInterrupted") })
        #expect(plan.lines.contains { $0.hasPrefix("#   photos is interrupted: device-in-use") })
    }

    @Test("What only waits for a grace is in it, with its time")
    func grace() throws {
        let plan = try Self.plan(
            Self.rule("notes", "rank = \"strong\"") + Self.rule("photos", "rank = \"weak\"\ngrace = \"5s\""))
        #expect(plan.changes.map(\.kind) == [.interrupted, .runs])
        #expect(plan.changes.first?.after == .seconds(5))
    }

    @Test("A session that may not have a camera any more is stopped, and one that stands still would be refused")
    func denied() throws {
        let plan = try Self.plan(Self.rule("photos", "deny = true") + Self.rule("maps", "deny = true"))
        #expect(
            Self.words(plan) == [
                "photos stopped photos's cuts 1", "maps refused maps's",
                "notes runs " + (plan.changes.last?.rule ?? ""),
            ])
    }

    @Test("A lease that the holder gets is in it, with its end")
    func lease() throws {
        let plan = try Self.plan(Self.rule("photos", "rank = \"weak\"\nlease = \"3min\""))
        #expect(plan.changes.map(\.kind) == [.leased])
        #expect(plan.changes.first?.after == .seconds(180))
    }

    @Test("A plan that may not go on is none")
    func impatient() throws {
        let (arbiter, now) = try Self.arbiter()
        #expect(PolicyPlan(loading: .firstCome, on: arbiter, at: now) { false } == nil)
    }
}
