package import ArbiterProtocol

/// Checks a client's groups of metadata for one recording, and makes the texts of samples of them. A pure value: the caller
/// passes the time.
package struct MetadataGroups: Hashable {
    private let tracks: [MetadataTrack]
    /// Of each track's last group, in nanoseconds of CLOCK_MONOTONIC.
    private var lastTimes: [Int64?]
    /// When the last groups arrived, at most `perSecondMax`, oldest first.
    private var arrivals: [Int64] = []

    /// Bytes of all items of a group: a few hundred codes with what is in them.
    package static let groupBytesMax = 64 << 10
    /// Groups that may arrive in a second, of all kinds together: a sensor of 100 Hz, or three beside 30 frames a second.
    package static let perSecondMax = 100
    private static let second: Int64 = 1_000_000_000

    /// - Parameter tracks: as declared when the recording began; the recorder core's own take no group.
    package init(_ tracks: [MetadataTrack]) {
        self.tracks = tracks
        lastTimes = Array(repeating: nil, count: tracks.count)
    }

    /// Takes a group.
    /// - Parameter time: from when on it counts, in nanoseconds of CLOCK_MONOTONIC; the caller has checked that it is inside the
    ///   recording.
    /// - Parameter items: empty for "nothing from here on".
    /// - Throws: `.invalidValue` or `.limitExceeded`; the group then counts for nothing, not even for the next one's time.
    package mutating func take(
        kind: String, time: Int64, items: [String], arrivedAt now: Int64
    ) throws(BrokerError) -> String {
        guard let place = tracks.firstIndex(where: { $0.kind == kind }), tracks[place].isOfTheClient else {
            throw BrokerError(.invalidValue, refusal(of: kind))
        }
        if let last = lastTimes[place], time < last {
            throw BrokerError(
                .invalidValue,
                "time of \(kind) is \(time), which is before that of its last group, \(last); give groups in their order."
            )
        }
        let bytes = items.reduce(0) { $0 + $1.utf8.count }
        guard bytes <= Self.groupBytesMax else {
            throw BrokerError(
                .limitExceeded, "The group of \(kind) has \(bytes) bytes; a group has at most \(Self.groupBytesMax).")
        }
        let values = try items.map { (item) throws(BrokerError) in try Self.value(item, of: tracks[place]) }
        arrivals.removeAll { now - $0 >= Self.second }
        guard arrivals.count < Self.perSecondMax else {
            throw BrokerError(
                .limitExceeded,
                "\(arrivals.count) groups came within a second, the most that may; put several items into one group.")
        }
        arrivals.append(now)
        lastTimes[place] = time
        return JSON.object(["items": .array(values)]).text
    }

    private func refusal(of kind: String) -> String {
        if tracks.contains(where: { $0.kind == kind }) {
            return "The recorder core itself writes \(kind), and it takes no groups."
        }
        let takes = tracks.filter(\.isOfTheClient).map(\.kind)
        return takes.isEmpty
            ? "kind is \(kind.quotedShort), and the recording was started with no kind that takes groups; name it in metadata."
            : "kind is \(kind.quotedShort); the recording was started with \(takes.joined(separator: ", "))."
    }

    private static func value(_ item: String, of track: MetadataTrack) throws(BrokerError) -> JSON {
        let takes: String
        switch track.type {
        case .text, .orientation, .objects: return .string(item)
        case .iso6709:
            if ISO6709.isPlace(item) { return .string(item) }
            takes = ISO6709.sentence
        case .number:
            if let number = number(item) { return number }
            takes = "a finite decimal number like -1.5"
        }
        throw BrokerError(.invalidValue, "\(track.kind) has the item \(item.quotedShort); it takes \(takes).")
    }

    private static func number(_ text: String) -> JSON? {
        let digits = text.utf8
        guard digits.count <= numberBytesMax, digits.allSatisfy({ "+-.eE0123456789".utf8.contains($0) }),
            let value = try? JSONReader.read(text)
        else { return nil }
        return value.number?.isFinite == true ? value : nil
    }
    /// More digits than any number needs.
    private static let numberBytesMax = 64
}
