import Glibc
import NIOCore
import NIOPosix
import PolicyPage
import Synchronization

/// Works questions out on a thread of its own, one at a time. Of those that wait only the last one is worth an answer: the
/// page has gone on typing.
final class QuestionQueue: Sendable {
    /// A question that somebody has typed a newer one over.
    struct Replaced: Error {}

    /// A question may take a second. So much of it is for deciding and for reasons; the rest is for reading what was typed and
    /// for drawing, whose sizes are bounded.
    private static let nanosecondsMax: Int64 = 500_000_000

    private struct Waiting: Sendable {
        var question: PlayQuestion
        var promise: EventLoopPromise<String>
    }

    private let waiting = Mutex<Waiting?>(nil)
    private let thread = NIOThreadPool(numberOfThreads: 1)

    init() { thread.start() }

    func ask(_ question: PlayQuestion, on loop: any EventLoop) -> EventLoopFuture<String> {
        let promise = loop.makePromise(of: String.self)
        let replaced = waiting.withLock { waiting in
            let before = waiting
            waiting = Waiting(question: question, promise: promise)
            return before
        }
        replaced?.promise.fail(Replaced())
        thread.submit { [self] _ in
            guard
                let next = waiting.withLock({ waiting in
                    defer { waiting = nil }
                    return waiting
                })
            else { return }
            let deadline = Self.now + Self.nanosecondsMax
            next.promise.succeed(PlayAnswer(next.question) { Self.now < deadline }.text)
        }
        return promise.futureResult
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
