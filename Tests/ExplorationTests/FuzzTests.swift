import Arbiter
import ArbiterProtocol
import Campaigns
import PolicyFile
import Scenario
import Testing
import Workbench

/// Policies and cases by chance: what they can say, and that what breaks a promise is found and made small.
@Suite struct FuzzTests {
    private static let seed: UInt64 = 7

    @Test("Ten thousand random policies say every key of the language, each with something else than holds anyway")
    func keys() throws {
        var generator = PolicyGenerator(SeededRandom(seed: Self.seed))
        var said: Set<PolicyKey> = []
        for _ in 0..<10_000 { said.formUnion(try generator.policy().saidKeys) }
        // A text stands on no other file.
        #expect(Set(PolicyFile.language).subtracting(said) == [PolicyKey("", "include")])
    }

    @Test("Taken apart as far as it goes, every policy says nothing but its name")
    func takenApart() throws {
        var generator = PolicyGenerator(SeededRandom(seed: Self.seed))
        for _ in 0..<300 {
            var least = try generator.policy()
            while let simpler = least.simplifications.first { least = simpler }
            #expect(least.saidKeys == [PolicyKey("", "name")], "\(PolicyWriter.text(least))")
        }
    }

    @Test("Every kind of event happens, and every feature is met")
    func kinds() throws {
        var kinds = Set<EventKind>()
        var features = Set<FuzzFeature>()
        for number in 0..<800 {
            let verdict = FuzzCampaign.run(number, seed: Self.seed)
            if case .unreadable(let message) = verdict.outcome { Issue.record("\(number): \(message)") }
            kinds.formUnion(verdict.kinds)
            features.formUnion(verdict.features)
        }
        #expect(kinds.missing == [])
        // Nobody compares here: that has tests of its own. No random client takes video, so none sees a slate.
        // The others are too rare for 800 runs: a recording's requests in an order that the arbiter takes.
        let never: Set<FuzzFeature> = [.compared, .effect(.setSlate)]
        let rare: Set<FuzzFeature> = [
            .effect(.capturePhotoBracket), .effect(.detachMicrophone), .effect(.appendMetadata),
            .effect(.resumeRecording), .notice("RecordingResumed"),
        ]
        #expect(never.isSubset(of: features.missing) && rare.union(never).isSuperset(of: features.missing))
    }

    /// `make metamorphoses` tries many more.
    @Test("Nobody hears of what changes nothing, wherever it stands in a run")
    func nobodyHears() throws {
        let runs = isDebug ? 10 : 200
        var compared = 0
        for number in 0..<runs {
            let verdict = FuzzCampaign.run(number, seed: Self.seed, judge: MetamorphicJudge())
            #expect(verdict.broken == nil, "\(number): \(verdict.broken?.message ?? "")")
            compared += verdict.compared
        }
        #expect(compared > 1000 * runs)
    }

    @Test("A planted objection is found, and the run shrinks to what it is about")
    func planted() throws {
        // The core's own mistakes are not what is looked for here.
        var first: (number: Int, broken: FuzzVerdict.Broken)?
        for number in 0..<400 where first == nil {
            let verdict = FuzzCampaign.run(number, seed: Self.seed, judge: ReloadAsleep())
            if let broken = verdict.broken, broken.message.hasPrefix("planted") { first = (number, broken) }
        }
        let found = try #require(first)
        let fuzzCase = try FuzzCampaign.fuzzCase(found.number, seed: Self.seed)
        var shrinker = FuzzShrinker(fuzzCase, found.broken) { FuzzRun.run($0, judge: ReloadAsleep()) }
        let smallest = shrinker.shrink()
        #expect(smallest.lines.map(\.text) == ["sleep", "policy-reload built-in"])
        #expect(smallest.lines.allSatisfy { $0.at == .zero && $0.policy == nil })
        #expect(smallest.policy == Policy(name: "fuzz") && smallest.cameras.map(\.words) == [""])
        let text = smallest.text("The smallest.")
        #expect(FuzzRun.run(text, judge: ReloadAsleep()).broken?.promise == found.broken.promise)
        #expect(FuzzRun.run(text).outcome == .kept)
    }
}

/// Objects to a policy that is reloaded while the machine sleeps.
private struct ReloadAsleep: FuzzJudge {
    private var isAsleep = false

    mutating func judge(_ step: Stage.Step) -> String? {
        switch step.event {
        case .sleep(let sleeps): isAsleep = sleeps
        case .policyLoaded where isAsleep: return "planted: reloaded at \(step.moment.nanoseconds)"
        default: break
        }
        return nil
    }
}
