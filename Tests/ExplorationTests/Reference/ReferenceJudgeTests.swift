import Arbiter
import ArbiterProtocol
import Campaigns
import PolicyFile
import Scenario
import Testing

/// The naive arbiter as a judge of random cases: it compares, and finds differences.
@Suite struct ReferenceJudgeTests {
    /// Features that cases have to meet under a policy, besides the features under all.
    private static let meets: [String: [FuzzFeature]] = [
        "ios9.toml": [
            .cause(.videoDeviceNotAvailableInBackground), .cause(.videoDeviceNotAvailableWithMultipleForegroundApps),
            .cause(.audioDeviceInUseByAnotherClient), .limited,
        ],
        "desktop.toml": [.cause(.videoDeviceNotAvailableDueToSystemPressure), .limited],
        "kiosk.toml": [
            .cause(.videoDeviceNotAvailableDueToSystemPressure), .notice("WillBeInterrupted"), .stop(.leaseExpired),
        ],
    ]

    @Test("The reference agrees with random runs under each policy that ships", arguments: Checkout.shipped)
    func shipped(_ name: String) throws {
        // Apps of cases play the services that the kiosk knows.
        var text = PolicyWriter.text(try Checkout.policy(name))
        for (service, app) in [("evacuation", "a"), ("intercom", "b"), ("photobooth", "c"), ("attract", "d")] {
            text = text.replacing("\(service).service", with: app)
        }
        let policy = try PolicyFile.parse(text, file: name)
        var (compared, met, kinds) = (0, Set<FuzzFeature>(), Set<EventKind>())
        for number in 0..<120 {
            let fuzzCase = try FuzzCampaign.fuzzCase(number, seed: 11, under: policy)
            let verdict = FuzzRun.run(fuzzCase, judge: ReferenceJudge())
            #expect(verdict.outcome == .kept, "\(verdict.broken?.message ?? "")\n\(fuzzCase)")
            compared += verdict.compared
            met.formUnion(verdict.features)
            kinds.formUnion(verdict.kinds)
        }
        #expect(compared > 3000, "compared \(compared) times")
        let all: [FuzzFeature] = [
            .notice("RecordingStarted"), .recordingCut, .cause(.videoDeviceDisconnected),
            .cause(.videoDeviceBlockedByPrivacy), .cause(.systemSleep), .cause(.sensitiveContentMitigationActivated),
            .cause(.loginSessionInactive),
        ]
        #expect((all + (Self.meets[name] ?? [])).filter { !met.contains($0) } == [])
        #expect(kinds.contains(.operatorChose))
    }

    @Test("A decision by another rule is found", arguments: misreadings.keys.sorted())
    func finds(misreading: String) throws {
        let misread = try #require(Self.misreadings[misreading])
        let isFound = (0..<600).contains { number in
            let verdict = FuzzCampaign.run(number, seed: 11, judge: Misreader(misread: misread))
            return verdict.broken?.message.hasPrefix("the reference") == true
        }
        #expect(isFound)
    }

    /// Choices that the reference misreads on purpose: either side could be wrong.
    private static let misreadings: [String: @Sendable (inout Policy) -> Void] = [
        "tie": { $0.contention.tie = $0.contention.tie == .holder ? .newcomer : .holder },
        "same-app": { $0.contention.sameApp = $0.contention.sameApp == .newest ? .replace : .newest },
        "newcomer": { $0.contention.newcomer = $0.contention.newcomer == .queue ? .refuse : .queue },
        "loser": { $0.contention.loser = $0.contention.loser == .evict ? .interrupt : .evict },
        "re-decide": { $0.contention.reDecide = $0.contention.reDecide == .open ? .facts : .open },
        "share-with": { $0.contention.shareWith = $0.contention.shareWith == .user ? .everyone : .user },
        "budget": { $0.contention.budget = nil },
        "backfill": { $0.contention.backfill.toggle() },
        "cool-down": { $0.contention.coolDown = .zero },
        "conflicts": { for index in $0.cameras.indices { $0.cameras[index].conflicts = [] } },
        "grace": { for index in $0.rankRules.indices { $0.rankRules[index].grace = .zero } },
        "min-hold": { for index in $0.rankRules.indices { $0.rankRules[index].minHold = .zero } },
        "lease": { for index in $0.rankRules.indices { $0.rankRules[index].lease = nil } },
    ]
}

/// Reads each case's first policy wrongly.
private struct Misreader: FuzzJudge {
    let misread: @Sendable (inout Policy) -> Void
    private var judge = ReferenceJudge()

    init(misread: @escaping @Sendable (inout Policy) -> Void) { self.misread = misread }

    mutating func begin(_ policy: Policy) {
        var policy = policy
        misread(&policy)
        judge.begin(policy)
    }

    mutating func judge(_ step: Stage.Step) -> String? { judge.judge(step) }
    mutating func rest(_ stage: Stage) -> String? { judge.rest(stage) }
}
