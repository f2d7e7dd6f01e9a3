package import FrameStream
import Glibc

/// What exposure, white balance, video HDR and mirroring make of a picture, by tables: once for each that differs.
package struct PictureLook: Hashable, Sendable {
    /// Times the light that shows the chart as it is drawn.
    package var gain = 1.0
    package var gains = WhiteBalance.Gains.neutral
    package var isHDR = false
    package var isMirrored = false

    package init() {}

    package var isPlain: Bool { !isMirrored && hasPlainLight && hasPlainColour }
    private var hasPlainLight: Bool { abs(gain - 1) < 0.001 && !isHDR }
    private var hasPlainColour: Bool { gains == .neutral }

    /// A display shows the light to this power; a picture has it to the inverse.
    private static let gamma = 2.2

    /// What a level of luma becomes. Video HDR takes in what is up to twice as bright as white, and shows it by less
    /// contrast: shadows are lifted, lights held back.
    package func luma(_ level: UInt8, in layout: PictureLayout) -> UInt8 {
        var light = Self.light(level, layout) * pow(gain, 1 / Self.gamma)
        if isHDR { light = 0.1 + 0.75 * min(light, 1.2) }
        let black = Double(layout.black)
        return UInt8((black + (Double(layout.white) - black) * min(light, 1)).rounded())
    }

    /// From 0, black, to 1, white.
    private static func light(_ level: UInt8, _ layout: PictureLayout) -> Double {
        let black = Double(layout.black)
        return max(0, (Double(level) - black) / (Double(layout.white) - black))
    }

    /// A picture as it looks.
    /// - Parameter picture: grey, as drawn.
    package func applied(to picture: [UInt8], _ layout: PictureLayout) -> [UInt8] {
        var seen = picture
        seen.withUnsafeMutableBufferPointer { apply(to: UnsafeMutableRawBufferPointer($0), layout) }
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
        if !hasPlainColour { tint(picture, layout) }
    }

    /// The colour that gains give to grey: as strong as the grey is bright (BT.709).
    private func tint(_ picture: UnsafeMutableRawBufferPointer, _ layout: PictureLayout) {
        let luma = 0.2126 * gains.red + 0.7152 * gains.green + 0.0722 * gains.blue
        let (blue, red) = ((gains.blue / luma - 1) / 1.8556, (gains.red / luma - 1) / 1.5748)
        // Of chroma, too, video has a part of the byte.
        let (least, most) = layout.isFullRange ? (0.0, 255.0) : (16.0, 240.0)
        func table(_ strength: Double) -> [UInt8] {
            (0...255).map { level in
                let colour = (most - least) * strength * Self.light(UInt8(level), layout)
                return UInt8(min(max(128 + colour, least), most).rounded())
            }
        }
        let (blues, reds) = (table(blue), table(red))
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
