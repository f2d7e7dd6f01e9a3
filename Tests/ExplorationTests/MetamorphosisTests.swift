import Arbiter
import Campaigns
import Scenario
import Testing
import Workbench

/// Events that change nothing, behind each line of random stories. `make metamorphoses` tries many more.
@Suite struct MetamorphosisTests {
    private static let seed: UInt64 = 7
    #if DEBUG
        private static let stories = 10
    #else
        private static let stories = 200
    #endif

    @Test("Nobody hears of what changes nothing, wherever it stands in a story")
    func nobodyHears() throws {
        var compared = 0
        for number in 0..<Self.stories {
            let verdict = FuzzCampaign.run(number, seed: Self.seed, judge: MetamorphosisJudge())
            #expect(verdict.broken == nil, "\(number): \(verdict.broken?.message ?? "")")
            compared += verdict.compared
        }
        #expect(compared > 1000 * Self.stories)
    }

    @Test("An event that does change something is found, and so is one of which somebody hears")
    func found() throws {
        let asleep = Metamorphosis(
            rule: "planted", events: { [.sleep(!$0.arbiter.state.world.isAsleep)] }, isExcused: { _ in false })
        var found: Set<String> = []
        for number in 0..<Self.stories {
            let verdict = FuzzCampaign.run(number, seed: Self.seed, judge: MetamorphosisJudge([asleep]))
            if let broken = verdict.broken { found.insert(broken.message) }
        }
        #expect(found.contains("planted, and sleep leaves another state"))
        #expect(found.contains { $0.hasPrefix("planted, and sleep leads to ") })
    }
}
