import ArbiterProtocol
import CLinux
import Glibc

/// Completes a recording whose recorder core was lost: with its end, its duration and its index, it is as one that was stopped.
///
/// It goes from cluster to cluster by their heads, a frame each, and reads no picture. libavformat would read them all (a
/// gigabyte for eight minutes of 1080p30), passes over elements that it does not understand, and does not report where a cluster
/// begins, which an index has to contain. So the elements are read and written by hand, as `RecordingFile` writes them.
/// `FragmentCompletion` completes a file in fragments.
///
/// It never makes a file worse. Anything unexpected, and nothing is written. The places that are filled in are voids to a
/// reader until their head is written, in one piece and after their body; the segment's size comes last, and marks the file as
/// whole: then nothing more is written either.
/// Threading: the file's thread.
package struct RecordingCompletion {
    private typealias ID = MatroskaID

    private let file: any LostFile
    private let isLate: () -> Bool
    private let window: ByteWindow
    private let layout: MatroskaLayout

    private var frames: UInt64 = 0
    /// Ticks, of the last frame; below 0 before the first.
    private var lastTime: Int64 = -1
    private var lastInterval: Int64 = 0
    private var end: Int64
    private var hasEmptyCluster = false
    private var index = RecordingIndex()
    /// Ticks, of each further track's last block.
    private var otherTimes: [Int64]

    /// Bytes of one cluster or fragment: more than any frame has, and less than could be read wrongly without notice.
    static let clusterBytesMax: Int64 = 1 << 28
    /// Ten years: the longest duration that the broker believes.
    static let secondsMax: Int64 = 10 * 366 * 86_400
    /// Ticks.
    private static let timeMax = secondsMax * 1_000
    /// Bytes of one block of sound or metadata: a group of metadata has at most 64 KiB, and its text some quotes more.
    private static let otherBytesMax: Int64 = 256 << 10
    /// The first track's number, in a block's one byte.
    private static let pictureTrack: UInt8 = 0x81

    /// - Parameter deadline: in the clock's nanoseconds. It is checked with each part of the file that is read, however few its
    ///   elements, and once more before the first byte is written; a completion that has begun is written to its end.
    package static func complete(
        _ file: any LostFile, until deadline: Int64, clock: @escaping () -> Int64 = camarb_monotonic_ns
    ) throws(CompletionFault) -> CompletedRecording {
        let size: Int64
        do throws(FileFault) { size = try file.openedAgain() } catch { throw .file(error) }
        // Lost before it had a header.
        if size == 0 { return CompletedRecording(frames: 0, duration: 0, bytes: 0, lastCapture: nil) }
        let isLate = { clock() >= deadline }
        let window = ByteWindow(size: size) { (count, offset) throws(CompletionFault) in
            // Each fetch is a call to another process, beside which the clock costs little.
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
        layout = try MatroskaLayout(window)
        end = layout.clustersBegin
        otherTimes = Array(repeating: .min, count: layout.tracks)
    }

    // MARK: Looking

    private mutating func walk() throws(CompletionFault) {
        while end < window.size {
            guard let element = try window.element(at: end) else { return try checkTail() }
            guard [ID.cluster, ID.cues, ID.tags, ID.void].contains(element.id),
                element.end - element.start <= Self.clusterBytesMax
            else { throw .foreign("no cluster", at: end) }
            // The unfinished part of a lost process is cut off.
            if element.end > window.size { return try checkTorn(element) }
            if element.id == ID.cluster { try take(element) }
            end = element.end
        }
    }

    /// A few bytes at the end have to be the beginning of a cluster.
    private func checkTail() throws(CompletionFault) {
        let begins = EBMLElement.idBytes(ID.cluster)
        let tail = try window.bytes(begins.count, at: end)
        guard tail.elementsEqual(begins.prefix(tail.count)) else {
            throw .foreign("bytes behind the last cluster", at: end)
        }
    }

    /// A cluster in which the file ends must be one that was being written, not a wrong size that hides others: a picture ends
    /// where the cluster does, and everything else in it is small.
    private func checkTorn(_ cluster: EBMLElement) throws(CompletionFault) {
        guard cluster.id == ID.cluster else { return }
        var place = cluster.body
        while place < window.size, let child = try window.element(at: place) {
            guard child.end <= cluster.end, try mayBeTorn(child, of: cluster) else {
                throw .foreign("an element that leaves its cluster", at: place)
            }
            place = child.end
        }
    }

    private func mayBeTorn(_ child: EBMLElement, of cluster: EBMLElement) throws(CompletionFault) -> Bool {
        let isSmall = child.end - child.start <= Self.otherBytesMax
        switch child.id {
        case ID.checksum, ID.void, ID.timecode: return child.end < cluster.end
        case ID.blockGroup: return isSmall
        case ID.simpleBlock:
            // Where the file ends right here, its track's number was in the next byte.
            let track = try window.bytes(1, at: child.body).first
            return child.end == cluster.end || track != Self.pictureTrack && isSmall
        default: return false
        }
    }

    private mutating func take(_ cluster: EBMLElement) throws(CompletionFault) {
        var place = cluster.body
        var time: Int64?
        var blocks = 0
        while place < cluster.end {
            guard let child = try window.element(at: place), child.end <= cluster.end else {
                throw .foreign("an element that leaves its cluster", at: place)
            }
            switch child.id {
            case ID.checksum, ID.void: break
            case ID.timecode where time == nil:
                guard let number = try window.unsigned(child), number <= UInt64(Self.timeMax) else {
                    throw .foreign("a time that cannot be", at: place)
                }
                time = Int64(number)
            case ID.simpleBlock, ID.blockGroup:
                guard let time else { throw .foreign("a frame without a time", at: place) }
                blocks += 1
                try take(child.id == ID.simpleBlock ? child : try block(of: child), of: cluster, time)
            default: throw .foreign("an element that is not expected in a cluster", at: place)
            }
            place = child.end
        }
        guard blocks > 0 || (frames == 0 && !hasEmptyCluster) else {
            throw .foreign("a cluster without a frame", at: cluster.start)
        }
        if blocks == 0 { hasEmptyCluster = true }
    }

    private func block(of group: EBMLElement) throws(CompletionFault) -> EBMLElement {
        var place = group.body
        var found: EBMLElement?
        while place < group.end {
            guard let child = try window.element(at: place), child.end <= group.end,
                child.id == ID.block && found == nil || child.id == ID.blockDuration
            else { throw .foreign("an element that is not expected in a group", at: place) }
            if child.id == ID.block { found = child }
            place = child.end
        }
        guard let found, try window.bytes(1, at: found.body).first != Self.pictureTrack else {
            throw .foreign("a group without metadata", at: group.start)
        }
        return found
    }

    /// Takes a block: its track in one byte, its time after the cluster's in two, its flags in one, then its bytes.
    private mutating func take(
        _ block: EBMLElement, of cluster: EBMLElement, _ clusterTime: Int64
    ) throws(CompletionFault) {
        let head = Array(try window.bytes(4, at: block.body))
        guard let size = block.size, size > 4, head.count == 4, head[0] >= Self.pictureTrack,
            head[0] - Self.pictureTrack < layout.tracks
        else { throw .foreign("no frame of a track", at: block.start) }
        let time = clusterTime + Int64(Int16(truncatingIfNeeded: head[1...2].bigEndian))
        let track = Int(head[0] - Self.pictureTrack)
        let isRight =
            track == 0
            ? time > lastTime && time <= Self.timeMax
            : time >= otherTimes[track] && 0...Self.timeMax ~= time && size <= Self.otherBytesMax
        guard isRight else { throw .foreign("a time that goes back", at: block.start) }
        guard track == 0 else {
            otherTimes[track] = time
            return
        }
        lastInterval = lastTime < 0 ? 0 : time - lastTime
        lastTime = time
        frames += 1
        // The topmost flag: readers may begin here.
        if head[3] & 0x80 != 0 { index.note(time, cluster.start - layout.segmentBody) }
    }

    // MARK: Writing

    private func finish() throws(CompletionFault) -> CompletedRecording {
        if let size = layout.segmentSize {
            guard layout.segmentBody + size == window.size, end == window.size else {
                throw .foreign("a size that is not the file's", at: layout.sizeAt)
            }
            return result(window.size, try tags())
        }
        // Reading is over before anything is changed.
        var tags = try tags()
        // After the deadline nobody waits for the answer, and the client has a notice that the file stays as it is.
        guard !isLate() else { throw .late }
        if end < window.size { file.truncate(to: end) }
        let cluster = frames == 0 && !hasEmptyCluster ? MatroskaLayout.emptyCluster : []
        put(cluster, at: end)
        let result = result(end + Int64(cluster.count), tags)
        if tags[.ended] == nil { tags[.ended] = RecordingEnd.recorderReset.rawValue }
        if let capture = result.lastCapture { tags[.lastCapture] = String(capture) }
        let completing = layout.completing(index, duration: result.duration, end: result.bytes)
        for patch in layout.retagging(tags) + completing { put(patch.bytes, at: patch.offset) }
        file.wantAnswer()
        if let fault = file.settle() { throw .file(fault) }
        return result
    }

    private func tags() throws(CompletionFault) -> RecordingTags {
        guard let element = layout.tags else { return RecordingTags([:]) }
        return try RecordingTags(element, in: window)
    }

    private func result(_ bytes: Int64, _ tags: RecordingTags) -> CompletedRecording {
        guard lastTime >= 0 else { return CompletedRecording(frames: 0, duration: 0, bytes: bytes, lastCapture: nil) }
        let interval = layout.frameInterval > 0 ? layout.frameInterval : lastInterval * 1_000_000
        let last = lastTime * 1_000_000
        return CompletedRecording(
            frames: frames, duration: last + interval, bytes: bytes, lastCapture: tags.capture(at: last))
    }

    private func put(_ bytes: [UInt8], at offset: Int64) { bytes.withUnsafeBytes { file.put($0, at: offset) } }
}

package struct CompletedRecording: Hashable, Sendable {
    package var frames: UInt64
    /// Nanoseconds, to the end of the last frame.
    package var duration: Int64
    package var bytes: Int64
    /// Of the last frame: nanoseconds of CLOCK_MONOTONIC, to the millisecond; `nil` where the file does not contain it.
    package var lastCapture: Int64?
}
