import ArbiterProtocol
import Glibc

/// When a recording's first frame was captured, as its file says: the Matroska tag `FIRST_CAPTURE`. Not the preview,
/// whose frames may be others, nor the last frame's capture less the recording's length: the length counts the last
/// frame's display, which is as long as the camera's rate says and not as the frames came, and a pause is not in it.
enum CaptureTime {
    /// Elements of Matroska (RFC 8794, RFC 9559), with their marker bits.
    private enum ID {
        static let header: UInt64 = 0x1a45_dfa3
        static let segment: UInt64 = 0x1853_8067
        static let cluster: UInt64 = 0x1f43_b675
        static let tags: UInt64 = 0x1254_c367
        static let tag: UInt64 = 0x7373
        static let simpleTag: UInt64 = 0x67c8
        static let tagName: UInt64 = 0x45a3
        static let tagString: UInt64 = 0x4487
    }

    /// The tags lie before the pictures, behind a reserved index of 64 KiB: this is far more than all of that.
    private static let headMax = 1 << 20

    /// - Parameter file: a descriptor that can be read; its offset stays.
    /// - Returns: nil where the file does not say.
    static func first(in file: Int32) -> Moment? {
        var bytes = [UInt8](repeating: 0, count: headMax)
        let count = pread(file, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return first(in: bytes[..<count])
    }

    private static func first(in head: ArraySlice<UInt8>) -> Moment? {
        var file = Elements(head)
        guard file.next()?.id == ID.header, let segment = file.next(), segment.id == ID.segment else { return nil }
        var children = Elements(segment.body)
        while let child = children.next(), child.id != ID.cluster {
            guard child.id == ID.tags else { continue }
            if let text = value(of: "FIRST_CAPTURE", in: child.body), let time = Int64(text), time > 0 {
                return Moment(nanoseconds: time)
            }
        }
        return nil
    }

    private static func value(of name: String, in tags: ArraySlice<UInt8>) -> String? {
        var tags = Elements(tags)
        while let tag = tags.next() {
            var entries = Elements(tag.id == ID.tag ? tag.body : [])
            while let entry = entries.next() {
                var parts = Elements(entry.id == ID.simpleTag ? entry.body : [])
                var (found, text) = ("", "")
                while let part = parts.next() {
                    // Text may be filled up with zeros.
                    if part.id == ID.tagName { found = String(decoding: part.body.prefix { $0 != 0 }, as: UTF8.self) }
                    if part.id == ID.tagString { text = String(decoding: part.body.prefix { $0 != 0 }, as: UTF8.self) }
                }
                if found == name { return text }
            }
        }
        return nil
    }

    /// The elements in a piece of a file, one after the other; one that goes on behind the piece is as long as the piece.
    private struct Elements {
        private var rest: ArraySlice<UInt8>

        init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

        mutating func next() -> (id: UInt64, body: ArraySlice<UInt8>)? {
            guard let id = number(bytesMax: 4, keepsMarker: true) else { return nil }
            guard let size = number(bytesMax: 8, keepsMarker: false) else { return nil }
            // All ones, of whatever length: a segment of a live recording, which goes on to the end.
            let body = rest.prefix(Int(clamping: size))
            rest = rest.dropFirst(body.count)
            return (id, body)
        }

        /// A number whose first byte says, by its leading zeros, how many bytes there are.
        private mutating func number(bytesMax: Int, keepsMarker: Bool) -> UInt64? {
            guard let head = rest.first, head != 0 else { return nil }
            let count = head.leadingZeroBitCount + 1
            guard count <= bytesMax, rest.count >= count else { return nil }
            var value = UInt64(keepsMarker ? head : head & UInt8(0xff >> count))
            for byte in rest.dropFirst().prefix(count - 1) { value = value << 8 | UInt64(byte) }
            rest = rest.dropFirst(count)
            let isUnknown = !keepsMarker && value == (1 << (7 * UInt64(count))) - 1
            return isUnknown ? UInt64.max : value
        }
    }
}
