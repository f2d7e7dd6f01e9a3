import BusTesting
import CLinux
import Glibc
import Loop
import Testing

@Suite struct EventLoopTests {
    @Test func timersFireInTheOrderOfTheirDeadlinesAndNeverEarly() throws {
        let loop = try EventLoop()
        var fired: [Int] = []
        var at: [Int64] = []
        let late = EventLoop.now + 30_000_000
        let first = try loop.addTimer {
            fired.append(1)
            at.append(EventLoop.now)
        }
        let second = try loop.addTimer {
            fired.append(2)
            at.append(EventLoop.now)
        }
        second.arm(at: late)
        first.arm(at: late - 20_000_000)
        try loop.turn(until: { fired.count == 2 })
        #expect(fired == [1, 2])
        #expect(at[0] >= late - 20_000_000 && at[1] >= late)
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

    @Test func aWakeupFromAnotherThreadReachesTheLoop() async throws {
        // The loop stays on this task's thread between awaits only; so everything happens without one.
        let loop = try EventLoop()
        var woken = 0
        let wakeup = try loop.addWakeup { woken += 1 }
        var thread = pthread_t()
        let box = Unmanaged.passRetained(wakeup)
        #expect(
            pthread_create(
                &thread, nil,
                { data in
                    if let data { Unmanaged<Wakeup>.fromOpaque(data).takeRetainedValue().signal() }
                    return nil
                }, box.toOpaque()) == 0)
        pthread_join(thread, nil)
        try loop.turn(until: { woken == 1 })
    }

    @Test func aChildGetsItsDescriptorAsNumberThreeAndItsEndIsSeen() throws {
        let loop = try EventLoop()
        let (ours, theirs) = try socketPair()
        var ending: ChildProcess.Ending?
        let child = try ChildProcess(
            path: "/bin/sh", arguments: ["-c", "echo hello >&3; exit 7"], passing: theirs, on: loop
        ) { ending = $0 }
        close(theirs)
        try loop.turn(until: { ending != nil })
        #expect(ending == .exited(7))
        var text = [UInt8](repeating: 0, count: 16)
        #expect(read(ours, &text, text.count) == 6)
        close(ours)
        _ = child
    }

    @Test func aKilledChildSaysBySignal() throws {
        let loop = try EventLoop()
        let (ours, theirs) = try socketPair()
        var ending: ChildProcess.Ending?
        let child = try ChildProcess(path: "/bin/sh", arguments: ["-c", "exec sleep 1000"], passing: theirs, on: loop) {
            ending = $0
        }
        close(theirs)
        #expect(child.signal(SIGKILL))
        try loop.turn(until: { ending != nil })
        #expect(ending == .signalled(SIGKILL))
        close(ours)
    }

    @Test func aProgramThatIsNotThereIsAnError() throws {
        let loop = try EventLoop()
        let (ours, theirs) = try socketPair()
        defer {
            close(ours)
            close(theirs)
        }
        #expect(throws: SystemFault("start /nonexistent/recorder", ENOENT)) {
            _ = try ChildProcess(path: "/nonexistent/recorder", arguments: [], passing: theirs, on: loop) { _ in }
        }
    }
}
