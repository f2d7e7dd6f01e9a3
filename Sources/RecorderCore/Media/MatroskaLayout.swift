/// Where things are in the header of a recording as `MatroskaFile` writes it: the places that wait to be filled in.
///
/// libavformat leaves them as voids: one for the list of what is where (SeekHead), eleven bytes for the duration, one for
/// the index (Cues). Its own demuxer tells none of them, and would read on behind what it does not understand; here
/// anything that is not as it is written by us is a reason to leave the file alone.
struct MatroskaLayout {
    /// The segment's size, of eight bytes, and where what it counts begins.
    private(set) var sizeAt: Int64 = 0
    private(set) var segmentBody: Int64 = 0
    /// Nil until the file is finished: it is filled in last.
    private(set) var segmentSize: Int64?
    private(set) var infoAt: Int64 = 0
    private(set) var tracksAt: Int64 = 0
    private(set) var tagsAt: Int64?
    /// Room for the list of what is where; nil: it is there already.
    private(set) var seekHeadRoom: Range<Int64>?
    /// Room for the index; nil: it is there already.
    private(set) var indexRoom: Range<Int64>?
    /// The eleven bytes of a duration, or of a void in its place.
    private(set) var durationAt: Int64 = 0
    /// The six bytes of a checksum of what the duration is in, or of a void in its place.
    private(set) var checksumAt: Int64?
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

    /// Reads the header of a file that may end right behind it.
    init(_ window: inout ByteWindow) throws(CompletionFault) {
        guard window.size <= EBMLElement.fileBytesMax else {
            throw .foreign("it has \(window.size) bytes", at: 0)
        }
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

    private mutating func readInfo(_ info: EBMLElement, _ window: inout ByteWindow) throws(CompletionFault) {
        infoAt = info.start
        var hasScale = false
        for child in try Self.children(of: info, &window) {
            let bytes = (child.end ?? child.body) - child.start
            switch child.id {
            case ID.checksum: checksumAt = child.start
            case ID.void where bytes == Self.checksumBytes && child.start == info.body: checksumAt = child.start
            case ID.timecodeScale:
                hasScale = try Self.number(child, &window) == Self.nanosecondsPerTick
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
        guard entries.count == 1 else { throw .foreign("\(entries.count) tracks", at: tracks.start) }
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
        else {
            throw .foreign("no whole element", at: place)
        }
        return element
    }

    private static func children(
        of parent: EBMLElement, _ window: inout ByteWindow
    ) throws(CompletionFault) -> [EBMLElement] {
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

    /// What goes into the eleven bytes.
    static func durationElement(nanoseconds: Int64) -> [UInt8] {
        let ticks = Double(nanoseconds) / Double(nanosecondsPerTick)
        return EBMLElement.encode(ID.duration, EBMLElement.bigEndian(ticks.bitPattern))
    }

    /// A void of the six bytes of a checksum.
    static let noChecksum = EBMLElement.encode(ID.void, [UInt8](repeating: 0, count: 4))
    /// What a file without a frame has in a cluster's place, since readers want one: a cluster of nothing at time 0.
    static let emptyCluster = EBMLElement.encode(ID.cluster, EBMLElement.encode(ID.timecode, UInt64(0)))
}
