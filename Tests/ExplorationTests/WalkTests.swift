import Arbiter
import Campaigns
import Scenario
import Testing
import Workbench

/// How far the walks of a test run go: all that fits into a minute in a release build.
private enum Reach {
    #if DEBUG
        static let deepStates = 800
        static let meetingStates = 500
    #else
        // Enough for half a dozen worlds to be walked whole.
        static let deepStates = 16_000
        static let meetingStates = 2000
    #endif
}

@Suite struct WalkTests {
    /// Empty, and with it the test for them red, when a world's text is wrong.
    static let deepWorlds = (try? ExploredWorld.deep().map(\.name)) ?? []

    @Test("No promise is broken in any state of a small world, as far as it is walked", arguments: deepWorlds)
    func invariants(_ name: String) throws {
        let world = try #require(try ExploredWorld.deep().first { $0.name == name })
        let report = Walk(world, statesMax: Reach.deepStates).run()
        if let counterexample = report.counterexample {
            Issue.record("\(world.name): \(counterexample.message)\n\(counterexample.text)")
        }
        print("walked \(report.states) states of the world \(name)\(report.isComplete ? ", all there are" : "")")
    }

    @Test("Every pair of event kinds meets in some world, and no promise is broken where they do")
    func meetings() throws {
        var states = 0
        var pairs: Set<[EventKind]> = []
        for world in try ExploredWorld.meetings() {
            let report = Walk(world, statesMax: Reach.meetingStates).run()
            states += report.states
            for a in report.kinds { for b in report.kinds where a <= b { pairs.insert([a, b]) } }
            if let counterexample = report.counterexample {
                Issue.record("\(world.name): \(counterexample.message)\n\(counterexample.text)")
            }
        }
        print("walked \(states) states of the worlds in which all events meet")
        var missing: [String] = []
        for a in EventKind.allCases {
            for b in EventKind.allCases where a <= b && !pairs.contains([a, b]) {
                missing.append("\(a.rawValue) and \(b.rawValue)")
            }
        }
        #expect(missing.isEmpty, "\(missing.count) pairs never met: \(missing.prefix(20).joined(separator: "; "))")
    }

    @Test(
        "There are at least fifteen worlds, all small: three clients and two cameras, but for the one row that is about three cameras"
    )
    func sizes() throws {
        #expect(try ExploredWorld.deep().count >= 15)
        #expect(Set(Self.deepWorlds).count == Self.deepWorlds.count)
        for world in try ExploredWorld.deep() + ExploredWorld.meetings() {
            #expect(world.size.clients <= 3, "\(world.name)")
            #expect(world.size.cameras <= (world.name == "chain" ? 3 : 2), "\(world.name)")
        }
    }

    @Test("A violation is printed as a scenario that runs and ends in the violation, and no shorter way leads there")
    func counterexample() throws {
        let world = try ExploredWorld(
            "two-apps",
            """
            policy built-in
            camera back
            0s   connect a
                 connect b
                 session a camera=back
                 session b camera=back

            """, moves: ["start a", "stop a", "start b", "stop b", "record a"])
        // Pretend that an interrupted session is forbidden: it takes two starts.
        let report = Walk(world, statesMax: 1000).run { state in
            state.status().sessions.contains { $0.state == .interrupted } ? "somebody is interrupted" : nil
        }
        let found = try #require(report.counterexample)
        #expect(found.message == "somebody is interrupted")
        #expect(found.text.hasSuffix("# broken: somebody is interrupted\n"))
        #expect(found.text.split(separator: "\n").filter { $0.contains(" start ") }.count == 2)
        let outcome = try Scenario.parse(found.text, file: "counterexample", policies: ".").run()
        #expect(outcome.passed, "\(outcome.report)")
        #expect(outcome.rewritten.contains("wasInterrupted #1 device-in-use"))
    }

    @Test("A small world comes to its end, and twice to the same one")
    func completes() throws {
        let world = try ExploredWorld(
            "one-app",
            """
            policy built-in
            camera back
            0s   connect a
                 session a camera=back

            """, moves: ["start a", "stop a", "record a", "stop-record a"])
        let first = Walk(world, statesMax: 10_000).run()
        let second = Walk(world, statesMax: 10_000).run()
        #expect(first.isComplete)
        #expect(first.states == second.states && first.transitions == second.transitions)
        #expect(first.states > 10)
    }
}
