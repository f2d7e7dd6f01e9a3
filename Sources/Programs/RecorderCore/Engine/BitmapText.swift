import FrameStream
import Glibc

/// Writes digits and a few letters into a picture's luma, black on white, without any font of the system.
enum BitmapText {
    /// Three columns by five rows, the topmost row in the highest three bits.
    private static let glyphs: [Character: UInt16] = [
        "0": 0b111_101_101_101_111, "1": 0b010_110_010_010_111, "2": 0b111_001_111_100_111, "3": 0b111_001_111_001_111,
        "4": 0b101_101_111_001_001, "5": 0b111_100_111_001_111, "6": 0b111_100_111_101_111, "7": 0b111_001_010_010_010,
        "8": 0b111_101_111_101_111, "9": 0b111_101_111_001_111, ".": 0b000_000_000_000_010, "#": 0b101_111_101_111_101,
        "s": 0b011_100_010_001_110, "x": 0b000_101_010_101_000, " ": 0,
    ]
    private static let columns = 3
    private static let rows = 5

    /// Draws a line near the left upper corner, about a third of the picture wide; the part outside the picture is cut off.
    static func draw(_ text: String, into picture: UnsafeMutableRawBufferPointer, layout: PictureLayout) {
        let dot = max(1, layout.width / 320)
        let (corner, advance) = (4 * dot, (columns + 1) * dot)
        let boxWidth = min(layout.width - corner, (text.count * (columns + 1) + 1) * dot)
        guard let start = picture.baseAddress, boxWidth > 0 else { return }
        for line in 0..<(rows + 2) {
            // The first of a row of dots is drawn, the others are copies of it.
            let top = corner + line * dot
            guard top + dot <= layout.height else { return }
            let first = start + top * layout.stride + corner
            memset(first, Int32(layout.white), boxWidth)
            if (1...rows).contains(line) {
                for (index, character) in text.enumerated() {
                    let glyph = glyphs[character] ?? glyphs["#", default: 0]
                    let bits = glyph >> UInt16((rows - line) * columns) & 0b111
                    for column in 0..<columns where bits >> UInt16(columns - 1 - column) & 1 == 1 {
                        let at = dot + index * advance + column * dot
                        if at + dot <= boxWidth { memset(first + at, Int32(layout.black), dot) }
                    }
                }
            }
            for copy in 1..<max(1, dot) { memcpy(first + copy * layout.stride, first, boxWidth) }
        }
    }
}
