import ArbiterProtocol
import CLinux
import Glibc

/// Completes a recording whose recorder core was lost: with its end, its duration and its index, it is as one that was stopped.
///
/// It goes from cluster to cluster by their heads, a frame each, and reads no picture. libavformat would read them all (a
/// gigabyte for eight minutes of 1080p30), passes over what it does not understand, and does not tell where a cluster begins, which an
/// index has to say. So the elements are read and written by hand, those that `RecordingFile` has.
///
/// A file in fragments is `FragmentCompletion`'s.
///
/// It never makes a file worse. Anything unexpected, and nothing is written. The places that are filled in are voids to a
/// reader until their head is written, in one piece and after what is in them; the segment's size comes last, and says that
/// the file is whole: then nothing more is written either.
/// Threading: the thread of the file that it was given.
package struct RecordingCompletion {
    private typealias ID = MatroskaLayout.ID

    private let file: any LostFile
    private let isLate: () -> Bool
    private var window: ByteWindow
    private let layout: MatroskaLayout

    // What the walk finds.
    private var frames: UInt64 = 0
    /// Ticks, of the last frame; below 0: there is none.
    private var lastTime: Int64 = -1
    private var lastInterval: Int64 = 0
    private var end: Int64
    private var hasIndexBehind = false
    private var hasEmptyCluster = false
    private var index = RecordingIndex()
    /// Ticks, of each further track's last block.
    private var otherTimes: [Int64]

    /// Bytes of one cluster or fragment: more than any frame has, and less than could be read wrongly without notice.
    static let clusterBytesMax: Int64 = 1 << 28
    /// Ten years, as the broker believes of a duration.
    static let secondsMax: Int64 = 10 * 366 * 86_400
    /// Ticks.
    private static let timeMax = secondsMax * 1_000
    /// Bytes of one block of sound or metadata: a group of metadata has at most 64 KiB, and its text some quotes more.
    private static let otherBytesMax: Int64 = 256 << 10
    /// The first track's number, as a block says it in one byte.
    private static let pictureTrack: UInt8 = 0x81

    /// - Parameter deadline: in the clock's nanoseconds. It is looked at with each part of the file that is read, however few elements
    ///   those are in, and once more before the first byte is written; what is begun then is written to its end.
    package static func complete(
        _ file: any LostFile, until deadline: Int64, clock: @escaping () -> Int64 = camarb_monotonic_ns
    ) throws(CompletionFault) -> CompletedRecording {
        let size: Int64
        do throws(FileFault) { size = try file.openedAgain() } catch { throw .file(error) }
        // Lost before it had a header.
        if size == 0 { return CompletedRecording(frames: 0, duration: 0, bytes: 0, lastCapture: nil) }
        let isLate = { clock() >= deadline }
        var window = ByteWindow(size: size) { (count, offset) throws(CompletionFault) in
            // Each fetch asks another process, beside which the clock costs little; and all that is done between two fetches
            // is done with what one brought.
            guard !isLate() else { throw .late }
            do throws(FileFault) { return try file.read(count, at: offset) } catch { throw .file(error) }
        }
        if FragmentCompletion.takes(try window.bytes(8, at: 0)) {
            let found = try FragmentCompletion(window)
            guard !isLate() else { throw .late }
            return try found.finish(file)
        }
        var completion = try RecordingCompletion(file, window, isLate: isLate)
        try completion.walk()
        return try completion.finish()
    }

    private init(_ file: any LostFile, _ window: ByteWindow, isLate: @escaping () -> Bool) throws(CompletionFault) {
        (self.file, self.isLate, self.window) = (file, isLate, window)
        layout = try MatroskaLayout(&self.window)
        end = layout.clustersBegin
        otherTimes = Array(repeating: .min, count: layout.tracks)
    }

    // MARK: Looking

    private mutating func walk() throws(CompletionFault) {
        while end < window.size {
            guard let element = try element(at: end) else { return try checkTail() }
            guard let next = element.end, [ID.cluster, ID.cues, ID.tags, ID.void].contains(element.id),
                next - element.start <= Self.clusterBytesMax
            else { throw .foreign("no cluster", at: end) }
            // What a lost process had begun is cut off.
            if next > window.size { return try checkTorn(element, next) }
            switch element.id {
            case ID.cluster: try take(element, to: next)
            case ID.cues: hasIndexBehind = true
            default: break
            }
            end = next
        }
    }

    /// Nil: the file ends inside it.
    private mutating func element(at place: Int64) throws(CompletionFault) -> EBMLElement? {
        switch try EBMLElement.at(place, in: &window) {
        case .element(let element): return element
        case .torn: return nil
        case .nonsense: throw .foreign("no element", at: place)
        }
    }

    /// A few bytes at the end have to be the beginning of a cluster.
    private mutating func checkTail() throws(CompletionFault) {
        let begins = EBMLElement.longHead(ID.cluster, 0).prefix(4)
        let tail = try window.bytes(begins.count, at: end)
        if tail.elementsEqual(begins.prefix(tail.count)) { return }
        throw .foreign("bytes behind the last cluster", at: end)
    }

    /// A cluster in which the file ends must be one that was being written, not a wrong size that hides others: a picture ends
    /// where it does, and everything else in it is small.
    private mutating func checkTorn(_ cluster: EBMLElement, _ end: Int64) throws(CompletionFault) {
        guard cluster.id == ID.cluster else { return }
        var place = cluster.body
        while place < window.size, let child = try element(at: place) {
            guard let next = child.end, next <= end, try mayBeTorn(child, next, of: end) else {
                throw .foreign("an element that leaves its cluster", at: place)
            }
            place = next
        }
    }

    private mutating func mayBeTorn(
        _ child: EBMLElement, _ next: Int64, of end: Int64
    ) throws(CompletionFault) -> Bool {
        switch child.id {
        case ID.checksum, ID.void, ID.timecode: return next < end
        case ID.blockGroup: return next - child.start <= Self.otherBytesMax
        case ID.simpleBlock:
            // Where the file ends right here, whose block it is was in the next byte.
            let track = try window.bytes(1, at: child.body).first
            return next == end || track != Self.pictureTrack && next - child.start <= Self.otherBytesMax
        default: return false
        }
    }

    private mutating func take(_ cluster: EBMLElement, to end: Int64) throws(CompletionFault) {
        var place = cluster.body
        var time: Int64?
        var blocks = 0
        while place < end {
            guard let child = try element(at: place), let next = child.end, next <= end else {
                throw .foreign("an element that leaves its cluster", at: place)
            }
            switch child.id {
            case ID.checksum, ID.void: break
            case ID.timecode where time == nil: time = try number(child)
            case ID.simpleBlock, ID.blockGroup:
                guard let time else { throw .foreign("a frame without a time", at: place) }
                blocks += 1
                try take(child.id == ID.simpleBlock ? child : try block(of: child, to: next), of: cluster, time)
            default: throw .foreign("an element that is not expected in a cluster", at: place)
            }
            place = next
        }
        guard blocks > 0 || (frames == 0 && !hasEmptyCluster) else {
            throw .foreign("a cluster without a frame", at: cluster.start)
        }
        if blocks == 0 { hasEmptyCluster = true }
    }

    /// The block of a group: what says for how long it lasts stands beside it.
    private mutating func block(of group: EBMLElement, to end: Int64) throws(CompletionFault) -> EBMLElement {
        var place = group.body
        var found: EBMLElement?
        while place < end {
            guard let child = try element(at: place), let next = child.end, next <= end,
                child.id == ID.block && found == nil || child.id == ID.blockDuration
            else { throw .foreign("an element that is not expected in a group", at: place) }
            if child.id == ID.block { found = child }
            place = next
        }
        guard let found, try window.bytes(1, at: found.body).first != Self.pictureTrack else {
            throw .foreign("a group without metadata", at: group.start)
        }
        return found
    }

    private mutating func number(_ element: EBMLElement) throws(CompletionFault) -> Int64 {
        if let number = try element.unsigned(in: &window), number <= UInt64(Self.timeMax) { return Int64(number) }
        throw .foreign("a time that cannot be", at: element.start)
    }

    /// A frame, or what else a track has: its track in one byte, its time after the cluster's in two, its flags in one, then
    /// the picture.
    private mutating func take(
        _ block: EBMLElement, of cluster: EBMLElement, _ clusterTime: Int64
    ) throws(CompletionFault) {
        let head = Array(try window.bytes(4, at: block.body))
        guard let size = block.size, size > 4, head.count == 4, head[0] >= Self.pictureTrack,
            head[0] - Self.pictureTrack < layout.tracks
        else { throw .foreign("no frame of a track", at: block.start) }
        let time = clusterTime + Int64(Int16(truncatingIfNeeded: Int(head[1]) << 8 | Int(head[2])))
        let track = Int(head[0] - Self.pictureTrack)
        guard track == 0 else {
            guard time >= otherTimes[track], 0...Self.timeMax ~= time, size <= Self.otherBytesMax else {
                throw .foreign("a time that goes back", at: block.start)
            }
            otherTimes[track] = time
            return
        }
        guard time > lastTime, time <= Self.timeMax else { throw .foreign("a time that goes back", at: block.start) }
        lastInterval = lastTime < 0 ? 0 : time - lastTime
        lastTime = time
        frames += 1
        // The topmost flag: readers may begin here.
        if head[3] & 0x80 != 0 { index.note(time, cluster.start - layout.segmentBody) }
    }

    // MARK: Writing

    private var duration: Int64 {
        guard lastTime >= 0 else { return 0 }
        return lastTime * 1_000_000 + (layout.frameInterval > 0 ? layout.frameInterval : lastInterval * 1_000_000)
    }

    private mutating func finish() throws(CompletionFault) -> CompletedRecording {
        if let size = layout.segmentSize {
            guard layout.segmentBody + size == window.size, end == window.size else {
                throw .foreign("a size that is not the file's", at: layout.sizeAt)
            }
            return result(window.size, try tags())
        }
        // Reading is over before anything is changed.
        var tags = try tags()
        // Past the deadline nobody waits for the answer, and the client has heard that the file stays as it is.
        guard !isLate() else { throw .late }
        if end < window.size { file.truncate(to: end) }
        if frames == 0, !hasEmptyCluster {
            put(MatroskaLayout.emptyCluster, at: end)
            end += Int64(MatroskaLayout.emptyCluster.count)
        }
        let result = result(end, tags)
        if tags[.ended] == nil { tags[.ended] = RecordingEnd.recorderReset.rawValue }
        if let capture = result.lastCapture { tags[.lastCapture] = String(capture) }
        for patch in layout.retagging(tags) + layout.completing(index, duration: duration, end: end) {
            put(patch.bytes, at: patch.offset)
        }
        file.wantAnswer()
        if let fault = file.settle() { throw .file(fault) }
        return result
    }

    private mutating func tags() throws(CompletionFault) -> RecordingTags {
        guard let element = layout.tags else { return RecordingTags([:]) }
        return try RecordingTags(element, in: &window)
    }

    private func result(_ bytes: Int64, _ tags: RecordingTags) -> CompletedRecording {
        CompletedRecording(
            frames: frames, duration: duration, bytes: bytes,
            lastCapture: lastTime < 0 ? nil : tags.capture(at: lastTime * 1_000_000))
    }

    private func put(_ bytes: [UInt8], at offset: Int64) { bytes.withUnsafeBytes { file.put($0, at: offset) } }
}

/// What is in a recording that was completed.
package struct CompletedRecording: Hashable, Sendable {
    package var frames: UInt64
    /// Nanoseconds, to the end of the last frame.
    package var duration: Int64
    package var bytes: Int64
    /// Of the last frame: nanoseconds of CLOCK_MONOTONIC, to the millisecond; nil where the file does not say.
    package var lastCapture: Int64?
}
