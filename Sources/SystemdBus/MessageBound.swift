/// How long a message may be that a peer sends, looked at before libsystemd reads it.
///
/// libsystemd takes 128 MiB from every peer, allocates as it reads, and reads on as fast as the peer writes. So the
/// header is peeked at before each message, and the length that it names is what counts. Three things keep the view of
/// where a message begins exact: a message that has begun is read on until it is whole; the bytes that follow the
/// authentication wait for the first call; and a header that comes in pieces, which no D-Bus library sends, is none.
///
/// Pure: bytes come from outside.
public struct MessageBound: Sendable {
    public let bytesMax: Int
    /// libsystemd has a part of a message, whose length was looked at.
    private var isInside = false

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
    /// - Parameter next: as many of them as there are, up to `peekedBytesMax`.
    func verdict(_ next: ArraySlice<UInt8>, isAuthenticated: Bool) -> Verdict {
        if isInside || next.isEmpty { return .fine }
        guard isAuthenticated else {
            // A line of a server begins with none of these, and a message with one of them.
            let lines = next.split { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
            let begins = lines.contains { $0.first == UInt8(ascii: "l") || $0.first == UInt8(ascii: "B") }
            return begins ? .broken : .fine
        }
        guard next.count >= MessageFramer.headerBytes else { return .broken }
        // What is no header libsystemd refuses.
        let bytes = next.withUnsafeBytes { MessageFramer.saidBytes($0) } ?? 0
        return bytes > bytesMax ? .tooLong(bytes: bytes) : .fine
    }

    /// libsystemd has had its turn.
    /// - Parameters:
    ///   - arrived: a message became whole.
    ///   - hasRead: it read something; not only wrote.
    mutating func processed(arrived: Bool, hasRead: Bool) {
        if arrived {
            isInside = false
        } else if hasRead {
            isInside = true
        }
    }
}
