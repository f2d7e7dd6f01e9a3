package import FrameStream
import Glibc

/// The effect of exposure, white balance, video HDR and mirroring on a picture, by tables.
package struct PictureLook: Hashable, Sendable {
    /// Times the light that shows the chart as it is drawn.
    package var gain = 1.0
    package var gains = WhiteBalanceSettings.Gains.one
    package var isHDR = false
    package var isMirrored = false

    package init() {}

    package var isPlain: Bool { !isMirrored && hasPlainLight && gains == .one }
    private var hasPlainLight: Bool { abs(gain - 1) < 0.001 && !isHDR }

    /// A display shows the light to this power; a picture has it to the inverse.
    private static let gamma = 2.2

    /// Maps a level of luma. Video HDR takes in light up to twice as bright as white, and shows it by less contrast: shadows
    /// are lifted, lights held back.
    package func luma(_ level: UInt8, in layout: PictureLayout) -> UInt8 {
        var light = Self.light(level, layout) * pow(gain, 1 / Self.gamma)
        if isHDR { light = 0.1 + 0.75 * min(light, 1.2) }
        let black = Double(layout.black)
        return UInt8((black + (Double(layout.white) - black) * min(light, 1)).rounded())
    }

    private static func light(_ level: UInt8, _ layout: PictureLayout) -> Double {
        let black = Double(layout.black)
        return max(0, (Double(level) - black) / (Double(layout.white) - black))
    }

    /// - Parameter picture: grey, as drawn.
    package func applied(to picture: [UInt8], _ layout: PictureLayout) -> [UInt8] {
        var seen = picture
        seen.withUnsafeMutableBytes { apply(to: $0, layout) }
        return seen
    }

    func apply(to picture: UnsafeMutableRawBufferPointer, _ layout: PictureLayout) {
        let table = (0...255).map { luma(UInt8($0), in: layout) }
        for row in 0..<layout.height {
            var line = UnsafeMutableRawBufferPointer(
                rebasing: picture[(row * layout.stride)..<(row * layout.stride + layout.width)])
            if !hasPlainLight { for x in line.indices { line[x] = table[Int(line[x])] } }
            if isMirrored { line.reverse() }
        }
        if gains != .one { tint(picture, layout) }
    }

    /// The colour that gains give to grey: as strong as the grey is bright (BT.709).
    private func tint(_ picture: UnsafeMutableRawBufferPointer, _ layout: PictureLayout) {
        let luma = (gains * SIMD3(0.2126, 0.7152, 0.0722)).sum()
        // Of chroma, too, video has a part of the byte.
        let (least, most) = layout.isFullRange ? (0.0, 255.0) : (16.0, 240.0)
        func table(_ strength: Double) -> [UInt8] {
            (0...255).map { level in
                let colour = (most - least) * strength * Self.light(UInt8(level), layout)
                return UInt8(min(max(128 + colour, least), most).rounded())
            }
        }
        let (blues, reds) = (table((gains.z / luma - 1) / 1.8556), table((gains.x / luma - 1) / 1.5748))
        for row in 0..<layout.height / 2 {
            let grey = 2 * row * layout.stride
            let colour = layout.lumaBytes + row * layout.stride
            for x in stride(from: 0, to: layout.width, by: 2) {
                let level = Int(picture[grey + x])
                picture[colour + x] = blues[level]
                picture[colour + x + 1] = reds[level]
            }
        }
    }
}

/// A checkered square that moves over the chart: a simulated camera detects it. It lies on the sensor, as all of the chart
/// does: a zoom enlarges it, and pushes it out of the picture. Its place follows from the time alone, so that two cameras see
/// it in the same place at the same moment.
enum MovingMarker {
    /// Of the chart's height: large enough to be found in the smallest picture, of 144 rows.
    private static let side = 0.06
    /// Between the gratings, which measure, and the part of the chart that a picture of 16:9 cuts off.
    private static let centre = 0.2
    private static let path = 0.1...0.9
    /// Nanoseconds for the way there and back: a third of a picture's width a second is followed easily by eye.
    private static let period: Int64 = 6_000_000_000

    /// Where a marker is in a picture of a part of the chart, `nil` where it is not whole.
    /// - Parameter time: of the capture, in nanoseconds.
    static func box(
        at time: Int64, in crop: SensorWindow.Crop, of chart: (width: Int, height: Int), isMirrored: Bool
    ) -> DetectedObject.Box? {
        let phase = Double(((time % period) + period) % period) / Double(period)
        let way = phase < 0.5 ? 2 * phase : 2 - 2 * phase
        let middle = path.lowerBound + (path.upperBound - path.lowerBound) * way
        let (chartWidth, chartHeight) = (Double(chart.width), Double(chart.height))
        let pixels = side * chartHeight
        let (width, height) = (pixels / Double(crop.width), pixels / Double(crop.height))
        let left = (middle * chartWidth - pixels / 2 - Double(crop.x)) / Double(crop.width)
        let top = (centre * chartHeight - pixels / 2 - Double(crop.y)) / Double(crop.height)
        guard left >= 0, top >= 0, left + width <= 1, top + height <= 1 else { return nil }
        return DetectedObject.Box(x: isMirrored ? 1 - left - width : left, y: top, width: width, height: height)
    }

    static func draw(
        _ box: DetectedObject.Box, _ look: PictureLook, into picture: UnsafeMutableRawBufferPointer,
        _ layout: PictureLayout
    ) {
        let (dark, light) = (look.luma(layout.black, in: layout), look.luma(layout.white, in: layout))
        func pixel(_ part: Double, of size: Int) -> Int { min(size, max(0, Int((part * Double(size)).rounded()))) }
        let columns = [box.x, box.x + box.width / 2, box.x + box.width].map { pixel($0, of: layout.width) }
        let rows = [box.y, box.y + box.height / 2, box.y + box.height].map { pixel($0, of: layout.height) }
        for half in 0...1 {
            for row in rows[half]..<rows[half + 1] {
                for part in 0...1 {
                    let line = row * layout.stride
                    UnsafeMutableRawBufferPointer(
                        rebasing: picture[(line + columns[part])..<(line + columns[part + 1])]
                    )
                    .initializeMemory(as: UInt8.self, repeating: half == part ? dark : light)
                }
            }
        }
    }
}
