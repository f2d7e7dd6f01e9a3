import ArbiterProtocol
import Camarb
import Testing

@Suite("Which side is up")
struct OrientationTests {
    @Test(
        "A device's orientation is a video's, with left and right exchanged",
        arguments: [
            (DeviceOrientation.portrait, VideoOrientation.portrait),
            (.portraitUpsideDown, .portraitUpsideDown),
            (.landscapeLeft, .landscapeRight),
            (.landscapeRight, .landscapeLeft),
        ])
    func device(_ device: DeviceOrientation, _ video: VideoOrientation) {
        #expect(VideoOrientation(device) == video)
        #expect(DeviceOrientation(video) == device)
        for last in VideoOrientation.allCases { #expect(last.following(device) == video) }
    }

    @Test(
        "Face up, face down and unknown leave the last orientation",
        arguments: [
            DeviceOrientation.faceUp, .faceDown, .unknown,
        ])
    func flat(_ device: DeviceOrientation) {
        #expect(VideoOrientation(device) == nil)
        for last in VideoOrientation.allCases { #expect(last.following(device) == last) }
    }

    @Test("A device that is turned, laid down and taken up again has one orientation after the other")
    func story() {
        let held: [DeviceOrientation] = [
            .unknown, .landscapeLeft, .faceUp, .portrait, .faceDown, .unknown, .landscapeRight, .portraitUpsideDown,
        ]
        var seen: [VideoOrientation] = []
        for device in held { seen.append((seen.last ?? .portrait).following(device)) }
        #expect(
            seen == [
                .portrait, .landscapeRight, .landscapeRight, .portrait, .portrait, .portrait, .landscapeLeft,
                .portraitUpsideDown,
            ])
    }

    @Test(
        "Portrait 0, upside down π, landscape right −π/2, landscape left π/2",
        arguments: [
            (VideoOrientation.portrait, 0.0), (.portraitUpsideDown, Double.pi), (.landscapeRight, -Double.pi / 2),
            (.landscapeLeft, Double.pi / 2),
        ])
    func angle(_ orientation: VideoOrientation, _ angle: Double) {
        #expect(orientation.angle == angle)
    }

    /// The rows are videos, the columns references; both in the order portrait, upside down, landscape right, landscape left.
    private static let quarters: [CameraPosition: [[Int]]] = [
        // video − reference + π/2
        .back: [[1, -1, 2, 0], [-1, 1, 0, 2], [0, 2, 1, -1], [2, 0, -1, 1]],
        // reference − video + π/2
        .front: [[1, -1, 0, 2], [-1, 1, 2, 0], [2, 0, 1, -1], [0, 2, -1, 1]],
        .external: [[1, -1, 2, 0], [-1, 1, 0, 2], [0, 2, 1, -1], [2, 0, -1, 1]],
    ]

    @Test("A file is turned by video − reference + π/2 for a back camera, by reference − video + π/2 for a front one")
    func fileAngles() throws {
        let order: [VideoOrientation] = [.portrait, .portraitUpsideDown, .landscapeRight, .landscapeLeft]
        for position in CameraPosition.allCases {
            let rows = try #require(Self.quarters[position])
            for (video, row) in zip(order, rows) {
                for (reference, quarters) in zip(order, row) {
                    let angle = video.fileAngle(of: position, reference: reference)
                    #expect(angle == Double(quarters) * .pi / 2, "\(position), \(video), \(reference)")
                    #expect(angle > -.pi && angle <= .pi)
                }
            }
        }
    }

    @Test("With portrait for reference a file is turned as its Exif orientation says")
    func anglesAndExif() {
        for position in CameraPosition.allCases {
            for video in VideoOrientation.allCases {
                let exif = ExifOrientation(video, isMirrored: false, of: position)
                let difference = video.fileAngle(of: position) - Double(exif.quarterTurns) * .pi / 2
                #expect(difference == 0 || difference == -2 * .pi, "\(position), \(video)")
            }
        }
    }
}

@Suite("Exif orientations")
struct ExifOrientationTests {
    /// Portrait, upside down, landscape right, landscape left; then the same mirrored.
    private static let table: [CameraPosition: [UInt8]] = [
        .back: [6, 8, 1, 3, 5, 7, 2, 4], .external: [6, 8, 1, 3, 5, 7, 2, 4], .front: [6, 8, 3, 1, 5, 7, 4, 2],
    ]
    private static let order: [VideoOrientation] = [.portrait, .portraitUpsideDown, .landscapeRight, .landscapeLeft]

    @Test(
        "Each orientation, mirrored or not, is one of Exif's eight and comes back from it",
        arguments: CameraPosition.allCases)
    func eight(_ position: CameraPosition) throws {
        let numbers = try #require(Self.table[position])
        #expect(Set(numbers).count == 8)
        for (index, number) in numbers.enumerated() {
            let (orientation, isMirrored) = (Self.order[index % 4], index >= 4)
            let exif = ExifOrientation(orientation, isMirrored: isMirrored, of: position)
            #expect(exif.rawValue == number)
            #expect(exif.videoOrientation(of: position) == orientation && exif.isMirrored == isMirrored)
            #expect(ExifOrientation(quarterTurns: exif.quarterTurns, isMirrored: exif.isMirrored) == exif)
        }
    }

    @Test(
        "Pixels whose lines the camera has reversed are seen as those that a viewer exchanges",
        arguments: [
            (UInt8(1), UInt8(2)), (2, 1), (3, 4), (4, 3), (5, 8), (6, 7), (7, 6), (8, 5),
        ])
    func reversed(_ asSensor: UInt8, _ asReversed: UInt8) throws {
        let (seen, same) = (
            try #require(ExifOrientation(rawValue: asSensor)), try #require(ExifOrientation(rawValue: asReversed))
        )
        #expect(seen.ofMirroredPixels == same)
        // Three lines of four: each case makes of them what nothing else does.
        let pixels = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
        #expect(Self.shown(pixels, seen) == Self.shown(pixels.map { $0.reversed() }, same))
        #expect(Set(ExifOrientation.allCases.map { Self.shown(pixels, $0) }).count == 8)
    }

    /// By the standard's own words: on which side of what is seen the first row and the first column lie.
    private static func shown(_ rows: [[Int]], _ exif: ExifOrientation) -> [[Int]] {
        let columns = rows[0].indices.map { column in rows.map { $0[column] } }
        func reversingLines(_ lines: [[Int]]) -> [[Int]] { lines.map { $0.reversed() } }
        return switch exif.rawValue {
        case 1: rows  // top, left
        case 2: reversingLines(rows)  // top, right
        case 3: reversingLines(rows.reversed())  // bottom, right
        case 4: rows.reversed()  // bottom, left
        case 5: columns  // left, top
        case 6: reversingLines(columns)  // right, top
        case 7: reversingLines(columns.reversed())  // right, bottom
        default: columns.reversed()  // left, bottom
        }
    }
}
