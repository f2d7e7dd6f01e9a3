import Glibc

/// What a simulated camera looks at: a resolution chart in the manner of ISO 12233, as many pixels as the sensor has.
///
/// In the middle two bands of gratings, vertical and horizontal, from `periods[0]` pixels a line pair on: they
/// are what the lossless zoom is measured with. Above and below them wedges of converging lines; around it
/// a grid and a checkered edge, so that a crop is seen at once. Luma only, in video range: a chart has no colour.
package struct ResolutionChart {
    package let width: Int
    package let height: Int
    /// One byte a pixel, `width` bytes a row.
    let luma: [UInt8]

    static let black: UInt8 = 16
    static let white: UInt8 = 235

    /// Sensor pixels from one line to the next of its kind: two is the finest a sensor can see.
    static let periods: [Double] = [2, 2.5, 3, 3.5, 4, 5, 6, 8, 12, 16]

    package struct Patch: Hashable {
        package var period: Double
        package var x: Int
        package var y: Int
        package var width: Int
        package var height: Int
    }

    /// The vertical gratings, the finest first. They lie within the middle third, so that they stay in the
    /// picture up to a zoom of three.
    package let verticalPatches: [Patch]

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
        let side = max(16, width / 3 / Self.periods.count)
        let patchHeight = max(8, height / 16)
        let left = (width - side * Self.periods.count) / 2
        let middle = height / 2
        verticalPatches = Self.periods.enumerated().map { index, period in
            // A margin between neighbours, so that a scaler's filter mixes no two gratings.
            Patch(period: period, x: left + index * side, y: middle - patchHeight, width: side - 8, height: patchHeight)
        }
        var canvas = Canvas(width: width, height: height)
        canvas.drawGrid()
        canvas.drawEdge()
        canvas.fill(
            x: left - 16, y: middle - patchHeight - 16, width: side * Self.periods.count + 24,
            height: 2 * patchHeight + 40, Self.white)
        for patch in verticalPatches {
            canvas.drawVerticalGrating(patch)
            canvas.drawHorizontalGrating(
                Patch(
                    period: patch.period, x: patch.x, y: middle + 8, width: patch.width, height: patch.height))
        }
        let wedgeHeight = height / 6
        for x in [width * 3 / 8, width / 2, width * 5 / 8] {
            canvas.drawWedge(centre: x, y: middle - patchHeight - 48 - wedgeHeight, height: wedgeHeight)
            canvas.drawWedge(centre: x, y: middle + patchHeight + 48, height: wedgeHeight)
        }
        luma = canvas.luma
    }

    /// Rows are drawn once and copied: most of a chart is the same row many times.
    private struct Canvas {
        let width: Int
        let height: Int
        var luma: [UInt8]

        init(width: Int, height: Int) {
            self.width = width
            self.height = height
            luma = Array(repeating: ResolutionChart.white, count: width * height)
        }

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

        /// Puts one row into `rows` rows from `y` on.
        mutating func stamp(_ row: [UInt8], x: Int, y: Int, rows: Int) {
            guard x >= 0, x + row.count <= width, y >= 0, y + rows <= height else { return }
            let rowBytes = width
            luma.withUnsafeMutableBytes { bytes in
                for line in y..<(y + rows) {
                    UnsafeMutableRawBufferPointer(
                        rebasing: bytes[(line * rowBytes + x)..<(line * rowBytes + x + row.count)]
                    ).copyBytes(from: row)
                }
            }
        }

        mutating func drawGrid() {
            let step = max(32, width / 32)
            for x in stride(from: step, to: width, by: step) { fill(x: x, y: 0, width: 2, height: height, 200) }
            for y in stride(from: step, to: height, by: step) { fill(x: 0, y: y, width: width, height: 2, 200) }
        }

        /// Squares of a 64th of the width along all four edges, alternating.
        mutating func drawEdge() {
            let side = max(4, width / 64)
            for (index, x) in stride(from: 0, to: width, by: side).enumerated() where index % 2 == 0 {
                fill(x: x, y: 0, width: side, height: side, ResolutionChart.black)
                fill(x: x, y: height - side, width: side, height: side, ResolutionChart.black)
            }
            for (index, y) in stride(from: 0, to: height, by: side).enumerated() where index % 2 == 0 {
                fill(x: 0, y: y, width: side, height: side, ResolutionChart.black)
                fill(x: width - side, y: y, width: side, height: side, ResolutionChart.black)
            }
        }

        private func level(_ position: Double, period: Double) -> UInt8 {
            let middle = (Double(ResolutionChart.white) + Double(ResolutionChart.black)) / 2
            let swing = (Double(ResolutionChart.white) - Double(ResolutionChart.black)) / 2
            return UInt8((middle + swing * cos(2 * Double.pi * position / period)).rounded())
        }

        mutating func drawVerticalGrating(_ patch: Patch) {
            let row = (0..<patch.width).map { level(Double($0), period: patch.period) }
            stamp(row, x: patch.x, y: patch.y, rows: patch.height)
        }

        mutating func drawHorizontalGrating(_ patch: Patch) {
            for line in 0..<patch.height {
                fill(
                    x: patch.x, y: patch.y + line, width: patch.width, height: 1,
                    level(Double(line), period: patch.period))
            }
        }

        /// Nine lines that converge downwards, from 16 pixels a pair to 2.
        mutating func drawWedge(centre: Int, y: Int, height: Int) {
            let (widest, finest, lines) = (16.0, 2.0, 9)
            for line in 0..<max(1, height) {
                let period = widest + (finest - widest) * Double(line) / Double(max(1, height))
                let half = period * Double(lines) / 2
                let row = (Int(-half)...Int(half)).map { x in
                    Int(((Double(x) + half) / period * 2).rounded(.down)) % 2 == 0
                        ? ResolutionChart.black : ResolutionChart.white
                }
                stamp(row, x: centre - Int(half), y: y + line, rows: 1)
            }
        }
    }
}
