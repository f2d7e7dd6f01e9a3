/// How long a message may be that a peer sends, looked at before libsystemd reads it.
///
/// libsystemd takes 128 MiB from every peer, allocates as it reads, and reads on as fast as the peer writes. So the header is
/// peeked at before each message, and the length that it names is what counts. Four rules keep it known where a message begins: a
/// message that has begun is read on until it is whole; one that is whole and does not arrive is malformed, and ends the
/// connection, because libsystemd drops it and reads on; the bytes that follow the authentication wait for the first call; and a
/// header that comes in pieces, which no D-Bus library sends, is none. What arrives between a look and the read after it is
/// counted late, never twice: more than one message's worth of bytes without a message ends the connection all the same.
///
/// Pure: bytes come from outside.
public struct MessageBound: Sendable {
    public let bytesMax: Int
    /// Bytes of the present message in all, and of these what libsystemd has at least; 0 between messages.
    private var total = 0
    private var have = 0

    /// What is looked at while the peer authenticates: more than all its lines have.
    static let peekedBytesMax = 512

    /// - Parameter bytesMax: header and body together.
    public init(bytesMax: Int) { self.bytesMax = bytesMax }

    enum Verdict: Hashable {
        case fine
        case tooLong(bytes: Int)
        /// It began a message before it was asked anything, or with less than a header.
        case broken
    }

    /// Whether the peer's next bytes may be read.
    mutating func verdict(_ next: ArraySlice<UInt8>, isAuthenticated: Bool) -> Verdict {
        if total > 0 || next.isEmpty { return .fine }
        guard isAuthenticated else {
            // A line of a server begins with none of these, and a message with one of them.
            let lines = next.split { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
            let begins = lines.contains { $0.first == UInt8(ascii: "l") || $0.first == UInt8(ascii: "B") }
            return begins ? .broken : .fine
        }
        guard next.count >= MessageFramer.headerBytes else { return .broken }
        guard let bytes = next.withUnsafeBytes({ MessageFramer.saidBytes($0) }), bytes >= MessageFramer.messageBytesMin
        else { return .broken }
        if bytes > bytesMax { return .tooLong(bytes: bytes) }
        (total, have) = (bytes, 0)
        return .fine
    }

    /// libsystemd has had its turn.
    /// - Returns: false for a message that was read whole and did not arrive.
    mutating func processed(arrived: Bool, hasRead: Bool, unread: Int) -> Bool {
        if arrived {
            total = 0
        } else if hasRead && total > 0 {
            // It has read on until there was nothing left, or a message came of it.
            have += min(total - have, unread)
            return have < total
        }
        return true
    }
}
