import Glibc
import Synchronization
import System

/// SIGINT and SIGTERM as a stream, so that a recording is finished and a drawing written before the end. The first goes
/// to the caller of `stream`; the second, and the first without such a caller, ends the process.
package enum Interrupts {
    private static let listener = Mutex<AsyncStream<Void>.Continuation?>(nil)

    /// Called before any other thread begins: all inherit the mask, and one thread takes the signals.
    package static func begin() {
        mask(SIG_BLOCK)
        let isListening = startThread {
            while true {
                var set = signals
                var number: Int32 = 0
                guard sigwait(&set, &number) == 0 else { continue }
                if let listening = listener.withLock({ $0.take() }) {
                    listening.yield()
                } else {
                    signal(number, SIG_DFL)
                    raise(number)
                    pthread_sigmask(SIG_UNBLOCK, &set, nil)
                }
            }
        }
        if !isListening { end() }
    }

    package static func stream() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        listener.withLock { $0 = continuation }
        return stream
    }

    /// For a program that this process becomes: its threads take the signals themselves.
    package static func end() { mask(SIG_UNBLOCK) }

    private static func mask(_ how: Int32) {
        var set = signals
        pthread_sigmask(how, &set, nil)
    }

    private static var signals: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGINT)
        sigaddset(&set, SIGTERM)
        return set
    }
}
