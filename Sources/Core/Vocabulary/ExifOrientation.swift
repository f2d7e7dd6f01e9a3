/// The turn that shows pixels upright (Exif 2.3, tag 0x0112; CGImagePropertyOrientation): the one mapping between it,
/// `videoOrientation` and `videoMirrored`.
///
/// Each case is a viewer's work: first turn, then exchange left and right where it is mirrored.
public enum ExifOrientation: UInt8, Hashable, Sendable, CaseIterable {
    /// Shown as it is.
    case up = 1
    /// Left and right are exchanged.
    case upMirrored = 2
    /// Turned by half a turn.
    case down = 3
    /// Turned by half a turn, left and right exchanged then: top and bottom are.
    case downMirrored = 4
    /// Turned by a quarter clockwise, left and right exchanged then.
    case leftMirrored = 5
    /// Turned by a quarter clockwise.
    case right = 6
    /// Turned by a quarter anticlockwise, left and right exchanged then.
    case rightMirrored = 7
    /// Turned by a quarter anticlockwise.
    case left = 8

    /// The orientation that shows a camera's pixels upright.
    /// - Parameters:
    /// - isMirrored: whether the view is left for right, as one's own face in a mirror. The pixels themselves
    ///     are as the sensor has them; `ofMirroredPixels` is for others.
    public init(_ orientation: VideoOrientation, isMirrored: Bool, of position: CameraPosition) {
        self = Self(quarterTurns: orientation.quarterTurnsFromSensor(of: position), isMirrored: isMirrored)
    }

    /// By quarter turns, clockwise.
    private static let plain: [ExifOrientation] = [.up, .right, .down, .left]
    private static let mirrored: [ExifOrientation] = [.upMirrored, .leftMirrored, .downMirrored, .rightMirrored]

    /// - Parameter quarterTurns: clockwise; any number.
    public init(quarterTurns: Int, isMirrored: Bool) {
        self = (isMirrored ? Self.mirrored : Self.plain)[quarterTurns & 3]
    }

    /// A viewer's quarter turns of the pixels, clockwise: 0 to 3.
    public var quarterTurns: Int { (isMirrored ? Self.mirrored : Self.plain).firstIndex(of: self) ?? 0 }

    /// Whether a viewer exchanges left and right, after turning.
    public var isMirrored: Bool { Self.mirrored.contains(self) }

    /// The orientation that shows a camera's pixels so; the way back from `init(_:isMirrored:of:)`, together with
    /// `isMirrored`.
    public func videoOrientation(of position: CameraPosition) -> VideoOrientation {
        switch self {
        case .up, .upMirrored: .native(of: position)
        case .right, .leftMirrored: .portrait
        case .down, .downMirrored: position == .front ? .landscapeRight : .landscapeLeft
        case .left, .rightMirrored: .portraitUpsideDown
        }
    }

    /// The orientation that shows the same picture where left and right of the pixels are exchanged already, as by a
    /// camera with `videoMirrored`.
    ///
    /// The exchange of the pixels takes the place of a viewer's, and turns the other way round: pixels that were
    /// mirrored as they lie and then turned clockwise would be upside down in `portrait`.
    public var ofMirroredPixels: ExifOrientation {
        // Mirrored, then turned one way, is turned the other way, then mirrored.
        ExifOrientation(quarterTurns: -quarterTurns, isMirrored: !isMirrored)
    }
}
