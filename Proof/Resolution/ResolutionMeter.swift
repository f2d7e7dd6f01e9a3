import Glibc
package import RecorderCore

/// Measures the resolution of a camera's pictures of a `ResolutionChart`.
///
/// **The result** is the finest resolved grating, in hundreds of line widths a picture height: of 1,080 rows 10.8 at most. It belongs
/// to the picture: with lossless zoom, fewer pixels of the sensor show as much. Published of an iPhone 5's 1080p, read by eye, were
/// 10.8 at zoom 1 and, cropped and magnified, 8 at 1.4545 and 5 at 3. This measures 6.5 and 3.1 there; geometry leaves 7.4 and 3.6.
///
/// **A grating is resolved** where it and all coarser ones have 30 percent of the chart's contrast. ISO 12233 names 10 percent, but a
/// bicubic filter leaves in a magnified picture some 20 percent of mirror images, in the place, period and lean of finer lines; a
/// picture that was read pixel by pixel has 64 percent at its finest lines, an averaged one some 45.
///
/// **Contrast** is the amplitude of a cosine of the grating's period and lean, fitted to its pixels. Aliases have another period or
/// lean, and a fault of focus none. Lines of less than two pixels a pair are their own aliases, and never resolved.
package struct ResolutionMeter {
    package let chart: ResolutionChart

    package init(_ chart: ResolutionChart) { self.chart = chart }

    /// Of the contrast between black and white.
    static let contrastMin = 0.3
    /// Zoom factors are published rounded, and cameras read whole pixels.
    static let scaleTolerance = 0.005
    /// The measured part of each side: recorders draw marks along the edges.
    static let part = 0.75
    /// Pixels of a grating.
    static let columnsMin = 5
    static let rowsMin = 2

    /// In hundreds of line widths a picture height.
    /// - Parameter scale: sensor pixels for each of the picture's.
    /// - Returns: `nil` where no grating is resolved.
    package func resolution(of picture: LumaPlane, scale: Double) -> Double? {
        finest(View(of: picture, scale: scale)).map { lines($0, picture, scale) }
    }

    /// Of the middle of a picture, magnified to its size.
    /// - Parameter scale: of the picture itself.
    package func resolution(ofMagnifying picture: LumaPlane, by factor: Double, scale: Double) -> Double? {
        finest(View(of: picture, scale: scale, magnification: factor)).map { lines($0, picture, scale / factor) }
    }

    /// Sensor pixels for each of a picture's at zoom 1.
    ///
    /// At the threshold of a lossless zoom one read pixel makes one of the picture; the places of the gratings tell how many pixels of
    /// the sensor make one.
    /// - Returns: `nil` where the picture does not show the chart.
    package func scale(of picture: LumaPlane, upscaleThreshold: Double) -> Double? {
        let widest = Double(chart.width) * (1 + 2 * Self.scaleTolerance) / Double(picture.width)
        let scales = (1...4).map { upscaleThreshold * Double($0) }.filter { $0 <= widest }
        let seen = scales.map { scale in (scale: scale, contrast: meanContrast(View(of: picture, scale: scale))) }
        guard let best = seen.max(by: { $0.contrast < $1.contrast }), best.contrast >= Self.contrastMin else {
            return nil
        }
        return best.scale
    }

    private struct View {
        let picture: LumaPlane
        /// Sensor pixels for each pixel that is measured.
        let scale: Double
        let magnification: Double
        /// In pixels from the left upper corner.
        let middle: (x: Double, y: Double)

        init(of picture: LumaPlane, scale: Double, magnification: Double = 1) {
            self.picture = picture
            self.scale = scale / magnification
            self.magnification = magnification
            middle = (Double(picture.width) / 2, Double(picture.height) / 2)
        }

        func level(_ x: Int, _ y: Int) -> Double {
            magnification == 1 ? picture[x, y] : picture.magnified(by: magnification, x: x, y: y)
        }

        /// The pixels wholly within a grating's measured part, where there are enough.
        func pixels(of grating: ResolutionChart.Grating) -> (columns: Range<Int>, rows: Range<Int>)? {
            let reach = ResolutionMeter.part * magnification
            guard
                let columns = span(
                    grating.x, grating.innerWidth, middle.x, middle.x * reach, ResolutionMeter.columnsMin),
                let rows = span(grating.y, grating.innerHeight, middle.y, middle.y * reach, ResolutionMeter.rowsMin)
            else { return nil }
            return (columns, rows)
        }

        private func span(
            _ centre: Double, _ size: Double, _ middle: Double, _ reach: Double, _ least: Int
        ) -> Range<Int>? {
            let from = (centre - size / 2) / scale
            let to = (centre + size / 2) / scale
            guard from >= -reach, to <= reach else { return nil }
            let first = Int((middle + from).rounded(.up))
            let end = Int((middle + to).rounded(.down))
            return end - first >= least ? first..<end : nil
        }
    }

    private func lines(_ grating: ResolutionChart.Grating, _ picture: LumaPlane, _ scale: Double) -> Double {
        2 * Double(picture.height) / (grating.period / scale) / 100
    }

    private func finest(_ view: View) -> ResolutionChart.Grating? {
        // Magnifying brings no lines that the picture did not have.
        let periodMin = 2 * view.magnification * (1 - Self.scaleTolerance)
        var finest: ResolutionChart.Grating?
        for grating in chart.gratings.reversed() where view.pixels(of: grating) != nil {
            guard grating.period / view.scale >= periodMin, let contrast = contrast(of: grating, in: view),
                contrast >= Self.contrastMin
            else { break }
            finest = grating
        }
        return finest
    }

    /// Of gratings that any camera in focus resolves, at the places of the view.
    private func meanContrast(_ view: View) -> Double {
        let contrasts = chart.gratings.compactMap { grating in
            // The places of coarser gratings are less exact.
            (2.1...10).contains(grating.period / view.scale) ? contrast(of: grating, in: view) : nil
        }
        return contrasts.count < 3 ? 0 : contrasts.reduce(0, +) / Double(contrasts.count)
    }

    /// The amplitude of a cosine with the grating's period and lean, fitted to its pixels; 1 is from black to white.
    private func contrast(of grating: ResolutionChart.Grating, in view: View) -> Double? {
        guard let (columns, rows) = view.pixels(of: grating) else { return nil }
        let turn = 2 * Double.pi * view.scale
        let across = columns.map { x in
            let phase = turn * (Double(x) + 0.5 - view.middle.x) / grating.period
            return (cosine: cos(phase), sine: sin(phase))
        }
        var fit = CosineFit()
        for y in rows {
            let phase = turn * (Double(y) + 0.5 - view.middle.y) * grating.lean
            let (cosine, sine) = (cos(phase), sin(phase))
            for (x, part) in zip(columns, across) {
                fit.add(
                    view.level(x, y), cosine: part.cosine * cosine - part.sine * sine,
                    sine: part.sine * cosine + part.cosine * sine)
            }
        }
        return fit.amplitude.map { 2 * $0 / view.picture.contrast }
    }
}

/// Least squares: level ≈ a cosine + b sine + c.
private struct CosineFit {
    private var count = 0.0
    private var level = 0.0
    private var cosine = 0.0
    private var sine = 0.0
    private var cosineSquared = 0.0
    private var sineSquared = 0.0
    private var both = 0.0
    private var levelCosine = 0.0
    private var levelSine = 0.0

    mutating func add(_ level: Double, cosine: Double, sine: Double) {
        count += 1
        self.level += level
        self.cosine += cosine
        self.sine += sine
        cosineSquared += cosine * cosine
        sineSquared += sine * sine
        both += cosine * sine
        levelCosine += level * cosine
        levelSine += level * sine
    }

    /// `nil` where the pixels do not tell a cosine from a sine or a constant.
    var amplitude: Double? {
        // Without their means the constant drops out, and two equations are left.
        let cc = cosineSquared - cosine * cosine / count
        let ss = sineSquared - sine * sine / count
        let cs = both - cosine * sine / count
        let lc = levelCosine - level * cosine / count
        let ls = levelSine - level * sine / count
        let determinant = cc * ss - cs * cs
        guard count > 0, determinant > 1e-3 * count * count else { return nil }
        let a = (lc * ss - ls * cs) / determinant
        let b = (ls * cc - lc * cs) / determinant
        return (a * a + b * b).squareRoot()
    }
}
