public import ArbiterProtocol
import CCamarb

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
        var place = camarb_preview()
        let result = camarb_preview_place(
            &place, stream.width, stream.height, view.width, view.height, gravity.rawValue, orientation.rawValue,
            position.rawValue, isMirrored.map { $0 ? 1 : 0 } ?? -1)
        guard result >= 0, let exif = ExifOrientation(rawValue: UInt8(place.exif_orientation)) else { return nil }
        (self.view, self.orientation) = (view, exif)
        picture = Rectangle(x: place.x, y: place.y, width: place.width, height: place.height)
    }

    private var place: camarb_preview {
        var place = camarb_preview()
        (place.x, place.y, place.width, place.height) = (picture.x, picture.y, picture.width, picture.height)
        place.exif_orientation = UInt32(orientation.rawValue)
        return place
    }

    /// The point of the sensor that is seen at a point of the view (`captureDevicePointOfInterest(for:)`).
    public func captureDevicePoint(fromViewPoint point: Point) -> Point {
        var place = place
        let found = camarb_preview_device_point(&place, camarb_point(x: point.x, y: point.y))
        return Point(x: found.x, y: found.y)
    }

    /// The point of the view at which a point of the sensor is seen (`pointForCaptureDevicePointOfInterest(_:)`).
    public func viewPoint(fromCaptureDevicePoint point: Point) -> Point {
        var place = place
        let found = camarb_preview_view_point(&place, camarb_point(x: point.x, y: point.y))
        return Point(x: found.x, y: found.y)
    }
}
