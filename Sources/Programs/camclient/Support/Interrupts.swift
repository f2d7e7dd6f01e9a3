import Glibc
import Synchronization
import System

/// SIGINT and SIGTERM as a stream, so that a recording is finished and a drawing written before the end. The first goes
/// to the caller that asked for the stream; the second, and the first where none asked, ends the process.
enum Interrupts {
    private static let listener = Mutex<AsyncStream<Void>.Continuation?>(nil)

    /// To be called before any other thread begins: all inherit the mask, and one thread takes the signals.
    static func begin() {
        var blocked = signals
        guard pthread_sigmask(SIG_BLOCK, &blocked, nil) == 0 else { return }
        let isListening = startThread {
            while true {
                var set = signals
                var number: Int32 = 0
                guard sigwait(&set, &number) == 0 else { continue }
                let listening = listener.withLock { listener in
                    defer { listener = nil }
                    return listener
                }
                if let listening {
                    listening.yield()
                } else {
                    signal(number, SIG_DFL)
                    raise(number)
                    pthread_sigmask(SIG_UNBLOCK, &set, nil)
                }
            }
        }
        // Nobody would ever take them: they end the process as they are.
        if !isListening { pthread_sigmask(SIG_UNBLOCK, &blocked, nil) }
    }

    /// The next signal, for one reader.
    static func stream() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        listener.withLock { $0 = continuation }
        return stream
    }

    /// For a program that this process becomes: its threads take the signals themselves.
    static func end() {
        var blocked = signals
        pthread_sigmask(SIG_UNBLOCK, &blocked, nil)
    }

    private static var signals: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGINT)
        sigaddset(&set, SIGTERM)
        return set
    }
}
