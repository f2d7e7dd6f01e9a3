import ArbiterProtocol
import Broker
import Bus
import BusTesting
import Glibc
import System
import Testing

@Suite(.timeLimit(.minutes(10)))
struct HeartbeatTests {
    private func steps(untilKilled beat: inout Heartbeat) -> Int {
        for number in 1... where beat.takeStep() == .kill { return number }
        return 0
    }

    @Test("A recorder core is asked, waited for in steps, and killed when none of them brought an answer")
    func overdue() {
        var beat = Heartbeat()
        #expect(beat.untilStep == Heartbeat.pause)
        #expect(beat.takeStep() == .ask)
        #expect(beat.untilStep == Heartbeat.step)
        for _ in 1..<Heartbeat.answerStepsMax { #expect(beat.takeStep() == .wait) }
        #expect(beat.takeStep() == .kill)
        // A session is notified of a hanging recorder core within 3 s; none is killed before it was silent for 2 s.
        let patience = Int64(Heartbeat.answerStepsMax) * Heartbeat.step
        #expect(patience >= 2_000_000_000 && Heartbeat.pause + patience <= 2_500_000_000)
    }

    @Test("A recorder core that says that it starts its device has as long as for any call, until its next answer")
    func startingDevice() {
        for saidFirst in [true, false] {
            var beat = Heartbeat()
            if saidFirst { beat.startsDevice() }
            #expect(beat.takeStep() == .ask)
            if !saidFirst { beat.startsDevice() }
            #expect(steps(untilKilled: &beat) == Heartbeat.startStepsMax)
            beat.wasAnswered()
            #expect(beat.takeStep() == .ask)
            #expect(steps(untilKilled: &beat) == Heartbeat.answerStepsMax)
        }
    }

    /// A beat may take four times as long as usual: a busy test does not hang.
    private static let patience = 4

    private func running(_ recorders: FakeRecorders) throws -> (TestSession, FakeRecorder) {
        let session = try recorders.session(try recorders.broker(patience: Self.patience))
        let recorder = try #require(recorders.all.last)
        #expect(recorder.count("Beat") == 0)
        try session.run()
        return (session, recorder)
    }

    @Test("A recorder core is asked while a grant streams, and neither before nor afterwards")
    func asked() throws {
        let recorders = try FakeRecorders()
        let (session, recorder) = try running(recorders)
        let process = session.client.process
        try process.wait("two beats") { recorder.count("Beat") == 2 }
        try session.call("StopRunning")
        try process.wait("the cut") { recorder.count("Cut") > 0 }
        let count = recorder.count("Beat")
        try process.loop.turn(for: 3 * Int64(Self.patience) * Heartbeat.pause)
        #expect(recorder.count("Beat") == count)
    }

    @Test("A recorder core that starts its device anew for longer than a beat may take keeps its grant")
    func startsAnew() throws {
        let recorders = try FakeRecorders()
        let (session, recorder) = try running(recorders)
        let process = session.client.process
        try process.wait("a beat") { recorder.count("Beat") >= 1 }
        recorder.say("Starting")
        var held: BusMessage?
        recorders.whenCalled = { _, message in
            guard message.member == "Beat", held == nil else { return false }
            held = message
            return true
        }
        try process.loop.turn(for: Int64(Self.patience * (Heartbeat.answerStepsMax + 2)) * Heartbeat.step)
        try #require(held).answer([])
        let count = recorder.count("Beat")
        try process.wait("the next beat") { recorder.count("Beat") > count }
        #expect(recorder.isAlive && !session.names.contains("WasInterrupted"))
    }
}
