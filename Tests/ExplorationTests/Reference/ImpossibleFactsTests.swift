import Arbiter
import ArbiterProtocol
import Campaigns
import PolicyFile
import Scenario
import Synchronization
import Testing

extension FuzzCampaign {
    /// A case's text in which this policy is in force from its beginning to its end.
    static func fuzzCase(_ number: Int, seed: UInt64, under policy: Policy) throws -> String {
        var fuzzCase = try fuzzCase(number, seed: seed)
        fuzzCase.policy = policy
        fuzzCase.lines.removeAll { $0.text.hasPrefix("policy-reload") }
        return fuzzCase.text("Run \(seed)/\(number) under \(policy.name).")
    }
}

@Suite("Facts that a look at a policy takes for impossible")
struct ImpossibleFactsTests {
    private static let sources: [[PresenceSource]] = [
        [.shell, .agent, .loginSession, .selfDeclared], [.shell], [.selfDeclared], [.loginSession], [],
    ]

    /// The facts of all cases' sessions.
    private final class Seen: Sendable { let facts = Mutex<Set<Facts>>([]) }

    private struct Witness: FuzzJudge {
        let impossible: [[FactTest]]
        let seen: Seen

        mutating func judge(_ step: Stage.Step) -> String? { nil }

        mutating func rest(_ stage: Stage) -> String? {
            let state = stage.arbiter.state
            for facts in state.requesting.map({ state.words(for: $0) }) {
                seen.facts.withLock { _ = $0.insert(facts) }
                for tests in impossible where tests.allSatisfy({ $0.holds(for: facts) }) {
                    return "\(tests.map(\.written)) hold for \(facts)"
                }
            }
            return nil
        }
    }

    // Shells of cases say what no honest one does, and their apps want the whole screen.
    @Test("No session of a random world has them, whatever a shell says and whoever is believed", arguments: sources)
    func never(sources: [PresenceSource]) throws {
        // Of equal claims, so that sessions run, wait and record.
        let policy = Policy(name: "any", sources: sources, contention: Contention(order: [.newest], tie: .newcomer))
        let judge = Witness(impossible: PolicyFile.impossibleFacts(policy), seen: Seen())
        for number in 0..<200 {
            let verdict = FuzzRun.run(try FuzzCampaign.fuzzCase(number, seed: 5, under: policy), judge: judge)
            #expect(verdict.outcome == .kept, "run \(number)")
        }
        let seen = judge.seen.facts.withLock { $0 }
        #expect(seen.count > 50 && seen.contains { $0.isRecording })
        if sources.contains(.shell) { #expect(seen.contains { $0.isFocused && $0.foregroundApps == .several }) }
    }
}
