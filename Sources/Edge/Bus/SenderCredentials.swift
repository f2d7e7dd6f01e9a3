public import ArbiterProtocol
public import System

/// A message bus's answer to `GetConnectionCredentials`: the process behind one of its connections, as the kernel named it to the bus.
public struct SenderCredentials {
    public var user: UInt32
    /// The process's number; 0 where the bus does not know it, or the process has ended.
    public var pid: Int32 = 0
    /// The process itself, by a pidfd (dbus 1.16, on Linux 6.5); `nil` where the bus has only the number.
    public var process: ProcessHandle?
    /// The groups of the process when it connected, sorted. Empty where a client may not have so many, or the bus does not know them.
    public var groups: [UInt32] = []

    /// - Throws: also where the answer does not come from the bus itself.
    public init(_ answer: BusMessage) throws(BrokerError) {
        var found = Found()
        if answer.sender == MessageBus.name {
            try answer.readEach("a", "{sv}", most: BusMessage.keysMax) { () throws(BrokerError) in
                try answer.readEach("e", "sv", most: 1) { () throws(BrokerError) in try found.read(answer) }
            }
        }
        guard let user = found.user else {
            throw BrokerError(.accessDenied, "The bus does not say whose connection it is.")
        }
        (self.user, process, groups) = (user, found.process, found.groups)
        // Where there is a descriptor it counts, and not the number beside it.
        pid = process.map { ProcessHandle.process(behind: $0.descriptor) ?? 0 } ?? found.pid
    }

    private struct Found {
        var user: UInt32?
        var pid: Int32 = 0
        var process: ProcessHandle?
        var groups: [UInt32] = []

        /// Reads one key and its value.
        mutating func read(_ answer: BusMessage) throws(BrokerError) {
            switch try answer.readString() {
            case "UnixUserID": user = try answer.readNumberVariant()
            case "ProcessID": pid = Int32(clamping: try answer.readNumberVariant() ?? 0)
            case "UnixGroupIDs": groups = try answer.readGroupsVariant()
            case "ProcessFD":
                process = try answer.readVariant(of: "h") { () throws(BrokerError) in
                    ProcessHandle(owning: try answer.firstDescriptor())
                }
            default: _ = try answer.readVariant()
            }
        }
    }
}

extension BusMessage {
    fileprivate func readNumberVariant() throws(BrokerError) -> UInt32? {
        try readVariant(of: "u") { () throws(BrokerError) in try readUInt32() }
    }

    fileprivate func readGroupsVariant() throws(BrokerError) -> [UInt32] {
        var groups: [UInt32] = []
        _ = try readVariant(of: "a") { () throws(BrokerError) in
            try readEach("a", "u", most: Self.valuesMax) { () throws(BrokerError) in groups.append(try readUInt32()) }
        }
        return groups.count <= ClientIdentity.groupsMax ? groups.sorted() : []
    }
}
