/// sway's output, cut into messages: a head of 14 bytes ("i3-ipc", a length, a kind), and the length's bytes of JSON.
///
/// The protocol is i3's. Its only libraries (i3ipc-glib, libswayipc) bring GLib or an event loop of their own.
public struct SwayMessages: Sendable {
    /// A tree of 512 windows, each with a title as long as Wayland lets one be (4 KiB), has less.
    public static let bytesMax = 4 << 20

    public struct Message: Hashable, Sendable {
        public var kind: UInt32
        public var bytes: [UInt8]
    }

    public enum Fault: Error, Hashable, Sendable {
        case notSway
        case tooLong(UInt32)
    }

    /// A request, and the kind of its reply.
    public enum Request: UInt32, Sendable {
        case subscribe = 2
        case tree = 4
        case version = 7

        /// A change of layout alone, such as tabs in place of windows, is no event; the key binding that made it is.
        private static let events = #"["window","workspace","binding"]"#

        public var bytes: [UInt8] {
            let body = self == .subscribe ? Array(Self.events.utf8) : []
            return SwayMessages.magic + words(UInt32(body.count)) + words(rawValue) + body
        }

        private func words(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }
    }

    /// Set in the kind of an event.
    public static let eventBit: UInt32 = 1 << 31

    private static let magic = Array("i3-ipc".utf8)
    private static let headBytes = 14

    private var bytes: [UInt8] = []

    public init() {}
    public mutating func take(_ new: some Sequence<UInt8>) { bytes += new }

    /// The next whole message; `nil` before its last byte.
    public mutating func next() throws(Fault) -> Message? {
        guard bytes.starts(with: Self.magic.prefix(bytes.count)) else { throw .notSway }
        guard bytes.count >= Self.headBytes else { return nil }
        let length = word(at: 6)
        guard length <= Self.bytesMax else { throw .tooLong(length) }
        let end = Self.headBytes + Int(length)
        guard bytes.count >= end else { return nil }
        let message = Message(kind: word(at: 10), bytes: Array(bytes[Self.headBytes..<end]))
        bytes.removeFirst(end)
        return message
    }

    /// In the machine's own order, as the protocol has it.
    private func word(at place: Int) -> UInt32 {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt32.self) }
    }
}
