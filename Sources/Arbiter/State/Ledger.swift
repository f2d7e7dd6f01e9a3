import ArbiterProtocol

/// What only counts: ids, sequence numbers, and the decisions of late. Nothing here turns a decision.
struct Ledger: Sendable {
    var decision: DecisionID = 0
    var grant: UInt64 = 0
    var recording: RecordingID = 0
    var photo: PhotoID = 0
    /// The grant each camera was last given.
    var grants: [CameraID: GrantID] = [:]
    var sessions: [SessionID: SessionLedger] = [:]
    /// Which session a recording or photo under way belongs to.
    var recordings: [RecordingID: SessionID] = [:]
    var photos: [PhotoID: SessionID] = [:]
    var decisions = DecisionRing()

    struct SessionLedger: Sendable {
        var sequence: UInt64 = 0
        var interruptions: InterruptionID = 0
        /// The interruption that is open, or announced.
        var open: OpenInterruption?
        var announced: InterruptionID?
        var recording: RecordingID?
    }

    struct OpenInterruption: Sendable {
        var id: InterruptionID
        var began: Moment
        var causes: CauseSet
    }
}

/// The last decisions, for `explain`.
struct DecisionRing: Sendable {
    /// semantics.md §9, row 21: enough for a quarter of an hour of a busy desktop, about a megabyte.
    static let lengthMax = 1024

    private var records: [DecisionRecord] = []
    private var next = 0

    mutating func append(_ record: DecisionRecord) {
        if records.count < Self.lengthMax {
            records.append(record)
        } else {
            records[next] = record
            next = (next + 1) % Self.lengthMax
        }
    }

    /// Ids are given in order, so a ring finds its record by counting back.
    func find(_ id: DecisionID) -> DecisionRecord? {
        records.first { $0.id == id }
    }

    var latest: DecisionRecord? {
        records.isEmpty ? nil : records[(next + records.count - 1) % records.count]
    }
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
    var facts: Facts?
    var standing: Standing?
    var opponent: Opponent?
    /// The machine-wide facts that stood in its way.
    var builtIn: [Cause]

    struct Opponent: Sendable {
        var session: SessionID
        var app: AppID
        var facts: Facts
        var standing: Standing
        /// True: the session of the verdict was weighed as the newcomer against this holder.
        var holds: Bool
    }
}
