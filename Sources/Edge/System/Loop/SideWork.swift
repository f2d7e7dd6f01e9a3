import CLinux
import Glibc
import Synchronization

/// Work on values that takes longer than a loop may: one job at a time, on a thread that lives as long as the job.
///
/// A job sees its input and nothing else, and its result comes back as a value, on the loop's thread. A job that must
/// not take long gets its own processor time (`ProcessorTime`).
///
/// In simulated time a job is done before `begin` returns, and its result still comes back by the loop: a thread ends
/// whenever the machine lets it, and two runs of one seed would differ.
public final class SideWork {
    private final class Outcome: Sendable { let result = Mutex<(any Sendable)?>(nil) }

    private let outcome = Outcome()
    private let wakeup: Wakeup
    private final class Finish { var handler: ((any Sendable) -> Void)? }
    private let finish: Finish

    /// - Throws: without a descriptor left for the wakeup.
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

    public var isBusy: Bool { finish.handler != nil }

    /// Begins a job. `done` gets its result later, on the loop's thread.
    /// - Returns: false: none was begun, since another is under way or no thread is available.
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

private final class Job: Sendable {
    let work: @Sendable () -> Void
    init(_ work: @escaping @Sendable () -> Void) { self.work = work }
}

/// A detached thread with every signal blocked: signals are the program's business. False: none is available.
package func startThread(_ work: @escaping @Sendable () -> Void) -> Bool {
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    return makeThread(work).map { pthread_detach($0) } != nil
}

/// A thread with the caller's signal mask, to be joined or detached; `nil`: none is available.
package func makeThread(_ work: @escaping @Sendable () -> Void) -> UInt? {
    var thread = pthread_t()
    let job = Unmanaged.passRetained(Job(work))
    let result = pthread_create(
        &thread, nil,
        { data in
            if let data { Unmanaged<Job>.fromOpaque(data).takeRetainedValue().work() }
            return nil
        }, job.toOpaque())
    if result != 0 {
        job.release()
        return nil
    }
    return thread
}

/// A stretch of the calling thread's processor time: a machine under load uses it up no faster than an idle one.
public struct ProcessorTime: Sendable {
    private let end: Int64

    /// - Parameter nanoseconds: from now on, on the calling thread.
    public init(_ nanoseconds: Int64) { end = Self.now + nanoseconds }

    /// To be read on the same thread.
    public var isLeft: Bool { Self.now < end }

    /// Nanoseconds that the calling thread has used.
    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
