/// What a simulated camera looks at: a resolution chart in the manner of ISO 12233, as many pixels as the sensor has.
///
/// In its middle quarter (half of each side) lie gratings, from two sensor pixels a line pair on in steps of 4 percent. The
/// finest lies in the very middle and the coarser ones around it, row by row, so that a zoom pushes out of the picture only
/// what it has made easy to see:
///
///     row 5, 4th above …
///     row 2   ▤ ▤ ▤ ▤ ▤     coarser
///     row 0      ▥▥▥▥▥       the finest
///     row 1    ▤ ▤ ▤ ▤ ▤
///     row 3 …
///
/// Around them wedges of converging lines, a grid and a checkered edge, for people: a crop is seen at once. What is measured
/// with the gratings, `ResolutionMeter` says.
package struct ResolutionChart: Hashable {
    package let width: Int
    package let height: Int
    /// The finest first.
    package let gratings: [Grating]

    /// Lines that stand nearly upright, cosines in brightness.
    ///
    /// They lean, as the edges of ISO 12233 do: every row of the picture meets them at another place, so that no grating is
    /// seen well or badly only because of how it happens to lie on the picture's pixels.
    package struct Grating: Hashable {
        /// Sensor pixels from one line to the next of its kind.
        package var period: Double
        /// Its middle, in sensor pixels from the middle of the chart.
        package var x: Double
        package var y: Double

        package var width: Double { 7 * period }
        package var height: Double { 3.75 * period }
        /// What is measured: half a period away from the edges, since a scaler's filter mixes them with what is outside.
        package var innerWidth: Double { width - period }
        package var innerHeight: Double { height - period }
        /// Periods that the lines move sidewards for each row. Over the measured height that is half of one: just enough
        /// for a grating and its alias, which leans the other way, to be told from each other.
        package var lean: Double { 0.5 / innerHeight }
    }

    package static let step = 1.04
    /// Two is the finest that a sensor can see.
    package static let finestPeriod = 2.0
    static let gratingsOfARow = 5
    /// What a grating takes with the gap around it, in periods.
    static let cellWidth = 8.0
    static let cellHeight = 4.5
    /// The coarsest is this part of the height: 40 pixels of an iPhone 5's 2448. 192x144, the smallest picture that cameras
    /// have, resolves lines of a 72nd of the height read. More would not fit into the middle quarter.
    static let coarsestPart = 1.0 / 60

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
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
