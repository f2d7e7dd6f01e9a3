import Loop

/// What all connections of a loop share.
final class BusTraffic: LoopPart {
    /// Of the connections that have something to read.
    var turns = Turns()
    /// Of the connections that have one; few at a time (half-open ones, and calls under way).
    var deadlines = BusDeadlines()
    /// What peers have left unread.
    var unread = UnreadBytes()
    /// What connections read into, one after the other.
    let readingBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: readingBytes, alignment: 16)
    private static let readingBytes = 16 * 1024
    /// There from the first stranger on.
    private var feed: Feed?

    private unowned let loop: EventLoop
    /// Connections with something written that has not left.
    private var written: [BusConnection] = []
    /// The same while they are flushed; empty else, for the memory it has.
    private var due: [BusConnection] = []
    private var isInTurn = false
    /// Memory for what is written, to be used again.
    private var writers: [MessageWriter] = []
    /// More are in use at once only in a step that tells everybody something.
    private static let writersKept = 16
    private var lastSerial = firstSerial
    /// libsystemd counts each connection's own messages from 1 on, and comes nowhere near.
    private static let firstSerial: UInt32 = 1 << 31

    init(on loop: EventLoop) throws(SystemFault) {
        self.loop = loop
        try turns.begin(self, on: loop)
    }

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

    // MARK: Writing

    /// A number for a message that libsystemd does not make; never 0.
    func nextSerial() -> UInt32 {
        lastSerial = lastSerial == .max ? Self.firstSerial : lastSerial + 1
        return lastSerial
    }

    func turnBegins() { isInTurn = true }
    func turnEnds() {
        isInTurn = false
        flush()
    }

    /// It has something to send at the end of the turn, or, outside a turn, after the present handler.
    func hasWritten(_ connection: BusConnection) {
        if !isInTurn && written.isEmpty { loop.defer { [unowned self] in flush() } }
        written.append(connection)
    }

    func flush() {
        if written.isEmpty { return }
        // Flushing writes nothing and calls nobody, so that no other flush comes in between.
        swap(&due, &written)
        // By place: an iterator would hold the array, and emptying it would make another.
        for place in due.indices { due[place].flush() }
        due.removeAll(keepingCapacity: true)
    }

    func writer() -> MessageWriter { writers.popLast() ?? MessageWriter() }

    func giveBack(_ writer: inout MessageWriter) {
        guard writers.count < Self.writersKept, writer.bytes.count <= Self.readingBytes else { return }
        writer.clear()
        writers.append(writer)
    }
}
