import Arbiter
import ArbiterProtocol
import Campaigns
import Testing
import Workbench

@Suite struct WalkTests {
    /// Empty when a world's text is wrong, of which every other test of them fails.
    static let deepWorlds = (try? ExploredWorld.deep().map(\.name)) ?? []

    @Test("No promise is broken in any state of a small world, as far as it is walked", arguments: deepWorlds)
    func invariants(_ name: String) throws {
        let world = try #require(try ExploredWorld.deep().first { $0.name == name })
        // Enough for half a dozen worlds to be walked whole.
        let report = Walk(world, statesMax: isDebug ? 800 : 4_000).run()
        report.expectKept()
        print("walked \(report.states) states of the world \(name)\(report.isComplete ? ", all there are" : "")")
    }

    @Test("Every pair of event kinds meets in some world, and no promise is broken where they do")
    func meetings() throws {
        var states = 0
        var pairs: Set<[EventKind]> = []
        for world in try ExploredWorld.meetings() {
            let report = Walk(world, statesMax: isDebug ? 500 : 2000).run()
            states += report.states
            for a in report.kinds { for b in report.kinds where a <= b { pairs.insert([a, b]) } }
            report.expectKept()
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
}
