import ArbiterProtocol
import Synchronization

/// A bounded queue between the client's thread and the tasks that wait for notices.
///
///     open ──finish──▶ ended: what is queued is still delivered, then the last notice, again and again
///
/// It never blocks the thread that fills it. What does not fit ends it: losing a notice silently would break
/// the promise that none is lost (`docs/semantics.md` §8, 7).
final class NoticeQueue<Notice: Sendable>: Sendable {
    /// About a thousand handovers that nobody looked at; at some 200 bytes a notice that bounds a forgetful
    /// client's memory at a quarter of a megabyte for each session.
    static var noticesMax: Int { 1024 }

    private struct State {
        var waiting: [(id: UInt64, continuation: CheckedContinuation<Notice?, Never>)] = []
        var queued: [Notice] = []
        /// Index of the first of `queued` that is not delivered yet.
        var head = 0
        var last: Notice?
        var nextWaiter: UInt64 = 0

        mutating func take() -> Notice? {
            guard head < queued.count else { return nil }
            defer {
                head += 1
                // Half a queue of delivered ones is worth one move of the rest.
                if head > noticesMax / 2 || head == queued.count {
                    queued.removeFirst(head)
                    head = 0
                }
            }
            return queued[head]
        }
    }

    private let state = Mutex(State())

    var isAwaited: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// - Returns: false when the notice found no place, and is dropped; nil after the end.
    @discardableResult
    func offer(_ notice: Notice) -> Bool? {
        var receiver: CheckedContinuation<Notice?, Never>?
        let taken = state.withLock { state -> Bool? in
            guard state.last == nil else { return nil }
            if !state.waiting.isEmpty {
                receiver = state.waiting.removeFirst().continuation
                return true
            }
            guard state.queued.count - state.head < Self.noticesMax else { return false }
            state.queued.append(notice)
            return true
        }
        receiver?.resume(returning: notice)
        return taken
    }

    /// Gives a notice to somebody who waits, or to nobody.
    func hand(_ notice: Notice) {
        let receiver = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst().continuation }
        receiver?.resume(returning: notice)
    }

    /// Ends the queue with its last notice. Only the first call counts.
    func finish(_ last: Notice) {
        let receivers = state.withLock { state -> [CheckedContinuation<Notice?, Never>] in
            guard state.last == nil else { return [] }
            state.last = last
            defer { state.waiting = [] }
            return state.waiting.map(\.continuation)
        }
        for receiver in receivers { receiver.resume(returning: last) }
    }

    /// The next notice; nil when the waiting task was cancelled.
    /// - Parameter other: one from elsewhere where none is queued, taken under the queue's lock.
    func next(or other: () -> Notice? = { nil }) async -> Notice? {
        let id = state.withLock { state -> UInt64 in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.withLock { state -> Notice?? in
                    if Task.isCancelled { return .some(nil) }
                    if let notice = state.take() ?? state.last ?? other() { return notice }
                    state.waiting.append((id, continuation))
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let receiver = state.withLock { state -> CheckedContinuation<Notice?, Never>? in
                guard let place = state.waiting.firstIndex(where: { $0.id == id }) else { return nil }
                return state.waiting.remove(at: place).continuation
            }
            receiver?.resume(returning: nil)
        }
    }
}

/// The notices of a session or of the broker, in order, the last of which says why there are no more.
///
/// Each notice is delivered once, to whoever waits first: iterate in one place. At most 1,024 wait to be read;
/// a client that leaves more lying loses the session, with `.ended(.outOfResources)` as its last notice.
/// A cancelled task gets `.ended(.failed)`, and another iterator may go on where it stopped.
public struct Notices<Element: Sendable>: AsyncSequence, Sendable {
    let next: @Sendable () async -> (element: Element, isLast: Bool)

    public struct Iterator: AsyncIteratorProtocol {
        let pull: @Sendable () async -> (element: Element, isLast: Bool)
        var isOver = false

        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            if isOver { return nil }
            let (element, isLast) = await pull()
            isOver = isLast
            return element
        }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(pull: next) }
}

extension BrokerError {
    static let waitCancelled = BrokerError(
        .failed, "The task that waited for events was cancelled; events go on, for another to read.")
    static let unreadNotices = BrokerError(
        .outOfResources,
        "1024 events were left unread, so the next had no place; read events as they come, and create the session anew."
    )
}
