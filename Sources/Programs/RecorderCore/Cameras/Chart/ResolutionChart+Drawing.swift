import Glibc

/// The chart as light on a sensor: luma only, since a chart has no colour.
extension ResolutionChart {
    /// One byte a pixel, `width` bytes a row.
    package func drawn(black: UInt8, white: UInt8) -> [UInt8] {
        var canvas = ChartCanvas(width: width, height: height, black: black, white: white)
        canvas.drawGrid()
        canvas.drawEdge()
        let wedgeHeight = height / 6
        for x in [width * 3 / 8, width / 2, width * 5 / 8] {
            canvas.drawWedge(centre: x, y: height / 4 - 16 - wedgeHeight, height: wedgeHeight)
            canvas.drawWedge(centre: x, y: height * 3 / 4 + 16, height: wedgeHeight)
        }
        for x in [width * 3 / 16, width * 13 / 16] {
            canvas.drawWedge(centre: x, y: (height - wedgeHeight) / 2, height: wedgeHeight)
        }
        // Gray as the gratings are on average: what blurs into them from beside them changes their contrast least.
        canvas.fill(x: width / 4, y: height / 4, width: width / 2, height: height / 2, UInt8(canvas.gray.rounded()))
        for grating in gratings { canvas.draw(grating) }
        return canvas.luma
    }
}

/// Rows are drawn once and copied where they are the same: most of a chart is the same row many times.
private struct ChartCanvas {
    let width, height: Int
    let black, white: UInt8
    var luma: [UInt8]

    init(width: Int, height: Int, black: UInt8, white: UInt8) {
        (self.width, self.height, self.black, self.white) = (width, height, black, white)
        luma = Array(repeating: white, count: width * height)
    }

    private var swing: Double { (Double(white) - Double(black)) / 2 }
    var gray: Double { Double(black) + swing }

    mutating func fill(x: Int, y: Int, width: Int, height: Int, _ level: UInt8) {
        let columns = max(0, x)..<max(0, min(self.width, x + width))
        guard !columns.isEmpty else { return }
        let rowBytes = self.width
        let rows = max(0, y)..<max(0, min(self.height, y + height))
        luma.withUnsafeMutableBytes { bytes in
            for row in rows {
                let line = UnsafeMutableRawBufferPointer(
                    rebasing: bytes[(row * rowBytes + columns.lowerBound)..<(row * rowBytes + columns.upperBound)])
                if let start = line.baseAddress { memset(start, Int32(level), line.count) }
            }
        }
    }

    mutating func stamp(_ row: [UInt8], x: Int, y: Int) {
        guard x >= 0, x + row.count <= width, y >= 0, y < height else { return }
        let first = y * width + x
        luma.withUnsafeMutableBytes { bytes in
            UnsafeMutableRawBufferPointer(rebasing: bytes[first..<first + row.count]).copyBytes(from: row)
        }
    }

    mutating func drawGrid() {
        let step = max(32, width / 32)
        let level = UInt8((gray + 0.68 * swing).rounded())
        for x in stride(from: step, to: width, by: step) { fill(x: x, y: 0, width: 2, height: height, level) }
        for y in stride(from: step, to: height, by: step) { fill(x: 0, y: y, width: width, height: 2, level) }
    }

    /// Squares of a 64th of the width along all four edges, alternating.
    mutating func drawEdge() {
        let side = max(4, width / 64)
        for (index, x) in stride(from: 0, to: width, by: side).enumerated() where index % 2 == 0 {
            fill(x: x, y: 0, width: side, height: side, black)
            fill(x: x, y: height - side, width: side, height: side, black)
        }
        for (index, y) in stride(from: 0, to: height, by: side).enumerated() where index % 2 == 0 {
            fill(x: 0, y: y, width: side, height: side, black)
            fill(x: width - side, y: y, width: side, height: side, black)
        }
    }

    /// Each pixel has the mean of the light that falls on it: a pixel is an area, and lines of two pixels a pair reach it
    /// with 64 percent of their contrast.
    mutating func draw(_ grating: ResolutionChart.Grating) {
        let aperture = sin(Double.pi / grating.period) * grating.period / Double.pi
        let middle = (Double(width) / 2 + grating.x, Double(height) / 2 + grating.y)
        let left = Int((middle.0 - grating.width / 2).rounded())
        let top = Int((middle.1 - grating.height / 2).rounded())
        let columns = Int(grating.width.rounded())
        for y in top..<top + Int(grating.height.rounded()) {
            let begin = (Double(y) + 0.5 - middle.1) * grating.lean
            let row = (left..<left + columns).map { x in
                let phase = 2 * Double.pi * ((Double(x) + 0.5 - middle.0) / grating.period + begin)
                return UInt8((gray + swing * aperture * cos(phase)).rounded())
            }
            stamp(row, x: left, y: y)
        }
    }

    /// Nine lines that converge downwards, from 16 pixels a pair to 2.
    mutating func drawWedge(centre: Int, y: Int, height: Int) {
        let (widest, finest, lines) = (16.0, 2.0, 9)
        for line in 0..<max(1, height) {
            let period = widest + (finest - widest) * Double(line) / Double(max(1, height))
            let half = period * Double(lines) / 2
            let row = (Int(-half)...Int(half)).map { x in
                Int(((Double(x) + half) / period * 2).rounded(.down)) % 2 == 0 ? black : white
            }
            stamp(row, x: centre - Int(half), y: y + line)
        }
    }
}
