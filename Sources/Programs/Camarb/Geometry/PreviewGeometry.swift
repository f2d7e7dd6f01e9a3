public import ArbiterProtocol

/// How a picture fills a view of another shape (AVLayerVideoGravity).
public enum VideoGravity: String, Hashable, Sendable, CaseIterable {
    /// All of the picture and all of the view; the shape is lost.
    case resize
    /// All of the picture, as large as the view has room for it: the usual one.
    case resizeAspect
    /// All of the view, with as much of the picture as it has room for.
    case resizeAspectFill
}

/// Where a camera's picture lies in a view, and which point of the view is which of the sensor: what an app needs to draw a
/// preview, and to focus where it was touched (AVCaptureVideoPreviewLayer).
///
/// Points and sizes of the view are in its own unit, with the origin at its top left and y downwards. Points of the sensor
/// are as `focusPointOfInterest` and `exposurePointOfInterest` have them: 0..1 from the top left of the unrotated sensor, however
/// the device is held, and whether or not its picture is shown mirrored. Nothing is cut off: a point of the view beside the picture is
/// below 0 or above 1 on the sensor, and no point of interest.
public struct PreviewGeometry: Hashable, Sendable {
    public struct Point: Hashable, Sendable {
        public var x, y: Double

        public init(x: Double, y: Double) { (self.x, self.y) = (x, y) }
    }

    public struct Size: Hashable, Sendable {
        public var width, height: Double

        public init(width: Double, height: Double) { (self.width, self.height) = (width, height) }
        var hasArea: Bool { width > 0 && height > 0 && width.isFinite && height.isFinite }
    }

    public struct Rectangle: Hashable, Sendable {
        public var x, y, width, height: Double

        public init(x: Double, y: Double, width: Double, height: Double) {
            (self.x, self.y, self.width, self.height) = (x, y, width, height)
        }
    }

    public let view: Size
    /// How the view shows what the sensor sees.
    public let orientation: ExifOrientation
    /// Where the picture lies in the view. It has the view's middle for its own; with `resizeAspectFill` it stands out.
    public let picture: Rectangle

    /// - Parameters:
    ///   - stream: what the format gives, in pixels, as the sensor has them: the larger side is mostly the width.
    ///   - view: its size.
    ///   - isMirrored: whether left and right are exchanged in the view; a front camera's usually are, so that one sees oneself as in a
    ///     mirror, and this is what is meant when it is left out.
    /// - Returns: nil where a side of the picture or of the view is not above 0.
    public init?(
        stream: Size, in view: Size, gravity: VideoGravity = .resizeAspect, orientation: VideoOrientation,
        of position: CameraPosition, isMirrored: Bool? = nil
    ) {
        guard stream.hasArea, view.hasArea else { return nil }
        self.view = view
        self.orientation = ExifOrientation(orientation, isMirrored: isMirrored ?? (position == .front), of: position)
        let isTurned = self.orientation.quarterTurns % 2 == 1
        let shown = isTurned ? Size(width: stream.height, height: stream.width) : stream
        // As wide as the view, or as high as it: whole numbers stay whole.
        let wide = Size(width: view.width, height: view.width * shown.height / shown.width)
        let high = Size(width: view.height * shown.width / shown.height, height: view.height)
        let size: Size =
            switch gravity {
            case .resize: view
            case .resizeAspect: wide.height <= view.height ? wide : high
            case .resizeAspectFill: wide.height >= view.height ? wide : high
            }
        picture = Rectangle(
            x: (view.width - size.width) / 2, y: (view.height - size.height) / 2, width: size.width, height: size.height
        )
    }

    /// The point of the sensor that is seen at a point of the view (`captureDevicePointOfInterest(for:)`).
    public func captureDevicePoint(fromViewPoint point: Point) -> Point {
        var x = (point.x - picture.x) / picture.width
        let y = (point.y - picture.y) / picture.height
        // Backwards: what was exchanged last comes first.
        if orientation.isMirrored { x = 1 - x }
        return Self.turned(Point(x: x, y: y), quarterTurns: -orientation.quarterTurns)
    }

    /// The point of the view at which a point of the sensor is seen (`pointForCaptureDevicePointOfInterest(_:)`).
    public func viewPoint(fromCaptureDevicePoint point: Point) -> Point {
        var shown = Self.turned(point, quarterTurns: orientation.quarterTurns)
        if orientation.isMirrored { shown.x = 1 - shown.x }
        return Point(x: picture.x + shown.x * picture.width, y: picture.y + shown.y * picture.height)
    }

    /// A point of a square of side 1 that is turned clockwise about its middle.
    private static func turned(_ point: Point, quarterTurns: Int) -> Point {
        switch quarterTurns & 3 {
        case 0: point
        case 1: Point(x: 1 - point.y, y: point.x)
        case 2: Point(x: 1 - point.x, y: 1 - point.y)
        default: Point(x: point.y, y: 1 - point.x)
        }
    }
}
