import BusTesting
import Foundation
import System
import Testing

@Suite struct EventLoopTests {
    @Test func timersFireInTheOrderOfTheirDeadlinesAndNeverEarly() throws {
        let loop = try EventLoop()
        var fired: [(timer: Int, at: Int64)] = []
        let late = EventLoop.now + 30_000_000
        let first = try loop.addTimer { fired.append((1, EventLoop.now)) }
        let second = try loop.addTimer { fired.append((2, EventLoop.now)) }
        second.arm(at: late)
        first.arm(at: late - 20_000_000)
        try loop.turn(until: { fired.count == 2 })
        #expect(fired.map(\.timer) == [1, 2])
        #expect(fired[0].at >= late - 20_000_000 && fired[1].at >= late)
    }

    @Test func aTimerCanBeDisarmedAndArmedAgain() throws {
        let loop = try EventLoop()
        var count = 0
        let timer = try loop.addTimer { count += 1 }
        timer.arm(at: 1)
        timer.arm(at: nil)
        _ = try loop.turn(timeout: 0)
        #expect(count == 0)
        timer.arm(at: 1)
        try loop.turn(until: { count == 1 })
        timer.arm(at: 1)
        try loop.turn(until: { count == 2 })
        #expect(timer.deadline == nil)
    }

    @Test func deferredWorkRunsInOrderAndMayDeferMore() throws {
        let loop = try EventLoop()
        var order: [Int] = []
        loop.defer {
            order.append(1)
            loop.defer { order.append(3) }
        }
        loop.defer { order.append(2) }
        try loop.turn(until: { order.count == 3 })
        #expect(order == [1, 2, 3])
    }

    @Test func aWakeupFromAnotherThreadReachesTheLoop() throws {
        let loop = try EventLoop()
        var woken = 0
        let wakeup = try loop.addWakeup { woken += 1 }
        Thread.detachNewThread { wakeup.signal() }
        try loop.turn(until: { woken == 1 })
    }

    /// Starts a program whose descriptor 3 is the other end of the one that is read here; what it wrote, and its ending.
    private func run(
        _ path: String, _ arguments: [String] = [], killedBy signal: Int32? = nil
    ) throws -> (said: [UInt8], ending: ChildProcess.Ending?) {
        let loop = try EventLoop()
        let (ours, theirs) = try socketPair()
        defer { for end in [ours, theirs] { close(end) } }
        var ending: ChildProcess.Ending?
        let child = try ChildProcess(path: path, arguments: arguments, passing: theirs, on: loop) { ending = $0 }
        if let signal { #expect(child.signal(signal)) }
        try loop.turn(until: { ending != nil })
        withExtendedLifetime(child) {}
        var text = [UInt8](repeating: 0, count: 16)
        let count = read(ours, &text, text.count)
        return (Array(text.prefix(max(0, count))), ending)
    }

    @Test func aChildGetsItsDescriptorAsNumberThreeAndItsEndIsSeen() throws {
        let (said, ending) = try run("/bin/sh", ["-c", "echo hello >&3; exit 7"])
        #expect(ending == .exited(7) && said == Array("hello\n".utf8))
    }

    @Test func aKilledChildSaysBySignal() throws {
        #expect(try run("/bin/sh", ["-c", "exec sleep 1000"], killedBy: SIGKILL).ending == .signalled(SIGKILL))
    }

    @Test func aProgramThatIsNotThereIsAnError() throws {
        #expect(throws: SystemFault("start /nonexistent/recorder", ENOENT)) { try run("/nonexistent/recorder") }
    }
}
