import Glibc

/// Threads beside the caller's that do one thing together, each known by its number: the caller is number 0.
///
/// Made with pthreads: a walk takes its thread for minutes, which Swift's own pool of as many threads as there are cores
/// is not made for.
struct WorkThreads {
    private var threads: [pthread_t] = []

    private final class Work: Sendable {
        let number: Int
        let body: @Sendable (Int) -> Void
        init(_ number: Int, _ body: @escaping @Sendable (Int) -> Void) {
            self.number = number
            self.body = body
        }
    }

    /// Begins so many, or as many as the machine has left: what they are to do has to be whole without any of them.
    init(beside count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        for number in 0..<max(0, count) {
            var thread = pthread_t()
            let work = Unmanaged.passRetained(Work(number + 1, body))
            let result = pthread_create(
                &thread, nil,
                { pointer in
                    guard let pointer else { return nil }
                    let work = Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue()
                    work.body(work.number)
                    return nil
                }, work.toOpaque())
            guard result == 0 else {
                work.release()
                return
            }
            threads.append(thread)
        }
    }

    func join() {
        for thread in threads { pthread_join(thread, nil) }
    }
}
