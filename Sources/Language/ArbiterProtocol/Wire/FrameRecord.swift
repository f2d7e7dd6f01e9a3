/// The records on a preview stream's `SOCK_SEQPACKET` socket, one a packet, little-endian.
///
///     recorder → client   buffer   (with one descriptor)   once for each buffer of the grant's pool
///     recorder → client   frame                            a captured frame, in one of those buffers
///     client → recorder   release                          the buffer may be written again
///     recorder → client   end                              then the socket closes: the grant is over
///
/// A buffer is a memfd sealed `FUTURE_WRITE | SHRINK | GROW | SEAL`, or a device's DMA buffer open for reading only
/// (map either read-only and shared). A stream may go on with other buffers, announced with indexes of their own.
/// Planes lie one behind the other without gaps beyond `stride`: `420v`/`420f` is NV12, a full plane of Y and a
/// half-height plane of interleaved CbCr, both with `stride` bytes a row.
public enum FrameRecord: Hashable, Sendable {
    case buffer(Buffer)
    case frame(Frame)
    case release(index: UInt32)
    case end

    public struct Buffer: Hashable, Sendable {
        public var index: UInt32
        public var width: UInt32
        public var height: UInt32
        /// Bytes from one row to the next.
        public var stride: UInt32
        /// Four ASCII characters, such as `420v`.
        public var pixelFormat: String
        /// Size of the mapping in bytes.
        public var bytes: UInt64
        public init(index: UInt32, width: UInt32, height: UInt32, stride: UInt32, pixelFormat: String, bytes: UInt64) {
            (self.index, self.width, self.height) = (index, width, height)
            (self.stride, self.pixelFormat, self.bytes) = (stride, pixelFormat, bytes)
        }
    }

    public struct Frame: Hashable, Sendable {
        public var index: UInt32
        /// Counts captured frames of the grant from 1; a gap is a frame that was dropped for this stream.
        public var sequence: UInt64
        /// Nanoseconds of CLOCK_MONOTONIC at its capture.
        public var timestamp: Int64
        public var bytes: UInt64
        public var flags: Flags
        public init(index: UInt32, sequence: UInt64, timestamp: Int64, bytes: UInt64, flags: Flags = []) {
            (self.index, self.sequence, self.timestamp) = (index, sequence, timestamp)
            (self.bytes, self.flags) = (bytes, flags)
        }
    }

    public struct Flags: OptionSet, Hashable, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        /// The first frame after a configuration was applied.
        public static let configurationChanged = Flags(rawValue: 1)
        /// A stand-in for the picture.
        public static let slate = Flags(rawValue: 2)
    }

    /// Every record is this long, so that a reader needs no framing of its own.
    public static let encodedBytes = 40

    private enum Tag: UInt32 {
        case buffer = 1
        case frame = 2
        case release = 3
        case end = 4
    }

    public func encode() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.encodedBytes)
        func put32(_ value: UInt32, at offset: Int) {
            for i in 0..<4 { bytes[offset + i] = UInt8(truncatingIfNeeded: value >> (8 * UInt32(i))) }
        }
        func put64(_ value: UInt64, at offset: Int) {
            for i in 0..<8 { bytes[offset + i] = UInt8(truncatingIfNeeded: value >> (8 * UInt64(i))) }
        }
        switch self {
        case .buffer(let buffer):
            put32(Tag.buffer.rawValue, at: 0)
            put32(buffer.index, at: 4)
            put32(buffer.width, at: 8)
            put32(buffer.height, at: 12)
            put32(buffer.stride, at: 16)
            for (i, byte) in buffer.pixelFormat.utf8.prefix(4).enumerated() { bytes[20 + i] = byte }
            put64(buffer.bytes, at: 24)
        case .frame(let frame):
            put32(Tag.frame.rawValue, at: 0)
            put32(frame.index, at: 4)
            put64(frame.sequence, at: 8)
            put64(UInt64(bitPattern: frame.timestamp), at: 16)
            put64(frame.bytes, at: 24)
            put32(frame.flags.rawValue, at: 32)
        case .release(let index):
            put32(Tag.release.rawValue, at: 0)
            put32(index, at: 4)
        case .end: put32(Tag.end.rawValue, at: 0)
        }
        return bytes
    }

    /// `nil` for bytes of another length, with an unknown tag, or with a pixel format that is not ASCII.
    public init?(decoding bytes: some RandomAccessCollection<UInt8>) {
        guard bytes.count == Self.encodedBytes else { return nil }
        func byte(_ offset: Int) -> UInt8 { bytes[bytes.index(bytes.startIndex, offsetBy: offset)] }
        func get32(_ offset: Int) -> UInt32 {
            (0..<4).reduce(UInt32(0)) { $0 | UInt32(byte(offset + $1)) << (8 * UInt32($1)) }
        }
        func get64(_ offset: Int) -> UInt64 {
            (0..<8).reduce(UInt64(0)) { $0 | UInt64(byte(offset + $1)) << (8 * UInt64($1)) }
        }
        switch Tag(rawValue: get32(0)) {
        case .buffer:
            let format = (20..<24).map(byte)
            guard format.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else { return nil }
            self = .buffer(
                Buffer(
                    index: get32(4), width: get32(8), height: get32(12), stride: get32(16),
                    pixelFormat: String(decoding: format, as: UTF8.self), bytes: get64(24)))
        case .frame:
            self = .frame(
                Frame(
                    index: get32(4), sequence: get64(8), timestamp: Int64(bitPattern: get64(16)), bytes: get64(24),
                    flags: Flags(rawValue: get32(32))))
        case .release: self = .release(index: get32(4))
        case .end: self = .end
        case nil: return nil
        }
    }
}
