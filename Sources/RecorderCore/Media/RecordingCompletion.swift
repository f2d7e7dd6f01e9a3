import CLinux
import Glibc

/// Completes a recording whose recorder core was lost: with its end, its duration and its index, it is as one that was
/// stopped.
///
/// It goes from cluster to cluster by their heads, a frame each, and reads no picture. libavformat would read them all (a
/// gigabyte for eight minutes of 1080p30), passes over what it does not understand, and does not tell where a cluster begins, which an
/// index has to say. So the elements are read and written by hand: five of them, as `MatroskaFile` has them.
///
/// It never makes a file worse. Anything unexpected, and nothing is written. The places that are filled in are voids to a
/// reader until their head is written, in one piece and after what is in them; the segment's size comes last, and says that
/// the file is whole: then nothing more is written either.
///
/// Threading: the thread of the writer that it was given.
package struct RecordingCompletion {
    /// What is in the file.
    package struct Result: Hashable {
        package var frames: UInt64
        /// Nanoseconds, to the end of the last frame.
        package var duration: Int64
        package var bytes: Int64
    }

    private typealias ID = MatroskaLayout.ID

    private let file: FileWriter
    private let deadline: Int64
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
    private var index: [(time: Int64, cluster: Int64)] = []
    /// Ticks between two entries of the index, at least: half of what lies between two key frames, and doubled whenever it is
    /// full.
    private var indexSpacing: Int64 = 500

    /// Entries of the index: what fits into its room (64 KiB), each with at most 27 bytes. Also the bound on its memory.
    static let indexMax = 2_400
    /// Bytes of one cluster: more than any frame has, and less than could be read wrongly without notice.
    private static let clusterBytesMax: Int64 = 1 << 28
    /// Ticks: ten years, as the broker believes of a duration.
    private static let timeMax: Int64 = 10 * 366 * 86_400 * 1_000

    /// - Parameters:
    ///   - file: opened again.
    ///   - deadline: on the monotonic clock, in nanoseconds.
    package static func complete(_ file: FileWriter, until deadline: Int64) throws(CompletionFault) -> Result {
        let size: Int64
        do throws(FileFault) { size = try file.openedAgain() } catch { throw .file(error) }
        // Lost before it had a header.
        if size == 0 { return Result(frames: 0, duration: 0, bytes: 0) }
        var completion = try RecordingCompletion(file, size, until: deadline)
        try completion.walk()
        return try completion.finish()
    }

    private init(_ file: FileWriter, _ size: Int64, until deadline: Int64) throws(CompletionFault) {
        self.file = file
        self.deadline = deadline
        window = ByteWindow(size: size) { (count, offset) throws(CompletionFault) in
            do throws(FileFault) { return try file.read(count, at: offset) } catch { throw .file(error) }
        }
        layout = try MatroskaLayout(&window)
        end = layout.clustersBegin
    }

    // MARK: Looking

    private mutating func walk() throws(CompletionFault) {
        while end < window.size {
            // Each round asks another process: looking at the clock costs little beside that.
            guard camarb_monotonic_ns() < deadline else { throw .late }
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

    /// A cluster in which the file ends must be one frame that was being written, not a wrong size that hides others:
    /// its block ends where it does.
    private mutating func checkTorn(_ cluster: EBMLElement, _ end: Int64) throws(CompletionFault) {
        guard cluster.id == ID.cluster else { return }
        var place = cluster.body
        while place < window.size, let child = try element(at: place) {
            let isLast = child.id == ID.simpleBlock
            guard isLast || [ID.checksum, ID.void, ID.timecode].contains(child.id),
                let next = child.end, isLast ? next == end : next < end
            else {
                throw .foreign("an element that leaves its cluster", at: place)
            }
            if isLast { return }
            place = next
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
            case ID.timecode where time == nil:
                time = try number(child)
            case ID.simpleBlock:
                guard let time else { throw .foreign("a frame without a time", at: place) }
                blocks += 1
                try take(child, of: cluster, time, isFirst: blocks == 1)
            default: throw .foreign("an element that is not expected in a cluster", at: place)
            }
            place = next
        }
        guard blocks > 0 || (frames == 0 && !hasEmptyCluster) else {
            throw .foreign("a cluster without a frame", at: cluster.start)
        }
        if blocks == 0 { hasEmptyCluster = true }
    }

    private mutating func number(_ element: EBMLElement) throws(CompletionFault) -> Int64 {
        if let number = try element.unsigned(in: &window), number <= UInt64(Self.timeMax) { return Int64(number) }
        throw .foreign("a time that cannot be", at: element.start)
    }

    /// A frame: its track in one byte, its time after the cluster's in two, its flags in one, then the picture.
    private mutating func take(
        _ block: EBMLElement, of cluster: EBMLElement, _ clusterTime: Int64, isFirst: Bool
    ) throws(CompletionFault) {
        let head = Array(try window.bytes(4, at: block.body))
        guard let size = block.size, size > 4, head.count == 4, head[0] == 0x81 else {
            throw .foreign("no frame of track 1", at: block.start)
        }
        let time = clusterTime + Int64(Int16(truncatingIfNeeded: Int(head[1]) << 8 | Int(head[2])))
        guard time > lastTime, time <= Self.timeMax else { throw .foreign("a time that goes back", at: block.start) }
        lastInterval = lastTime < 0 ? 0 : time - lastTime
        lastTime = time
        frames += 1
        // The topmost flag: readers may begin here.
        if isFirst, head[3] & 0x80 != 0 { note(time, cluster.start - layout.segmentBody) }
    }

    private mutating func note(_ time: Int64, _ cluster: Int64) {
        if let last = index.last, time - last.time < indexSpacing { return }
        index.append((time, cluster))
        guard index.count > Self.indexMax else { return }
        indexSpacing *= 2
        let all = index
        index = []
        for entry in all where index.last.map({ entry.time - $0.time >= indexSpacing }) ?? true { index.append(entry) }
    }

    // MARK: Writing

    private var duration: Int64 {
        guard lastTime >= 0 else { return 0 }
        return lastTime * 1_000_000 + (layout.frameInterval > 0 ? layout.frameInterval : lastInterval * 1_000_000)
    }

    private mutating func finish() throws(CompletionFault) -> Result {
        if let size = layout.segmentSize {
            guard layout.segmentBody + size == window.size, end == window.size else {
                throw .foreign("a size that is not the file's", at: layout.sizeAt)
            }
            return Result(frames: frames, duration: duration, bytes: window.size)
        }
        if end < window.size { file.truncate(to: end) }
        if frames == 0, !hasEmptyCluster {
            put(MatroskaLayout.emptyCluster, at: end)
            end += Int64(MatroskaLayout.emptyCluster.count)
        }
        let hasIndex = writeIndex()
        writeSeekHead(hasIndex)
        put(MatroskaLayout.durationElement(nanoseconds: duration), at: layout.durationAt)
        if let checksum = layout.checksumAt { put(MatroskaLayout.noChecksum, at: checksum) }
        put(EBMLElement.longSize(end - layout.segmentBody), at: layout.sizeAt)
        file.wantAnswer()
        if let fault = file.settle() { throw .file(fault) }
        return Result(frames: frames, duration: duration, bytes: end)
    }

    private func put(_ bytes: [UInt8], at offset: Int64) { bytes.withUnsafeBytes { file.put($0, at: offset) } }

    /// - Returns: whether the list of what is where may name the room.
    private func writeIndex() -> Bool {
        guard let room = layout.indexRoom, !index.isEmpty else { return false }
        let body = index.flatMap { entry in
            EBMLElement.encode(
                ID.cuePoint,
                EBMLElement.encode(ID.cueTime, UInt64(entry.time))
                    + EBMLElement.encode(
                        ID.cuePositions,
                        EBMLElement.encode(ID.cueTrack, UInt64(1))
                            + EBMLElement.encode(ID.cueCluster, UInt64(entry.cluster))))
        }
        return fill(room, ID.cues, body)
    }

    private func writeSeekHead(_ hasIndex: Bool) {
        guard let room = layout.seekHeadRoom else { return }
        var places = [(ID.info, layout.infoAt), (ID.tracks, layout.tracksAt)]
        if let tags = layout.tagsAt { places.append((ID.tags, tags)) }
        if hasIndex, let index = layout.indexRoom { places.append((ID.cues, index.lowerBound)) }
        let body = places.flatMap { id, place in
            EBMLElement.encode(
                ID.seek,
                EBMLElement.encode(ID.seekID, EBMLElement.bigEndian(UInt64(id)).suffix(4))
                    + EBMLElement.encode(ID.seekPosition, UInt64(place - layout.segmentBody)))
        }
        _ = fill(room, ID.seekHead, body)
    }

    /// Turns a void into an element with a void behind it: the head, which makes it one, comes last.
    /// - Returns: false, and nothing is written, where it does not fit.
    private func fill(_ room: Range<Int64>, _ id: UInt32, _ body: [UInt8]) -> Bool {
        let head = EBMLElement.longHead(id, Int64(body.count))
        let left = room.upperBound - room.lowerBound - Int64(head.count + body.count)
        let void = EBMLElement.longHead(ID.void, 0).count
        guard left >= void else { return false }
        put(body + EBMLElement.longHead(ID.void, left - Int64(void)), at: room.lowerBound + Int64(head.count))
        put(head, at: room.lowerBound)
        return true
    }
}

extension EBMLElement {
    /// An element whose body is a part of another array.
    fileprivate static func encode(_ id: UInt32, _ body: ArraySlice<UInt8>) -> [UInt8] { encode(id, Array(body)) }
}
