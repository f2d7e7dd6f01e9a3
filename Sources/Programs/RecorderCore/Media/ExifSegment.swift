import ArbiterProtocol
import Glibc
import System

/// The Exif APP1 segment of a photo: its maker, its time, which side is up, and how it was taken (Exif 2.3, CIPA DC-008).
package enum ExifSegment {
    /// - Parameter seconds: when it was captured, since 1970, shown in local time as cameras do.
    /// - Returns: the segment with its marker, to be put right behind a JPEG's first two bytes.
    package static func make(
        make: String, model: String, seconds: Int, width: Int, height: Int, _ photo: PhotoPlan
    ) -> [UInt8] {
        let date = text(WallClock.written(seconds, as: "%Y:%m:%d %H:%M:%S"))
        // The entries of each directory in the order of their tags, as TIFF wants it.
        var ifd0 = Directory(at: 8)
        ifd0.addText(0x010f, text(make))
        ifd0.addText(0x0110, text(model))
        ifd0.addShort(0x0112, UInt32(photo.metadata.orientation))
        ifd0.addText(0x0132, date)
        let exifAt = ifd0.end(withMore: 1)
        ifd0.addLong(0x8769, UInt32(exifAt))
        let exif = directory(photo, width: width, height: height, date, at: exifAt)
        let tiff: [UInt8] = [0x49, 0x49, 0x2a, 0, 8, 0, 0, 0] + ifd0.bytes + exif.bytes
        let body: [UInt8] = Array("Exif".utf8) + [0, 0] + tiff
        let length = body.count + 2
        return [0xff, 0xe1, UInt8(length >> 8 & 0xff), UInt8(length & 0xff)] + body
    }

    /// The tags of Exif itself. It has none for stabilization, which is in the comment.
    private static func directory(
        _ photo: PhotoPlan, width: Int, height: Int, _ date: [UInt8], at place: Int
    ) -> Directory {
        let taken = photo.metadata
        var exif = Directory(at: place)
        if let seconds = taken.exposureDuration { exif.addRational(0x829a, fraction(seconds)) }
        // Two bytes: more than any camera's sensitivity.
        if let iso = taken.iso { exif.addShort(0x8827, UInt32(min(65_535, max(0, iso.rounded())))) }
        exif.addBytes(0x9000, Array("0230".utf8))
        exif.addText(0x9003, date)
        if let bias = taken.exposureTargetBias {
            exif.addRational(0x9204, (Int64((bias * 1000).rounded()), 1000), isSigned: true)
        }
        exif.addShort(0x9209, flash(photo))
        exif.addBytes(0x9286, comment(taken))
        exif.addLong(0xa002, UInt32(width))
        exif.addLong(0xa003, UInt32(height))
        exif.addRational(0xa404, fraction(taken.videoZoomFactor))
        if let millimetres = focalLength(photo.fieldOfView, width, height) { exif.addShort(0xa405, millimetres) }
        return exif
    }

    /// Bit 0: it fired; bits 3 and 4: 1 on, 2 off, 3 automatic; bit 5: there is none.
    private static func flash(_ photo: PhotoPlan) -> UInt32 {
        let mode: UInt32 =
            switch photo.flashMode {
            case nil: 0x20
            case "on": 0x08
            case "auto": 0x18
            default: 0x10
            }
        return mode | (photo.metadata.flashFired ? 1 : 0)
    }

    private static func comment(_ taken: PhotoMetadata) -> [UInt8] {
        let still = "stillImageStabilizationUsed=\(taken.stillImageStabilizationUsed)"
        return Array("ASCII\0\0\0\(still) lensStabilizationUsed=\(taken.lensStabilizationUsed)".utf8)
    }

    /// `1/60` for the reciprocal of a whole number, else in millionths, as exact as durations are anywhere here.
    private static func fraction(_ value: Double) -> (Int64, Int64) {
        let under = (1 / value).rounded()
        if value > 0, value < 1, under < 1e6, abs(under * value - 1) < 1e-6 { return (1, Int64(under)) }
        if value == value.rounded(), value < 1e9 { return (Int64(value), 1) }
        return (Int64((min(value, 4000) * 1e6).rounded()), 1_000_000)
    }

    /// Of a lens that shows as much on 35 mm film, by the diagonal (CIPA DCG-001), without the zoom.
    private static func focalLength(_ fieldOfView: Double, _ width: Int, _ height: Int) -> UInt32? {
        guard fieldOfView > 0, fieldOfView < 180, width > 0 else { return nil }
        let shape = Double(height) / Double(width)
        // Half of the film's 36 mm by 24 mm, from corner to corner.
        let half = (36.0 * 36 + 24 * 24).squareRoot() / 2
        let tangent = tan(fieldOfView * .pi / 360) * (1 + shape * shape).squareRoot()
        return UInt32((half / tangent).rounded())
    }

    /// Text ends with a zero byte. 64 bytes are more than any name here, and far below a segment's 64 KiB.
    private static func text(_ text: String) -> [UInt8] { Array(text.utf8.prefix(64)) + [0] }

    /// One image file directory, little-endian: entries of twelve bytes, then the values that do not fit in four.
    private struct Directory {
        private let at: Int
        private var entries: [(tag: UInt32, type: UInt32, count: Int, value: [UInt8])] = []

        init(at: Int) { self.at = at }
        private func valuesAt(_ entryCount: Int) -> Int { at + 2 + entryCount * 12 + 4 }

        /// Where it ends once it has so many entries more, each of four bytes at most.
        func end(withMore more: Int) -> Int {
            valuesAt(entries.count + more) + entries.reduce(0) { $0 + Self.padded($1.value).count }
        }

        var bytes: [UInt8] {
            var heads = Self.little(UInt32(entries.count), 2)
            var values: [UInt8] = []
            for entry in entries {
                heads += Self.little(entry.tag, 2) + Self.little(entry.type, 2) + Self.little(UInt32(entry.count), 4)
                if entry.value.count <= 4 {
                    heads += entry.value + Array(repeating: 0, count: 4 - entry.value.count)
                } else {
                    heads += Self.little(UInt32(valuesAt(entries.count) + values.count), 4)
                    values += Self.padded(entry.value)
                }
            }
            return heads + [0, 0, 0, 0] + values
        }

        /// Values begin on even offsets; those of four bytes are in the entry itself.
        private static func padded(_ value: [UInt8]) -> [UInt8] {
            value.count <= 4 ? [] : value + (value.count % 2 == 1 ? [0] : [])
        }

        mutating func addText(_ tag: UInt32, _ text: [UInt8]) { entries.append((tag, 2, text.count, text)) }
        mutating func addBytes(_ tag: UInt32, _ bytes: [UInt8]) { entries.append((tag, 7, bytes.count, bytes)) }
        mutating func addShort(_ tag: UInt32, _ value: UInt32) { entries.append((tag, 3, 1, Self.little(value, 2))) }
        mutating func addLong(_ tag: UInt32, _ value: UInt32) { entries.append((tag, 4, 1, Self.little(value, 4))) }
        mutating func addRational(_ tag: UInt32, _ value: (Int64, Int64), isSigned: Bool = false) {
            let bytes =
                Self.little(UInt32(truncatingIfNeeded: value.0), 4)
                + Self.little(UInt32(truncatingIfNeeded: value.1), 4)
            entries.append((tag, isSigned ? 10 : 5, 1, bytes))
        }

        private static func little(_ value: UInt32, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
        }
    }
}
