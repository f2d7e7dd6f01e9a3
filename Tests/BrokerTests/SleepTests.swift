import ArbiterProtocol
import BusTesting
import Glibc
import System
import Testing

/// A machine that sleeps while a recorder core works, as logind tells of it.
@Suite(.timeLimit(.minutes(10)))
struct SleepTests {
    private struct House {
        let process: BrokerProcess
        let logind: FakeLogind
        let recorders: FakeRecorders
        let session: TestSession

        /// - Parameter delay: how long logind waits, in microseconds.
        init(delay: UInt64) throws {
            let loop = try EventLoop()
            logind = try FakeLogind(on: loop)
            logind.delay = .uint64(delay)
            logind.add("1", user: getuid(), active: true)
            recorders = try FakeRecorders()
            process = try recorders.broker(arguments: ["--system-bus", logind.address], on: loop)
            let asked = logind
            try process.wait("an inhibitor") { asked.inhibitorsGiven == 1 }
            session = try recorders.session(process)
            try session.run()
        }

        /// A recording runs.
        func record() throws {
            try session.record()
            try session.wait("RecordingStarted")
        }

        /// Its file is whole.
        func finishFile() {
            recorders.all.last?.say(
                "RecordingFinished",
                [.uint64(1), .string("interrupted"), .uint64(2), .int64(3), .uint64(4), .int64(5), .uint64(0)])
        }

        func cut() throws { try process.wait("the cut") { (recorders.all.last?.count("Cut") ?? 0) > 0 } }

        func letGo() throws { try process.wait("the inhibitor to be let go") { !logind.isHeld(0) } }
    }

    @Test("A recorder core that takes a second to finish a file is waited for before the machine sleeps")
    func waitedFor() throws {
        // A minute: no machine is so slow that it is over before the second is.
        let house = try House(delay: 60_000_000)
        try house.record()
        house.logind.say(asleep: true)
        try house.cut()
        let until = EventLoop.now + 1_000_000_000
        while EventLoop.now < until {
            _ = try house.process.loop.turn(timeout: max(0, until - EventLoop.now))
            #expect(house.logind.isHeld(0))
        }
        house.finishFile()
        try house.letGo()
        #expect(!house.process.said.contains("its time was up"))
        house.logind.say(asleep: false)
        try house.session.wait("DidStartRunning", count: 2)
        #expect(house.logind.inhibitorsGiven == 2 && house.logind.isHeld(1))
    }

    @Test("A file that is never finished is waited for until a fifth of logind's time is left, and not for less")
    func notForever() throws {
        let house = try House(delay: 1_000_000)
        try house.record()
        let began = EventLoop.now
        house.logind.say(asleep: true)
        try house.letGo()
        #expect(EventLoop.now - began >= 800_000_000)
        try house.process.wait("the journal's line") { house.process.said.contains("its time was up") }
    }

    @Test("A machine on which nothing is captured sleeps at once")
    func atOnce() throws {
        let house = try House(delay: 600_000_000)
        try house.session.call("StopRunning")
        house.logind.say(asleep: true)
        try house.letGo()
        #expect(!house.process.said.contains("its time was up"))
    }
}
