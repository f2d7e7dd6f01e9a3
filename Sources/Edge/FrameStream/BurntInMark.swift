import Glibc

/// A frame's number and capture time, drawn into the picture itself as blocks of black and white.
///
/// Four rows of 32 blocks along the bottom edge, most significant bit first, row by row:
/// 16 bits of signature, 64 of the capture time, 32 of the frame number, 16 of checksum. A block is a
/// 32nd of the picture wide and at least 4 rows high, so it survives video compression and scaling;
/// the checksum tells a mark from a picture that happens to look like one.
public struct BurntInMark: Hashable, Sendable {
    /// Nanoseconds of CLOCK_MONOTONIC.
    public var captureTime: Int64
    /// Counts captured frames of a grant from 1; wraps at 2³².
    public var frameNumber: UInt32

    public init(captureTime: Int64, frameNumber: UInt32) {
        (self.captureTime, self.frameNumber) = (captureTime, frameNumber)
    }

    static let columns = 32
    static let rows = 4
    /// Narrower pictures than this have blocks too small to survive compression.
    public static let widthMin = 128
    public static let heightMin = 64
    private static let signature: UInt64 = 0xca3b

    /// Rows of pixels of one row of blocks.
    static func blockHeight(pictureHeight: Int) -> Int { max(4, pictureHeight / 90) }
    /// Rows of pixels the whole mark takes, from the bottom edge.
    public static func height(pictureHeight: Int) -> Int { rows * blockHeight(pictureHeight: pictureHeight) }

    /// The rows, the topmost first, the leftmost block in the highest bit.
    private var words: [UInt32] {
        let time = UInt64(bitPattern: captureTime)
        let high = Self.signature << 48 | time >> 16
        let low = (time & 0xffff) << 48 | UInt64(frameNumber) << 16 | UInt64(Self.checksum(time, frameNumber))
        return [
            UInt32(high >> 32), UInt32(truncatingIfNeeded: high), UInt32(low >> 32), UInt32(truncatingIfNeeded: low),
        ]
    }

    /// Fletcher's sum over the twelve bytes: sees every single wrong block and nearly all pairs.
    private static func checksum(_ time: UInt64, _ number: UInt32) -> UInt16 {
        var (a, b): (UInt32, UInt32) = (1, 0)
        func add(_ byte: UInt8) {
            a = (a + UInt32(byte)) % 255
            b = (b + a) % 255
        }
        withUnsafeBytes(of: time.bigEndian) { for byte in $0 { add(byte) } }
        withUnsafeBytes(of: number.bigEndian) { for byte in $0 { add(byte) } }
        return UInt16(b << 8 | a)
    }

    /// Draws the mark into an NV12 picture: luma, and neutral colour under it.
    public func draw(into picture: UnsafeMutableRawBufferPointer, layout: PictureLayout) {
        guard layout.width >= Self.widthMin, layout.height >= Self.heightMin, picture.count >= layout.bytes else {
            return
        }
        let blockHeight = Self.blockHeight(pictureHeight: layout.height)
        let top = layout.height - Self.rows * blockHeight
        for (row, word) in words.enumerated() {
            let first = (top + row * blockHeight) * layout.stride
            let line = UnsafeMutableRawBufferPointer(rebasing: picture[first..<first + layout.width])
            for column in 0..<Self.columns {
                let from = column * layout.width / Self.columns
                let to = (column + 1) * layout.width / Self.columns
                let isSet = word >> UInt32(Self.columns - 1 - column) & 1 == 1
                UnsafeMutableRawBufferPointer(rebasing: line[from..<to]).fill(with: isSet ? layout.white : layout.black)
            }
            for copy in 1..<blockHeight {
                let start = first + copy * layout.stride
                UnsafeMutableRawBufferPointer(rebasing: picture[start..<start + layout.width])
                    .copyMemory(from: UnsafeRawBufferPointer(line))
            }
        }
        let chroma = layout.lumaBytes + top / 2 * layout.stride
        UnsafeMutableRawBufferPointer(rebasing: picture[chroma..<layout.bytes]).fill(with: 128)
    }

    /// Reads a mark out of a luma plane, also after compression or scaling; `nil` when there is none.
    public static func read(luma: UnsafeRawBufferPointer, width: Int, height: Int, stride: Int) -> BurntInMark? {
        guard width >= widthMin, height >= heightMin, stride >= width, luma.count >= stride * (height - 1) + width
        else { return nil }
        let blockHeight = blockHeight(pictureHeight: height)
        let top = height - rows * blockHeight
        var words: [UInt64] = []
        for row in 0..<rows {
            var word: UInt64 = 0
            for column in 0..<columns {
                // The middle half of a block: its edges blur.
                let from = column * width / columns
                let to = (column + 1) * width / columns
                let inset = (to - from) / 4
                let y = top + row * blockHeight
                var (sum, count) = (0, 0)
                for line in (y + blockHeight / 4)..<(y + blockHeight - blockHeight / 4) {
                    for x in (from + inset)..<(to - inset) {
                        sum += Int(luma[line * stride + x])
                        count += 1
                    }
                }
                word = word << 1 | (sum > 126 * count ? 1 : 0)
            }
            words.append(word)
        }
        let high = words[0] << 32 | words[1]
        let low = words[2] << 32 | words[3]
        let time = high << 16 | low >> 48
        let number = UInt32(truncatingIfNeeded: low >> 16)
        guard high >> 48 == signature, UInt16(truncatingIfNeeded: low) == checksum(time, number) else { return nil }
        return BurntInMark(captureTime: Int64(bitPattern: time), frameNumber: number)
    }

    /// Reads the mark of an NV12 picture.
    public static func read(from picture: UnsafeRawBufferPointer, layout: PictureLayout) -> BurntInMark? {
        read(luma: picture, width: layout.width, height: layout.height, stride: layout.stride)
    }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate func fill(with byte: UInt8) { if let baseAddress { memset(baseAddress, Int32(byte), count) } }
}
