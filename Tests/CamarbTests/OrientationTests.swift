import ArbiterProtocol
import Camarb
import Testing

/// The order of the tables here.
private let orientations: [VideoOrientation] = [.portrait, .portraitUpsideDown, .landscapeRight, .landscapeLeft]

@Suite("Which side is up")
struct OrientationTests {
    @Test(
        "A device's orientation is a video's, with left and right exchanged; face up, face down and unknown leave the last"
    )
    func device() {
        let devices: [DeviceOrientation] = [.portrait, .portraitUpsideDown, .landscapeLeft, .landscapeRight]
        for (device, video) in zip(devices, orientations) {
            #expect(VideoOrientation(device) == video && DeviceOrientation(video) == device)
            for last in orientations { #expect(last.following(device) == video) }
        }
        for device: DeviceOrientation in [.faceUp, .faceDown, .unknown] {
            #expect(VideoOrientation(device) == nil)
            for last in orientations { #expect(last.following(device) == last) }
        }
    }

    @Test("Portrait 0, upside down π, landscape right −π/2, landscape left π/2")
    func angle() { #expect(orientations.map(\.angle) == [0, Double.pi, -Double.pi / 2, Double.pi / 2]) }

    /// The rows are videos, the columns references.
    private static let quarters: [CameraPosition: [[Int]]] = [
        // video − reference + π/2
        .back: [[1, -1, 2, 0], [-1, 1, 0, 2], [0, 2, 1, -1], [2, 0, -1, 1]],
        // reference − video + π/2
        .front: [[1, -1, 0, 2], [-1, 1, 2, 0], [2, 0, 1, -1], [0, 2, -1, 1]],
        .external: [[1, -1, 2, 0], [-1, 1, 0, 2], [0, 2, 1, -1], [2, 0, -1, 1]],
    ]

    @Test("A file is turned by video − reference + π/2 for a back camera, by reference − video + π/2 for a front one")
    func fileAngles() throws {
        for position in CameraPosition.allCases {
            let rows = try #require(Self.quarters[position])
            for (video, row) in zip(orientations, rows) {
                for (reference, quarters) in zip(orientations, row) {
                    let angle = video.fileAngle(of: position, reference: reference)
                    #expect(angle == Double(quarters) * .pi / 2, "\(position), \(video), \(reference)")
                    #expect(angle > -.pi && angle <= .pi)
                }
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

    @Test(
        "Each orientation, mirrored or not, is one of Exif's eight and comes back from it",
        arguments: CameraPosition.allCases)
    func eight(_ position: CameraPosition) throws {
        let numbers = try #require(Self.table[position])
        #expect(Set(numbers).count == 8)
        for (index, number) in numbers.enumerated() {
            let (orientation, isMirrored) = (orientations[index % 4], index >= 4)
            let exif = ExifOrientation(orientation, isMirrored: isMirrored, of: position)
            #expect(exif.rawValue == number)
            #expect(exif.videoOrientation(of: position) == orientation && exif.isMirrored == isMirrored)
            #expect(ExifOrientation(quarterTurns: exif.quarterTurns, isMirrored: exif.isMirrored) == exif)
        }
    }

    @Test("Pixels whose lines the camera has reversed are seen as those that a viewer exchanges")
    func reversed() throws {
        // Three lines of four: each case makes of them what nothing else does.
        let pixels = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
        #expect(Set(ExifOrientation.allCases.map { Self.shown(pixels, $0) }).count == 8)
        for (seen, exchanged) in zip(ExifOrientation.allCases, [2, 1, 4, 3, 8, 7, 6, 5] as [UInt8]) {
            let same = seen.ofMirroredPixels
            #expect(same.rawValue == exchanged)
            #expect(Self.shown(pixels, seen) == Self.shown(pixels.map { $0.reversed() }, same))
        }
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
