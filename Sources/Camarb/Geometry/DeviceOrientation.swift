public import ArbiterProtocol

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
    /// What a device that is held so sees upright; nil where that cannot be told, flat on a table for example.
    public init?(_ device: DeviceOrientation) {
        switch device {
        case .portrait: self = .portrait
        case .portraitUpsideDown: self = .portraitUpsideDown
        case .landscapeLeft: self = .landscapeRight
        case .landscapeRight: self = .landscapeLeft
        case .unknown, .faceUp, .faceDown: return nil
        }
    }

    /// The one to use from now on: a device that lies flat, or of which nothing is known, leaves the last one.
    public func following(_ device: DeviceOrientation) -> VideoOrientation { VideoOrientation(device) ?? self }
}

extension DeviceOrientation {
    /// How a device is held that sees so upright.
    public init(_ video: VideoOrientation) {
        switch video {
        case .portrait: self = .portrait
        case .portraitUpsideDown: self = .portraitUpsideDown
        case .landscapeRight: self = .landscapeLeft
        case .landscapeLeft: self = .landscapeRight
        }
    }
}
