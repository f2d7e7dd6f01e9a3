import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import Workbench

/// Several threads walk the worlds of several policies, and say what one thread would say.
@Suite("Walking on several threads")
struct WorkerPoolTests {
    private static func plan(_ name: String, _ bounds: SearchBounds = SearchBounds()) throws -> PlannedWalk {
        PlannedWalk(
            try PolicyWalk(Checkout.policy(name), clients: 2, cameras: 2, scope: .policy), bounds, policyLine: name,
            policies: Checkout.policies)
    }

    /// All that a report says of a walk.
    private struct Said: Equatable {
        var numbers: [Int]
        var words: [String?]

        init(_ report: PolicyWalk.Report) {
            numbers = [
                report.worlds, report.populations, report.states, report.transitions, report.recounted, report.depth,
            ]
            numbers += report.applied
            words = [report.finding?.scenario, report.cutOffBy?.rawValue]
        }
    }

    private static func run(
        _ plans: [PlannedWalk], threads: Int = 2, limiter: @escaping SearchLimiter = { _ in nil }
    ) -> [Said] {
        var said: [Said] = []
        PolicyWalk.run(plans, threads: threads, limiter: limiter) { end in
            #expect(end.walk == said.count, "the ends come in the order of the walks")
            said.append(Said(end.report))
        }
        return said
    }

    @Test("Any number of threads says of several policies what one says of each")
    func threads() throws {
        let plans = try ["kiosk.toml", "ios9.toml", "v4l2.toml"].map { try Self.plan($0) }
        let one = plans.flatMap { Self.run([$0], threads: 1) }
        #expect(one.allSatisfy { $0.words == [nil, nil] })
        for threads in [1, 2, 7] { #expect(Self.run(plans, threads: threads) == one, "\(threads) threads") }
    }

    @Test("A bound ends a walk where one thread would end it, and is said", arguments: [50, 700, 3000])
    func bound(_ states: Int) throws {
        let plan = try Self.plan("kiosk.toml", SearchBounds(statesMax: states))
        let one = Self.run([plan], threads: 1)
        #expect(one[0].words == [nil, "states"] && one[0].numbers[2] == states)
        #expect(Self.run([plan], threads: 4) == one)
        let depth = Self.run([try Self.plan("kiosk.toml", SearchBounds(depthMax: 2))], threads: 1)
        #expect(depth[0].words == [nil, "depth"] && depth[0].numbers[5] == 2)
    }

    @Test("Of what is broken in several worlds, the first world's is said, by any number of threads")
    func finding() throws {
        let text = """
            name = "broken"
            [[never]]
            name = "nobody waits for A"
            holder = { app = "a.service" }
            waiting = {}
            """
        let policy = try PolicyFile.parse(text, file: "broken")
        let plan = PlannedWalk(try PolicyWalk(policy, clients: 3, cameras: 1, scope: .policy), policyLine: "broken")
        let one = Self.run([plan], threads: 1)
        #expect(one[0].words[0] != nil)
        #expect(Self.run([plan], threads: 5) == one)
    }

    @Test("A world that was walked whole before is not walked again, and the report is the same")
    func known() throws {
        var plan = try Self.plan("ios9.toml")
        var kept: [Int: WalkedWorld] = [:]
        var whole: [Said] = []
        PolicyWalk.run(
            [plan], threads: 2, kept: { _, world, figures in kept[world] = figures },
            ended: { whole.append(Said($0.report)) })
        #expect(kept.count == whole[0].numbers[0])
        // As if it had been stopped on the way.
        plan.known = kept.filter { $0.key.isMultiple(of: 2) }
        var again: Set<Int> = []
        var said: [Said] = []
        PolicyWalk.run(
            [plan], threads: 2, kept: { _, world, _ in again.insert(world) },
            ended: { said.append(Said($0.report)) })
        #expect(said == whole)
        #expect(again == Set(kept.keys.filter { !$0.isMultiple(of: 2) }))
    }

    @Test("Where memory is short the largest world goes on alone, and nothing is cut off")
    func memory() throws {
        let plans = try ["kiosk.toml", "ios9.toml"].map { try Self.plan($0) }
        let one = Self.run(plans, threads: 1)
        // Short a few times, whoever is under way then; a world that is alone gets what it needs.
        var asked = 0
        let said = Self.run(plans, threads: 3) { progress in
            asked += 1
            return asked.isMultiple(of: 4) && progress.worldsAtOnce > 1 ? .memory : nil
        }
        #expect(said == one)
        #expect(asked > 0)
    }

    @Test(
        "A policy whose time is up, or whose memory is not enough alone, is cut off, and others are walked all the same"
    )
    func oneOfTwo() throws {
        let plans = try ["kiosk.toml", "windows.toml"].map { try Self.plan($0) }
        let alone = Self.run([plans[1]], threads: 1)[0]
        for bound in [SearchBound.memory, .time] {
            let said = Self.run(plans) { $0.walk == 0 ? bound : nil }
            #expect(said[0].words == [nil, bound.rawValue])
            #expect(said[1] == alone)
        }
    }
}
