/// What peers have left unread of what they were sent, in all: each may be behind (`BusConnection.queuedBytesMax`), and all of
/// them together less than as many times that.
struct UnreadBytes {
    /// Of the peers that have left something.
    private var behind: [ObjectIdentifier: (bytes: Int, connection: BusConnection)] = [:]
    private var inAll = 0
    /// What peers that left too much had left when they went, since the heap was last given back.
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
        // Those that are ending give theirs back a moment later.
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
