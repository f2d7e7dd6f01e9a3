import ArbiterProtocol
import FrameStream
import PolicyFile
import RecorderCore
import Testing

/// A simulated camera reports its marker where its pictures show it.
@Suite struct MovingMarkerTests {
    private static func shots(
        _ batch: Configuration, at moments: [Int64]
    ) throws -> (layout: PictureLayout, shots: [(pixels: [UInt8], objects: [DetectedObject])]) {
        let camera = SimulatedCamera(try CameraFile.named("iphone6s-front"))
        let check = ConfigurationCheck(capabilities: camera.capabilities)
        let settings = try #require(check.settings(batch))
        try camera.start()
        try camera.set(settings)
        try camera.select(
            format: settings.format, zoom: settings.videoZoomFactor, frameRate: settings.frameRate)
        let layout = PictureLayout(
            width: settings.format.width, height: settings.format.height, pixelFormat: settings.format.pixelFormat)
        let shots = try moments.map { moment in
            var pixels = [UInt8](repeating: 0, count: layout.bytes)
            _ = try #require(try camera.takeFrame(interval: 33_333_333, now: moment))
            try pixels.withUnsafeMutableBytes { try camera.render(into: $0, layout: layout) }
            return (pixels: pixels, objects: camera.objects)
        }
        return (layout, shots)
    }

    /// Whether a pixel lies in a box, with one to spare on each side: edges are rounded.
    private static func holds(_ box: DetectedObject.Box, x: Int, y: Int, _ layout: PictureLayout) -> Bool {
        let (x, y) = (Double(x), Double(y))
        let (width, height) = (Double(layout.width), Double(layout.height))
        return x >= box.x * width - 1 && x <= (box.x + box.width) * width + 1 && y >= box.y * height - 1
            && y <= (box.y + box.height) * height + 1
    }

    @Test(arguments: [false, true]) func itIsWhereTheCameraSaysAndNothingElseMoves(isMirrored: Bool) throws {
        let batch = Configuration([.activeFormat: .text("420f 640x480"), .videoMirrored: .flag(isMirrored)])
        let (layout, shots) = try Self.shots(batch, at: [0, 500_000_000, 2_000_000_000, 4_500_000_000])
        let boxes = try shots.map { try #require($0.objects.first).box }
        #expect(shots.allSatisfy { $0.objects.count == 1 && $0.objects[0].type == "marker" && $0.objects[0].id == 1 })
        #expect(Set(boxes).count == 4, "it moves")
        for (shot, box) in zip(shots, boxes).dropFirst() {
            var differing = 0
            for y in 0..<layout.height {
                for x in 0..<layout.width {
                    let place = y * layout.stride + x
                    guard shot.pixels[place] != shots[0].pixels[place] else { continue }
                    differing += 1
                    #expect(Self.holds(box, x: x, y: y, layout) || Self.holds(boxes[0], x: x, y: y, layout))
                }
            }
            #expect(differing > 0)
            // Its upper left quarter is dark, the one beside it light.
            func level(_ part: Double) -> UInt8 {
                let x = Int((box.x + box.width * part) * Double(layout.width))
                let y = Int((box.y + box.height / 4) * Double(layout.height))
                return shot.pixels[y * layout.stride + x]
            }
            #expect(level(0.25) < 60 && level(0.75) > 190)
        }
        let mirrored = isMirrored ? boxes[0].x > 0.5 : boxes[0].x < 0.5
        #expect(mirrored, "it begins on the left of the scene, which is the right of a mirrored picture")
    }

    @Test func aZoomThatPushesItOutOfThePictureLosesIt() throws {
        let batch = Configuration([.activeFormat: .text("420f 640x480"), .videoZoomFactor: .number(4)])
        let (_, shots) = try Self.shots(batch, at: [0, 1_000_000_000, 2_000_000_000])
        #expect(shots.allSatisfy { $0.objects.isEmpty })
        #expect(shots[0].pixels == shots[1].pixels && shots[0].pixels == shots[2].pixels)
    }
}
