package import Loop

/// How many programs have a camera's node open beside our recorder core, counted from what the kernel says of it.
///
/// Pure. The kernel names nobody, and makes one of two news that are alike and that nobody has read yet; so the count is held between
/// bounds that are known from elsewhere: it is never below what our own recorder core has open, nor above the number of users
/// that the driver's module has, where that can be read.
package struct NodeOpeners: Hashable, Sendable {
    /// Files of the node that are open, ours counted.
    private var open = 0
    /// Our recorder core has it open for a grant. Outside of grants it opens the node for moments only, and who asks waits for their end.
    package var isOurs = false

    /// - Parameter isOurs: our recorder core had it open before the watch began.
    package init(isOurs: Bool = false) {
        self.isOurs = isOurs
        open = isOurs ? 1 : 0
    }

    /// What the count is of lies behind by what the kernel has yet to tell. Bounds are of now: held against an opening whose
    /// closing comes next, they would leave that one to be taken off for nobody.
    private var isBehind = false
    /// News were lost on the way to now.
    private var isUnknown = false

    /// - Parameter most: how many there can be at most; nil: nobody knows.
    package mutating func take(_ news: OpenNews, atMost most: Int?) {
        open += news.opened - news.closed
        isUnknown = isUnknown || news.isIncomplete
        isBehind = news.hasMore
        if isUnknown && !isBehind {
            // What is open now is not known: as many as can be, and a look says who streams.
            open = most ?? (isOurs ? 1 : 0)
            isUnknown = false
        }
        bound(atMost: most)
    }

    package mutating func bound(atMost most: Int?) {
        guard !isBehind else { return }
        if let most { open = min(open, most) }
        // Closed by who had opened it before the watch began.
        open = max(open, 0)
    }

    package var others: Int { max(0, open - (isOurs ? 1 : 0)) }
}
