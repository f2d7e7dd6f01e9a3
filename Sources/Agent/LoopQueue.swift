import Loop
import Synchronization

/// What tasks leave for the loop, in order.
final class LoopQueue<News: Sendable>: Sendable {
    private let items = Mutex<[News]>([])
    private let wakeup = Mutex<Wakeup?>(nil)

    func setWakeup(_ new: Wakeup) { wakeup.withLock { $0 = new } }

    func post(_ news: News) {
        items.withLock { $0.append(news) }
        wakeup.withLock { $0?.signal() }
    }

    func take() -> [News] {
        items.withLock { items in
            defer { items = [] }
            return items
        }
    }
}
