public import ArbiterProtocol
import CCamarb

/// How a device is held (UIDeviceOrientation).
///
/// Where a camera's picture is up follows from it, but for two words: a device's `landscapeLeft` has its home button at the
/// right, which is a video's `landscapeRight`, and the other way round.
public enum DeviceOrientation: String, Hashable, Sendable, CaseIterable {
    case unknown
    /// Upright, the home button below.
    case portrait
    /// Upright, the home button above.
    case portraitUpsideDown
    /// Upright on its side, the home button at the right.
    case landscapeLeft
    /// Upright on its side, the home button at the left.
    case landscapeRight
    /// Flat, the screen to the sky.
    case faceUp
    /// Flat, the screen to the ground.
    case faceDown
}

extension VideoOrientation {
    /// The upright orientation of a device that is held so; `nil` where there is none, flat on a table for example.
    public init?(_ device: DeviceOrientation) {
        guard let word = camarb_video_orientation(device.rawValue, nil) else { return nil }
        self.init(rawValue: String(cString: word))
    }

    /// The one to use from now on: a device that lies flat, or of which nothing is known, leaves the last one.
    public func following(_ device: DeviceOrientation) -> VideoOrientation { VideoOrientation(device) ?? self }
}

extension DeviceOrientation {
    /// How a device is held that sees so upright.
    public init(_ video: VideoOrientation) {
        self = DeviceOrientation(rawValue: String(cString: camarb_device_orientation(video.rawValue))) ?? .unknown
    }
}

extension VideoOrientation {
    /// Its angle from `portrait` in radians, clockwise where y grows downwards: portrait 0, upside down π, landscape right
    /// −π/2, landscape left π/2.
    public var angle: Double { camarb_orientation_angle(rawValue) }

    /// By how much a file's pixels, which are as the sensor has them, are turned to be seen upright: in radians, clockwise
    /// where y grows downwards, above −π and up to π. It is always exactly one of −π/2, 0, π/2 and π.
    ///
    /// For a back camera it is *video − reference* + π/2, for a front camera, whose sensor faces the other way,
    /// *reference − video* + π/2, as Apple's notes on recording give them. A camera of another position is as a back camera.
    /// - Parameters:
    ///   - reference: how the device is held that shows the file; `portrait` gives the turn of the file's own orientation.
    public func fileAngle(of position: CameraPosition, reference: VideoOrientation = .portrait) -> Double {
        camarb_orientation_file_angle(rawValue, position.rawValue, reference.rawValue)
    }
}
