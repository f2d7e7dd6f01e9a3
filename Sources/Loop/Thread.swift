import CLinux
import Glibc

/// What a new thread is to do.
private final class Job: Sendable {
    let work: @Sendable () -> Void
    init(_ work: @escaping @Sendable () -> Void) { self.work = work }
}

/// A detached thread with every signal blocked: signals are the program's business, not a library's. False: there is none
/// to be had.
package func startThread(_ work: @escaping @Sendable () -> Void) -> Bool {
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
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
        return false
    }
    pthread_detach(thread)
    return true
}
