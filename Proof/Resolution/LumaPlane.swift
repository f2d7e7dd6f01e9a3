/// The brightness of a picture, without gaps between its rows.
package struct LumaPlane: Hashable, Sendable {
    package let width, height: Int
    package let contrast: Double
    private let levels: [UInt8]

    /// - Parameters:
    ///   - bytes: at least `height` rows, the last one of `width` bytes.
    ///   - stride: bytes from one row to the next, at least `width`.
    ///   - black: luma of the darkest and
    ///   - white: of the brightest that the picture's format has.
    package init(_ bytes: UnsafeRawBufferPointer, width: Int, height: Int, stride: Int, black: UInt8, white: UInt8) {
        precondition(
            width > 0 && height > 0 && stride >= width && bytes.count >= stride * (height - 1) + width,
            "a plane has all of its rows")
        self.width = width
        self.height = height
        contrast = Double(white) - Double(black)
        var levels: [UInt8] = []
        levels.reserveCapacity(width * height)
        for row in 0..<height { levels += bytes[row * stride..<row * stride + width] }
        self.levels = levels
    }

    /// Beyond an edge, the level of the edge.
    package subscript(x: Int, y: Int) -> Double {
        Double(levels[max(0, min(height - 1, y)) * width + max(0, min(width - 1, x))])
    }

    /// The level of a pixel of the picture magnified around its middle (crop and upscale), bicubic with libswscale's kernel, as cameras
    /// magnify.
    /// - Parameters:
    ///   - x: from the left edge of the crop.
    ///   - y: from its top edge.
    package func magnified(by factor: Double, x: Int, y: Int) -> Double {
        let column = Self.place(x, size: width, factor)
        let row = Self.place(y, size: height, factor)
        var sum = 0.0
        for dy in -1...2 {
            var line = 0.0
            for dx in -1...2 { line += Self.kernel(column.rest - Double(dx)) * self[column.pixel + dx, row.pixel + dy] }
            sum += Self.kernel(row.rest - Double(dy)) * line
        }
        return sum
    }

    private static func place(_ position: Int, size: Int, _ factor: Double) -> (pixel: Int, rest: Double) {
        let middle = Double(size) / 2
        let place = (Double(position) + 0.5 - middle) / factor + middle - 0.5
        return (Int(place.rounded(.down)), place - place.rounded(.down))
    }

    /// Keys' cubic convolution, with -0.6 as libswscale has it.
    private static func kernel(_ distance: Double) -> Double {
        let (a, x) = (-0.6, abs(distance))
        if x < 1 { return ((a + 2) * x - (a + 3)) * x * x + 1 }
        if x < 2 { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a }
        return 0
    }
}
