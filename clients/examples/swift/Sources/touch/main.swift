// Where a front camera's picture lies in a square view, which point was touched, and how its files are to be shown.
import Camarb

var orientation = VideoOrientation.portrait
for held in [DeviceOrientation.landscapeLeft, .faceUp] {
    orientation = orientation.following(held)  // face up: the last one stays
}
let square = PreviewGeometry.Size(width: 640, height: 640)
let stream = PreviewGeometry.Size(width: 1280, height: 720)
if let preview = PreviewGeometry(stream: stream, in: square, orientation: orientation, of: .front) {
    let shown = preview.picture
    print("\(orientation): \(shown.width) by \(shown.height) at \(shown.x), \(shown.y)")
    let touched = preview.captureDevicePoint(fromViewPoint: PreviewGeometry.Point(x: 160, y: 230))
    // In a session: batch[.focusPointOfInterest] = .point(x: touched.x, y: touched.y)
    print("touched at \(touched.x), \(touched.y) of the sensor")
}
let file = ExifOrientation(orientation, isMirrored: false, of: .front)
print("Exif \(file.rawValue), \(orientation.fileAngle(of: .front)) radians")
