import System

final class BusTraffic: LoopPart {
    var turns = Turns()
    /// Of the connections that have one; few at a time (half-open ones, and calls under way).
    var deadlines = BusDeadlines()
    var unread = UnreadBytes()
    /// Connections read into it one after the other.
    let readingBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: readingBytes, alignment: 16)
    private static let readingBytes = 16 * 1024
    let held = HeldBytes()

    private unowned let loop: EventLoop
    private var written: [BusConnection] = []
    /// The same while they are flushed; empty else, for the memory it has.
    private var due: [BusConnection] = []
    private var isInTurn = false
    /// Memory for what is written, to be used again.
    private var writers: [MessageWriter] = []
    /// More are in use at once only in a step that tells everybody something.
    private static let writersKept = 16
    private var lastSerial: UInt32 = 0

    init(on loop: EventLoop) throws(SystemFault) {
        self.loop = loop
        try turns.begin(self, on: loop)
    }

    deinit {
        turns.end()
        readingBuffer.deallocate()
    }

    /// A number for a message; never 0.
    func nextSerial() -> UInt32 {
        lastSerial = lastSerial == .max ? 1 : lastSerial + 1
        return lastSerial
    }

    func turnBegins() { isInTurn = true }
    func turnEnds() {
        isInTurn = false
        flush()
    }

    /// The connection has something to send: at the end of the turn, or, outside a turn, after the present handler.
    func hasWritten(_ connection: BusConnection) {
        if !isInTurn && written.isEmpty { loop.defer { [unowned self] in flush() } }
        written.append(connection)
    }

    func flush() {
        if written.isEmpty { return }
        // Flushing writes nothing and calls nobody, so that no other flush comes in between.
        if written.count == 1 {
            written.removeLast().flush()
            return
        }
        swap(&due, &written)
        // By place: an iterator would hold the array, and emptying it would make another.
        for place in due.indices { due[place].flush() }
        due.removeAll(keepingCapacity: true)
    }

    func writer() -> MessageWriter { writers.popLast() ?? MessageWriter() }

    func giveBack(_ writer: inout MessageWriter) {
        guard writers.count < Self.writersKept, writer.count <= Self.readingBytes else { return }
        writer.clear()
        writers.append(writer)
    }
}

/// The deadlines of all connections of a loop, behind one timer.
struct BusDeadlines {
    private var entries: [ObjectIdentifier: (deadline: Int64, connection: BusConnection)] = [:]
    private var timer: Timer?

    mutating func set(_ deadline: Int64?, for connection: BusConnection) {
        let key = ObjectIdentifier(connection)
        if let deadline {
            entries[key] = (deadline, connection)
        } else if entries.removeValue(forKey: key) == nil {
            return
        }
        arm(connection.traffic, on: connection.loop)
    }

    private mutating func arm(_ traffic: BusTraffic, on loop: EventLoop) {
        if timer == nil {
            // Both outlive the timer: the loop owns the traffic, and that owns this value.
            timer = try? loop.addTimer { [unowned traffic, unowned loop] in traffic.deadlines.fire(traffic, on: loop) }
        }
        // An alarm that is set already and comes early enough stays: setting one costs a system call, and every call
        // to a recorder core would cost two. At worst it comes once for nothing.
        guard let next = entries.values.lazy.map({ $0.deadline }).min() else { return }
        if let armed = timer?.deadline, armed <= next { return }
        timer?.arm(at: next)
    }

    private mutating func fire(_ traffic: BusTraffic, on loop: EventLoop) {
        let now = EventLoop.now
        let due = entries.values.filter { $0.deadline <= now }.map(\.connection)
        for connection in due { entries[ObjectIdentifier(connection)] = nil }
        arm(traffic, on: loop)
        // In turns of their own: what a connection does here may set deadlines again.
        for connection in due { loop.defer { connection.deadlinePassed() } }
    }
}

/// Bytes that peers have left unread: each may be behind (`BusConnection.queuedBytesMax`), and all of them together less than
/// as many times that.
struct UnreadBytes {
    private var behind: [ObjectIdentifier: (bytes: Int, connection: BusConnection)] = [:]
    private var inAll = 0
    /// Bytes of peers that were ended for what they left unread, since the heap was last given back.
    private var freed = 0

    /// Giving the heap back looks through all of it, some milliseconds. To be left so much unread again takes a broker longer.
    private static let worthwhileBytes = 4 * 1024 * 1024

    /// A peer has left so many bytes; 0: it has read everything, or is gone. Where it is too much in all, the peer goes that has
    /// left most: whoever reads is never that one.
    mutating func note(_ bytes: Int, of connection: BusConnection) {
        let id = ObjectIdentifier(connection)
        guard bytes > 0 || behind[id] != nil else { return }
        inAll += bytes - (behind[id]?.bytes ?? 0)
        behind[id] = bytes > 0 ? (bytes, connection) : nil
        guard inAll > BusConnection.queuedInAllMax else { return }
        // Connections that are ending free theirs a moment later.
        let staying = behind.values.filter { !$0.connection.isEnding }
        guard staying.reduce(0, { $0 + $1.bytes }) > BusConnection.queuedInAllMax else { return }
        // Of equals the one that came first.
        let most = staying.max { ($0.bytes, $1.connection.number) < ($1.bytes, $0.connection.number) }
        most?.connection.endSoon(.tooMuchQueued)
    }

    /// A peer has gone that had left so many bytes. They lie scattered between what others have left, so that the next messages
    /// fit into a part of them only: every such peer would cost some 60 KiB more for good.
    mutating func isWorthGivingBack(_ bytes: Int) -> Bool {
        freed += bytes
        guard freed >= Self.worthwhileBytes else { return false }
        freed = 0
        return true
    }
}

/// Bytes of strangers' messages that are not whole, by user and in all: as much memory as a message says that it will have.
package final class HeldBytes {
    private var ofUser: [UInt32: Int] = [:]
    private var inAll = 0
    /// Of what the others have left of it, a user gets at most half. One connection needs at most
    /// `MessageFramer.messageBytesMax`.
    package static let bytesMax = 16 * 1024 * 1024

    package init() {}

    /// Takes up bytes for a message that is not whole yet, or gives them back. False: there is no room for more.
    package func hold(_ more: Int, of user: UInt32) -> Bool {
        let own = ofUser[user, default: 0] + more
        inAll += more
        ofUser[user] = own > 0 ? own : nil
        return more <= 0 || user == 0 || own <= (Self.bytesMax - (inAll - own)) / 2
    }
}
