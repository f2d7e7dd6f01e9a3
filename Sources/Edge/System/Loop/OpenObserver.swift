import CLinux
import Glibc

/// Opens and closes of one file since the last news.
public struct OpenNews: Hashable, Sendable {
    public var opened: Int
    public var closed: Int
    /// More happened than the kernel keeps.
    public var isIncomplete: Bool
    /// More had happened by then, and comes next.
    public var hasMore: Bool

    public init(opened: Int = 0, closed: Int = 0, isIncomplete: Bool = false, hasMore: Bool = false) {
        self.opened = opened
        self.closed = closed
        self.isIncomplete = isIncomplete
        self.hasMore = hasMore
    }
}

/// Reports of the kernel that a file is opened and closed. The holder of `descriptor` chooses the file
/// (`camarb_open_watch_add`): that takes the right to read the file, and this end does not.
///
/// Threading: on the loop's thread.
public final class OpenObserver {
    /// To be passed on; it stays this object's.
    public let descriptor: Int32
    private var source: IOSource?
    private var pause: Timer?
    private let handler: (OpenNews) -> Void
    private var turns = TurnsOfASecond()

    /// Turns of the loop for news, counted in the second that began with the first of them.
    package struct TurnsOfASecond {
        private var count = 0
        private var since: Int64 = 0

        /// Turns for news within a second, before they wait for the next one: programs that open and close a camera
        /// without end are let wait. Read at once, as long as they are few, since the kernel merges two that are alike.
        package static let max = 200
        private static let second: Int64 = 1_000_000_000

        package init() {}

        /// Takes one.
        /// - Returns: the time of the next; `nil`: at once.
        package mutating func take(at now: Int64) -> Int64? {
            if now - since >= Self.second { (count, since) = (0, now) }
            count += 1
            return count < Self.max ? nil : since + Self.second
        }
    }

    /// - Parameter handler: called with each bufferful of news.
    public init(on loop: EventLoop, _ handler: @escaping (OpenNews) -> Void) throws(SystemFault) {
        self.handler = handler
        let made = camarb_open_watch_new()
        descriptor = made
        try check(made, "make an inotify queue")
        pause = try loop.addTimer { [unowned self] in source?.isEnabled = true }
        source = try loop.addIO(made, .readable) { [unowned self] _ in isReadable() }
    }

    deinit {
        source?.cancel()
        if descriptor >= 0 { close(descriptor) }
    }

    private func isReadable() {
        if let next = turns.take(at: EventLoop.now) {
            source?.isEnabled = false
            pause?.arm(at: next)
        }
        takeOne()
    }

    /// Takes the present news, without waiting for its turn. One bufferful: a program that never stops could cause
    /// more.
    public func takeOne() {
        var news = camarb_open_news()
        guard camarb_open_watch_take(descriptor, &news) > 0 else { return }
        handler(
            OpenNews(
                opened: Int(news.opened), closed: Int(news.closed), isIncomplete: news.is_incomplete != 0,
                hasMore: news.has_more != 0))
    }
}
