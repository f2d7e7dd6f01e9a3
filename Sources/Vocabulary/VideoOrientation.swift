/// Which side of a camera's picture is up (AVCaptureVideoOrientation): the words of the key `videoOrientation`.
///
/// A camera's sensor lies so that a back camera's picture is upright as it comes in `landscapeRight`, and a front camera's in
/// `landscapeLeft`. Pixels are never turned: photos, recordings and views are told how to show them.
public enum VideoOrientation: String, Hashable, Sendable, CaseIterable {
    /// Upright, the home button below.
    case portrait
    /// Upside down, the home button above.
    case portraitUpsideDown
    /// On its side, the home button at the right.
    case landscapeRight
    /// On its side, the home button at the left.
    case landscapeLeft

    /// In which a camera's picture is upright as its sensor has it.
    public static func native(of position: CameraPosition) -> VideoOrientation {
        position == .front ? .landscapeLeft : .landscapeRight
    }

    /// How often the sensor's picture is turned by a quarter, clockwise, to be upright: 0 to 3.
    public func quarterTurnsFromSensor(of position: CameraPosition) -> Int {
        switch self {
        // A person who is upright lies with the head at the sensor's left, in a front camera, too.
        case .portrait: 1
        case .portraitUpsideDown: 3
        case .landscapeRight: position == .front ? 2 : 0
        case .landscapeLeft: position == .front ? 0 : 2
        }
    }
}
