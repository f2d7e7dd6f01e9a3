import Arbiter
import ArbiterProtocol
import Scenario
import Testing

/// Each told once as it should be and once as it should not.
@Suite("What a trace's checker finds of notices")
struct ContractMonitorNoticesTests {
    private typealias Life = ContractMonitorTests.Life
    private static let (client, session) = (ClientID(1), SessionID(1))
    private static let inUse = ContractMonitorTests.inUse

    @Test("A session's notices are numbered without a gap and without a number twice, and go to its client")
    func sequences() {
        let notice = SessionEvent.sharersChanged([])
        var life = Life()
        #expect(life.finds([notice, notice]) == [])
        life.sequence += 1
        #expect(life.finds([notice]) == ["session 1: notice 4 follows 2"])
        #expect(life.finds([notice]) == [])
        life.sequence -= 1
        #expect(life.finds([notice]) == ["session 1: notice 5 follows 5"])
        let other = Effect.notify(ClientID(2), Self.session, sequence: 6, notice)
        #expect(life.finds(orders: [other]) == ["session 1: SharersChanged goes to another client"])
        let nobody = Effect.notify(Self.client, SessionID(2), sequence: 1, notice)
        #expect(life.finds(orders: [nobody]) == ["session 2 is gone, and gets SharersChanged"])
    }

    private static func warned(
        _ id: InterruptionID, until deadline: Moment = .zero + .seconds(5),
        cause: Cause = .videoDeviceInUseByAnotherClient
    ) -> SessionEvent {
        .willBeInterrupted(InterruptionWarning(id: id, cause: cause, deadline: deadline, rule: "r"))
    }

    private static func interrupted(_ id: InterruptionID, _ causes: CauseSet = inUse) -> SessionEvent {
        .wasInterrupted(Interruption(id: id, causes: causes, rule: "r"))
    }

    private static func ended(_ id: InterruptionID, after duration: Duration = .zero) -> SessionEvent {
        .interruptionEnded(InterruptionEnd(id: id, causes: inUse, duration: duration, willResume: false))
    }

    @Test("A warning is for a session that runs and has none, with a number of its own and time to come")
    func warnings() {
        let start = "session 1: WillBeInterrupted"
        var life = Life()
        #expect(life.finds([Self.warned(1)]) == ["\(start) for a session that does not run"])
        life = .running()
        life.now = .zero + .seconds(4)
        var (late, other, first) = (life, life, life)
        #expect(late.finds([Self.warned(1, until: late.now)]) == ["\(start) with a deadline that has passed"])
        #expect(
            other.finds([Self.warned(1, cause: .systemSleep)]) == ["\(start) for a cause other than device-in-use"])
        #expect(first.finds([Self.warned(1, until: first.now + .nanoseconds(1))]) == [])
        #expect(first.checker.warning(of: Self.session) == 1)
        var twice = first
        #expect(twice.finds([Self.warned(2)]) == ["\(start) while a warning stands"])
        #expect(
            first.finds([.interruptionWithdrawn(2)]) == ["session 1: InterruptionWithdrawn without its warning"])
        #expect(first.checker.warning(of: Self.session) == nil)
        #expect(
            first.finds([.interruptionWithdrawn(1)]) == ["session 1: InterruptionWithdrawn without its warning"])
        #expect(first.finds([Self.warned(1)]) == ["\(start) with an old id"])
        #expect(first.finds([.interruptionWithdrawn(1)]) == [])
        #expect(
            first.finds([Self.warned(2), .interruptionWithdrawn(2)])
                == ["session 1: InterruptionWithdrawn in the step that gave the warning"])
    }

    @Test(
        "An interruption has its warning's number or a new one, and a cause; what follows has that number, and ends once"
    )
    func interruptions() {
        func said(_ name: String, _ what: String) -> [String] { ["session 1: \(name) \(what)"] }
        var life = Life.running()
        #expect(life.finds([Self.warned(3)]) == [])
        var another = life
        #expect(
            another.finds([Self.interrupted(4), .didStopRunning])
                == said("WasInterrupted", "with an id that is not its own"))
        #expect(life.finds([Self.interrupted(3), .didStopRunning]) == [])
        #expect(life.checker.isInterrupted(Self.session) && life.checker.warning(of: Self.session) == nil)
        var again = life
        #expect(again.finds([Self.interrupted(4)]) == said("WasInterrupted", "while interrupted"))
        let changed = { (id: InterruptionID, causes: CauseSet) in
            SessionEvent.interruptionChanged(Interruption(id: id, causes: causes, rule: "r"))
        }
        #expect(life.finds([changed(3, Self.inUse)]) == [])
        #expect(life.finds([changed(2, Self.inUse)]) == said("InterruptionChanged", "of another interruption"))
        #expect(life.finds([changed(3, CauseSet())]) == said("InterruptionChanged", "without a cause"))
        var early = life
        #expect(early.finds([Self.ended(4)]) == said("InterruptionEnded", "of another interruption"))
        early = life
        #expect(early.finds([Self.ended(3, after: .nanoseconds(-1))]) == said("InterruptionEnded", "before it began"))
        #expect(life.finds([Self.ended(3)]) == [])
        #expect(life.finds([Self.ended(3)]) == said("InterruptionEnded", "of another interruption"))
        #expect(life.finds([Self.interrupted(3)]) == said("WasInterrupted", "with an id that is not its own"))
        #expect(
            life.finds([Self.ended(3), Self.interrupted(4, CauseSet())]) == said("WasInterrupted", "without a cause"))
    }

    @Test("A session starts once, under an open grant and not while it is interrupted, and stops once")
    func startsAndStops() {
        let started = { (grant: UInt64) in SessionEvent.didStartRunning(GrantID(grant)) }
        let name = "session 1: DidStartRunning"
        var life = Life()
        #expect(life.finds([started(1)]) == ["\(name) without an open grant"])
        life = .running()
        #expect(life.finds([started(1)]) == ["\(name) twice"])
        #expect(life.finds([.didStopRunning]) == [])
        #expect(life.finds([.didStopRunning]) == ["session 1: DidStopRunning for a session that does not run"])
        #expect(life.finds([started(2)]) == ["\(name) without an open grant"])
        #expect(life.finds([.didStopRunning, Self.interrupted(1)]) == [])
        #expect(
            life.finds([.accessChanged(AccessChange(.all, causes: CauseSet(), rule: "r"))])
                == ["session 1: AccessChanged while interrupted"])
        #expect(
            life.finds([started(1)])
                == ["\(name) while interrupted", "session 1 is running and interrupted"])
    }

    @Test("A recording begins once, with a number that no file has, while its session runs")
    func recordingsBegin() {
        let name = "session 1: RecordingStarted"
        var life = Life()
        #expect(
            life.finds([.recordingStarted(1)])
                == ["\(name) for a session that does not run", "session 1 records and does not run"])
        life = .recording()
        #expect(life.finds([.recordingPaused(1), .recordingResumed(1)]) == [])
        #expect(life.finds([.recordingPaused(2)]) == ["session 1: RecordingPaused names a recording that does not run"])
        #expect(life.finds([.recordingStarted(2)]) == ["\(name) twice"])
        #expect(life.finds([.recordingStarted(1)]) == ["\(name) twice", "\(name) names another recording"])
        #expect(life.finds([.didStopRunning]) == [])
        #expect(
            life.finds([.recordingResumed(1)]) == ["session 1: RecordingResumed names a recording that does not run"])
    }
}
