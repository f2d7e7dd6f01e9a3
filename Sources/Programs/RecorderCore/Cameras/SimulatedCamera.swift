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
    let model: CameraModel
    private let scaler = Scaler()
    /// The sensor's pixels, each made once: a sensor has up to 12 million.
    private(set) var rasters: [Reading: Raster] = [:]
    private var still: [UInt8] = []
    /// Format or zoom have changed since the still was drawn. However often they do, a frame costs one still.
    private var isStillDue = false
    /// The still as exposure, white balance and the like have it look; nil: as drawn, or still to be made.
    private var seen: [UInt8]?
    private(set) var look = PictureLook()
    private(set) var behaviour: SimulatedControls
    private var selected: (format: CameraFormat, zoom: Double, frameRate: Double)?
    private(set) var entry: CameraModel.Format?
    /// What frames show of the chart, and of which raster.
    private var shown: (crop: SensorWindow.Crop, raster: Raster)?
    private var frameTime: Int64 = 0

    /// How a format reads the sensor: one pixel in `divisor` along each side, in its own range of luma.
    struct Reading: Hashable {
        var divisor: Int
        var isFullRange: Bool
    }

    struct Raster {
        var width, height: Int
        var luma: [UInt8]
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
        if let selected, behaviour.viewLeft != before {
            try select(format: selected.format, zoom: selected.zoom, frameRate: selected.frameRate)
        }
    }

    package func select(format: CameraFormat, zoom: Double, frameRate: Double) throws(BrokerError) {
        guard let entry = model.formats.first(where: { $0.format == format }) else {
            throw BrokerError(.unsupportedConfiguration, "\(format.name) is no format of the \(model.name).")
        }
        // The chart takes its time, and is drawn now; what a frame shows of it is scaled when there is one.
        let layout = PictureLayout(width: format.width, height: format.height, pixelFormat: format.pixelFormat)
        try drawing { () throws(MediaFault) in _ = try raster(entry.divisor, layout) }
        self.entry = entry
        isStillDue = true
        selected = (format, zoom, frameRate)
        behaviour.select(format, zoom: zoom, frameRate: frameRate)
    }

    private func drawing(_ body: () throws(MediaFault) -> Void) throws(BrokerError) {
        do throws(MediaFault) { try body() } catch {
            throw BrokerError(.deviceFault, "The simulated camera cannot draw its chart: \(error.description).")
        }
    }

    /// A picture is captured when it is asked for.
    package func goOn(_ settings: CaptureSettings, zoom: Double) throws(BrokerError) -> Bool {
        behaviour.begin()
        try set(settings)
        try select(format: settings.format, zoom: zoom, frameRate: settings.frameRate)
        return true
    }

    package func nextDue(after previous: Int64?, interval: Int64, now: Int64) throws(BrokerError) -> Int64 {
        due(now, after: previous, interval: interval, now: now)
    }

    package func due(_ due: Int64, after previous: Int64?, interval: Int64, now: Int64) -> Int64 {
        guard let previous else { return due }
        // A machine that was late goes on from now: frames that nobody could see are not caught up with.
        return previous + interval < now - interval ? now : previous + interval
    }

    /// A frame is captured; the one that is delivered may have been captured earlier. Its time and what moves by itself, a
    /// zoom's ramp, are of then; what is set, and what the automatic modes find, shows at once.
    package func takeFrame(interval: Int64, now: Int64) throws(BrokerError) -> Int64? {
        let time = behaviour.capture(at: now, interval: interval)
        if look != behaviour.look {
            look = behaviour.look
            seen = nil
        }
        if let time { frameTime = time }
        return time
    }

    package var objects: [DetectedObject] {
        marker.map { [DetectedObject(type: CameraModel.markerType, id: 1, box: $0)] } ?? []
    }

    private var marker: DetectedObject.Box? { shown.flatMap { marker(in: $0.crop, of: $0.raster) } }

    /// The same in a picture of another size of the same moment.
    func marker(in crop: SensorWindow.Crop, of raster: Raster) -> DetectedObject.Box? {
        let (width, height) = (Double(raster.width), Double(raster.height))
        let view = MovingMarker.View(
            x: Double(crop.x) / width, y: Double(crop.y) / height, width: Double(crop.width) / width,
            height: Double(crop.height) / height)
        return MovingMarker(shape: width / height).box(at: frameTime, in: view, isMirrored: look.isMirrored)
    }

    static func draw(
        _ marker: DetectedObject.Box, _ look: PictureLook, into picture: UnsafeMutableRawBufferPointer,
        _ layout: PictureLayout
    ) {
        MovingMarker.draw(
            marker, into: picture, layout, dark: look.luma(layout.black, in: layout),
            light: look.luma(layout.white, in: layout))
    }

    package var state: Configuration { behaviour.state }
    package func takeEndedModes() -> Configuration { behaviour.takeEndedModes() }

    package func rebuildPipeline() -> Bool {
        behaviour.pipeline.rebuild()
        return true
    }

    package func render(into picture: UnsafeMutableRawBufferPointer, layout: PictureLayout) throws(BrokerError) {
        if isStillDue, let entry, let selected {
            try drawing { () throws(MediaFault) in try drawStill(entry, layout, selected.zoom / behaviour.viewLeft) }
            isStillDue = false
            seen = nil
        }
        guard still.count == layout.bytes else {
            throw BrokerError(.deviceFault, "The simulated camera was asked for a picture before a format was chosen.")
        }
        if look.isPlain {
            picture.copyBytes(from: still)
        } else {
            let looks = seen ?? look.applied(to: still, layout)
            seen = looks
            picture.copyBytes(from: looks)
        }
        if let marker { Self.draw(marker, look, into: picture, layout) }
    }

    private func drawStill(_ entry: CameraModel.Format, _ layout: PictureLayout, _ zoom: Double) throws(MediaFault) {
        let raster = try raster(entry.divisor, layout)
        if still.count != layout.bytes {
            // Neutral colour everywhere; the luma plane is drawn below.
            still = Array(repeating: 128, count: layout.bytes)
        }
        let crop = Self.crop(raster, of: entry, divisor: entry.divisor, layout, zoom)
        shown = (crop, raster)
        try still.withMutableMediaBytes { (target) throws(MediaFault) in
            try Self.gray(
                raster, crop, with: scaler, into: target.baseAddress, stride: layout.stride, width: layout.width,
                height: layout.height)
        }
    }

    static func crop(
        _ raster: Raster, of entry: CameraModel.Format, divisor: Int, _ layout: PictureLayout, _ zoom: Double
    ) -> SensorWindow.Crop {
        let readWidth = min(raster.width, entry.readWidth / divisor)
        let window = SensorWindow(
            rasterWidth: raster.width, rasterHeight: raster.height, readWidth: readWidth,
            readHeight: min(raster.height, readWidth * layout.height / layout.width))
        return window.crop(zoom: zoom, width: layout.width, height: layout.height)
    }

    private func raster(_ divisor: Int, _ layout: PictureLayout) throws(MediaFault) -> Raster {
        let reading = Reading(divisor: divisor, isFullRange: layout.isFullRange)
        if let made = rasters[reading] { return made }
        let whole = Reading(divisor: 1, isFullRange: layout.isFullRange)
        let sensor: Raster
        if let whole = rasters[whole] {
            sensor = whole
        } else {
            let chart = ResolutionChart(width: model.sensorWidth, height: model.sensorHeight)
            sensor = Raster(
                width: chart.width, height: chart.height, luma: chart.drawn(black: layout.black, white: layout.white))
            rasters[whole] = sensor
        }
        guard divisor > 1 else { return sensor }
        var binned = Raster(width: sensor.width / divisor, height: sensor.height / divisor, luma: [])
        binned.luma = Array(repeating: 0, count: binned.width * binned.height)
        let all = SensorWindow.Crop(x: 0, y: 0, width: sensor.width, height: sensor.height)
        let (width, height) = (binned.width, binned.height)
        try binned.luma.withMutableMediaBytes { (target) throws(MediaFault) in
            try Self.gray(
                sensor, all, with: scaler, into: target.baseAddress, stride: width, width: width, height: height)
        }
        rasters[reading] = binned
        return binned
    }

    static func gray(
        _ raster: Raster, _ crop: SensorWindow.Crop, with scaler: Scaler, into target: UnsafeMutableRawPointer?,
        stride: Int, width: Int, height: Int
    ) throws(MediaFault) {
        try raster.luma.withMediaBytes { (source) throws(MediaFault) in
            let first = source.baseAddress?.advanced(by: crop.y * raster.width + crop.x)
            try scaler.scale(
                Scaler.Planes(
                    data: [first?.assumingMemoryBound(to: UInt8.self), nil, nil, nil],
                    strides: [Int32(raster.width), 0, 0, 0]),
                into: Scaler.Planes(
                    data: [UnsafePointer(target?.assumingMemoryBound(to: UInt8.self)), nil, nil, nil],
                    strides: [Int32(stride), 0, 0, 0]),
                Scaler.Shape(
                    sourceWidth: crop.width, sourceHeight: crop.height, sourceFormat: Scaler.gray,
                    sourceIsFullRange: false, width: width, height: height, format: Scaler.gray, isFullRange: false))
        }
    }
}

/// Photos that are larger than a frame, or lit otherwise: drawn from the sensor anew, in the view and at the zoom of the frame.
extension SimulatedCamera {
    package func exposure(_ settings: CaptureSettings) -> PhotoPlan.Exposure {
        func number(_ key: ConfigurationKey) -> Double? { (state[key] ?? settings.value(key))?.number }
        return PhotoPlan.Exposure(
            duration: number(.exposureDuration) ?? ExposureProgram.ordinaryDuration,
            iso: number(.iso) ?? settings.format.optics.iso?.least)
    }

    package func photo(_ plan: PhotoPlan, zoom: Double) -> DrawnPhoto? {
        guard let entry else { return nil }
        let format = entry.format
        let light = plan.light * (plan.metadata.flashFired ? model.lights.flashGain : 1)
        var look = look
        look.gain *= light
        let isLarger = plan.width != format.width || plan.height != format.height
        guard isLarger || light != 1 else { return nil }
        // A larger photo is made of every pixel that the sensor has there.
        let divisor = isLarger ? 1 : entry.divisor
        let layout = PictureLayout(width: plan.width, height: plan.height, pixelFormat: format.pixelFormat)
        guard let raster = rasters[Reading(divisor: divisor, isFullRange: layout.isFullRange)] else { return nil }
        let crop = Self.crop(raster, of: entry, divisor: divisor, layout, zoom / behaviour.viewLeft)
        let lit = look
        let marker = marker(in: crop, of: raster)
        return DrawnPhoto(layout) { (memory) throws(MediaFault) in
            try Self.gray(
                raster, crop, with: Scaler(), into: memory.baseAddress, stride: layout.stride, width: layout.width,
                height: layout.height)
            // The chart has no colour.
            for place in layout.lumaBytes..<layout.bytes { memory[place] = 128 }
            if !lit.isPlain { lit.apply(to: memory, layout) }
            if let marker { Self.draw(marker, lit, into: memory, layout) }
        }
    }
}
