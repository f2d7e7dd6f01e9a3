import ArbiterProtocol
import Glibc
import Timeline

import class Foundation.Thread

/// Runs `body`, and says on standard error what is waited for when that takes more than two seconds.
func sayingWhat<Result>(
    _ what: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
) async rethrows -> Result {
    let begin = Moment.now
    let speaker = Task.detached {
        try await Task.sleep(for: .seconds(2))
        if !Output.isErrorTerminal { Output.notice("\(what) …") }
        while Output.isErrorTerminal {
            Output.progress("\(what) … \((Moment.now - begin).shortText)")
            try await Task.sleep(for: .seconds(1))
        }
    }
    defer {
        speaker.cancel()
        if Output.isErrorTerminal, Moment.now - begin > .seconds(2) { Output.progress("") }
    }
    return try await body()
}

/// SIGINT and SIGTERM as a stream, so that a recording is finished and a drawing written before the end.
enum Interrupts {
    /// To be called once, before other threads begin: they inherit the mask.
    static func stream() -> AsyncStream<Void> {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGINT)
        sigaddset(&set, SIGTERM)
        guard pthread_sigmask(SIG_BLOCK, &set, nil) == 0 else { return AsyncStream { $0.finish() } }
        return AsyncStream { continuation in
            Thread.detachNewThread {
                var set = sigset_t()
                sigemptyset(&set)
                sigaddset(&set, SIGINT)
                sigaddset(&set, SIGTERM)
                var number: Int32 = 0
                while sigwait(&set, &number) == 0 { continuation.yield() }
            }
        }
    }
}
