import ArbiterProtocol
import CameraFile
import FrameStream
import Glibc
import RecorderCore
import Testing

/// The lossless zoom, measured as the published figures were: a resolution chart, seen at zoom 1, at the threshold,
/// and at the threshold by cropping and magnifying the picture of zoom 1.
@Suite struct ZoomTests {
    static let layout = PictureLayout(width: 1920, height: 1080, pixelFormat: "420v")

    private func picture(_ camera: SimulatedCamera, zoom: Double) throws -> [UInt8] {
        let format = try #require(camera.capabilities.formats.first { $0.width == 1920 })
        try camera.select(format: format, zoom: zoom, frameRate: format.maxFrameRate)
        var picture = [UInt8](repeating: 0, count: Self.layout.bytes)
        try picture.withUnsafeMutableBytes { try camera.render(into: $0, layout: Self.layout) }
        return picture
    }

    /// The middle of a picture, magnified to its whole size.
    private func cropAndUpscale(_ picture: [UInt8], by zoom: Double) throws -> [UInt8] {
        let (width, height) = (Int(1920 / zoom), Int(1080 / zoom))
        let corner = (1080 - height) / 2 / 2 * 2 * Self.layout.stride + (1920 - width) / 2 / 2 * 2
        var result = [UInt8](repeating: 0, count: Self.layout.bytes)
        try picture.withUnsafeBytes { source in
            try result.withUnsafeMutableBytes { target in
                var planes = Scaler.Planes(UnsafeRawBufferPointer(rebasing: source[corner...]), Self.layout)
                planes.data = [planes.data[0], nil, nil, nil]
                var into = Scaler.Planes(UnsafeRawBufferPointer(target), Self.layout)
                into.data = [into.data[0], nil, nil, nil]
                let gray = Scaler.gray
                try Scaler().scale(
                    planes, into: into,
                    Scaler.Shape(
                        sourceWidth: width, sourceHeight: height, sourceFormat: gray, sourceIsFullRange: false,
                        width: 1920, height: 1080, format: gray, isFullRange: false))
            }
        }
        return result
    }

    /// The resolution in hundreds of line widths a picture height: the finest grating seen with at least 30 percent
    /// of its contrast.
    private func resolution(_ picture: [UInt8], zoom: Double) throws -> Double {
        let model = try CameraFile.named("iphone5-back")
        let chart = ResolutionChart(width: model.sensorWidth, height: model.sensorHeight)
        let read = Double(try #require(model.formats.first { $0.format.width == 1920 }).readWidth)
        // Pixels of the picture for one of the sensor.
        let scale = 1920 / (read / zoom).rounded()
        var finest = Double.infinity
        for patch in chart.verticalPatches {
            let left = 960 + (Double(patch.x) - Double(chart.width) / 2) * scale
            let row = 540 + Int((Double(patch.y) + Double(patch.height) / 2 - Double(chart.height) / 2) * scale)
            let columns = Int(left + 8)..<Int(left + Double(patch.width) * scale - 8)
            try #require(columns.lowerBound >= 0 && columns.upperBound <= 1920)
            // The amplitude at the grating's own frequency: what is seen at another one is aliasing, not resolution.
            let period = patch.period * scale
            guard period >= 2 else { continue }
            var real = 0.0
            var imaginary = 0.0
            for x in columns {
                let level = Double(picture[row * Self.layout.stride + x]) - 125.5
                real += level * cos(2 * Double.pi * Double(x) / period)
                imaginary += level * sin(2 * Double.pi * Double(x) / period)
            }
            let amplitude = hypot(real, imaginary) * 2 / Double(columns.count)
            if amplitude >= 0.3 * 109.5 { finest = min(finest, period) }
        }
        return 2 * 1080 / finest / 100
    }

    @Test func aZoomAtTheThresholdResolvesWhatZoomOneDoesAndCropAndUpscaleDoesNot() throws {
        let camera = SimulatedCamera(try CameraFile.named("iphone5-back"))
        let threshold = 1.4545
        let whole = try picture(camera, zoom: 1)
        let one = try resolution(whole, zoom: 1)
        let cropped = try resolution(try picture(camera, zoom: threshold), zoom: threshold)
        let upscaled = try resolution(try cropAndUpscale(whole, by: threshold), zoom: threshold)
        print("resolution, hundreds of line widths a picture height: 1x \(one), crop \(cropped), upscale \(upscaled)")
        #expect(one > 9.5)
        #expect(cropped >= one * 0.95)
        #expect(upscaled <= one * 0.8)
    }

    @Test func aZoomReadsAnEverSmallerPartOfTheSensorAroundItsMiddle() {
        let window = SensorWindow(rasterWidth: 3264, rasterHeight: 2448, readWidth: 2793, readHeight: 1571)
        #expect(window.crop(zoom: 1).width == 2793)
        let threshold = window.crop(zoom: 1.4545)
        #expect(threshold.width == 1920 && threshold.height == 1080)
        let most = window.crop(zoom: 108)
        #expect(most.width == 26 && most.x == 1619)
    }
}
