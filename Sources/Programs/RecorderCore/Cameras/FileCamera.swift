package import ArbiterProtocol
import CMedia
package import FrameStream

/// A camera that plays footage, looped and at its own pace.
///
/// The footage is the sensor: a format smaller than it reads the whole of it, so that a zoom up to the threshold
/// crops instead of magnifying, as with a real sensor.
package final class FileCamera: CameraSource {
    package let capabilities: CameraCapabilities
    package let showsText = false
    private let path: String
    private var reader: VideoReader?
    private var hasFailed = false
    private let scaler = Scaler()
    private let native: Size
    private var chosen: (layout: PictureLayout, crop: SensorWindow.Crop)?
    /// When the footage began to play, on CLOCK_MONOTONIC: its time 0.
    private var began: Int64?
    private var mediaTime: Int64 = 0
    private let frameRate: Double
    /// When it was last in time, and the frames that were decoded since.
    private var pace: (since: Int64, frames: Int) = (0, 0)
    private var missed: MissedFrames?
    /// Parts of a frame that were missed beside whole ones.
    private var missedShare = 0.0

    private typealias Size = (width: Int, height: Int)

    /// Sizes beside the footage's own, where they are smaller than it.
    private static let sizesUsual: [Size] = [
        (1920, 1080), (1280, 720), (960, 540), (640, 480), (640, 360), (320, 240),
    ]
    /// Rows of the footage at the greatest zoom: fewer show no picture any more.
    private static let rowsMin = 16
    /// How far the footage may lag behind its own pace before it gives up catching up: a quarter of a second.
    private static let lagMax: Int64 = 250_000_000

    package init(path: String) throws(BrokerError) {
        self.path = path
        let reader: VideoReader
        do { reader = try VideoReader(path: path) } catch {
            throw BrokerError(.deviceFault, "The file camera cannot play \(path): \(error.description).")
        }
        self.reader = reader
        // NV12 has even sides; an odd column or row at the edge is left out.
        let native = (width: reader.width / 2 * 2, height: reader.height / 2 * 2)
        self.native = native
        // 29.97 is enough of 29.97002997: the name of a format is for people.
        let rate = max(1, (reader.frameRate * 100).rounded() / 100)
        frameRate = rate
        let smaller = Self.sizesUsual.filter {
            $0.width <= native.width && $0.height <= native.height && $0 != native
        }
        let formats = ([native] + smaller).map { size in
            let window = Self.window(size, native)
            let threshold = (Double(window.readWidth) / Double(size.width) * 10_000).rounded(.down) / 10_000
            // A file does not describe the lens.
            return CameraFormat(
                pixelFormat: "420v", width: size.width, height: size.height, minFrameRate: 1, maxFrameRate: rate,
                videoMaxZoomFactor: max(1, Double(window.readHeight) / Double(Self.rowsMin)),
                videoZoomFactorUpscaleThreshold: max(1, threshold), fieldOfView: 0)
        }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        capabilities = CameraCapabilities(
            name: "Footage \(name)", position: .external, sensorWidth: native.width, sensorHeight: native.height,
            formats: formats)
    }

    private static func window(_ size: Size, _ native: Size) -> SensorWindow {
        SensorWindow(rasterWidth: native.width, rasterHeight: native.height, shapedAs: size.width, size.height)
    }

    package func start() throws(BrokerError) {
        began = nil
        if reader == nil || hasFailed {
            reader = try media { () throws(MediaFault) in try VideoReader(path: path) }
            hasFailed = false
        }
    }

    /// The footage stays open, so that a handover takes no time: nobody waits for a file's light to go out.
    package func stop() {
        chosen = nil
        began = nil
    }

    package func select(format: CameraFormat, zoom: Double, frameRate: Double) throws(BrokerError) {
        chosen = (PictureLayout(format), Self.window((format.width, format.height), native).crop(zoom: zoom).even)
    }

    /// A picture counts as captured when its turn comes, which is later than now.
    package func goOn(_ settings: CaptureSettings, zoom: Double) throws(BrokerError) -> Bool {
        try select(format: settings.format, zoom: zoom, frameRate: settings.frameRate)
        return true
    }

    package func nextDue(after previous: Int64?, interval: Int64, now: Int64) throws(BrokerError) -> Int64 {
        guard let reader else { throw BrokerError(.deviceFault, "The file camera is not started.") }
        guard let previous, let began else {
            mediaTime = try media { () throws(MediaFault) in try reader.next() }
            self.began = now - mediaTime
            pace = (now, 0)
            (missed, missedShare) = (nil, 0)
            return now
        }
        var origin = began
        if now - previous < min(interval, Self.lagMax) { pace = (now, 0) }
        // A lower frame rate leaves frames out. Three quarters of an interval, for footage that is not quite even.
        let earliest = previous + interval / 4 * 3
        repeat {
            mediaTime = try media { () throws(MediaFault) in try reader.next() }
            // Footage that stood still (a stopped process, a slow disk) goes on from now instead of racing.
            if origin + mediaTime < now - Self.lagMax {
                origin = now - mediaTime
                note(missedFrom: previous, until: now, interval)
            }
            pace.frames += 1
        } while origin + mediaTime < earliest
        self.began = origin
        return origin + mediaTime
    }

    private func note(missedFrom previous: Int64, until now: Int64, _ interval: Int64) {
        missedShare += Double(now - previous) / Double(max(1, interval)) - 1
        let count = Int(max(0, missedShare))
        guard count > 0 else { return }
        missedShare -= Double(count)
        let decoded = (Double(pace.frames) / (Double(now - pace.since) / 1e9) * 10).rounded() / 10
        let all = (missed?.count ?? 0) + count
        missed = MissedFrames(
            count: all,
            sentence: """
                \(capabilities.name) is decoded more slowly than it plays: \(decoded.shortDescription) frames a second of \
                \(frameRate.shortDescription). \(all) \(all == 1 ? "frame was" : "frames were") missed.
                """)
        pace = (now, 0)
    }

    package func takeMissed() -> MissedFrames? {
        defer { missed = nil }
        return missed
    }

    package func render(into picture: UnsafeMutableRawBufferPointer, layout: PictureLayout) throws(BrokerError) {
        guard let reader, let chosen, chosen.layout == layout else {
            throw BrokerError(.deviceFault, "The file camera was asked for a picture before a format was chosen.")
        }
        try media { () throws(MediaFault) in
            var (planes, format, isFullRange) = try reader.picture()
            planes.crop(chosen.crop, format)
            try scaler.scale(
                planes, into: Scaler.Planes(UnsafeRawBufferPointer(picture), layout),
                Scaler.Shape(chosen.crop, format, isFullRange: isFullRange, layout))
        }
    }

    private func media<R>(_ body: () throws(MediaFault) -> R) throws(BrokerError) -> R {
        do throws(MediaFault) { return try body() } catch {
            hasFailed = true
            throw BrokerError(.deviceFault, "The file camera cannot play \(path): \(error.description).")
        }
    }
}
