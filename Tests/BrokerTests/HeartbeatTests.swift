import ArbiterProtocol
import Broker
import Bus
import Glibc
import Loop
import Testing

/// A recorder core that hangs while it streams.
@Suite(.timeLimit(.minutes(10)))
struct HeartbeatTests {
    // MARK: As a value

    /// Takes steps until it is to be killed.
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
    }

    @Test("A session hears within 3 s of a recorder core that hangs; none is killed before it was silent for 2 s")
    func bounds() {
        let patience = Int64(Heartbeat.answerStepsMax) * Heartbeat.step
        #expect(patience >= 2_000_000_000)
        #expect(Heartbeat.pause + patience <= 2_500_000_000)
    }

    @Test("An answer begins the count anew")
    func answered() {
        var beat = Heartbeat()
        for _ in 0..<5 {
            #expect(beat.takeStep() == .ask)
            for _ in 1..<Heartbeat.answerStepsMax { #expect(beat.takeStep() == .wait) }
            beat.wasAnswered()
            #expect(beat.untilStep == Heartbeat.pause)
        }
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

    // MARK: With a broker

    /// A beat may take four times as long as usual: a busy test does not hang.
    private static let patience = 4

    private func broker(_ recorders: FakeRecorders) throws -> BrokerProcess {
        let process = try BrokerProcess(recorder: "unix:" + recorders.path, patience: Self.patience)
        try recorders.listen(on: process.loop)
        return process
    }

    private func session(_ process: BrokerProcess, _ recorders: FakeRecorders) throws -> TestSession {
        try process.wait("the camera to be described") { recorders.all.contains { $0.calls.contains("Describe") } }
        let client = try process.client("photos")
        try client.broker("DeclarePresence", .string("fullscreen"), .boolean(true))
        return try client.session()
    }

    private func beats(_ recorder: FakeRecorder) -> Int { recorder.calls.count { $0 == "Beat" } }

    @Test("A recorder core that stands still while it streams is killed, and its session runs in another")
    func hangs() throws {
        let recorders = try FakeRecorders()
        let process = try broker(recorders)
        let session = try session(process, recorders)
        try session.run()
        let first = try #require(recorders.all.last)
        try process.wait("an answered beat") { beats(first) >= 2 }
        recorders.whenCalled = { recorder, message in recorder === first && message.member == "Beat" }
        try session.wait("WasInterrupted")
        try process.wait("its end") { first.ending == .signalled(SIGKILL) }
        try session.wait("DidStartRunning", count: 2)
        #expect(recorders.all.last !== first)
    }

    @Test("A recorder core is asked while a grant streams, and neither before nor afterwards")
    func asked() throws {
        let recorders = try FakeRecorders()
        let process = try broker(recorders)
        let session = try session(process, recorders)
        let recorder = try #require(recorders.all.last)
        #expect(beats(recorder) == 0)
        try session.run()
        try process.wait("two beats") { beats(recorder) == 2 }
        try session.call("StopRunning")
        try process.wait("the cut") { recorder.calls.contains("Cut") }
        let count = beats(recorder)
        let until = EventLoop.now + 3 * Int64(Self.patience) * Heartbeat.pause
        while EventLoop.now < until { _ = try process.loop.turn(timeout: until - EventLoop.now) }
        #expect(beats(recorder) == count)
    }

    @Test("A recorder core that does not know Beat is asked once, and lives")
    func unknown() throws {
        let recorders = try FakeRecorders()
        recorders.whenCalled = { _, message in
            guard message.member == "Beat" else { return false }
            message.answer(BrokerError(.unknownMethod, "An earlier recorder core has no Beat."))
            return true
        }
        let process = try broker(recorders)
        let session = try session(process, recorders)
        try session.run()
        let recorder = try #require(recorders.all.last)
        let until = EventLoop.now + 3 * Int64(Self.patience) * Heartbeat.pause
        while EventLoop.now < until { _ = try process.loop.turn(timeout: until - EventLoop.now) }
        #expect(beats(recorder) == 1 && recorder.isAlive)
        #expect(!session.names.contains("WasInterrupted"))
    }

    @Test("A recorder core that starts its device anew for longer than a beat may take keeps its grant")
    func startsAnew() throws {
        let recorders = try FakeRecorders()
        let process = try broker(recorders)
        let session = try session(process, recorders)
        try session.run()
        let recorder = try #require(recorders.all.last)
        try process.wait("a beat") { beats(recorder) >= 1 }
        recorder.say("Starting")
        var held: BusMessage?
        recorders.whenCalled = { _, message in
            guard message.member == "Beat", held == nil else { return false }
            held = message
            return true
        }
        let until = EventLoop.now + Int64(Self.patience * (Heartbeat.answerStepsMax + 2)) * Heartbeat.step
        while EventLoop.now < until { _ = try process.loop.turn(timeout: until - EventLoop.now) }
        try #require(held).answer([])
        let count = beats(recorder)
        try process.wait("the next beat") { beats(recorder) > count }
        #expect(recorder.isAlive && !session.names.contains("WasInterrupted"))
    }
}
