/// Where the planes of an NV12 picture (`420v` in video range, `420f` in full range) lie.
public struct PictureLayout: Hashable, Sendable {
    public let width: Int
    public let height: Int
    /// Bytes from one row to the next, the same in both planes.
    public let stride: Int
    public let pixelFormat: String

    /// Rows begin at multiples of this, the width of the widest vector register in use.
    static let rowAlignment = 64

    /// - Precondition: width and height are even and above 0: chroma is subsampled by two.
    public init(width: Int, height: Int, pixelFormat: String) {
        precondition(width > 0 && height > 0 && width % 2 == 0 && height % 2 == 0, "NV12 has even sides")
        (self.width, self.height, self.pixelFormat) = (width, height, pixelFormat)
        stride = (width + Self.rowAlignment - 1) / Self.rowAlignment * Self.rowAlignment
    }

    /// A layout of somebody else's making.
    init?(width: Int, height: Int, stride: Int, pixelFormat: String) {
        let sides = 2...Self.sideMax
        guard sides.contains(width), sides.contains(height), width % 2 == 0, height % 2 == 0,
            stride >= width, stride <= 4 * Self.sideMax
        else { return nil }
        (self.width, self.height, self.stride, self.pixelFormat) = (width, height, stride, pixelFormat)
    }

    /// A side that no sensor has would overflow products.
    package static let sideMax = 65_536

    /// Luma takes the whole of a byte, and not video's part of it; so does chroma.
    package var isFullRange: Bool { pixelFormat == "420f" }
    package var black: UInt8 { isFullRange ? 0 : 16 }
    package var white: UInt8 { isFullRange ? 255 : 235 }
    public var lumaBytes: Int { stride * height }
    public var bytes: Int { lumaBytes + stride * (height / 2) }
}

/// A fault of the world on a preview stream: the operation, and the system's error number.
public struct FrameStreamFault: Error, Hashable, Sendable {
    public var operation: String
    /// A positive `errno`, or 0 where the peer broke the protocol.
    public var code: Int32

    public init(_ operation: String, code: Int32) {
        (self.operation, self.code) = (operation, code)
    }

    public var description: String { code == 0 ? operation : "\(operation): system error \(code)" }
}
