import Camarb
import Workbench
import WorkbenchCommands

/// Everything that a command with a session waits for, in one order: events, alarms and Ctrl-C. Used by one task.
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
    private var kept: [Item] = []
    private(set) var session = SessionView()
    private var lastError: String?

    init(
        _ notices: Notices<SessionNotice>, interrupts: AsyncStream<Void>? = nil,
        onNotice: @escaping @Sendable (SessionNotice) -> Void = { _ in }
    ) {
        // Unread events pile up here: a session that runs for a day has a few thousand.
        let (stream, continuation) = AsyncStream.makeStream(of: Item.self)
        iterator = stream.makeAsyncIterator()
        self.continuation = continuation
        tasks.append(
            Task.detached {
                for await notice in notices {
                    if Task.isCancelled { return }
                    onNotice(notice)
                    continuation.yield(.notice(notice))
                }
            })
        guard let interrupts else { return }
        tasks.append(Task.detached { for await _ in interrupts { continuation.yield(.interrupt) } })
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

    func doorbell() -> @Sendable () -> Void {
        let continuation = continuation
        return { continuation.yield(.alarm(0)) }
    }

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

    /// Lets a time pass; events stay in the inbox. Throws at the session's end, or on Ctrl-C.
    func pause(for duration: Duration) async throws(Failure) {
        let alarm = alarm(in: duration)
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

    func start(_ handle: SessionHandle, within limit: Duration) async throws {
        try await handle.startRunning()
        try await sayingWhat("waiting for the camera") {
            try await wait(for: "DidStartRunning", within: limit) { event -> Void? in
                switch event {
                case .didStartRunning: return ()
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
