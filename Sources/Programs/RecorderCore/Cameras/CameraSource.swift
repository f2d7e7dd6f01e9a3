package import ArbiterProtocol
package import FrameStream
import PolicyFile

/// A device that gives pictures. The capture thread is its only user.
///
/// Some are driven by the clock: `nextDue` returns when a picture is due. Others have a `descriptor`, which becomes readable
/// with a frame: then `nextDue` returns when to give up waiting.
package protocol CameraSource: AnyObject {
    /// Fixed while the source lives.
    var capabilities: CameraCapabilities { get }
    /// Whether the capture time is drawn into pictures, for tests: into test pictures and footage, never into a real camera's.
    var isMarked: Bool { get }
    /// Whether frame number and time are also written out for people: test pictures have room for it.
    var showsText: Bool { get }
    var condition: DeviceCondition { get }
    /// To poll for a frame or news; `nil` where frames come by the clock.
    var descriptor: Int32? { get }
    func start() throws(BrokerError)
    /// Prepares for pictures of a format at a zoom and a frame rate. Nothing changes when it throws.
    func select(format: CameraFormat, zoom: Double, frameRate: Double) throws(BrokerError)
    /// Sets every control: to the requested value, else to its usual one. Where a format or a zoom changes with them, `select`
    /// follows. Throws when the device refuses one; all are then as they were.
    func set(_ settings: CaptureSettings) throws(BrokerError)
    /// Goes on for the next grant, without having been stopped: everything is set as `set` and `select` would. From here on
    /// `takeFrame` gives only frames that were captured after that, and no buffer that held pictures before is lent.
    /// - Returns: false where it has to be stopped and started for that; it may be half set then, as where it throws.
    func goOn(_ settings: CaptureSettings, zoom: Double) throws(BrokerError) -> Bool
    /// The values of controls that the device may have changed.
    var controls: Configuration { get }
    /// The camera's state while it runs (`ConfigurationKey.isCameraState`); may be empty.
    var state: Configuration { get }
    /// Modes that have ended by themselves since the last call, with their present values: `auto` is `locked`.
    func takeEndedModes() -> Configuration
    /// A change that was set while it ran (`CaptureSettings.rebuildsPipeline`) is whole: from here on frames are left out, if
    /// the pipeline has to be rebuilt for it. Returns whether it has.
    func rebuildPipeline() -> Bool
    /// When the next frame is due, or, for a source with a descriptor, too late: nanoseconds of CLOCK_MONOTONIC.
    func nextDue(after previous: Int64?, interval: Int64, now: Int64) throws(BrokerError) -> Int64
    /// The due time of the frame that is due, after the rate has changed, or the device began with new buffers. No change costs
    /// a frame: the time depends on the frame before it, and on the settings in force, not on how often these changed.
    func due(_ due: Int64, after previous: Int64?, interval: Int64, now: Int64) -> Int64
    /// Takes the frame that is there.
    /// - Returns: when it was captured, or `nil` when there is none to show: it was damaged, too early for the rate, or left out.
    func takeFrame(interval: Int64, now: Int64) throws(BrokerError) -> Int64?
    var objects: [DetectedObject] { get }
    func render(into picture: UnsafeMutableRawBufferPointer, layout: PictureLayout) throws(BrokerError)
    /// The frame is drawn for all that want it.
    func frameIsDone() throws(BrokerError)
    /// Descriptors of the device's own buffers, for reading only, where a picture lies in them as the layout wants it:
    /// then nothing has to be copied. The receiver's; `nil` where pictures have to be made.
    func lendBuffers(_ layout: PictureLayout) -> [Int32]?
    /// Grows each time the device begins with new buffers: buffers that were lent before are none of its own any more.
    var buffersBegun: Int { get }
    /// The number of the lent buffer that has the frame taken last; `nil` when it has to be made into another picture.
    var frameBuffer: Int? { get }
    /// The frame that was taken stays out, until `takeBack` with its buffer.
    func keepOut()
    func takeBack(_ buffer: Int) throws(BrokerError)
    /// Blanks all buffers and takes new ones: later frames are not seen in buffers that were lent.
    func renewBuffers() throws(BrokerError)
    /// A photo is taken of one of the next frames: for a flash.
    func photoIsNext()
    /// The exposure of the frame that was taken last, as far as is known.
    func exposure(_ settings: CaptureSettings) -> PhotoPlan.Exposure
    /// A photo of the frame that was taken last, where it is not simply that frame: another size, another light.
    /// - Returns: `nil` where the frame is the photo. The photo is drawn later, on another thread.
    func photo(_ plan: PhotoPlan, zoom: Double) -> DrawnPhoto?
    /// Captures nothing more, and blanks its buffers. `stop` follows when nobody waits for it.
    func halt()
    /// Lets the device go, halted or not. Idempotent.
    func stop()
    /// Looks whether its condition is still the same, without a grant.
    func look()
    /// Has the kernel write to an inotify queue when its node is opened and closed.
    func watchNode(in queue: Int32) throws(BrokerError)
    /// The program that has its node open beside this process, as far as that can be seen.
    func opener() -> String?
    /// There is not even a node any more: its return is noticed outside.
    var isGone: Bool { get }
    /// Frames before the due one for which the source itself was too slow, since the last call.
    func takeMissed() -> MissedFrames?
    /// The next change by others to the device, as a sentence for people.
    func takeNews() -> String?
}

package struct MissedFrames: Hashable, Sendable {
    /// At the frame rate in force.
    package var count: Int
    package var sentence: String

    package init(count: Int, sentence: String) { (self.count, self.sentence) = (count, sentence) }
}

/// Whether a device can give pictures, to any app.
package enum DeviceCondition: Hashable, Sendable {
    case usable
    case disconnected(String)
    /// A program has it that did not request it from the broker, named as far as that can be seen.
    case heldOutside(String)
    case privacyOn

    var isHeldOutside: Bool { if case .heldOutside = self { true } else { false } }
}

extension CameraSource {
    package var isMarked: Bool { true }
    package var condition: DeviceCondition { .usable }
    package var descriptor: Int32? { nil }
    package var controls: Configuration { Configuration() }
    package var state: Configuration { Configuration() }
    package func takeEndedModes() -> Configuration { Configuration() }
    package func rebuildPipeline() -> Bool { false }
    package func set(_ settings: CaptureSettings) throws(BrokerError) {}
    package func nextDue(after previous: Int64?, interval: Int64, now: Int64) throws(BrokerError) -> Int64 {
        due(now, after: previous, interval: interval, now: now)
    }
    package func due(_ due: Int64, after previous: Int64?, interval: Int64, now: Int64) -> Int64 { due }
    package func takeFrame(interval: Int64, now: Int64) throws(BrokerError) -> Int64? { now }
    package var objects: [DetectedObject] { [] }
    package func frameIsDone() throws(BrokerError) {}
    package func lendBuffers(_ layout: PictureLayout) -> [Int32]? { nil }
    package var buffersBegun: Int { 0 }
    package var frameBuffer: Int? { nil }
    package func keepOut() {}
    package func takeBack(_ buffer: Int) throws(BrokerError) {}
    package func renewBuffers() throws(BrokerError) {}
    package func photoIsNext() {}
    package func exposure(_ settings: CaptureSettings) -> PhotoPlan.Exposure {
        func number(_ key: ConfigurationKey) -> Double? { (controls[key] ?? settings.value(key))?.number }
        return PhotoPlan.Exposure(duration: number(.exposureDuration), iso: number(.iso))
    }
    package func photo(_ plan: PhotoPlan, zoom: Double) -> DrawnPhoto? { nil }
    package func halt() {}
    package func look() {}
    package func watchNode(in queue: Int32) throws(BrokerError) {
        throw BrokerError(.invalidValue, "\(capabilities.name) has no node.")
    }
    package func opener() -> String? { nil }
    package var isGone: Bool { false }
    package func takeMissed() -> MissedFrames? { nil }
    package func takeNews() -> String? { nil }
}

extension CameraSpec {
    func makeSource() throws(BrokerError) -> any CameraSource {
        switch self {
        case .simulated(let name): return SimulatedCamera(try CameraFile.named(name))
        case .file(let path): return try FileCamera(path: path)
        case .video4linux(let identity):
            return try V4L2Camera(KernelVideoDevice(identity: identity), identity: identity)
        }
    }
}

/// An object that a camera has found in the frame that was taken last: a face, a code, or the chart's marker.
package struct DetectedObject: Hashable, Sendable {
    /// As AVFoundation names kinds of metadata objects; `marker` is ours.
    package var type: String
    /// The same for as long as it is the same object.
    package var id: Int
    /// Left, top, width and height in 0...1 of the picture, from its upper left corner.
    package var box: Box

    package struct Box: Hashable, Sendable {
        package var x, y, width, height: Double

        package init(x: Double, y: Double, width: Double, height: Double) {
            (self.x, self.y, self.width, self.height) = (x, y, width, height)
        }
    }

    package init(type: String, id: Int, box: Box) { (self.type, self.id, self.box) = (type, id, box) }
}

/// The part of a sensor that a format reads, and the crop around the middle that a zoom leaves of it.
///
/// Up to the upscale threshold the crop has at least as many pixels as the picture, so nothing is lost.
package struct SensorWindow: Hashable {
    var rasterWidth, rasterHeight, readWidth, readHeight: Int

    package init(rasterWidth: Int, rasterHeight: Int, readWidth: Int, readHeight: Int) {
        (self.rasterWidth, self.rasterHeight) = (rasterWidth, rasterHeight)
        (self.readWidth, self.readHeight) = (readWidth, readHeight)
    }

    /// Reads as much of the raster as has the shape of a picture.
    package init(rasterWidth: Int, rasterHeight: Int, shapedAs width: Int, _ height: Int) {
        let readWidth = min(rasterWidth, rasterHeight * width / height)
        self.init(
            rasterWidth: rasterWidth, rasterHeight: rasterHeight, readWidth: readWidth,
            readHeight: min(rasterHeight, readWidth * height / width))
    }

    package struct Crop: Hashable {
        package var x, y, width, height: Int

        /// Beginning and ending between samples of chroma, which is subsampled by two.
        var even: Crop { Crop(x: x & ~1, y: y & ~1, width: max(2, width & ~1), height: max(2, height & ~1)) }
    }

    /// - Parameter zoom: from 1.
    package func crop(zoom: Double) -> Crop {
        centred(
            width: max(1, min(rasterWidth, Int((Double(readWidth) / zoom).rounded()))),
            height: max(1, min(rasterHeight, Int((Double(readHeight) / zoom).rounded()))))
    }

    /// The same for a picture of so many pixels. A crop that is larger by less than a hundredth is made as large as the
    /// picture: thresholds are published rounded, so that 2.18 leaves 1281 pixels for 1280, and to lose that one a scaler
    /// would blur all.
    package func crop(zoom: Double, width: Int, height: Int) -> Crop {
        let crop = crop(zoom: zoom)
        guard crop.width >= width, crop.height >= height, crop.width * 100 < width * 101,
            crop.height * 100 < height * 101
        else { return crop }
        return centred(width: width, height: height)
    }

    private func centred(width: Int, height: Int) -> Crop {
        Crop(x: (rasterWidth - width) / 2, y: (rasterHeight - height) / 2, width: width, height: height)
    }
}
