package import ArbiterProtocol
package import FrameStream
import Glibc
package import PolicyFile

/// A camera that looks at a resolution chart through a virtual sensor.
///
/// A zoom reads fewer of the sensor's pixels, so a zoom up to the threshold really loses nothing. The scaled chart
/// is kept: a frame costs a copy of it and the marks, however large the sensor is.
package final class SimulatedCamera: CameraSource {
    package let capabilities: CameraCapabilities
    package let showsText = true
    private let model: CameraModel
    private let scaler = Scaler()
    /// The sensor's pixels, each made once: a sensor has up to 12 million.
    private var rasters: [Reading: Raster] = [:]
    private var still: [UInt8] = []
    /// Format or zoom have changed since the still was drawn. However often they do, a frame costs one still.
    private var isStillDue = false
    /// The still under the present look; `nil` where it is to be made.
    private var seen: [UInt8]?
    private var look = PictureLook()
    private var behaviour: SimulatedControls
    private var selected: (entry: CameraModel.Format, zoom: Double, frameRate: Double)?
    /// The part of the chart in frames, and its raster.
    private var shown: (crop: SensorWindow.Crop, raster: Raster)?
    private var frameTime: Int64 = 0

    /// How a format reads the sensor: one pixel in `divisor` along each side, in its own range of luma.
    private struct Reading: Hashable {
        var divisor: Int
        var isFullRange: Bool
    }

    private struct Raster {
        var width, height: Int
        var luma: [UInt8]

        func crop(of entry: CameraModel.Format, divisor: Int, _ layout: PictureLayout, _ zoom: Double)
            -> SensorWindow.Crop
        {
            let readWidth = min(width, entry.readWidth / divisor)
            let window = SensorWindow(
                rasterWidth: width, rasterHeight: height, readWidth: readWidth,
                readHeight: min(height, readWidth * layout.height / layout.width))
            return window.crop(zoom: zoom, width: layout.width, height: layout.height)
        }

        func draw(
            _ crop: SensorWindow.Crop, with scaler: Scaler, into target: UnsafeMutableRawPointer?, stride: Int,
            width: Int, height: Int
        ) throws(MediaFault) {
            try luma.withMediaBytes { (source) throws(MediaFault) in
                try scaler.scale(
                    Scaler.Planes(gray: source.baseAddress?.advanced(by: crop.y * self.width + crop.x), self.width),
                    into: Scaler.Planes(gray: UnsafeRawPointer(target), stride),
                    Scaler.Shape(
                        sourceWidth: crop.width, sourceHeight: crop.height, sourceFormat: Scaler.gray,
                        sourceIsFullRange: false, width: width, height: height, format: Scaler.gray, isFullRange: false)
                )
            }
        }
    }

    package init(_ model: CameraModel) {
        self.model = model
        capabilities = model.capabilities
        behaviour = SimulatedControls(model)
    }

    package func start() throws(BrokerError) { behaviour.begin() }
    package func stop() {
        still = []
        (seen, selected, shown) = (nil, nil, nil)
    }

    package func set(_ settings: CaptureSettings) throws(BrokerError) {
        let before = behaviour.viewLeft
        behaviour.set(settings)
        if behaviour.viewLeft != before { isStillDue = true }
    }

    package func select(format: CameraFormat, zoom: Double, frameRate: Double) throws(BrokerError) {
        guard let entry = model.formats.first(where: { $0.format == format }) else {
            throw BrokerError(.unsupportedConfiguration, "\(format.name) is not a format of the \(model.name).")
        }
        // The chart takes its time, and is drawn now; the part in a frame is scaled when there is one.
        try drawing { () throws(MediaFault) in _ = try raster(entry.divisor, PictureLayout(format)) }
        isStillDue = true
        selected = (entry, zoom, frameRate)
        behaviour.select(format, zoom: zoom, frameRate: frameRate)
    }

    private func drawing(_ body: () throws(MediaFault) -> Void) throws(BrokerError) {
        do throws(MediaFault) { try body() } catch {
            throw BrokerError(.deviceFault, "The simulated camera cannot draw its chart: \(error.description).")
        }
    }

    /// A picture is captured when it is due.
    package func goOn(_ settings: CaptureSettings, zoom: Double) throws(BrokerError) -> Bool {
        behaviour.begin()
        try set(settings)
        try select(format: settings.format, zoom: zoom, frameRate: settings.frameRate)
        return true
    }

    package func due(_ due: Int64, after previous: Int64?, interval: Int64, now: Int64) -> Int64 {
        guard let previous else { return due }
        // A machine that was late goes on from now: frames that nobody could see are not caught up with.
        return previous + interval < now - interval ? now : previous + interval
    }

    /// A frame is captured; the frame that is delivered may have been captured earlier. Its time and movement, such as a zoom's
    /// ramp, are of then; settings, and the results of automatic modes, show at once.
    package func takeFrame(interval: Int64, now: Int64) throws(BrokerError) -> Int64? {
        let time = behaviour.capture(at: now, interval: interval)
        if look != behaviour.look { (look, seen) = (behaviour.look, nil) }
        frameTime = time ?? frameTime
        return time
    }

    package var objects: [DetectedObject] {
        marker.map { [DetectedObject(type: CameraModel.markerType, id: 1, box: $0)] } ?? []
    }

    private var marker: DetectedObject.Box? { shown.flatMap { marker(in: $0.crop, of: $0.raster) } }

    private func marker(in crop: SensorWindow.Crop, of raster: Raster) -> DetectedObject.Box? {
        MovingMarker.box(at: frameTime, in: crop, of: (raster.width, raster.height), isMirrored: look.isMirrored)
    }

    package var state: Configuration { behaviour.state }
    package func takeEndedModes() -> Configuration { behaviour.takeEndedModes() }

    package func rebuildPipeline() -> Bool {
        behaviour.pipeline.rebuild()
        return true
    }

    package func render(into picture: UnsafeMutableRawBufferPointer, layout: PictureLayout) throws(BrokerError) {
        if isStillDue, let selected {
            try drawing { () throws(MediaFault) in
                try drawStill(selected.entry, layout, selected.zoom / behaviour.viewLeft)
            }
            (isStillDue, seen) = (false, nil)
        }
        guard still.count == layout.bytes else {
            throw BrokerError(.deviceFault, "The simulated camera was asked for a picture before a format was chosen.")
        }
        let picked = look.isPlain ? still : seen ?? look.applied(to: still, layout)
        if !look.isPlain { seen = picked }
        picture.copyBytes(from: picked)
        if let marker { MovingMarker.draw(marker, look, into: picture, layout) }
    }

    private func drawStill(_ entry: CameraModel.Format, _ layout: PictureLayout, _ zoom: Double) throws(MediaFault) {
        let raster = try raster(entry.divisor, layout)
        // Neutral colour everywhere; the luma plane is drawn below.
        if still.count != layout.bytes { still = Array(repeating: 128, count: layout.bytes) }
        let crop = raster.crop(of: entry, divisor: entry.divisor, layout, zoom)
        shown = (crop, raster)
        try still.withMutableMediaBytes { (target) throws(MediaFault) in
            try raster.draw(
                crop, with: scaler, into: target.baseAddress, stride: layout.stride, width: layout.width,
                height: layout.height)
        }
    }

    private func raster(_ divisor: Int, _ layout: PictureLayout) throws(MediaFault) -> Raster {
        let reading = Reading(divisor: divisor, isFullRange: layout.isFullRange)
        if let made = rasters[reading] { return made }
        var made: Raster
        if divisor == 1 {
            let chart = ResolutionChart(width: model.sensorWidth, height: model.sensorHeight)
            made = Raster(
                width: chart.width, height: chart.height, luma: chart.drawn(black: layout.black, white: layout.white))
        } else {
            let sensor = try raster(1, layout)
            let (width, height) = (sensor.width / divisor, sensor.height / divisor)
            made = Raster(width: width, height: height, luma: Array(repeating: 0, count: width * height))
            let all = SensorWindow.Crop(x: 0, y: 0, width: sensor.width, height: sensor.height)
            try made.luma.withMutableMediaBytes { (target) throws(MediaFault) in
                try sensor.draw(
                    all, with: scaler, into: target.baseAddress, stride: width, width: width, height: height)
            }
        }
        rasters[reading] = made
        return made
    }

    // MARK: Photos

    package func exposure(_ settings: CaptureSettings) -> PhotoPlan.Exposure {
        func number(_ key: ConfigurationKey) -> Double? { (state[key] ?? settings.value(key))?.number }
        return PhotoPlan.Exposure(
            duration: number(.exposureDuration) ?? ExposureSettings.ordinary.duration,
            iso: number(.iso) ?? settings.format.optics.iso?.least)
    }

    /// Photos that are larger than a frame, or lit otherwise, are drawn from the sensor anew, in the view and at the zoom of
    /// the frame.
    package func photo(_ plan: PhotoPlan, zoom: Double) -> DrawnPhoto? {
        guard let entry = selected?.entry else { return nil }
        let light = plan.light * (plan.metadata.flashFired ? model.lights.flashGain : 1)
        let isLarger = plan.width != entry.format.width || plan.height != entry.format.height
        guard isLarger || light != 1 else { return nil }
        // A larger photo is made of every pixel that the sensor has there.
        let divisor = isLarger ? 1 : entry.divisor
        let layout = PictureLayout(width: plan.width, height: plan.height, pixelFormat: entry.format.pixelFormat)
        guard let raster = rasters[Reading(divisor: divisor, isFullRange: layout.isFullRange)] else { return nil }
        let crop = raster.crop(of: entry, divisor: divisor, layout, zoom / behaviour.viewLeft)
        let marker = marker(in: crop, of: raster)
        var lit = look
        lit.gain *= light
        return DrawnPhoto(layout) { [lit] (memory) throws(MediaFault) in
            try raster.draw(
                crop, with: Scaler(), into: memory.baseAddress, stride: layout.stride, width: layout.width,
                height: layout.height)
            for place in layout.lumaBytes..<layout.bytes { memory[place] = 128 }
            if !lit.isPlain { lit.apply(to: memory, layout) }
            if let marker { MovingMarker.draw(marker, lit, into: memory, layout) }
        }
    }
}
