import ArbiterProtocol
import BusTesting
import Glibc
import System
import Testing

@Suite(.timeLimit(.minutes(10)))
struct SleepTests {
    /// A session that runs, and a logind that waits for so many microseconds.
    private func house(delay: UInt64) throws -> (session: TestSession, logind: FakeLogind, FakeRecorders) {
        let loop = try EventLoop()
        let logind = try FakeLogind(on: loop)
        logind.delay = .uint64(delay)
        logind.add("1", user: getuid(), active: true)
        let recorders = try FakeRecorders()
        let process = try recorders.broker(arguments: ["--system-bus", logind.address], on: loop)
        try process.wait("an inhibitor") { logind.inhibitorsGiven == 1 }
        let session = try recorders.session(process)
        try session.run()
        return (session, logind, recorders)
    }

    @Test("A file that is never finished is waited for until a fifth of logind's time is left, and not for less")
    func notForever() throws {
        let (session, logind, recorders) = try house(delay: 1_000_000)
        let process = session.client.process
        try session.record()
        try session.wait("RecordingStarted")
        let began = EventLoop.now
        logind.say(asleep: true)
        try process.wait("the inhibitor to be let go") { !logind.isHeld(0) }
        #expect(EventLoop.now - began >= 800_000_000)
        try process.wait("the journal's line") { process.said.contains("its time was up") }
        withExtendedLifetime(recorders) {}
    }

    @Test("A machine on which nothing is captured sleeps at once")
    func atOnce() throws {
        let (session, logind, recorders) = try house(delay: 600_000_000)
        try session.call("StopRunning")
        logind.say(asleep: true)
        try session.client.process.wait("the inhibitor to be let go") { !logind.isHeld(0) }
        #expect(!session.client.process.said.contains("its time was up"))
        withExtendedLifetime(recorders) {}
    }
}
