import Vocabulary

/// What only counts: ids, sequence numbers, and the decisions of late. Nothing here turns a decision.
struct Ledger: Sendable, Codable {
    var decision: DecisionID = 0
    var grant: UInt64 = 0
    var recording: RecordingID = 0
    var photo: PhotoID = 0
    /// The grant each camera was last given.
    var grants: SmallMap<CameraID, GrantID> = [:]
    var sessions: SmallMap<SessionID, SessionLedger> = [:]
    /// The decision that a camera's present cut or grant came from.
    var handovers: SmallMap<CameraID, DecisionID> = [:]
    /// Which session a recording or photo under way belongs to.
    var recordings: SmallMap<RecordingID, SessionID> = [:]
    /// The decision that ended a recording whose file is not finished yet.
    var endedRecordings: SmallMap<RecordingID, DecisionID> = [:]
    var photos: SmallMap<PhotoID, SessionID> = [:]
    var decisions = DecisionRing()

    /// The decision that the recorder's news belongs to; nil for everything that begins a decision of its own.
    func handover(continuedBy event: Event) -> DecisionID? {
        switch event {
        case .recorderCut(let camera, let grant), .recorderStreaming(let camera, let grant, _):
            grants[camera] == grant ? handovers[camera] : nil
        case .recordingFinished(let recording, _, _, _, _): endedRecordings[recording]
        default: nil
        }
    }

    /// The id of a session's next interruption; taken when it is announced, or when it begins unannounced.
    mutating func nextInterruption(of session: SessionID) -> InterruptionID {
        guard var entry = sessions[session] else { preconditionFailure("a session has its entry in the ledger") }
        entry.interruptions += 1
        sessions[session] = entry
        return entry.interruptions
    }

    struct SessionLedger: Sendable, Codable {
        var sequence: UInt64 = 0
        var interruptions: InterruptionID = 0
        /// The interruption that is open, or announced.
        var open: OpenInterruption?
        var announced: InterruptionID?
        var recording: RecordingID?
    }

    struct OpenInterruption: Sendable, Codable {
        var id: InterruptionID
        var began: Moment
        var causes: CauseSet
    }
}

/// The last decisions, for `explain`.
struct DecisionRing: Sendable {
    /// semantics.md §9, row 21: enough for a quarter of an hour of a busy desktop, about a megabyte.
    static let lengthMax = 1024

    /// A decision's place is its id modulo the length, so that a handover's later steps find it at once.
    private var records: [DecisionRecord?] = []
    private var latestID: DecisionID = 0
    /// False: nobody will ask, and nothing is kept.
    let isKept: Bool

    init(isKept: Bool = true) { self.isKept = isKept }

    mutating func append(_ record: DecisionRecord) {
        if records.isEmpty { records = Array(repeating: nil, count: Self.lengthMax) }
        let place = Int(record.id % UInt64(Self.lengthMax))
        if let old = records[place], old.id >= record.id {
            // The rest of a handover whose record has been overwritten has expired with it.
            if old.id == record.id { records[place]?.verdicts += record.verdicts }
        } else {
            records[place] = record
        }
        latestID = max(latestID, record.id)
    }

    /// Nil: it said nothing, or is older than the ring is long.
    func find(_ id: DecisionID) -> DecisionRecord? {
        guard !records.isEmpty, let found = records[Int(id % UInt64(Self.lengthMax))], found.id == id else {
            return nil
        }
        return found
    }

    var latest: DecisionRecord? { find(latestID) }
}

/// One decision, with what it read.
struct DecisionRecord: Sendable {
    var id: DecisionID
    var at: Moment
    var event: Event
    var policy: Policy
    var verdicts: [Verdict]
}

/// What one decision meant for one session.
struct Verdict: Sendable {
    var session: SessionID
    var outcome: Explanation.Outcome
    var rule: String
    /// What was read about the session, and about the one whose claim it met.
    var facts: Facts? = nil
    var standing: Standing? = nil
    /// Whose claim it met; nil: nobody's, or nobody's that is left.
    var against: AppID? = nil
    /// Every claim that would have to be beaten, or that would have won instead; empty where no fact of the
    /// session could turn the verdict.
    var opponents: [Opponent] = []
    /// The machine-wide facts that stood in its way.
    var builtIn: [Cause] = []

    struct Opponent: Sendable {
        var facts: Facts
        var standing: Standing
    }
}
