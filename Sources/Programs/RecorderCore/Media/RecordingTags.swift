import ArbiterProtocol

/// Tags of a recording's file, some of which are written anew while it grows.
package enum RecordingTag: String, Hashable, Sendable, CaseIterable, Comparable {
    /// Nanoseconds of CLOCK_MONOTONIC: when the first picture was captured, and the last.
    case firstCapture = "FIRST_CAPTURE"
    case lastCapture = "LAST_CAPTURE"
    /// Why it ended, in the word of `RecordingFinished`.
    case ended = "ENDED"
    /// The interruption that ended it, and for whom.
    case cause = "CAUSE"
    case interrupter = "INTERRUPTER"
    case framesLeftOut = "FRAMES_LEFT_OUT"
    /// JSON: for each pause its place in the file and its length, both in nanoseconds.
    case pauses = "PAUSES"
    /// Where it began, in the form of ISO 6709.
    case location = "LOCATION"

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}

/// The element with these tags (Tags), in a room of the header that is written anew as a whole. libav writes its own
/// tags once, with the header; a second element of the kind stands behind it, as Matroska allows.
struct RecordingTags {
    private typealias ID = MatroskaID

    private(set) var values: [RecordingTag: String]

    /// Bytes of the room: a hundred pauses of 32 bytes each, names of 255 bytes for cause and interrupter, and all else.
    static let roomBytes: Int64 = 4096
    /// Of the room, for its head and the head of the void behind it.
    private static let headBytes = 12 + 9

    init(_ values: [RecordingTag: String]) { self.values = values }

    /// The element's body. Where not all fit into the room, the longest is left out until the others do.
    var body: [UInt8] {
        var tags = values.sorted { $0.key < $1.key }.map { tag, value in
            EBMLElement.encode(
                ID.simpleTag,
                EBMLElement.encode(ID.tagName, Array(tag.rawValue.utf8))
                    + EBMLElement.encode(ID.tagString, Array(value.utf8)))
        }
        while true {
            let body = EBMLElement.encode(ID.tag, EBMLElement.encode(ID.targets, [UInt8]()) + tags.flatMap { $0 })
            let longest = tags.indices.max { tags[$0].count < tags[$1].count }
            guard body.count + Self.headBytes > Int(Self.roomBytes), let longest else { return body }
            tags.remove(at: longest)
        }
    }

    /// Reads the tags in the room; other names are passed over.
    /// - Parameter element: the whole element, whose size the room bounds.
    init(_ element: EBMLElement, in window: ByteWindow) throws(CompletionFault) {
        values = [:]
        for tag in try window.children(of: element) where tag.id == ID.tag {
            for simple in try window.children(of: tag) where simple.id == ID.simpleTag {
                var texts: [UInt32: String] = [:]
                for part in try window.children(of: simple) {
                    texts[part.id] = String(
                        decoding: try window.bytes(Int(part.size ?? 0), at: part.body), as: UTF8.self)
                }
                if let name = texts[ID.tagName].flatMap(RecordingTag.init) { values[name] = texts[ID.tagString] }
            }
        }
    }

    subscript(_ tag: RecordingTag) -> String? {
        get { values[tag] }
        set { values[tag] = newValue }
    }

    /// When the moment at a place of the file was captured: nanoseconds of CLOCK_MONOTONIC, where the tags contain it.
    /// - Parameter time: nanoseconds of the file.
    func capture(at time: Int64) -> Int64? {
        guard let first = values[.firstCapture].flatMap({ Int64($0) }),
            let pauses = Self.pauses(values[.pauses] ?? "[]")
        else { return nil }
        // The file's tick is a millisecond: a picture right behind a pause may seem to stand before it.
        let tick: Int64 = 1_000_000
        var capture = first.addingReportingOverflow(time)
        for pause in pauses where pause.at / tick <= time / tick && !capture.overflow {
            capture = capture.partialValue.addingReportingOverflow(pause.length)
        }
        return capture.overflow ? nil : capture.partialValue
    }

    /// Reads a JSON list of pairs of whole numbers from 0. Returns `nil` for anything else.
    private static func pauses(_ text: String) -> [(at: Int64, length: Int64)]? {
        guard let list = (try? JSONReader.read(text))?.array else { return nil }
        let pairs = list.compactMap { pair -> (at: Int64, length: Int64)? in
            guard let numbers = pair.array?.compactMap(\.integer), numbers.count == 2, pair.array?.count == 2,
                numbers.allSatisfy({ $0 >= 0 })
            else { return nil }
            return (numbers[0], numbers[1])
        }
        return pairs.count == list.count ? pairs : nil
    }
}

/// Clusters at which readers may begin: with a picture that needs no other. It keeps to its room however
/// long the recording is: whenever it is full, every second entry goes.
struct RecordingIndex {
    private(set) var entries: [(time: Int64, cluster: Int64)] = []
    /// Ticks between two entries, at least: half the time between two key frames at 30 frames a second, and doubled
    /// whenever it is full.
    private var spacing: Int64 = 500

    /// Entries that fit into its room (64 KiB), each with at most 27 bytes. Also the bound on its memory.
    static let entriesMax = 2_400

    /// - Parameter time: in ticks, of the picture.
    /// - Parameter cluster: in bytes from the beginning of the segment's body.
    mutating func note(_ time: Int64, _ cluster: Int64) {
        func isNext(_ time: Int64) -> Bool { entries.last.map { time - $0.time >= spacing } ?? true }
        if isNext(time) { entries.append((time, cluster)) }
        guard entries.count > Self.entriesMax else { return }
        spacing *= 2
        let all = entries
        entries = []
        for entry in all where isNext(entry.time) { entries.append(entry) }
    }

    var body: [UInt8] {
        typealias ID = MatroskaID
        return entries.flatMap { entry in
            let positions =
                EBMLElement.encode(ID.cueTrack, UInt64(1)) + EBMLElement.encode(ID.cueCluster, UInt64(entry.cluster))
            return EBMLElement.encode(
                ID.cuePoint,
                EBMLElement.encode(ID.cueTime, UInt64(entry.time)) + EBMLElement.encode(ID.cuePositions, positions))
        }
    }
}
