import Arbiter
import ArbiterProtocol
import Campaigns
import PolicyFile
import Scenario
import Testing
import Workbench

/// Policies and stories by chance: what they can say, and that what breaks a promise is found and made small.
@Suite struct FuzzTests {
    private static let seed: UInt64 = 7

    private func story(_ number: Int, shares: Bool = true) throws -> FuzzStory {
        try FuzzCampaign.story(number, seed: Self.seed, shares: shares)
    }

    private func policies(_ count: Int) throws -> [Policy] {
        var generator = PolicyGenerator(SeededRandom(seed: Self.seed))
        return try (0..<count).map { _ in try generator.policy() }
    }

    // MARK: The generators

    @Test("The same numbers make the same story, and others make another")
    func deterministic() throws {
        let texts = try (0..<60).map { try story($0).text("Once.") }
        #expect(try (0..<60).map { try story($0).text("Once.") } == texts)
        #expect(Set(texts).count == texts.count)
        #expect(try FuzzCampaign.story(0, seed: Self.seed + 1).text("Once.") != texts[0])
    }

    @Test("Ten thousand random policies say every key of the language, each with something else than holds anyway")
    func keys() throws {
        var said: Set<PolicyKey> = []
        for policy in try policies(10_000) { said.formUnion(policy.saidKeys) }
        // A text stands on no other file.
        #expect(Set(PolicyFile.language).subtracting(said) == [PolicyKey("", "include")])
    }

    @Test("Taken apart as far as it goes, every policy says nothing but its name")
    func takenApart() throws {
        for policy in try policies(300) {
            var least = policy
            while let simpler = least.simplifications.first { least = simpler }
            #expect(least.saidKeys == [PolicyKey("", "name")], "\(PolicyWriter.text(least))")
        }
    }

    @Test("Every fact with each of its values, and every subset of access, stands in some rule")
    func facts() throws {
        let policies = try policies(1500)
        let rules = policies.flatMap(\.causeRules)
        let tests = Set(rules.flatMap(\.when) + policies.flatMap(\.rankRules).flatMap(\.when))
        var wanted: [FactTest] = Facts.LoginState.allCases.map { .loginSession($0) }
        wanted += Presence.Layout.allCases.map { .layout($0) }
        wanted += Facts.ForegroundApps.allCases.map { .foregroundApps($0) }
        wanted += ClientKind.allCases.map { .client($0) } + CameraPosition.allCases.map { .position($0) }
        wanted += SystemPressure.allCases.map { .pressure(atLeast: $0) }
        for flag in [false, true] {
            wanted += [.foreground(flag), .focused(flag), .multitasking(flag), .usesAudio(flag)]
            wanted += [.microphoneTaken(flag), .recording(flag), .bidIsNew(flag), .operatorChosen(flag)]
        }
        wanted += ["a", "d"].flatMap { [FactTest.app($0), .claimedApp($0)] }
        wanted += [.user(1000), .user(1001), .camera(CameraID("back")), .attribute("duty", "mid"), .mode(nil)]
        for test in wanted { #expect(tests.contains(test), "no rule asks for \(test.written)") }
        #expect(Set(tests.map(\.written.key)) == Set(wanted.map(\.written.key)).union(["place"]))
        #expect(Set(rules.map(\.access)).count == 16)
        #expect(Set(rules.map(\.cause)) == Set(CauseRule.causes))
    }

    @Test("Every choice of contention is made, and cameras are shared in half of the policies")
    func contention() throws {
        let policies = try policies(600)
        let all = policies.map(\.contention)
        #expect(Set(all.map(\.tie)) == Set(Contention.Tie.allCases))
        #expect(Set(all.map(\.sameApp)) == Set(Contention.SameApp.allCases))
        #expect(Set(all.map(\.ownConflict)) == Set(Contention.OwnConflict.allCases))
        #expect(Set(all.map(\.newcomer)) == Set(Contention.Newcomer.allCases))
        #expect(Set(all.map(\.loser)) == Set(Contention.Loser.allCases))
        #expect(Set(all.map(\.reDecide)) == Set(Contention.ReDecide.allCases))
        #expect(Set(all.map(\.givesWay)) == Set(Contention.GivesWay.allCases))
        #expect(Set(all.map(\.strongestMayExceed)).count == 2 && Set(all.map(\.backfill)).count == 2)
        #expect(Set(all.map(\.coolDown)).count > 3 && Set(all.map(\.budget)).count > 3)
        let keys = Set(all.flatMap(\.order))
        #expect(Set(all.filter { $0.sharing == .readOnly }.map(\.shareWith)) == Set(Contention.ShareWith.allCases))
        #expect(keys == Set(Contention.OrderKey.builtIn + [.attribute("duty"), .attribute("place")]))
        let sharing = all.filter { $0.sharing == .readOnly }.count
        #expect((250...350).contains(sharing), "\(sharing) of 600 share")
        let rules = policies.flatMap(\.rankRules)
        for has: (RankRule) -> Bool in [
            { $0.deny }, { $0.isImmediate }, { $0.grace > .zero }, { $0.minHold > .zero }, { $0.lease != nil },
        ] { #expect(rules.contains(where: has)) }
        let cameras = policies.flatMap(\.cameras)
        #expect(cameras.contains { !$0.conflicts.isEmpty } && cameras.contains { $0.cost.dearest > 0 })
        #expect(cameras.contains { $0.cost.isByFormat && $0.cost.formats.contains { $0.pixelFormat != nil } })
        #expect(policies.flatMap(\.modes).contains { !$0.at.isEmpty })
    }

    @Test("Without sharing, no policy shares, and none that is reloaded does")
    func withoutSharing() throws {
        for number in 0..<80 {
            let story = try story(number, shares: false)
            for policy in [story.policy] + story.lines.compactMap(\.policy) {
                #expect(policy.contention.sharing == .none)
            }
        }
    }

    @Test("Every word of the scenario language stands in some story")
    func words() throws {
        var inputs: Set<String> = []
        var recorders: Set<String> = []
        for number in 0..<300 {
            for line in try story(number).lines where !line.text.isEmpty {
                let words = line.text.split(separator: " ").map(String.init)
                inputs.insert(words[0])
                if words[0] == "recorder" { recorders.formUnion(words.dropFirst(2)) }
            }
        }
        #expect(inputs == Set(Scenario.inputWords))
        // With answers by hand, a recorder could lie.
        #expect(Set(Scenario.recorderWords).subtracting(recorders) == ["manual"])
    }

    @Test("A story is a scenario that says what was made, its policies word by word")
    func readsBack() throws {
        for number in 0..<150 {
            let story = try story(number)
            let scenario = try Scenario.parse(story.text("Story \(number)."), file: "story", policies: ".")
            #expect(scenario.world.policy == story.policy)
            #expect(scenario.world.cameras.map(\.id.name) == story.cameras.map(\.name))
            var reloaded: [Policy] = []
            for case .event(.policyLoaded(let policy)) in scenario.setup where policy != .firstCome {
                reloaded.append(policy)
            }
            #expect(reloaded == story.lines.compactMap(\.policy).filter { $0 != .firstCome })
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
        // Nobody compares here: that has tests of its own.
        #expect(features.missing == [.compared])
    }

    // MARK: Finding and shrinking

    @Test("A planted objection is found, and the story shrinks to what it is about")
    func planted() throws {
        let (found, smallest) = try shrunk(ReloadAsleep())
        #expect(smallest.lines.map(\.text) == ["sleep", "policy-reload built-in"])
        #expect(smallest.lines.allSatisfy { $0.at == .zero && $0.policy == nil })
        #expect(smallest.policy == Policy(name: "fuzz"))
        #expect(smallest.cameras.map(\.words) == [""])
        #expect(FuzzRun.run(smallest.text("The smallest."), judge: ReloadAsleep()).broken?.promise == found.promise)
        #expect(FuzzRun.run(smallest.text("The smallest.")).outcome == .kept)
    }

    @Test("Of what is left when a story is small, no line can go, and no time is longer than it has to be")
    func smallest() throws {
        let (found, smallest) = try shrunk(LongWarning())
        func isBroken(_ story: FuzzStory) -> Bool {
            FuzzRun.run(story.text("Smaller."), judge: LongWarning()).broken?.promise == found.promise
        }
        #expect(isBroken(smallest))
        // Two clients, a session each, two starts, and perhaps what makes one the stronger.
        #expect(smallest.lines.count <= 8, "\(smallest.text("Too long."))")
        for index in smallest.lines.indices {
            var smaller = smallest
            smaller.lines.remove(at: index)
            #expect(!isBroken(smaller), "“\(smallest.lines[index].text)” is not needed")
        }
        let graces = [smallest.policy] + smallest.lines.compactMap(\.policy)
        #expect(graces.contains { $0.rankRules.contains { $0.grace > .seconds(1) } })
        #expect(graces.allSatisfy { $0.statements.isEmpty && $0.attributes.isEmpty })
    }

    @Test("Without going on, the first broken story is the one that counts, whoever brings its verdict first")
    func first() {
        var options = FuzzCampaign.Options()
        options.stories = 4
        let campaign = FuzzCampaign(options)
        let numbers = (0..<3).compactMap { _ in campaign.next() }
        #expect(numbers == [0, 1, 2])
        campaign.note(2, FuzzVerdict(.broken(.init("2: late 3", lines: 1))))
        #expect(campaign.next() == nil)
        campaign.note(1, FuzzVerdict(.broken(.init("1: early", lines: 9))))
        campaign.note(0, FuzzVerdict(.kept))
        #expect(campaign.findings.map(\.number) == [1])
        #expect(campaign.tally.stories == 3 && campaign.tally.broken == 2)
    }

    @Test("Going on, each way to break a promise is kept once, with its shortest story, the most frequent first")
    func goesOn() {
        var options = FuzzCampaign.Options()
        options.keepsGoing = true
        options.first = 10
        options.stories = 3
        let campaign = FuzzCampaign(options)
        campaign.note(10, FuzzVerdict(.broken(.init("2: session 3 late", lines: 9))))
        campaign.note(11, FuzzVerdict(.broken(.init("the deadline 2s is in the past", lines: 1))))
        campaign.note(12, FuzzVerdict(.broken(.init("2: session 40 late", lines: 4))))
        #expect(campaign.findings.map(\.number) == [12, 11])
        #expect(campaign.findings.map(\.count) == [2, 1])
        #expect((0..<4).map { _ in campaign.next() } == [10, 11, 12, nil])
    }

    @Test("A class is the message without numbers, times, names and lists, with the number of the promise")
    func classes() {
        let session = PromiseClass("2: session 31 may [\"photo\"], and its causes leave []")
        #expect(session.description == "2: session N may […], and its causes leave […]")
        #expect(session.fileName == "2-session-n-may-and-its-causes-leave")
        #expect(PromiseClass("the deadline 2.5s is in the past") == PromiseClass("the deadline 250ms is in the past"))
        #expect(PromiseClass("1: back and wide conflict") == PromiseClass("1: front and back conflict"))
        #expect(PromiseClass("1: back is held") != PromiseClass("4: back is held"))
        #expect(PromiseClass("because “k0” says so") == PromiseClass("because “rest” says so"))
    }

    @Test("A verdict reads back from its line, and nothing else does")
    func lines() {
        var verdict = FuzzVerdict(.broken(.init("two\nlines\tand \\n", lines: 3, moment: Moment(nanoseconds: 5))))
        verdict.steps = 12
        verdict.policies = 2
        verdict.compared = 3
        verdict.features.insert(.lease)
        verdict.kinds.insert(.timePassed)
        verdict.said = [PolicyKey("", "sources"): 1, PolicyKey("contention", "tie"): 2]
        for outcome in [verdict.outcome, .kept, .unreadable("no\nscenario"), .broken(.init("it ended"))] {
            verdict.outcome = outcome
            #expect(!verdict.line.contains("\n"))
            #expect(FuzzVerdict(line: verdict.line) == verdict)
        }
        #expect(FuzzVerdict(line: "Fatal error: Index out of range") == nil)
    }

    /// The first story to which it objects, and what is left of that.
    private func shrunk(_ judge: any FuzzJudge) throws -> (found: FuzzCampaign.Finding, smallest: FuzzStory) {
        let found = try #require(find(judge))
        var shrinker = FuzzShrinker(try story(found.number), found.broken) { FuzzRun.run($0, judge: judge) }
        return (found, shrinker.shrink())
    }

    private func find(_ judge: any FuzzJudge) -> FuzzCampaign.Finding? {
        var options = FuzzCampaign.Options()
        options.seed = Self.seed
        options.stories = 400
        options.keepsGoing = true
        let campaign = FuzzCampaign(options)
        while let number = campaign.next() {
            campaign.note(number, FuzzCampaign.run(number, seed: Self.seed, judge: judge))
            // The core's own mistakes are not what is looked for here.
            if let found = campaign.findings.first(where: { $0.broken.message.hasPrefix("planted") }) { return found }
        }
        return nil
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

/// Objects to a warning that leaves more than a second.
private struct LongWarning: FuzzJudge {
    mutating func judge(_ step: Stage.Step) -> String? {
        for case .notify(_, let session, _, .willBeInterrupted(_, _, let deadline, _)) in step.effects
        where deadline - step.moment > .seconds(1) {
            return "planted: session \(session.rawValue) is warned for long"
        }
        return nil
    }
}
