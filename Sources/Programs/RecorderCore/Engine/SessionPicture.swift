package import ArbiterProtocol
package import FrameStream

/// A session's own picture on a shared camera: its format, and its frames a second at most. A pure value.
package struct SessionPicture: Hashable, Sendable {
    package let format: CameraFormat
    package let layout: PictureLayout
    package let frameRate: Double

    package init(_ format: CameraFormat, frameRate: Double) {
        (self.format, self.frameRate) = (format, frameRate)
        layout = PictureLayout(format)
    }

    /// Nanoseconds from one frame to the next; a rate that nobody waits for is as long as there is time.
    package var interval: Int64 { Int64(min(1e9 / frameRate, 1e18)) }

    /// Reads an order of the broker's.
    /// - Returns: `nil` for the camera's own picture.
    package init?(_ wanted: Configuration, on camera: CameraCapabilities) throws(BrokerError) {
        if wanted.isEmpty { return nil }
        for (key, _) in wanted.ordered where key != .activeFormat && key != .frameRate {
            throw Self.refusal("\(key.rawValue) is not a part of a picture, which takes activeFormat and frameRate.")
        }
        guard let name = wanted[.activeFormat] else {
            throw Self.refusal("A picture has no activeFormat; it takes activeFormat and frameRate, or nothing at all.")
        }
        guard let format = ConfigurationCheck(capabilities: camera).format(name) else {
            let asked = if case .text(let text) = name { text.quotedShort } else { "not text" }
            throw Self.refusal("activeFormat is \(asked), which is not a format of \(camera.name).")
        }
        guard case .number(let rate)? = wanted[.frameRate], rate.isFinite, rate > 0 else {
            throw Self.refusal("A picture has no frameRate; it takes frames a second above 0.")
        }
        self.init(format, frameRate: rate)
    }

    private static func refusal(_ sentence: String) -> BrokerError {
        BrokerError(.unsupportedConfiguration, "\(sentence) Nothing changed.")
    }
}

/// Leaves frames of a camera out down to a lower rate, evenly: of 30 a second 15 are every second one, and 20 two of three.
///
/// Capture times are counted in frames of the camera: a frame that is early or late by less than half an interval is in its place,
/// and where frames are missing their time counts. So a camera that is slower than it should be, in the dark, has fewer left out.
/// A value without a clock: its owner passes each frame.
package struct Cadence: Hashable, Sendable {
    /// Nanoseconds.
    private let interval: Double
    /// When the last frame was captured, as far as that can be said of an uneven camera.
    private var last: Double?
    /// The time that the frames so far have lasted, less the time of those that were taken.
    private var owed = 0.0

    /// The part of a frame's unevenness that is held for the camera's own pace. A clock that is not quite the machine's is
    /// followed within half a second, and a single late frame moves nothing.
    private static let following = 0.125
    /// The part of a camera's interval that may lack: intervals are whole nanoseconds.
    private static let rounding = 0.01

    package init(interval: Int64) { self.interval = Double(interval) }

    /// Takes a frame, in the order of capture, or leaves it out.
    /// - Parameter cameraInterval: of the camera's frames, in nanoseconds.
    package mutating func takes(captured: Int64, cameraInterval: Int64) -> Bool {
        let (now, step) = (Double(captured), Double(max(1, cameraInterval)))
        guard let last else {
            self.last = now
            return true
        }
        let frames = max(0, ((now - last) / step).rounded())
        let place = last + frames * step
        self.last = place + (now - place) * Self.following
        owed += frames * step
        guard owed >= interval - step * Self.rounding else { return false }
        // After a gap frames do not come in a rush to make up for it.
        owed = owed - interval < interval ? owed - interval : 0
        return true
    }
}
