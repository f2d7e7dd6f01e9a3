/// Where readers may begin in a recording: clusters with a picture that needs no other.
///
/// It keeps to its room however long the recording is: whenever it is full, every second entry goes.
struct RecordingIndex {
    private(set) var entries: [(time: Int64, cluster: Int64)] = []
    /// Ticks between two entries, at least: half of what lies between two key frames at 30 frames a second, and doubled
    /// whenever it is full.
    private var spacing: Int64 = 500

    /// Entries: what fits into its room (64 KiB), each with at most 27 bytes. Also the bound on its memory.
    static let entriesMax = 2_400

    /// - Parameters:
    ///   - time: in ticks, of the picture.
    ///   - cluster: in bytes from the beginning of the segment's body.
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
