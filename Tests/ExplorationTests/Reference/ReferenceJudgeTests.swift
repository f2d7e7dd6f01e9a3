import Arbiter
import Campaigns
import PolicyFile
import Scenario
import Testing

/// The naive arbiter as a judge of random stories: that it has something to say, and says it.
@Suite struct ReferenceJudgeTests {
    @Test("The reference agrees with random stories, and compares most of them to their ends")
    func agrees() {
        var (compared, whole) = (0, 0)
        for number in 0..<400 {
            let verdict = FuzzCampaign.run(number, seed: 11, judge: ReferenceJudge())
            compared += verdict.compared
            whole += verdict.features.contains(.compared) ? 1 : 0
            if let broken = verdict.broken, broken.message.hasPrefix("the reference") {
                Issue.record("story 11/\(number): \(broken.message)")
            }
        }
        #expect(compared > 10_000, "compared \(compared) times")
        #expect(whole > 200, "\(whole) of 400 stories were compared to their ends")
    }

    /// What stories have to come upon under a policy, besides what they come upon under all.
    private static let meets: [String: [FuzzFeature]] = [
        "ios9.toml": [.background, .severalApps, .audio, .limited],
        "desktop.toml": [.pressure, .limited, .operatorChose],
        "kiosk.toml": [.pressure, .grace, .lease, .operatorChose],
    ]

    @Test("The reference agrees with random stories under each policy that ships", arguments: Checkout.shipped)
    func shipped(_ name: String) throws {
        // Apps of stories play the services that the kiosk knows.
        var text = PolicyWriter.text(try Checkout.policy(name))
        for (service, app) in [("evacuation", "a"), ("intercom", "b"), ("photobooth", "c"), ("attract", "d")] {
            text = text.replacing("\(service).service", with: app)
        }
        let policy = try PolicyFile.parse(text, file: name)
        var (compared, met) = (0, Set<FuzzFeature>())
        for number in 0..<120 {
            let story = try FuzzCampaign.story(number, seed: 11, under: policy)
            let verdict = FuzzRun.run(story, judge: ReferenceJudge())
            #expect(verdict.outcome == .kept, "\(verdict.broken?.message ?? "")\n\(story)")
            compared += verdict.compared
            met.formUnion(verdict.features)
        }
        #expect(compared > 3000, "compared \(compared) times")
        let all: [FuzzFeature] = [.recording, .recordingCut, .unplugged, .privacy, .sleep, .sensitive, .loginSession]
        #expect((all + (Self.meets[name] ?? [])).filter { !met.contains($0) } == [])
    }

    @Test("A decision by another rule is found", arguments: Misreading.allCases)
    func finds(misreading: Misreading) {
        let isFound = (0..<600).contains { number in
            let verdict = FuzzCampaign.run(number, seed: 11, judge: Misreader(misreading))
            return verdict.broken?.message.hasPrefix("the reference") == true
        }
        #expect(isFound)
    }

    @Test("What recorders do wrong silences the reference while it lasts, and it goes on from what came of it")
    func silent() {
        let failed = """
            # A device fails.

            policy \"""
            name = "fuzz"
            \"""
            camera back

            0s   connect photos
                 session photos camera=back
                 start photos
            1s   recorder back failed "no data for 2 s"
            """
        let (during, behind) = judgements(of: failed, and: "2s   stop photos")
        #expect(!during.features.contains(.compared) && behind.features.contains(.compared))
    }

    @Test("After a recorder that answered late the reference goes on, also where a lease began by its answer")
    func late() {
        let late = """
            # A lease ends, and the next one begins when the stream is cut.

            policy \"""
            name = "fuzz"
            ranks = ["app"]
            [[rank]]
            name = "Everybody"
            rank = "app"
            lease = "1s"
            [[camera]]
            id = "front"
            conflicts = ["back"]
            \"""
            camera back
            camera front

            0s   connect photos
                 session photos camera=front
                 session call of photos camera=back
                 recorder front slow-cut 100ms
                 start photos
                 start call
            """
        // It ends a second after the late answer, and the naive arbiter knows that.
        let behind = judgements(of: late, and: "2s").behind
        #expect(behind.features.contains(.compared))
    }

    /// Of a story that ends in a fault, and of the same with a line behind it, in which more is compared.
    private func judgements(of story: String, and line: String) -> (during: FuzzVerdict, behind: FuzzVerdict) {
        let during = FuzzRun.run(story, judge: ReferenceJudge())
        let behind = FuzzRun.run("\(story)\n\(line)\n", judge: ReferenceJudge())
        #expect(during.outcome == .kept && behind.outcome == .kept)
        #expect(during.compared > 0 && behind.compared > during.compared)
        return (during, behind)
    }
}

/// What the reference takes for another choice than the core: either could be the one that is wrong.
enum Misreading: CaseIterable {
    case tie, sameApp, newcomer, loser, reDecide, shareWith, budget, conflicts, backfill
    case grace, minHold, lease, coolDown

    func change(_ policy: inout Policy) {
        switch self {
        case .tie: policy.contention.tie = policy.contention.tie == .holder ? .newcomer : .holder
        case .sameApp: policy.contention.sameApp = policy.contention.sameApp == .newest ? .replace : .newest
        case .newcomer: policy.contention.newcomer = policy.contention.newcomer == .queue ? .refuse : .queue
        case .loser: policy.contention.loser = policy.contention.loser == .evict ? .interrupt : .evict
        case .reDecide: policy.contention.reDecide = policy.contention.reDecide == .open ? .facts : .open
        case .shareWith: policy.contention.shareWith = policy.contention.shareWith == .user ? .everyone : .user
        case .budget: policy.contention.budget = nil
        case .conflicts: for index in policy.cameras.indices { policy.cameras[index].conflicts = [] }
        case .backfill: policy.contention.backfill.toggle()
        case .grace: for index in policy.rankRules.indices { policy.rankRules[index].grace = .zero }
        case .minHold: for index in policy.rankRules.indices { policy.rankRules[index].minHold = .zero }
        case .lease: for index in policy.rankRules.indices { policy.rankRules[index].lease = nil }
        case .coolDown: policy.contention.coolDown = .zero
        }
    }
}

/// Reads each story's first policy wrongly.
private struct Misreader: FuzzJudge {
    private let misreading: Misreading
    private var judge = ReferenceJudge()

    init(_ misreading: Misreading) { self.misreading = misreading }

    mutating func begin(_ policy: Policy) {
        var policy = policy
        misreading.change(&policy)
        judge.begin(policy)
    }

    mutating func judge(_ step: Stage.Step) -> String? { judge.judge(step) }
    mutating func rest(_ stage: Stage) -> String? { judge.rest(stage) }
}
