import Loop

/// What all connections of a loop share.
final class BusTraffic: LoopPart {
    /// Of the connections that have something to read.
    var turns = Turns()
    /// Of the connections that have one; few at a time (half-open ones, and calls under way).
    var deadlines = BusDeadlines()
    /// What connections read into, one after the other.
    let readingBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: readingBytes, alignment: 16)
    private static let readingBytes = 16 * 1024
    /// There from the first stranger on.
    private var feed: Feed?

    init(on loop: EventLoop) throws(SystemFault) { try turns.begin(self, on: loop) }

    deinit {
        turns.end()
        readingBuffer.deallocate()
    }

    func feedForStrangers() throws(SystemFault) -> Feed {
        if let feed { return feed }
        let feed = try Feed()
        self.feed = feed
        return feed
    }
}
