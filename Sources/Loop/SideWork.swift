import CLinux
import Synchronization

/// Work on values that takes longer than a loop may: one job at a time, on a thread that lives as long as the job.
///
/// The job sees what it was given and nothing else, and its result comes back as a value, on the loop's thread. A job
/// that must not take long is given the means to look at its own processor time (`ProcessorTime`).
///
/// In simulated time a job is done before `begin` returns, and its result still comes back by the loop: a thread ends
/// whenever the machine lets it, and two runs of one seed would differ.
public final class SideWork {
    private final class Outcome: Sendable {
        let result = Mutex<(any Sendable)?>(nil)
    }

    private let outcome = Outcome()
    private let wakeup: Wakeup
    private final class Finish {
        var handler: ((any Sendable) -> Void)?
    }
    private let finish: Finish

    /// - Throws: where there is no descriptor left to be woken by.
    public init(on loop: EventLoop) throws(SystemFault) {
        let finish = Finish()
        self.finish = finish
        let outcome = outcome
        wakeup = try loop.addWakeup {
            guard let result = outcome.result.withLock({ $0.take() }), let handler = finish.handler else { return }
            finish.handler = nil
            handler(result)
        }
    }

    /// A job is under way.
    public var isBusy: Bool { finish.handler != nil }

    /// Begins a job. `done` gets its result later, on the loop's thread.
    /// - Returns: false: none was begun, since another is under way or there is no thread to be had.
    public func begin<Result: Sendable>(
        _ job: @escaping @Sendable () -> Result, done: @escaping (Result) -> Void
    ) -> Bool {
        if isBusy { return false }
        finish.handler = { result in if let result = result as? Result { done(result) } }
        let outcome = outcome
        let wakeup = wakeup
        let work: @Sendable () -> Void = {
            let result = job()
            outcome.result.withLock { $0 = result }
            wakeup.signal()
        }
        if VirtualTime.now != nil {
            work()
            return true
        }
        let isBegun = startThread {
            // The loop comes first, on whatever processor there is.
            camarb_give_way()
            work()
        }
        if !isBegun { finish.handler = nil }
        return isBegun
    }
}
