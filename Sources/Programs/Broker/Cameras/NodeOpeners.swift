package import System

/// How many programs have a camera's node open beside our recorder core, counted from the kernel's news.
///
/// Pure. The kernel names no program, and merges two equal news that have not been read yet. So the number is kept between
/// bounds that are known from elsewhere: never below our own recorder core's open files, nor above the number of users
/// of the driver's module, where that can be read.
package struct NodeOpeners: Hashable, Sendable {
    /// Files of the node that are open, with ours.
    private var open = 0
    /// Our recorder core has it open for a grant. Outside of grants it opens the node for moments only, and its callers
    /// wait for their end.
    package var isOurs = false

    package init(isOurs: Bool = false) {
        (self.isOurs, open) = (isOurs, isOurs ? 1 : 0)
    }

    /// The number lags behind while the kernel has more news. The bounds are of now: applied after an opening whose
    /// closing comes next, they would let that closing be subtracted for nothing.
    private var isBehind = false
    /// News were lost on the way to now.
    private var isUnknown = false

    package mutating func take(_ news: OpenNews, atMost most: Int?) {
        open += news.opened - news.closed
        isUnknown = isUnknown || news.isIncomplete
        isBehind = news.hasMore
        if isUnknown && !isBehind {
            // How many are open now is not known: assume the most, and a look finds the one that streams.
            open = most ?? (isOurs ? 1 : 0)
            isUnknown = false
        }
        bound(atMost: most)
    }

    package mutating func bound(atMost most: Int?) {
        guard !isBehind else { return }
        if let most { open = min(open, most) }
        // Closed by a program that had opened it before the watch began.
        open = max(open, 0)
    }

    package var others: Int { max(0, open - (isOurs ? 1 : 0)) }
}
