import Arbiter
import Explain
import Testing
import Vocabulary

@Suite("A history")
struct HistoryTests {
    private let newest = Policy(name: "newest", contention: Contention(order: [.newest]))

    @Test("explains the latest decision that said something when it is asked for 0")
    func latest() {
        var world = ExplainedWorld.shelled()
        world.app("photos", 1)
        #expect(world.explain(0) == nil)
        world.step(.startRunning(SessionID(1)))
        let started = world.arbiter.lastDecision
        world.step(.pressure(.fair))
        #expect(world.explain(0)?.decision == started)
        #expect(world.explain(0)?.event == .startRunning(SessionID(1)))
        #expect(world.explain(world.arbiter.lastDecision) == nil, "nothing was said about a session")
        // Longer ago than a copy was made, and still the latest.
        for _ in 0..<300 { world.step(.pressure(.fair)) }
        #expect(world.explain(0)?.decision == started)
    }

    @Test("takes a handover for one decision, from the cut to the winner's first frame")
    func handover() {
        var world = ExplainedWorld(newest)
        world.start("photos")
        world.app("call", 2)
        world.recorderAnswers = false
        world.step(.startRunning(SessionID(2)))
        let decision = world.arbiter.lastDecision
        #expect(world.explain(decision)?.verdicts.map(\.session) == [SessionID(1)])
        // Whatever happens until the recorder answers is decided by itself, and a later copy may begin between.
        for _ in 0..<200 { world.step(.pressure(.fair)) }
        world.answer()
        let explanation = world.explain(decision)
        #expect(explanation?.event == .startRunning(SessionID(2)))
        #expect(explanation?.verdicts.map(\.session) == [SessionID(1), SessionID(2)])
        #expect(explanation?.verdicts.last?.outcome == .granted)
        #expect(explanation?.verdicts.allSatisfy { $0.searched != nil } == true)
        #expect(world.explain(0)?.decision == decision)
    }

    @Test("explains decisions however long ago the copy was made that they are replayed from")
    func longAgo() {
        var world = ExplainedWorld.shelled(order: [.focused], causes: [.background])
        world.start("photos")
        world.place("photos", .foreground(.fullscreen), focused: true)
        var decisions: [DecisionID] = []
        for _ in 0..<300 {
            world.place("photos", .background, focused: false)
            decisions.append(world.arbiter.lastDecision)
            world.place("photos", .foreground(.fullscreen), focused: true)
        }
        // A stride that meets every place in a stretch.
        for decision in stride(from: 0, to: decisions.count, by: 7).map({ decisions[$0] }) {
            let verdict = world.explain(decision)?.verdicts.first { $0.session == SessionID(1) }
            #expect(verdict?.changedBy.map { $0.map(\.key) } == [["presence"]], "decision \(decision)")
        }
    }

    @Test("explains the last 1,024 decisions, and older ones have expired")
    func expired() {
        var world = ExplainedWorld(newest)
        world.start("photos")
        let first = world.arbiter.lastDecision
        #expect(world.explain(first) != nil && world.explain(first + 1) == nil && world.explain(.max) == nil)
        while world.arbiter.lastDecision < first + 1023 { world.step(.pressure(.fair)) }
        #expect(world.explain(first)?.verdicts.first?.outcome == .granted)
        world.step(.sleep(true))
        #expect(world.explain(first) == nil)
        world.step(.sleep(false))
        #expect(world.explain(0)?.verdicts.first?.outcome == .granted)
        // Of what came before the first event that it noted it knows nothing.
        let last = world.arbiter.lastDecision
        world.history = History()
        #expect(world.explain(0) == nil && world.explain(last) == nil)
    }
}
