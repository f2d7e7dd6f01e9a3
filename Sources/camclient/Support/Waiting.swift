import ArbiterProtocol
import Glibc
import Timeline

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
