/// The socket of each connection to PipeWire: the kernel lists the sockets, PipeWire the connections.
///
/// A connection and its socket come together, so that one new socket beside one new connection are the same. Several at
/// once stay ambiguous, until others of them resolve by going, or by the processes that hold them.
public struct SocketOwners {
    public struct Connection: Hashable, Sendable {
        /// PipeWire's number of it.
        public var client: UInt32
        /// The process that made it, by PipeWire's report.
        public var process: Int32

        public init(client: UInt32, process: Int32) {
            self.client = client
            self.process = process
        }
    }

    private var seen: Set<UInt32> = []
    private var openSockets: Set<UInt32> = []
    private var openConnections: [Connection] = []
    private var sockets: [UInt32: UInt32] = [:]

    public init() {}

    /// - Parameter sockets: all present ones.
    public mutating func came(_ connections: [Connection], sockets now: Set<UInt32>) {
        openConnections += connections
        openSockets.formUnion(now.subtracting(seen))
        openSockets.formIntersection(now)
        seen = now
        match()
    }

    public mutating func went(_ client: UInt32) {
        openConnections.removeAll { $0.client == client }
        sockets[client] = nil
    }

    private mutating func match() {
        guard openConnections.count == 1, openSockets.count == 1, let socket = openSockets.first else { return }
        sockets[openConnections[0].client] = socket
        openConnections = []
        openSockets = []
    }

    /// The process of a connection that the desktop portal made for it; `nil`: not known.
    /// - Parameters:
    /// - claimed: the connection's own claim; decides between processes that hold the socket together.
    /// - holders: the processes that have a socket open.
    public func process(
        of client: UInt32, madeBy maker: Int32, claimed: Int32?, holders: (UInt32) -> [Int32]
    ) -> Int32? {
        func one(of processes: [Int32]) -> Int32? {
            let others = processes.filter { $0 != maker }
            if others.count == 1 { return others[0] }
            return claimed.flatMap { others.contains($0) ? $0 : nil }
        }
        if let socket = sockets[client] { return one(of: holders(socket)) }
        guard openSockets.count <= Self.lookedAtMax else { return nil }
        // The sockets that remain after each process with unambiguous connections got its own.
        var left = openSockets.sorted().map { (socket: $0, holders: holders($0)) }
        for connection in openConnections where connection.process != maker {
            if let place = left.firstIndex(where: { $0.holders.contains(connection.process) }) {
                left.remove(at: place)
            }
        }
        // Sockets of the maker alone belong to no process yet. A socket without a visible holder may be this
        // connection's.
        let processes = left.filter { $0.holders.isEmpty || $0.holders.contains { $0 != maker } }.map {
            one(of: $0.holders)
        }
        guard let first = processes.first, processes.allSatisfy({ $0 == first }) else { return nil }
        return first
    }

    /// Each costs a look at all processes, and a program that opens many would hold up everybody's pictures.
    private static let lookedAtMax = 8
}
