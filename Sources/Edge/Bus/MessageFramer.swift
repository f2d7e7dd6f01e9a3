/// Where one D-Bus message ends and the next begins, from the sixteen bytes that each begins with. Pure.
///
///     0: 'l' or 'B', the order of bytes    4: length of the body    12: length of the header fields, u32 each
///
/// A message has 16 bytes, its fields, zeros to the next multiple of 8, and its body (D-Bus specification, "Message
/// Format"). `MessageReader` finds out whether it means anything.
package struct MessageFramer {
    package static let headerBytes = 16
    /// A message without header fields has fewer, and says nothing.
    package static let messageBytesMin = 24
    /// Bytes of a stranger's message. The longest that our own tools send, a desktop's worth of apps to `AttachPlacing`,
    /// stays below this.
    package static let messageBytesMax = 128 * 1024
    /// Bytes of any other: the specification's bound.
    static let trustedBytesMax = 128 << 20

    /// Why bytes are no message; a sentence for the journal.
    package enum Fault: Error, Hashable {
        case order(UInt8)
        case tooShort
        case tooLong(Int)
    }

    var bytesMax: Int

    package init(bytesMax: Int = messageBytesMax) { self.bytesMax = bytesMax }

    /// The beginning of a header of which more is to come.
    private var header: [UInt8] = []
    /// Bytes of the present message that are to come, once its header is known.
    private var left = 0
    /// Bytes of the whole message of which more is to come; 0 where that is not known, or nothing is to come.
    package private(set) var unfinishedBytes = 0

    /// Nothing of a message has been taken of which more is to come.
    package var isBetween: Bool { left == 0 && header.isEmpty }

    /// Takes bytes as far as the present message goes, or a new one where none is.
    /// - Throws: before anything of such a message is taken.
    package mutating func take(_ bytes: UnsafeRawBufferPointer) throws(Fault) -> Int {
        if bytes.isEmpty { return 0 }
        if left > 0 {
            let taken = min(left, bytes.count)
            left -= taken
            if left == 0 { unfinishedBytes = 0 }
            return taken
        }
        // The usual case, made short: a message that is whole.
        if header.isEmpty && bytes.count >= Self.headerBytes {
            let total = try length(bytes)
            let taken = min(total, bytes.count)
            left = total - taken
            unfinishedBytes = left > 0 ? total : 0
            return taken
        }
        let part = min(Self.headerBytes - header.count, bytes.count)
        let known = header + bytes.prefix(part)
        try Self.checkOrder(known[0])
        guard known.count == Self.headerBytes else {
            header = known
            return part
        }
        let total = try known.withUnsafeBytes { bytes in
            Result { () throws(Fault) in try length(bytes) }
        }.get()
        header = []
        let rest = min(total - Self.headerBytes, bytes.count - part)
        left = total - Self.headerBytes - rest
        unfinishedBytes = left > 0 ? total : 0
        return part + rest
    }

    private static func checkOrder(_ byte: UInt8) throws(Fault) {
        guard byte == UInt8(ascii: "l") || byte == UInt8(ascii: "B") else { throw .order(byte) }
    }

    private func length(_ bytes: UnsafeRawBufferPointer) throws(Fault) -> Int {
        guard let total = Self.saidBytes(bytes) else { throw .order(bytes[0]) }
        guard total >= Self.messageBytesMin else { throw .tooShort }
        guard total <= bytesMax else { throw .tooLong(total) }
        return total
    }

    /// A message's length by its header: header, padding and body together; `nil` for a header without an order of bytes.
    static func saidBytes(_ header: UnsafeRawBufferPointer) -> Int? {
        let isLittle = header[0] == UInt8(ascii: "l")
        guard isLittle || header[0] == UInt8(ascii: "B") else { return nil }
        func number(_ offset: Int) -> Int {
            let raw = header.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            return Int(isLittle ? UInt32(littleEndian: raw) : UInt32(bigEndian: raw))
        }
        return headerBytes + (number(12) + 7) & ~7 + number(4)
    }
}
