enum MatroskaID {
    static let ebml: UInt32 = 0x1a45_dfa3
    static let segment: UInt32 = 0x1853_8067
    static let seekHead: UInt32 = 0x114d_9b74
    static let seek: UInt32 = 0x4dbb
    static let seekID: UInt32 = 0x53ab
    static let seekPosition: UInt32 = 0x53ac
    static let info: UInt32 = 0x1549_a966
    static let timecodeScale: UInt32 = 0x2a_d7b1
    static let duration: UInt32 = 0x4489
    static let tracks: UInt32 = 0x1654_ae6b
    static let trackEntry: UInt32 = 0xae
    static let defaultDuration: UInt32 = 0x23_e383
    static let tags: UInt32 = 0x1254_c367
    static let tag: UInt32 = 0x7373
    static let targets: UInt32 = 0x63c0
    static let simpleTag: UInt32 = 0x67c8
    static let tagName: UInt32 = 0x45a3
    static let tagString: UInt32 = 0x4487
    static let cues: UInt32 = 0x1c53_bb6b
    static let cuePoint: UInt32 = 0xbb
    static let cueTime: UInt32 = 0xb3
    static let cuePositions: UInt32 = 0xb7
    static let cueTrack: UInt32 = 0xf7
    static let cueCluster: UInt32 = 0xf1
    static let cluster: UInt32 = 0x1f43_b675
    static let timecode: UInt32 = 0xe7
    static let simpleBlock: UInt32 = 0xa3
    static let blockGroup: UInt32 = 0xa0
    static let block: UInt32 = 0xa1
    static let blockDuration: UInt32 = 0x9b
    static let void: UInt32 = 0xec
    static let checksum: UInt32 = 0xbf
}

/// The places in the header of a recording by `RecordingFile` that wait to be filled in.
///
/// libavformat leaves them as voids: one for the list of elements (SeekHead), eleven bytes for the duration, one for tags, one for
/// the index (Cues). Its own demuxer reports none of them, and would read on behind an element that it does not understand; here
/// any difference from a header of ours is a reason to leave the file alone.
struct MatroskaLayout {
    private typealias ID = MatroskaID

    /// The place of the segment's size, of eight bytes, and of its first counted byte.
    private(set) var sizeAt: Int64 = 0
    private(set) var segmentBody: Int64 = 0
    /// `nil` until the file is finished: it is filled in last.
    private(set) var segmentSize: Int64?
    private var infoAt: Int64 = 0
    private var tracksAt: Int64 = 0
    /// Of libav's own tags.
    private var tagsAt: Int64?
    /// Room for the tags that are written anew while the file grows (`RecordingTags`).
    private var tagsRoom: Range<Int64>?
    /// The tags in that room.
    private(set) var tags: EBMLElement?
    /// Rooms for the list of elements and for the index; `nil` once they are filled.
    private(set) var seekHeadRoom, indexRoom: Range<Int64>?
    /// The eleven bytes of a duration, or of a void in its place.
    private(set) var durationAt: Int64 = 0
    /// The six bytes of a checksum over the duration's parent, or of a void in its place.
    private var checksumAt: Int64?
    /// The picture's is the first, before sound and metadata.
    private(set) var tracks = 1
    /// Between two frames, in nanoseconds; 0 where the file does not contain it.
    private(set) var frameInterval: Int64 = 0
    /// After the header: where the first cluster is, or will be.
    private(set) var clustersBegin: Int64 = 0

    /// A tick is a millisecond: Matroska's usual, and libav's.
    private static let nanosecondsPerTick: UInt64 = 1_000_000
    /// A duration, and a checksum, with their heads.
    private static let durationBytes: Int64 = 11
    private static let checksumBytes: Int64 = 6
    /// Nanoseconds: a minute between two frames is more than any camera has, and a greater number means nothing.
    private static let frameIntervalMax: UInt64 = 60_000_000_000
    /// Picture, sound, and the most kinds of metadata.
    private static let tracksMax = 2 + RecordingFile.metadataMax

    init(_ window: ByteWindow) throws(CompletionFault) {
        guard window.size <= EBMLElement.fileBytesMax else { throw .foreign("it has \(window.size) bytes", at: 0) }
        let first = try window.whole(at: 0)
        guard first.id == ID.ebml else { throw .foreign("no header", at: 0) }
        guard let segment = try window.element(at: first.end), segment.id == ID.segment,
            segment.body - segment.start == 12
        else { throw .foreign("no segment", at: first.end) }
        (sizeAt, segmentBody, segmentSize) = (segment.start + 4, segment.body, segment.size)
        try readHeader(window)
    }

    private mutating func readHeader(_ window: ByteWindow) throws(CompletionFault) {
        clustersBegin = segmentBody
        var (hasInfo, hasTracks, hasSeekHead, hasIndex) = (false, false, false, false)
        for _ in 0..<EBMLElement.childrenMax {
            let place = clustersBegin
            // The file ends here, or in the head of an element that was cut.
            guard let next = try window.element(at: place), next.id != ID.cluster else { break }
            let element = try window.whole(at: place)
            clustersBegin = element.end
            if hasTracks, tagsRoom == nil, let room = try Self.tagsRoom(from: element, window) {
                tagsRoom = room
                if element.id == ID.tags { tags = element }
                clustersBegin = room.upperBound
                continue
            }
            switch element.id {
            case ID.seekHead: hasSeekHead = true
            case ID.cues: hasIndex = true
            case ID.info where !hasInfo:
                hasInfo = true
                try readInfo(element, window)
            case ID.tracks where !hasTracks:
                hasTracks = true
                try readTracks(element, window)
            case ID.tags: tagsAt = place
            // The one right in front is the list's room, the one behind everything else the index's.
            case ID.void where place == segmentBody: seekHeadRoom = place..<element.end
            case ID.void: indexRoom = hasTracks ? place..<element.end : nil
            default: throw .foreign("an element that is not expected", at: place)
            }
        }
        if hasSeekHead { seekHeadRoom = nil }
        if hasIndex { indexRoom = nil }
        guard hasInfo, hasTracks, hasIndex || indexRoom != nil, hasSeekHead || seekHeadRoom != nil else {
            throw .foreign("its header lacks something", at: clustersBegin)
        }
    }

    /// The room for tags, where it begins with this element: a void of its size, or tags with a void behind them.
    private static func tagsRoom(
        from first: EBMLElement, _ window: ByteWindow
    ) throws(CompletionFault) -> Range<Int64>? {
        let end = first.start + RecordingTags.roomBytes
        if first.id == ID.void, first.end == end { return first.start..<end }
        guard first.id == ID.tags, first.end < end, end <= window.size,
            let void = try window.element(at: first.end), void.id == ID.void, void.end == end
        else { return nil }
        return first.start..<end
    }

    private mutating func readInfo(_ info: EBMLElement, _ window: ByteWindow) throws(CompletionFault) {
        infoAt = info.start
        var hasScale = false
        for child in try window.children(of: info) {
            let bytes = child.end - child.start
            switch child.id {
            case ID.checksum: checksumAt = child.start
            case ID.void where bytes == Self.checksumBytes && child.start == info.body: checksumAt = child.start
            case ID.timecodeScale: hasScale = try window.unsigned(child) == Self.nanosecondsPerTick
            case ID.duration where bytes == Self.durationBytes, ID.void where bytes == Self.durationBytes:
                durationAt = child.start
            default: break
            }
        }
        guard hasScale else { throw .foreign("a tick that is not a millisecond", at: info.start) }
        guard durationAt > 0 else { throw .foreign("no room for a duration", at: info.start) }
    }

    private mutating func readTracks(_ tracks: EBMLElement, _ window: ByteWindow) throws(CompletionFault) {
        tracksAt = tracks.start
        let entries = try window.children(of: tracks).filter { $0.id == ID.trackEntry }
        guard 1...Self.tracksMax ~= entries.count else { throw .foreign("\(entries.count) tracks", at: tracks.start) }
        self.tracks = entries.count
        for child in try window.children(of: entries[0]) where child.id == ID.defaultDuration {
            frameInterval = Int64(min(try window.unsigned(child) ?? .max, Self.frameIntervalMax))
        }
    }

    // MARK: Writing

    /// Bytes for a place of the file. Patches are written in the order in which they are given.
    struct Patch {
        let bytes: [UInt8]
        let offset: Int64
    }

    /// The patches that complete a file: its index, the list of elements, its duration and, last, its size.
    /// - Parameter duration: in nanoseconds.
    func completing(_ index: RecordingIndex, duration: Int64, end: Int64) -> [Patch] {
        var patches: [Patch] = []
        if let room = indexRoom, !index.entries.isEmpty { patches += Self.filling(room, ID.cues, index.body) ?? [] }
        let hasIndex = !patches.isEmpty
        if let room = seekHeadRoom { patches += Self.filling(room, ID.seekHead, seekHead(hasIndex)) ?? [] }
        patches.append(Patch(bytes: Self.durationElement(nanoseconds: duration), offset: durationAt))
        if let checksumAt {
            // A void of the same size.
            patches.append(Patch(bytes: EBMLElement.encode(ID.void, [0, 0, 0, 0]), offset: checksumAt))
        }
        patches.append(Patch(bytes: EBMLElement.longSize(end - segmentBody), offset: sizeAt))
        return patches
    }

    /// The patches that write tags anew. Until the last one is written the room is a void, and the file has no such tags.
    func retagging(_ tags: RecordingTags) -> [Patch] {
        guard let tagsRoom, !tags.values.isEmpty, let filled = Self.filling(tagsRoom, ID.tags, tags.body) else {
            return []
        }
        let bytes = tagsRoom.upperBound - tagsRoom.lowerBound - Int64(EBMLElement.longHead(ID.void, 0).count)
        return [Patch(bytes: EBMLElement.longHead(ID.void, bytes), offset: tagsRoom.lowerBound)] + filled
    }

    private func seekHead(_ hasIndex: Bool) -> [UInt8] {
        var places = [(ID.info, infoAt), (ID.tracks, tracksAt)]
        if let tagsAt { places.append((ID.tags, tagsAt)) }
        if hasIndex, let indexRoom { places.append((ID.cues, indexRoom.lowerBound)) }
        return places.flatMap { id, place in
            EBMLElement.encode(
                ID.seek,
                EBMLElement.encode(ID.seekID, EBMLElement.idBytes(id))
                    + EBMLElement.encode(ID.seekPosition, UInt64(place - segmentBody)))
        }
    }

    /// Turns a void into an element with a void behind it: the head, which makes it one, comes last.
    /// - Returns: `nil` where it does not fit.
    private static func filling(_ room: Range<Int64>, _ id: UInt32, _ body: [UInt8]) -> [Patch]? {
        let head = EBMLElement.longHead(id, Int64(body.count))
        let left = room.upperBound - room.lowerBound - Int64(head.count + body.count)
        let void = Int64(EBMLElement.longHead(ID.void, 0).count)
        guard left >= void else { return nil }
        let behind = EBMLElement.longHead(ID.void, left - void)
        return [
            Patch(bytes: body + behind, offset: room.lowerBound + Int64(head.count)),
            Patch(bytes: head, offset: room.lowerBound),
        ]
    }

    static func durationElement(nanoseconds: Int64) -> [UInt8] {
        let ticks = Double(nanoseconds) / Double(nanosecondsPerTick)
        return EBMLElement.encode(ID.duration, EBMLElement.bigEndian(ticks.bitPattern))
    }

    /// Readers want a cluster, also in a file without a frame: an empty one at time 0.
    static let emptyCluster = EBMLElement.encode(ID.cluster, EBMLElement.encode(ID.timecode, UInt64(0)))
}
