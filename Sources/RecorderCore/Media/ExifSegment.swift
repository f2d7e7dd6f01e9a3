import Glibc

/// The Exif APP1 segment of a photo: its maker, its time, and which side is up.
package enum ExifSegment {
    /// - Parameters:
    ///   - seconds: when it was captured, since 1970, shown in local time as cameras do.
    /// - Returns: the segment with its marker, to be put right behind a JPEG's first two bytes.
    package static func make(make: String, model: String, seconds: Int) -> [UInt8] {
        let date = text(dateAndTime(seconds))
        // IFD0 has five entries, in the order of their tags, as TIFF wants it.
        var ifd0 = Directory(entryCount: 5, at: 8)
        ifd0.addText(0x010f, text(make))
        ifd0.addText(0x0110, text(model))
        ifd0.addShort(0x0112, 1)
        ifd0.addText(0x0132, date)
        let exifAt = ifd0.end
        ifd0.addLong(0x8769, UInt32(exifAt))
        var exif = Directory(entryCount: 1, at: exifAt)
        exif.addText(0x9003, date)
        let tiff: [UInt8] = [0x49, 0x49, 0x2a, 0, 8, 0, 0, 0] + ifd0.bytes + exif.bytes
        let body: [UInt8] = Array("Exif".utf8) + [0, 0] + tiff
        let length = body.count + 2
        return [0xff, 0xe1, UInt8(length >> 8 & 0xff), UInt8(length & 0xff)] + body
    }

    /// Text ends with a zero byte. 64 bytes are more than any name here, and far below a segment's 64 KiB.
    private static func text(_ text: String) -> [UInt8] { Array(text.utf8.prefix(64)) + [0] }

    private static func dateAndTime(_ seconds: Int) -> String {
        var time = time_t(seconds)
        var parts = tm()
        localtime_r(&time, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = "\(parts.tm_year + 1900):\(two(parts.tm_mon + 1)):\(two(parts.tm_mday))"
        return "\(day) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    }

    /// One image file directory, little-endian: entries of twelve bytes, then the values that do not fit in four.
    private struct Directory {
        private let at: Int
        private let entryCount: Int
        private var entries: [UInt8] = []
        private var values: [UInt8] = []

        init(entryCount: Int, at: Int) {
            self.entryCount = entryCount
            self.at = at
        }

        private var valuesAt: Int { at + 2 + entryCount * 12 + 4 }
        var end: Int { valuesAt + values.count }
        var bytes: [UInt8] { Self.little(UInt32(entryCount), 2) + entries + [0, 0, 0, 0] + values }

        mutating func addText(_ tag: UInt32, _ text: [UInt8]) {
            // Values begin on even offsets.
            let offset = end
            add(tag, type: 2, count: text.count, value: UInt32(offset))
            values += text + (text.count % 2 == 1 ? [0] : [])
        }
        mutating func addShort(_ tag: UInt32, _ value: UInt32) { add(tag, type: 3, count: 1, value: value) }
        mutating func addLong(_ tag: UInt32, _ value: UInt32) { add(tag, type: 4, count: 1, value: value) }

        private mutating func add(_ tag: UInt32, type: UInt32, count: Int, value: UInt32) {
            entries += Self.little(tag, 2) + Self.little(type, 2) + Self.little(UInt32(count), 4)
            entries += Self.little(value, 4)
        }

        private static func little(_ value: UInt32, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
        }
    }
}
