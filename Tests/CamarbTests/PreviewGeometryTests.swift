import ArbiterProtocol
import BusTesting
import Camarb
import Testing

private typealias Point = PreviewGeometry.Point
private typealias Rectangle = PreviewGeometry.Rectangle
private typealias Size = PreviewGeometry.Size

@Suite("Pictures in views")
struct PreviewGeometryTests {
    private static let stream = Size(width: 1280, height: 720)

    @Test("A picture fills a view's shape, keeps its own inside, or keeps its own and stands out")
    func gravity() throws {
        func picture(_ gravity: VideoGravity, _ orientation: VideoOrientation, _ view: Size) throws -> Rectangle {
            try #require(
                PreviewGeometry(stream: Self.stream, in: view, gravity: gravity, orientation: orientation, of: .back)
            ).picture
        }
        let (square, tall) = (Size(width: 640, height: 640), Size(width: 450, height: 1600))
        #expect(try picture(.resize, .landscapeRight, square) == Rectangle(x: 0, y: 0, width: 640, height: 640))
        #expect(try picture(.resizeAspect, .landscapeRight, square) == Rectangle(x: 0, y: 140, width: 640, height: 360))
        #expect(try picture(.resizeAspect, .portrait, square) == Rectangle(x: 140, y: 0, width: 360, height: 640))
        let wide = try picture(.resizeAspectFill, .landscapeLeft, square)
        #expect(wide.height == 640 && wide.y == 0 && abs(wide.width - 640 * 16 / 9) < 1e-9 && wide.x < 0)
        #expect(abs(wide.x * 2 + wide.width - 640) < 1e-9)
        #expect(try picture(.resizeAspect, .portrait, tall) == Rectangle(x: 0, y: 400, width: 450, height: 800))
        #expect(
            try picture(.resizeAspectFill, .portraitUpsideDown, tall)
                == Rectangle(x: -225, y: 0, width: 900, height: 1600))
        #expect(try picture(.resize, .portrait, tall) == Rectangle(x: 0, y: 0, width: 450, height: 1600))
    }

    @Test("A view or a picture without area has no picture in it", arguments: [0.0, -1, .infinity, .nan])
    func noArea(_ side: Double) {
        let flat = Size(width: side, height: 100)
        #expect(PreviewGeometry(stream: flat, in: Self.stream, orientation: .portrait, of: .back) == nil)
        #expect(PreviewGeometry(stream: Self.stream, in: flat, orientation: .portrait, of: .back) == nil)
    }

    /// Where on the sensor the view's top left, top right and bottom left are.
    private static let sensorCorners: [(CameraPosition, VideoOrientation, [[Double]])] = [
        (.back, .portrait, [[0, 1], [0, 0], [1, 1]]), (.back, .portraitUpsideDown, [[1, 0], [1, 1], [0, 0]]),
        (.back, .landscapeRight, [[0, 0], [1, 0], [0, 1]]), (.back, .landscapeLeft, [[1, 1], [0, 1], [1, 0]]),
        (.front, .portrait, [[0, 0], [0, 1], [1, 0]]), (.front, .portraitUpsideDown, [[1, 1], [1, 0], [0, 1]]),
        (.front, .landscapeRight, [[0, 1], [1, 1], [0, 0]]), (.front, .landscapeLeft, [[1, 0], [0, 0], [1, 1]]),
        (.external, .portrait, [[0, 1], [0, 0], [1, 1]]),
    ]

    @Test("A view's corners are those of the sensor, by camera and orientation; a front camera is mirrored")
    func corners() throws {
        let seen = [Point(x: 0, y: 0), Point(x: 375, y: 0), Point(x: 0, y: 667)]
        for (position, orientation, corners) in Self.sensorCorners {
            let geometry = try #require(
                PreviewGeometry(
                    stream: Self.stream, in: Size(width: 375, height: 667), gravity: .resize, orientation: orientation,
                    of: position))
            for (point, corner) in zip(seen, corners) {
                let sensor = Point(x: corner[0], y: corner[1])
                #expect(geometry.captureDevicePoint(fromViewPoint: point) == sensor, "\(position), \(orientation)")
                #expect(geometry.viewPoint(fromCaptureDevicePoint: sensor) == point, "\(position), \(orientation)")
            }
        }
    }

    @Test("A touch beside the picture is beside the sensor")
    func beside() throws {
        let view = Size(width: 640, height: 640)
        let inside = try #require(
            PreviewGeometry(stream: Self.stream, in: view, orientation: .landscapeRight, of: .back))
        #expect(inside.captureDevicePoint(fromViewPoint: Point(x: 320, y: 320)) == Point(x: 0.5, y: 0.5))
        #expect(inside.captureDevicePoint(fromViewPoint: Point(x: 160, y: 230)) == Point(x: 0.25, y: 0.25))
        #expect(inside.captureDevicePoint(fromViewPoint: Point(x: 160, y: 50)) == Point(x: 0.25, y: -0.25))
        // A picture that fills the view shows less than the sensor has.
        let filled = try #require(
            PreviewGeometry(
                stream: Self.stream, in: Size(width: 720, height: 720), gravity: .resizeAspectFill,
                orientation: .landscapeRight, of: .back))
        let left = filled.captureDevicePoint(fromViewPoint: Point(x: 0, y: 360))
        #expect(abs(left.x - 280.0 / 1280) < 1e-12 && left.y == 0.5)
    }

    @Test(
        "Each way is the other one backwards, in every view, orientation, gravity and camera",
        arguments: [UInt64](1...8))
    func inverse(seed: UInt64) throws {
        var random = SeededNumbers(seed)
        func number(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &random) }
        for _ in 0..<500 {
            let mirroring: Bool? = [nil, false, true][Int(random.next() % 3)]
            let made = PreviewGeometry(
                stream: Size(width: number(16...8192), height: number(16...8192)),
                in: Size(width: number(1...4096), height: number(1...4096)),
                gravity: VideoGravity.allCases[Int(random.next() % 3)],
                orientation: VideoOrientation.allCases[Int(random.next() % 4)],
                of: CameraPosition.allCases[Int(random.next() % 3)], isMirrored: mirroring)
            let geometry = try #require(made)
            let sensor = Point(x: number(0...1), y: number(0...1))
            let seen = geometry.viewPoint(fromCaptureDevicePoint: sensor)
            let back = geometry.captureDevicePoint(fromViewPoint: seen)
            #expect(
                abs(back.x - sensor.x) < 1e-9 && abs(back.y - sensor.y) < 1e-9, "seed \(seed): \(geometry), \(sensor)")
            // All of the sensor lies in the picture's rectangle, and nothing else does.
            let picture = geometry.picture
            #expect(seen.x >= picture.x - 1e-6 && seen.x <= picture.x + picture.width + 1e-6)
            #expect(seen.y >= picture.y - 1e-6 && seen.y <= picture.y + picture.height + 1e-6)
            let touch = Point(x: number(-100...4200), y: number(-100...4200))
            let again = geometry.viewPoint(
                fromCaptureDevicePoint: geometry.captureDevicePoint(fromViewPoint: touch))
            #expect(
                abs(again.x - touch.x) < 1e-6 && abs(again.y - touch.y) < 1e-6, "seed \(seed): \(geometry), \(touch)")
        }
    }
}
