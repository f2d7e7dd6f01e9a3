import Arbiter
import ArbiterProtocol
import PolicyFile
import ReferenceArbiter
import Testing

@Suite("Facts that a look at a policy takes for impossible")
struct ImpossibleFactsTests {
    private static let sources: [[PresenceSource]] = [
        [.shell, .agent, .loginSession, .selfDeclared], [.shell], [.selfDeclared], [.loginSession], [],
    ]

    @Test("No session of a random world has them, whatever a shell says and whoever is believed", arguments: sources)
    func never(sources: [PresenceSource]) {
        var seen: Set<Facts> = []
        for seed in UInt64(1)...30 {
            // A policy of equal claims, so that sessions run, wait and record.
            let policy = Policy(name: "any", sources: sources, contention: Contention(order: [.newest], tie: .newcomer))
            let impossible = PolicyFile.impossibleFacts(policy)
            var random = RandomWorld(seed: seed, isKiosk: false)
            // The reference only steers the random world: it need not agree, having a policy of its own.
            var both = SideBySide(policy: policy, house: DesktopHouse())
            var next = random.beginning
            for _ in 0..<100 {
                let at = both.now + random.pause()
                for event in next.flatMap({ Self.worse($0, &random) }) { _ = both.take(event, at: at) }
                let state = both.arbiter.state
                for facts in state.requesting.map({ state.words(for: $0) }) {
                    seen.insert(facts)
                    for tests in impossible where tests.allSatisfy({ $0.holds(for: facts) }) {
                        Issue.record("seed \(seed): \(tests.map(\.written)) hold for \(facts)")
                        return
                    }
                }
                next = random.next(both)
            }
        }
        #expect(seen.count > 50)
        #expect(seen.contains { $0.isRecording })
        if sources.contains(.shell) { #expect(seen.contains { $0.isFocused && $0.foregroundApps == .several }) }
    }

    /// The same with what no honest shell says, and apps that want the whole screen.
    private static func worse(_ event: Event, _ random: inout RandomWorld) -> [Event] {
        switch event {
        case .placed(let app, let presence, _, let source):
            return [.placed(app, presence, focused: random.coin(), by: source)]
        case .declaredPresence(let client, let presence, _):
            return [.declaredPresence(client, presence, focused: random.coin())]
        case .connected(let client, _, _):
            return [event, .declared(client, ClientAttributes(requiresFullScreen: random.coin()))]
        default: return [event]
        }
    }
}
