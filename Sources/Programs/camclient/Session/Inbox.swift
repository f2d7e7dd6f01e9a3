import ArbiterProtocol
import Camarb
import Workbench

/// Everything a command that has a session waits for, in one order: events, alarms and Ctrl-C. Used by one task.
final class Inbox {
    enum Item: Sendable {
        case notice(SessionNotice)
        case alarm(Int)
        case interrupt
    }

    private var iterator: AsyncStream<Item>.Iterator
    private let continuation: AsyncStream<Item>.Continuation
    private var tasks: [Task<Void, Never>] = []
    private var alarms = 0

    init(
        _ notices: Notices<SessionNotice>, interrupts: AsyncStream<Void>? = nil,
        onNotice: @escaping @Sendable (SessionNotice) -> Void = { _ in }
    ) {
        // Events that nobody waits for pile up here: a session that runs for a day has a few thousand.
        let (stream, continuation) = AsyncStream.makeStream(of: Item.self)
        iterator = stream.makeAsyncIterator()
        self.continuation = continuation
        tasks.append(
            Task.detached {
                for await notice in notices {
                    // The inbox's owner has left: nothing takes the events any more.
                    if Task.isCancelled { return }
                    onNotice(notice)
                    continuation.yield(.notice(notice))
                }
            })
        if let interrupts {
            tasks.append(Task.detached { for await _ in interrupts { continuation.yield(.interrupt) } })
        }
    }

    deinit { for task in tasks { task.cancel() } }

    func alarm(in duration: Duration) -> Int {
        alarms += 1
        let (number, continuation) = (alarms, continuation)
        Task.detached {
            try? await Task.sleep(for: duration)
            continuation.yield(.alarm(number))
        }
        return number
    }

    /// Wakes the inbox's reader from elsewhere, with an alarm that is nobody's.
    func doorbell() -> @Sendable () -> Void {
        let continuation = continuation
        return { continuation.yield(.alarm(0)) }
    }

    private var kept: [Item] = []

    private(set) var session = SessionView()
    private(set) var lastError: String?

    func next() async -> Item {
        let item = kept.isEmpty ? await iterator.next() ?? .interrupt : kept.removeFirst()
        if case .notice(.event(let signal)) = item {
            session.take(signal.event)
            switch signal.event {
            case .runtimeError(_, let message): lastError = message
            case .didStartRunning: lastError = nil
            default: break
            }
        }
        return item
    }

    /// Waits for an alarm; what comes meanwhile stays in the inbox. Throws at the session's end, or on Ctrl-C.
    func pause(until alarm: Int) async throws(Failure) {
        while true {
            switch await iterator.next() ?? .interrupt {
            case .alarm(alarm): return
            case .alarm: break
            case .notice(.ended(let error)): throw Failure(error)
            case .interrupt: throw Failure(.answerIsNo, "Interrupted.")
            case .notice(let notice): kept.append(.notice(notice))
            }
        }
    }

    func wait<Result>(
        for what: String, within limit: Duration, _ take: (SessionEvent) throws -> Result?
    ) async throws -> Result {
        let alarm = alarm(in: limit)
        while true {
            switch await next() {
            case .notice(.event(let signal)): if let result = try take(signal.event) { return result }
            case .notice(.ended(let error)): throw Failure(error)
            case .alarm(alarm):
                throw Failure(
                    .answerIsNo, "No \(what) came within \(limit.seconds) s\(lastError.map { ": \($0)" } ?? ".")")
            case .alarm: break
            case .interrupt: throw Failure(.answerIsNo, "Interrupted while waiting for \(what).")
            }
        }
    }

    func waitUntilRunning(within limit: Duration) async throws -> GrantID {
        try await sayingWhat("waiting for the camera") {
            try await wait(for: "DidStartRunning", within: limit) { event in
                switch event {
                case .didStartRunning(let grant): return grant
                case .wasInterrupted, .interruptionChanged, .runtimeError: Output.notice("camclient: \(event.line)")
                case .sessionStopped(let told):
                    throw Failure(
                        .answerIsNo,
                        "The session was stopped: \(told.reason.rawValue), because “\(told.rule)”."
                            + (lastError.map { " \($0)" } ?? ""))
                default: break
                }
                return nil
            }
        }
    }
}
