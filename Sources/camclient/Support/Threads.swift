import Glibc

/// What a new thread is to do.
private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Runs something on a thread of its own that nobody waits for: a call that blocks must not keep a task's thread.
///
/// The thread takes the caller's signal mask, so that reading a terminal from the background stops the program as usual.
/// It is made with pthreads, because Foundation's would bring all of Foundation and ICU into the program.
/// - Returns: false when the machine has no thread left; `body` is then never called.
func detachThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Work(body))
    let result = pthread_create(
        &thread, nil,
        { pointer in
            if let pointer { Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body() }
            return nil
        }, work.toOpaque())
    guard result == 0 else {
        work.release()
        return false
    }
    pthread_detach(thread)
    return true
}
