import CPipeWire
import Testing

@Suite("Pictures in the formats of programs in PipeWire")
struct PixelsTests {
    private static let formats = [camarb_pixels_nv12, camarb_pixels_yuy2, camarb_pixels_i420]
    /// Before and behind what may be written.
    private static let marginBytes = 4096
    /// In rows, behind their pixels: no picture here has it.
    private static let padding: UInt8 = 0xEE

    /// NV12 in memory, with rows as long as its maker likes.
    private struct Picture {
        var width, height, stride: Int
        var luma, chroma: [UInt8]

        /// Pixels without any order, the same on each run.
        init(_ width: Int, _ height: Int, stride: Int) {
            self.width = width
            self.height = height
            self.stride = stride
            var state = UInt32(width * 31 + height)
            func plane(rows: Int) -> [UInt8] {
                (0..<rows * stride).map { place in
                    state = state &* 1_664_525 &+ 1_013_904_223
                    return place % stride < width ? UInt8(state >> 24) % 0xEE : padding
                }
            }
            luma = plane(rows: height)
            chroma = plane(rows: height / 2)
        }

        func write(_ pixels: camarb_pixels, _ width: Int, _ height: Int, into memory: inout [UInt8], at place: Int) {
            luma.withUnsafeBufferPointer { luma in
                chroma.withUnsafeBufferPointer { chroma in
                    memory.withUnsafeMutableBufferPointer { memory in
                        var picture = camarb_door_picture(
                            luma: luma.baseAddress, chroma: chroma.baseAddress, stride: UInt32(stride),
                            width: UInt32(self.width), height: UInt32(self.height), captured: 0)
                        camarb_pixels_convert(
                            &picture, pixels, UInt32(width), UInt32(height), memory.baseAddress! + place)
                    }
                }
            }
        }

        /// In this format and size; every byte before and behind it was left alone, and every byte of it was written.
        func converted(
            to pixels: camarb_pixels, _ width: Int, _ height: Int, at place: SourceLocation = #_sourceLocation
        ) -> [UInt8] {
            let bytes = Int(camarb_pixels_bytes(pixels, UInt32(width), UInt32(height)))
            let results = [UInt8(0xA5), 0x5A].map { blank in
                var memory = [UInt8](repeating: blank, count: bytes + 2 * marginBytes)
                write(pixels, width, height, into: &memory, at: marginBytes)
                let margins = memory.prefix(marginBytes) + memory.suffix(marginBytes)
                let isUntouched = margins.allSatisfy { $0 == blank }
                #expect(isUntouched, "something was written beyond", sourceLocation: place)
                return Array(memory[marginBytes..<marginBytes + bytes])
            }
            let leftOut = difference(results[0], results[1])
            #expect(leftOut == nil, "a byte was left out", sourceLocation: place)
            return results[0]
        }
    }

    /// Where two pictures are another first: an expectation on all their bytes would take minutes to say how they differ.
    private static func difference(_ one: [UInt8], _ other: [UInt8]) -> Int? {
        one == other ? nil : zip(one, other).enumerated().first { $1.0 != $1.1 }?.offset ?? min(one.count, other.count)
    }

    @Test("A format's name, bytes and rows are those by which programs read it")
    func names() {
        #expect(Self.formats.map { String(cString: camarb_pixels_fourcc($0)) } == ["NV12", "YUYV", "YU12"])
        #expect(Self.formats.count == Int(camarb_pixels_count.rawValue))
        for (width, height) in [(2, 2), (6, 4), (10, 6), (640, 480), (1920, 1080)] as [(UInt32, UInt32)] {
            #expect(Self.formats.map { camarb_pixels_stride($0, width) } == [width, width * 2, width])
            let (yuv420, yuv422) = (width * height * 3 / 2, width * height * 2)
            #expect(Self.formats.map { camarb_pixels_bytes($0, width, height) } == [yuv420, yuv422, yuv420])
        }
    }

    /// The part of a side that is left where the other side decides the shape, and the part before it: all are even.
    private static func middle(of side: Int, fitting other: Int, _ shape: (Int, Int)) -> (before: Int, side: Int) {
        let left = min(side, max(2, other * shape.0 / shape.1 / 2 * 2))
        return ((side - left) / 2 / 2 * 2, left)
    }

    /// By the definitions, pixel by pixel: the nearest of the picture's middle, with the chroma that it has there.
    private func expected(_ picture: Picture, as format: camarb_pixels, _ width: Int, _ height: Int) -> [UInt8] {
        let across = Self.middle(of: picture.width, fitting: picture.height, (width, height))
        let down = Self.middle(of: picture.height, fitting: picture.width, (height, width))
        func luma(_ x: Int, _ y: Int) -> UInt8 {
            let row = down.before + y * down.side / height
            return picture.luma[row * picture.stride + across.before + x * across.side / width]
        }
        /// Of the pixel at this place: 0 is blue, 1 is red.
        func chroma(_ part: Int, _ x: Int, _ y: Int) -> UInt8 {
            let row = down.before / 2 + y * down.side / height / 2
            let pair = (x / 2) * (across.side / 2) / (width / 2)
            return picture.chroma[row * picture.stride + across.before + 2 * pair + part]
        }
        let (rows, pixels) = (0..<height, 0..<width)
        let (everySecondRow, pairs) = (stride(from: 0, to: height, by: 2), stride(from: 0, to: width, by: 2))
        let plane = rows.flatMap { y in pixels.map { luma($0, y) } }
        switch format {
        case camarb_pixels_nv12:
            return plane + everySecondRow.flatMap { y in pairs.flatMap { [chroma(0, $0, y), chroma(1, $0, y)] } }
        case camarb_pixels_i420:
            return plane + [0, 1].flatMap { part in everySecondRow.flatMap { y in pairs.map { chroma(part, $0, y) } } }
        default:
            return rows.flatMap { y in
                pairs.flatMap { [luma($0, y), chroma(0, $0, y), luma($0 + 1, y), chroma(1, $0, y)] }
            }
        }
    }

    @Test(
        "A picture of any even size and any rows is written in each format and size, by the nearest pixels of its middle, and nothing beyond",
        arguments: [(2, 2), (6, 4), (10, 6), (18, 14), (34, 66), (128, 72)], [0, 1, 7, 64])
    func sizes(size: (Int, Int), behindRows: Int) {
        let picture = Picture(size.0, size.1, stride: size.0 + behindRows)
        for (width, height) in [size, (2, 2), (6, 10), (14, 4), (50, 38), (256, 144)] {
            for format in Self.formats {
                let found = picture.converted(to: format, width, height)
                let wrong = Self.difference(found, expected(picture, as: format, width, height))
                #expect(wrong == nil, "\(size) as \(width)x\(height) in format \(format.rawValue)")
            }
        }
    }

    @Test("The widest picture is written, and one that is wider is not")
    func widest() {
        let picture = Picture(18, 2, stride: 18)
        for format in Self.formats {
            let wrong = Self.difference(
                picture.converted(to: format, 16_384, 2), expected(picture, as: format, 16_384, 2))
            #expect(wrong == nil)
            var memory = [UInt8](repeating: 0xA5, count: 16_386 * 4)
            picture.write(format, 16_386, 2, into: &memory, at: 0)
            let isUntouched = memory.allSatisfy { $0 == 0xA5 }
            #expect(isUntouched)
        }
    }
}
