/// Where things are in the header of a recording as `RecordingFile` writes it: the places that wait to be filled in.
///
/// libavformat leaves them as voids: one for the list of what is where (SeekHead), eleven bytes for the duration, one for
/// tags, one for the index (Cues). Its own demuxer tells none of them, and would read on behind what it does not understand; here
/// anything that is not as it is written by us is a reason to leave the file alone.
struct MatroskaLayout {
    /// The segment's size, of eight bytes, and where what it counts begins.
    private(set) var sizeAt: Int64 = 0
    private(set) var segmentBody: Int64 = 0
    /// Nil until the file is finished: it is filled in last.
    private(set) var segmentSize: Int64?
    private(set) var infoAt: Int64 = 0
    private(set) var tracksAt: Int64 = 0
    /// Of libav's own tags.
    private(set) var tagsAt: Int64?
    /// Room for the tags that are written anew while the file grows (`RecordingTags`); nil: it has none.
    private(set) var tagsRoom: Range<Int64>?
    /// What is in that room; nil: nothing yet.
    private(set) var tags: EBMLElement?
    /// Room for the list of what is where; nil: it is there already.
    private(set) var seekHeadRoom: Range<Int64>?
    /// Room for the index; nil: it is there already.
    private(set) var indexRoom: Range<Int64>?
    /// The eleven bytes of a duration, or of a void in its place.
    private(set) var durationAt: Int64 = 0
    /// The six bytes of a checksum of what the duration is in, or of a void in its place.
    private(set) var checksumAt: Int64?
    /// The picture's is the first. Those behind it have sound and metadata.
    private(set) var tracks = 1
    /// Between two frames, in nanoseconds; 0 where the file does not say.
    private(set) var frameInterval: Int64 = 0
    /// Behind the header: where the first cluster is, or will be.
    private(set) var clustersBegin: Int64 = 0

    enum ID {
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

    /// A tick is a millisecond: Matroska's usual, and libav's.
    private static let nanosecondsPerTick: UInt64 = 1_000_000
    /// A duration with its head, as it is written.
    private static let durationBytes: Int64 = 11
    private static let checksumBytes: Int64 = 6
    /// Nanoseconds: a minute between two frames is more than any camera has, and what says more says nothing.
    private static let frameIntervalMax: UInt64 = 60_000_000_000
    /// Elements in one list of the header: libav writes nine, and a loop has a bound.
    private static let elementsMax = 64
    /// Picture, sound, and as many kinds of metadata as may be asked for.
    static let tracksMax = 2 + RecordingFile.metadataMax

    /// Reads the header of a file that may end right behind it.
    init(_ window: inout ByteWindow) throws(CompletionFault) {
        guard window.size <= EBMLElement.fileBytesMax else { throw .foreign("it has \(window.size) bytes", at: 0) }
        let first = try Self.whole(at: 0, in: &window)
        guard first.id == ID.ebml, let begin = first.end else { throw .foreign("no header", at: 0) }
        guard case .element(let segment) = try EBMLElement.at(begin, in: &window), segment.id == ID.segment,
            segment.body - segment.start == 12
        else { throw .foreign("no segment", at: begin) }
        (sizeAt, segmentBody, segmentSize) = (segment.start + 4, segment.body, segment.size)
        try readHeader(&window)
    }

    private mutating func readHeader(_ window: inout ByteWindow) throws(CompletionFault) {
        var place = segmentBody
        var (hasInfo, hasTracks, hasSeekHead, hasIndex) = (false, false, false, false)
        for _ in 0..<Self.elementsMax {
            clustersBegin = place
            let found = try EBMLElement.at(place, in: &window)
            // The file ends here, or in the head of what it was cut in.
            if case .torn = found { break }
            if case .element(let next) = found, next.id == ID.cluster { break }
            let element = try Self.whole(at: place, in: &window)
            guard let end = element.end else { throw .foreign("an element without an end", at: place) }
            if hasTracks, tagsRoom == nil, let room = try Self.tagsRoom(from: element, &window) {
                tagsRoom = room
                if element.id == ID.tags { tags = element }
                place = room.upperBound
                continue
            }
            switch element.id {
            case ID.seekHead: hasSeekHead = true
            case ID.cues: hasIndex = true
            case ID.info where !hasInfo:
                hasInfo = true
                try readInfo(element, &window)
            case ID.tracks where !hasTracks:
                hasTracks = true
                try readTracks(element, &window)
            case ID.tags: tagsAt = place
            // The one right in front is the list's room, the one behind everything else the index's.
            case ID.void where place == segmentBody: seekHeadRoom = place..<end
            case ID.void: indexRoom = hasTracks ? place..<end : nil
            default: throw .foreign("an element that is not expected", at: place)
            }
            place = end
        }
        if hasSeekHead { seekHeadRoom = nil }
        if hasIndex { indexRoom = nil }
        guard hasInfo, hasTracks, hasIndex || indexRoom != nil, hasSeekHead || seekHeadRoom != nil else {
            throw .foreign("its header lacks something", at: clustersBegin)
        }
    }

    /// The room for tags, where it begins with this element: a void of its size, or tags with a void behind them.
    private static func tagsRoom(
        from first: EBMLElement, _ window: inout ByteWindow
    ) throws(CompletionFault) -> Range<Int64>? {
        let end = first.start + RecordingTags.roomBytes
        if first.id == ID.void, first.end == end { return first.start..<end }
        guard first.id == ID.tags, let next = first.end, next < end, end <= window.size,
            case .element(let void) = try EBMLElement.at(next, in: &window), void.id == ID.void, void.end == end
        else { return nil }
        return first.start..<end
    }

    private mutating func readInfo(_ info: EBMLElement, _ window: inout ByteWindow) throws(CompletionFault) {
        infoAt = info.start
        var hasScale = false
        for child in try Self.children(of: info, &window) {
            let bytes = (child.end ?? child.body) - child.start
            switch child.id {
            case ID.checksum: checksumAt = child.start
            case ID.void where bytes == Self.checksumBytes && child.start == info.body: checksumAt = child.start
            case ID.timecodeScale: hasScale = try Self.number(child, &window) == Self.nanosecondsPerTick
            case ID.duration where bytes == Self.durationBytes: durationAt = child.start
            case ID.void where bytes == Self.durationBytes: durationAt = child.start
            default: break
            }
        }
        guard hasScale else { throw .foreign("a tick that is no millisecond", at: info.start) }
        guard durationAt > 0 else { throw .foreign("no room for a duration", at: info.start) }
    }

    private mutating func readTracks(_ tracks: EBMLElement, _ window: inout ByteWindow) throws(CompletionFault) {
        tracksAt = tracks.start
        let entries = try Self.children(of: tracks, &window).filter { $0.id == ID.trackEntry }
        guard 1...Self.tracksMax ~= entries.count else { throw .foreign("\(entries.count) tracks", at: tracks.start) }
        self.tracks = entries.count
        for child in try Self.children(of: entries[0], &window) where child.id == ID.defaultDuration {
            frameInterval = Int64(min(try Self.number(child, &window), Self.frameIntervalMax))
        }
    }

    // MARK: Elements

    private static func number(_ element: EBMLElement, _ window: inout ByteWindow) throws(CompletionFault) -> UInt64 {
        try element.unsigned(in: &window) ?? .max
    }

    /// An element that ends in the file.
    private static func whole(at place: Int64, in window: inout ByteWindow) throws(CompletionFault) -> EBMLElement {
        guard case .element(let element) = try EBMLElement.at(place, in: &window), let end = element.end,
            end <= window.size
        else { throw .foreign("no whole element", at: place) }
        return element
    }

    static func children(of parent: EBMLElement, _ window: inout ByteWindow) throws(CompletionFault) -> [EBMLElement] {
        var children: [EBMLElement] = []
        var place = parent.body
        while let end = parent.end, place < end {
            let child = try whole(at: place, in: &window)
            guard let next = child.end, next <= end, children.count < elementsMax else {
                throw .foreign("an element that leaves its parent", at: place)
            }
            children.append(child)
            place = next
        }
        return children
    }

    // MARK: Writing

    /// Bytes for a place of the file. They are written in the order in which they are given.
    struct Patch {
        var bytes: [UInt8]
        var offset: Int64
    }

    /// What makes a file whole: its index, the list of what is where, its duration and, last, its size.
    /// - Parameter duration: in nanoseconds.
    func completing(_ index: RecordingIndex, duration: Int64, end: Int64) -> [Patch] {
        var patches: [Patch] = []
        var hasIndex = false
        if let room = indexRoom, !index.entries.isEmpty, let filled = Self.filling(room, ID.cues, index.body) {
            patches += filled
            hasIndex = true
        }
        if let room = seekHeadRoom, let filled = Self.filling(room, ID.seekHead, seekHead(hasIndex)) {
            patches += filled
        }
        patches.append(Patch(bytes: Self.durationElement(nanoseconds: duration), offset: durationAt))
        if let checksumAt { patches.append(Patch(bytes: Self.noChecksum, offset: checksumAt)) }
        patches.append(Patch(bytes: EBMLElement.longSize(end - segmentBody), offset: sizeAt))
        return patches
    }

    /// What writes tags anew. Until the last patch is written the room is a void, and the file has none of them.
    func retagging(_ tags: RecordingTags) -> [Patch] {
        guard let tagsRoom else { return [] }
        let head = EBMLElement.longHead(ID.void, 0)
        let void = EBMLElement.longHead(ID.void, tagsRoom.upperBound - tagsRoom.lowerBound - Int64(head.count))
        guard !tags.values.isEmpty, let filled = Self.filling(tagsRoom, ID.tags, tags.body) else { return [] }
        return [Patch(bytes: void, offset: tagsRoom.lowerBound)] + filled
    }

    private func seekHead(_ hasIndex: Bool) -> [UInt8] {
        var places = [(ID.info, infoAt), (ID.tracks, tracksAt)]
        if let tagsAt { places.append((ID.tags, tagsAt)) }
        if hasIndex, let indexRoom { places.append((ID.cues, indexRoom.lowerBound)) }
        return places.flatMap { id, place in
            EBMLElement.encode(
                ID.seek,
                EBMLElement.encode(ID.seekID, Array(EBMLElement.bigEndian(UInt64(id)).suffix(4)))
                    + EBMLElement.encode(ID.seekPosition, UInt64(place - segmentBody)))
        }
    }

    /// Turns a void into an element with a void behind it: the head, which makes it one, comes last.
    /// - Returns: nil where it does not fit.
    private static func filling(_ room: Range<Int64>, _ id: UInt32, _ body: [UInt8]) -> [Patch]? {
        let head = EBMLElement.longHead(id, Int64(body.count))
        let left = room.upperBound - room.lowerBound - Int64(head.count + body.count)
        let void = EBMLElement.longHead(ID.void, 0).count
        guard left >= void else { return nil }
        return [
            Patch(
                bytes: body + EBMLElement.longHead(ID.void, left - Int64(void)),
                offset: room.lowerBound + Int64(head.count)), Patch(bytes: head, offset: room.lowerBound),
        ]
    }

    static func durationElement(nanoseconds: Int64) -> [UInt8] {
        let ticks = Double(nanoseconds) / Double(nanosecondsPerTick)
        return EBMLElement.encode(ID.duration, EBMLElement.bigEndian(ticks.bitPattern))
    }

    /// A void of the six bytes of a checksum.
    static let noChecksum = EBMLElement.encode(ID.void, [UInt8](repeating: 0, count: 4))
    /// What a file without a frame has in a cluster's place, since readers want one: a cluster of nothing at time 0.
    static let emptyCluster = EBMLElement.encode(ID.cluster, EBMLElement.encode(ID.timecode, UInt64(0)))
}
