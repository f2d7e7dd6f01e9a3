/// Completes a recording in fragments (MP4, QuickTime) whose recorder core was lost: an unfinished fragment is cut off.
///
/// A fragment is a `moof`, which describes its pictures and sounds, and an `mdat` with them. These are all that a file needs to
/// play; the index behind the last (`mfra`) marks the file as whole. Nothing is written, and anything unexpected leaves the file as
/// it is.
struct FragmentCompletion {
    private let window: ByteWindow
    /// Ticks a second of the first track, which has the pictures.
    private var timescale: UInt64 = 0
    private var frames: UInt64 = 0
    /// Ticks, of the beginning of the last fragment with pictures, and of the end of the last picture.
    private var begun: UInt64 = 0
    private var ticks: UInt64 = 0
    private var end: Int64 = 0
    private var isWhole = false

    /// Bytes of a fragment's description: more than any frame needs, and less than could be read wrongly without notice.
    private static let headMax: Int64 = 1 << 20
    private static let secondsMax = UInt64(RecordingCompletion.secondsMax)

    private struct Box {
        let type: String
        let start, end: Int64
        var body: Int64 { start + 8 }
        var bytes: Int64 { end - start }
    }

    /// Whether a file that begins with these bytes is one of MPEG-4 or QuickTime.
    static func takes(_ head: ArraySlice<UInt8>) -> Bool { head.dropFirst(4).prefix(4).elementsEqual("ftyp".utf8) }

    init(_ window: ByteWindow) throws(CompletionFault) {
        self.window = window
        let header = try whole(at: try whole(at: 0).end)
        guard header.type == "moov" else { throw .foreign("no header", at: header.start) }
        try readTimescale(header)
        end = header.end
        while !isWhole, let box = try self.box(at: end) {
            switch box.type {
            case "moof" where box.bytes <= Self.headMax:
                guard box.end <= window.size, let data = try self.box(at: box.end) else { return }
                guard data.type == "mdat", data.bytes <= RecordingCompletion.clusterBytesMax else {
                    throw .foreign("no pictures behind what describes them", at: box.end)
                }
                guard data.end <= window.size else { return }
                try take(box)
                end = data.end
            case "mfra" where box.end <= window.size:
                guard box.end == window.size else { throw .foreign("bytes behind the index", at: box.end) }
                isWhole = true
            // A torn index is cut off, and the file plays without it.
            case "mfra": return
            default: throw .foreign("no fragment", at: box.start)
            }
        }
    }

    func finish(_ file: any LostFile) throws(CompletionFault) -> CompletedRecording {
        if !isWhole, end < window.size {
            file.truncate(to: end)
            file.wantAnswer()
            if let fault = file.settle() { throw .file(fault) }
        }
        let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: timescale)
        return CompletedRecording(
            frames: frames, duration: Int64(seconds * 1_000_000_000 + rest * 1_000_000_000 / timescale),
            bytes: isWhole ? window.size : end, lastCapture: nil)
    }

    /// `nil` where the file ends inside the box's head.
    private func box(at place: Int64) throws(CompletionFault) -> Box? {
        let head = Array(try window.bytes(8, at: place))
        guard head.count == 8 else { return nil }
        let size = Int64(head[..<4].bigEndian)
        guard size >= 8 else { throw .foreign("no box", at: place) }
        return Box(type: String(decoding: head[4...], as: UTF8.self), start: place, end: place + size)
    }

    private func whole(at place: Int64) throws(CompletionFault) -> Box {
        if let box = try self.box(at: place), box.end <= window.size { return box }
        throw .foreign("no whole box", at: place)
    }

    private func children(of parent: Box, _ type: String) throws(CompletionFault) -> [Box] {
        var (found, place): ([Box], Int64) = ([], parent.body)
        while place < parent.end {
            let child = try whole(at: place)
            guard child.end <= parent.end else { throw .foreign("a box that leaves its parent", at: place) }
            if child.type == type { found.append(child) }
            place = child.end
        }
        return found
    }

    private func child(of parent: Box, _ type: String) throws(CompletionFault) -> Box {
        if let found = try children(of: parent, type).first { return found }
        throw .foreign("no \(type)", at: parent.start)
    }

    /// A number of 4 or 8 bytes of a box's body.
    private func number(_ box: Box, at offset: Int64, bytes: Int = 4) throws(CompletionFault) -> UInt64 {
        let found = try window.bytes(bytes, at: box.body + offset)
        guard found.count == bytes, box.body + offset + Int64(bytes) <= box.end else {
            throw .foreign("a box that is too short", at: box.start)
        }
        return found.bigEndian
    }

    private mutating func readTimescale(_ header: Box) throws(CompletionFault) {
        let about = try child(of: try child(of: try child(of: header, "trak"), "mdia"), "mdhd")
        // Version 1 has two times of 8 bytes in front of it, version 0 of 4.
        timescale = try number(about, at: try number(about, at: 0) >> 24 == 1 ? 20 : 12)
        guard timescale > 0 else { throw .foreign("a track without a clock", at: about.start) }
    }

    /// Counts the pictures of a fragment (ISO 14496-12, 8.8).
    private mutating func take(_ fragment: Box) throws(CompletionFault) {
        for track in try children(of: fragment, "traf") {
            let head = try child(of: track, "tfhd")
            guard try number(head, at: 4) == 1 else { continue }
            let flags = try number(head, at: 0)
            // A place of 8 bytes and a number of 4 may stand in front of a sample's usual duration.
            let skipped: Int64 = (flags & 0x1 != 0 ? 8 : 0) + (flags & 0x2 != 0 ? 4 : 0)
            let usual = flags & 0x8 != 0 ? try number(head, at: 8 + skipped) : 0
            let clock = try child(of: track, "tfdt")
            let isLong = try number(clock, at: 0) >> 24 == 1
            let begin = try number(clock, at: 4, bytes: isLong ? 8 : 4)
            // A picture that came early lies in the time of the one before it.
            guard begin > begun || frames == 0, begin / timescale <= Self.secondsMax else {
                throw .foreign("a time that cannot be", at: clock.start)
            }
            (begun, ticks) = (begin, begin)
            for run in try children(of: track, "trun") { try count(run, usual) }
        }
    }

    private mutating func count(_ run: Box, _ usual: UInt64) throws(CompletionFault) {
        let flags = try number(run, at: 0)
        let samples = try number(run, at: 4)
        let first: Int64 = 8 + (flags & 0x1 != 0 ? 4 : 0) + (flags & 0x4 != 0 ? 4 : 0)
        let bytes = Int64([0x100, 0x200, 0x400, 0x800].count { flags & $0 != 0 } * 4)
        guard samples <= UInt64(Self.headMax) else { throw .foreign("too many pictures", at: run.start) }
        if flags & 0x100 == 0 {
            // Without a look at each: a head has room for runs of more pictures than could be counted in time.
            ticks += samples * usual
        } else {
            for sample in 0..<Int64(samples) { ticks += try number(run, at: first + sample * bytes) }
        }
        frames += samples
        guard ticks / timescale <= Self.secondsMax else { throw .foreign("a time that cannot be", at: run.start) }
    }
}
