import FrameStream

/// A checkered square that moves over the chart: what a simulated camera detects. It lies on the sensor, as all of the
/// chart does: a zoom enlarges it, and pushes it out of the picture. Where it is depends on nothing but the time, so
/// that two that see the same moment see it in the same place.
struct MovingMarker: Hashable {
    /// What is seen of the chart: left, top, width and height in 0...1 of it.
    struct View: Hashable {
        var x, y, width, height: Double
    }

    /// Of the chart's height: large enough to be found in the smallest picture, of 144 rows.
    static let side = 0.06
    /// Between the gratings, which measure, and what of the chart is cut off by a picture of 16:9.
    private static let centre = 0.2
    private static let path = 0.1...0.9
    /// Nanoseconds for the way there and back: a third of a picture's width a second is followed easily by eye.
    private static let period: Int64 = 6_000_000_000

    /// Width over height of the chart.
    var shape: Double

    private static func middle(at time: Int64) -> Double {
        let phase = Double(((time % period) + period) % period) / Double(period)
        let way = phase < 0.5 ? 2 * phase : 2 - 2 * phase
        return path.lowerBound + (path.upperBound - path.lowerBound) * way
    }

    /// Where it is in a picture, whole.
    /// - Parameter time: of the capture, in nanoseconds.
    func box(at time: Int64, in view: View, isMirrored: Bool) -> DetectedObject.Box? {
        let (width, height) = (Self.side / shape / view.width, Self.side / view.height)
        let left = (Self.middle(at: time) - Self.side / shape / 2 - view.x) / view.width
        let top = (Self.centre - Self.side / 2 - view.y) / view.height
        guard left >= 0, top >= 0, left + width <= 1, top + height <= 1 else { return nil }
        return DetectedObject.Box(x: isMirrored ? 1 - left - width : left, y: top, width: width, height: height)
    }

    static func draw(
        _ box: DetectedObject.Box, into picture: UnsafeMutableRawBufferPointer, _ layout: PictureLayout,
        dark: UInt8, light: UInt8
    ) {
        func pixel(_ part: Double, of size: Int) -> Int { min(size, max(0, Int((part * Double(size)).rounded()))) }
        let columns = [box.x, box.x + box.width / 2, box.x + box.width].map { pixel($0, of: layout.width) }
        let rows = [box.y, box.y + box.height / 2, box.y + box.height].map { pixel($0, of: layout.height) }
        for half in 0...1 {
            for row in rows[half]..<rows[half + 1] {
                for part in 0...1 {
                    let line = row * layout.stride
                    UnsafeMutableRawBufferPointer(
                        rebasing: picture[(line + columns[part])..<(line + columns[part + 1])]
                    ).fill(with: half == part ? dark : light)
                }
            }
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate func fill(with level: UInt8) { initializeMemory(as: UInt8.self, repeating: level) }
}
