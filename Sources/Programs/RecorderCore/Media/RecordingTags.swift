/// What a recording's file says of itself beside its pictures, and may say anew while it grows.
package enum RecordingTag: String, Hashable, Sendable, CaseIterable, Comparable {
    /// Nanoseconds of CLOCK_MONOTONIC: when the first picture was captured, and the last.
    case firstCapture = "FIRST_CAPTURE"
    case lastCapture = "LAST_CAPTURE"
    /// Why it ended, in the word that `RecordingFinished` has for it.
    case ended = "ENDED"
    /// What ended it, where it was an interruption, and for whom.
    case cause = "CAUSE"
    case interrupter = "INTERRUPTER"
    case framesLeftOut = "FRAMES_LEFT_OUT"
    /// JSON: for each pause its place in the file and its length, both in nanoseconds.
    case pauses = "PAUSES"
    /// Where it began, in the form of ISO 6709.
    case location = "LOCATION"

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}

/// The element that holds them (Tags), in a room of the header that is written anew as a whole. libav writes its own
/// tags once, with the header; a second element of the kind stands behind it, as Matroska allows.
struct RecordingTags {
    private(set) var values: [RecordingTag: String]

    /// Bytes of the room: a hundred pauses of 32 bytes each, names of 255 bytes for cause and interrupter, and all else.
    static let roomBytes: Int64 = 4096
    /// Of the room, what no body may take: its head, and that of the void behind it.
    private static let headBytes = 12 + 9

    init(_ values: [RecordingTag: String]) { self.values = values }

    private enum ID {
        static let tag: UInt32 = 0x7373
        static let targets: UInt32 = 0x63c0
        static let simpleTag: UInt32 = 0x67c8
        static let name: UInt32 = 0x45a3
        static let string: UInt32 = 0x4487
    }

    /// The element's body. Where not all fit into the room, the longest is left out until the others do.
    var body: [UInt8] {
        var tags = values.sorted { $0.key < $1.key }.map { Self.simpleTag($0.key.rawValue, $0.value) }
        while true {
            let body = EBMLElement.encode(ID.tag, EBMLElement.encode(ID.targets, [UInt8]()) + tags.flatMap { $0 })
            if body.count + Self.headBytes <= Int(Self.roomBytes) { return body }
            let longest = tags.indices.max { tags[$0].count < tags[$1].count }
            guard let longest else { return body }
            tags.remove(at: longest)
        }
    }

    private static func simpleTag(_ name: String, _ value: String) -> [UInt8] {
        EBMLElement.encode(
            ID.simpleTag,
            EBMLElement.encode(ID.name, Array(name.utf8)) + EBMLElement.encode(ID.string, Array(value.utf8)))
    }

    /// Reads back what is in the room; what is none of the tags here is passed over.
    /// - Parameter element: the whole element, whose size the room bounds.
    init(_ element: EBMLElement, in window: inout ByteWindow) throws(CompletionFault) {
        values = [:]
        for tag in try MatroskaLayout.children(of: element, &window) where tag.id == ID.tag {
            for simple in try MatroskaLayout.children(of: tag, &window) where simple.id == ID.simpleTag {
                var (name, value): (String?, String?) = (nil, nil)
                for part in try MatroskaLayout.children(of: simple, &window) {
                    let text = String(decoding: try window.bytes(Int(part.size ?? 0), at: part.body), as: UTF8.self)
                    switch part.id {
                    case ID.name: name = text
                    case ID.string: value = text
                    default: break
                    }
                }
                if let value, let known = name.flatMap(RecordingTag.init) { values[known] = value }
            }
        }
    }

    subscript(_ tag: RecordingTag) -> String? {
        get { values[tag] }
        set { values[tag] = newValue }
    }

    /// When what stands at a place of the file was captured: nanoseconds of CLOCK_MONOTONIC, or nil where the tags do not say.
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

    /// A JSON list of pairs of whole numbers. Returns nil for anything else.
    static func pauses(_ text: String) -> [(at: Int64, length: Int64)]? {
        var pairs: [(at: Int64, length: Int64)] = []
        var rest = text.utf8.filter { $0 != UInt8(ascii: " ") }[...]
        func take(_ mark: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: mark) else { return false }
            rest.removeFirst()
            return true
        }
        func number() -> Int64? {
            let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            rest.removeFirst(digits.count)
            return Int64(String(decoding: digits, as: UTF8.self))
        }
        guard take("[") else { return nil }
        while take("[") {
            guard let at = number(), take(","), let length = number(), take("]") else { return nil }
            pairs.append((at, length))
            guard take(",") else { break }
        }
        return take("]") && rest.isEmpty ? pairs : nil
    }
}

/// Where readers may begin in a recording: clusters with a picture that needs no other. It keeps to its room however
/// long the recording is: whenever it is full, every second entry goes.
struct RecordingIndex {
    private(set) var entries: [(time: Int64, cluster: Int64)] = []
    /// Ticks between two entries, at least: half of what lies between two key frames at 30 frames a second, and doubled
    /// whenever it is full.
    private var spacing: Int64 = 500

    /// Entries: what fits into its room (64 KiB), each with at most 27 bytes. Also the bound on its memory.
    static let entriesMax = 2_400

    /// - Parameter time: in ticks, of the picture.
    /// - Parameter cluster: in bytes from the beginning of the segment's body.
    mutating func note(_ time: Int64, _ cluster: Int64) {
        if let last = entries.last, time - last.time < spacing { return }
        entries.append((time, cluster))
        guard entries.count > Self.entriesMax else { return }
        spacing *= 2
        let all = entries
        entries = []
        for entry in all where entries.last.map({ entry.time - $0.time >= spacing }) ?? true { entries.append(entry) }
    }

    /// The body of the element (Cues).
    var body: [UInt8] {
        typealias ID = MatroskaLayout.ID
        return entries.flatMap { entry in
            EBMLElement.encode(
                ID.cuePoint,
                EBMLElement.encode(ID.cueTime, UInt64(entry.time))
                    + EBMLElement.encode(
                        ID.cuePositions,
                        EBMLElement.encode(ID.cueTrack, UInt64(1))
                            + EBMLElement.encode(ID.cueCluster, UInt64(entry.cluster))))
        }
    }
}
