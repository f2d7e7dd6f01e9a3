import Glibc

/// The view of a simulated camera: a resolution chart in the manner of ISO 12233, with as many pixels as the sensor.
///
/// In its middle quarter (half of each side) lie gratings, from two sensor pixels a line pair on in steps of 4 percent. The
/// finest lies in the very middle and the coarser ones around it, row by row, so that a zoom pushes out of the picture only
/// gratings that it has made easy to see:
///
///     row 5, 4th above …
///     row 2   ▤ ▤ ▤ ▤ ▤     coarser
///     row 0      ▥▥▥▥▥       the finest
///     row 1    ▤ ▤ ▤ ▤ ▤
///     row 3 …
///
/// Around them wedges of converging lines, a grid and a checkered edge, for people: a crop is seen at once.
/// `ResolutionMeter` measures with the gratings.
package struct ResolutionChart: Hashable {
    package let width, height: Int
    /// The finest first.
    package let gratings: [Grating]

    /// Lines that stand nearly upright, cosines in brightness. They lean, as the edges of ISO 12233 do: every row of the picture
    /// meets them at another place, so that no grating is seen well or badly by how it happens to lie on the picture's pixels.
    package struct Grating: Hashable {
        /// Sensor pixels from one line to the next of its kind.
        package var period: Double
        /// Its middle, in sensor pixels from the middle of the chart.
        package var x, y: Double

        package var width: Double { 7 * period }
        package var height: Double { 3.75 * period }
        /// The measured part: half a period away from the edges, which a scaler's filter mixes with the surroundings.
        package var innerWidth: Double { width - period }
        package var innerHeight: Double { height - period }
        /// Periods that the lines move sidewards for each row. Over the measured height that is half of one: just enough
        /// for a grating and its alias, which leans the other way, to be told from each other.
        package var lean: Double { 0.5 / innerHeight }
    }

    package static let step = 1.04
    /// Two is the finest that a sensor can see.
    package static let finestPeriod = 2.0
    private static let gratingsOfARow = 5
    /// A grating with the gap around it, in periods.
    private static let cellWidth = 8.0
    private static let cellHeight = 4.5
    /// The coarsest is this part of the height: 40 pixels of an iPhone 5's 2448. 192x144, the smallest picture that cameras
    /// have, resolves lines of a 72nd of the height read. More would not fit into the middle quarter.
    private static let coarsestPart = 1.0 / 60

    package init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        var periods = [Self.finestPeriod]
        while let last = periods.last, last < Double(height) * Self.coarsestPart { periods.append(last * Self.step) }
        gratings = Self.placed(periods)
    }

    /// In rows: the first in the middle, the others in turn below and above.
    private static func placed(_ periods: [Double]) -> [Grating] {
        var gratings: [Grating] = []
        var (top, bottom) = (0.0, 0.0)
        for first in stride(from: 0, to: periods.count, by: gratingsOfARow) {
            let row = periods[first..<min(first + gratingsOfARow, periods.count)]
            let rowHeight = cellHeight * (row.last ?? 0)
            let y: Double
            if first == 0 {
                (top, bottom, y) = (-rowHeight / 2, rowHeight / 2, 0)
            } else if first / gratingsOfARow % 2 == 1 {
                y = bottom + rowHeight / 2
                bottom += rowHeight
            } else {
                y = top - rowHeight / 2
                top -= rowHeight
            }
            var x = -cellWidth * row.reduce(0, +) / 2
            for period in row {
                gratings.append(Grating(period: period, x: x + cellWidth * period / 2, y: y))
                x += cellWidth * period
            }
        }
        return gratings
    }
}

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
        // Gray as the gratings are on average: a blur from beside them changes their contrast least.
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
        let columns = max(0, x)..<max(0, x, min(self.width, x + width))
        for row in max(0, y)..<max(0, y, min(self.height, y + height)) {
            for column in columns { luma[row * self.width + column] = level }
        }
    }

    mutating func stamp(_ row: [UInt8], x: Int, y: Int) {
        guard x >= 0, x + row.count <= width, y >= 0, y < height else { return }
        luma.replaceSubrange((y * width + x)..<(y * width + x + row.count), with: row)
    }

    mutating func drawGrid() {
        let step = max(32, width / 32)
        let level = UInt8((gray + 0.68 * swing).rounded())
        for x in stride(from: step, to: width, by: step) { fill(x: x, y: 0, width: 2, height: height, level) }
        for y in stride(from: step, to: height, by: step) { fill(x: 0, y: y, width: width, height: 2, level) }
    }

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
