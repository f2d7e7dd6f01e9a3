import ArbiterProtocol
import FrameStream
import PolicyFile
import RecorderCore
import Resolution
import Testing

/// The lossless zoom, measured as what was published of it was: a resolution chart, seen at zoom 1, at the threshold,
/// and at the threshold by cropping and magnifying the picture of zoom 1.
@Suite struct ZoomTests {
    /// A simulated camera, and what measures its pictures.
    struct Rig {
        let model: CameraModel
        let camera: SimulatedCamera
        let meter: ResolutionMeter

        init(_ name: String) throws {
            model = try CameraFile.named(name)
            camera = SimulatedCamera(model)
            meter = ResolutionMeter(ResolutionChart(width: model.sensorWidth, height: model.sensorHeight))
        }

        func picture(_ format: CameraFormat, zoom: Double) throws -> LumaPlane {
            let layout = PictureLayout(width: format.width, height: format.height, pixelFormat: format.pixelFormat)
            try camera.select(format: format, zoom: zoom, frameRate: format.maxFrameRate)
            var picture = [UInt8](repeating: 0, count: layout.bytes)
            try picture.withUnsafeMutableBytes { try camera.render(into: $0, layout: layout) }
            return picture.withUnsafeBytes {
                LumaPlane(
                    $0, width: layout.width, height: layout.height, stride: layout.stride, black: layout.black,
                    white: layout.white)
            }
        }

        /// Formats that differ in more than the range of their luma.
        var formats: [CameraModel.Format] {
            var seen: Set<String> = []
            return model.formats.filter { seen.insert(String($0.format.name.dropFirst(4))).inserted }
        }

        func format(_ name: String) throws -> CameraModel.Format {
            try #require(model.formats.first { $0.format.name == name })
        }
    }

    /// The resolution of one format at zooms, and by cropping and magnifying its picture of zoom 1.
    struct Measured {
        let one: Double
        let format: CameraFormat
        private let rig: Rig
        private let whole: LumaPlane
        private let scale: Double

        init(_ entry: CameraModel.Format, of rig: Rig) throws {
            self.rig = rig
            format = entry.format
            whole = try rig.picture(format, zoom: 1)
            let threshold = format.videoZoomFactorUpscaleThreshold
            scale = try #require(rig.meter.scale(of: whole, upscaleThreshold: threshold), "\(format.name)")
            // Within a hundredth it is what the camera reads, though nobody told the meter.
            let read = Double(entry.readWidth) / Double(format.width)
            #expect(abs(scale / read - 1) < 0.01, "\(format.name): scale \(scale), not \(read)")
            one = try #require(rig.meter.resolution(of: whole, scale: scale), "\(format.name)")
        }

        func at(_ zoom: Double) throws -> Double {
            let picture = try rig.picture(format, zoom: zoom)
            return try #require(rig.meter.resolution(of: picture, scale: scale / zoom), "\(format.name) at \(zoom)")
        }

        func magnified(_ factor: Double) throws -> Double {
            try #require(
                rig.meter.resolution(ofMagnifying: whole, by: factor, scale: scale),
                "\(format.name) magnified \(factor)")
        }
    }

    @Test func aZoomAtTheThresholdResolvesWhatZoomOneDoesAndCropAndUpscaleDoesNot() throws {
        let rig = try Rig("iphone5-back")
        let measured = try Measured(try rig.format("420v 1920x1080@30"), of: rig)
        let cropped = try measured.at(1.4545)
        let upscaled = try measured.magnified(1.4545)
        print("1080p of the iPhone 5 (published: 10.8, and 8 for the last): \(measured.one), \(cropped), \(upscaled)")
        #expect(abs(measured.one - 10.8) < 0.3)
        #expect(cropped >= 0.95 * measured.one)
        #expect(cropped >= 1.25 * upscaled)
    }

    @Test(
        "Every format resolves at its threshold what it does at zoom 1, and less above it",
        arguments: CameraPlaces.names)
    func everyFormat(camera: String) throws {
        let rig = try Rig(camera)
        for entry in rig.formats {
            let measured = try Measured(entry, of: rig)
            let (threshold, most) = (entry.format.videoZoomFactorUpscaleThreshold, entry.format.videoMaxZoomFactor)
            let lossless = try measured.at(threshold)
            let above = min(threshold * 1.25, most)
            let beyond = try measured.at(above)
            #expect(lossless >= 0.95 * measured.one, "\(camera) \(entry.format.name)")
            #expect(beyond < 0.9 * lossless, "\(camera) \(entry.format.name)")
        }
    }

    @Test(
        "The published thresholds of the iPhone 5 are where its formats begin to lose",
        arguments: [
            ("420v 1280x720@30", 2.18), ("420v 1280x720@60 binned", 1.05), ("420v 192x144@30 binned", 8.5),
        ])
    func publishedThresholds(name: String, threshold: Double) throws {
        let rig = try Rig("iphone5-back")
        let entry = try rig.format(name)
        #expect(entry.format.videoZoomFactorUpscaleThreshold == threshold)
        let measured = try Measured(entry, of: rig)
        #expect(try measured.at(threshold) >= 0.95 * measured.one)
        #expect(try measured.at(threshold * 1.25) < 0.9 * measured.one)
    }

    @Test func aRampGrowsByDoublingsASecondAndStopsAtItsEnd() {
        let up = ZoomRamp(from: 1, to: 8, rate: 2, began: 1_000_000_000)
        let down = ZoomRamp(from: 8, to: 1, rate: 1, began: 0)
        for (ramp, milliseconds, factor, hasArrived) in [
            (up, 1500, 2, false), (up, 2000, 4, false), (up, 9000, 8, true), (down, 1000, 4, false),
            (down, 4000, 1, true),
        ] as [(ZoomRamp, Int64, Double, Bool)] {
            let now = ramp.factor(at: milliseconds * 1_000_000)
            #expect(abs(now.factor - factor) < 1e-9 && now.hasArrived == hasArrived)
        }
    }

    @Test func aZoomReadsAnEverSmallerPartOfTheSensorAroundItsMiddle() {
        let window = SensorWindow(rasterWidth: 3264, rasterHeight: 2448, readWidth: 2793, readHeight: 1571)
        #expect(window.crop(zoom: 1).width == 2793)
        let threshold = window.crop(zoom: 1.4545)
        #expect(threshold.width == 1920 && threshold.height == 1080)
        let most = window.crop(zoom: 108)
        #expect(most.width == 26 && most.x == 1619)
        // 2.18 would leave 1281 columns for 1280.
        let rounded = window.crop(zoom: 2.18, width: 1280, height: 720)
        #expect(rounded.width == 1280 && rounded.height == 720)
        #expect(window.crop(zoom: 2, width: 1280, height: 720) == window.crop(zoom: 2))
    }
}
