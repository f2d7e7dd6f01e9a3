import Arbiter
import ArbiterProtocol
import Scenario
import Trace

/// Who the sessions of a trace are, and since when each wants to run, and runs.
struct SessionLedger {
    private struct Client {
        var app: String?
        var user: UInt64?
    }
    private struct Session {
        var name: String
        var client: UInt64
        var app: String?
        var user: UInt64?
        var camera: String?
        /// Since when it has wanted to run, and has not yet; nil also where that was before the trace.
        var askedAt: Int64?
        /// Since when it has run.
        var runsSince: Int64?
    }

    private var clients: [UInt64: Client] = [:]
    private var sessions: [UInt64: Session] = [:]
    /// Since when the last holder of a camera is being cut, until the next has a frame.
    private var cutSince: [String: Int64] = [:]

    init() {}

    /// What was there before a trace's first step. Since when it was, nobody has written down.
    init(_ header: TraceHeader) throws(Arbiter.BrokenSnapshot) {
        guard header.snapshot != nil else { return }
        let arbiter = try header.arbiter()
        let names = header.names(of: arbiter)
        for session in arbiter.status().sessions {
            let user = UInt64(session.app.user)
            clients[session.client.rawValue] = Client(app: session.app.name, user: user)
            sessions[session.id.rawValue] = Session(
                name: names.name(of: session.id), client: session.client.rawValue, app: session.app.name, user: user,
                camera: session.camera.name)
        }
    }

    /// The rows of a step: one for each session that was told something, or whose client asked for what was refused; one
    /// without a session where there is none.
    /// - Parameter row: what all of them have.
    mutating func note(_ step: ScannedStep, _ row: TraceRow, each: (TraceRow) -> Void) {
        learn(step)
        var rows: [(session: UInt64, rank: Int, row: TraceRow)] = []
        func place(of id: UInt64) -> Int {
            if let place = rows.firstIndex(where: { $0.session == id }) { return place }
            var new = row
            describe(id, &new)
            rows.append((id, Int.max, new))
            return rows.count - 1
        }
        for told in step.told {
            let place = place(of: told.session)
            note(told, at: step.moment, &rows[place].row)
            let outcome = RowOutcome.of(told.notice)
            guard outcome.rank < rows[place].rank else { continue }
            rows[place].rank = outcome.rank
            rows[place].row.outcome = outcome.word
            // What came with another notice is not the reason of this one.
            (rows[place].row.cause, rows[place].row.causes) = (told.cause, told.causes)
            rows[place].row.rule = told.rule.flatMap { $0.isEmpty ? nil : $0 }
            rows[place].row.interrupter = told.interrupter.flatMap { $0.isEmpty ? nil : $0 }
        }
        if let refusal = step.refusal {
            var refused = row
            describeAsker(step, &refused)
            refused.outcome = "refused"
            (refused.error, refused.rule) = (refusal.error, refusal.rule)
            return each(refused)
        }
        for id in ended(step) {
            let place = place(of: id)
            if let since = sessions[id]?.runsSince { rows[place].row.held = step.moment - since }
            rows[place].row.outcome = "closed"
            sessions[id] = nil
        }
        if rows.isEmpty {
            var only = row
            describeAsker(step, &only)
            each(only)
        }
        for row in rows { each(row.row) }
        if step.event == "disconnected", let client = step.client { clients[client] = nil }
    }

    // MARK: What changes

    private mutating func learn(_ step: ScannedStep) {
        switch step.event {
        case "connected":
            if let id = step.client { clients[id] = Client(app: step.app, user: step.user) }
        case "created":
            guard let id = step.session, let client = step.client, step.refusal == nil else { break }
            let owner = clients[client]
            sessions[id] = Session(
                name: step.name ?? owner?.app ?? String(id), client: client, app: owner?.app, user: owner?.user,
                camera: step.camera)
        case "startRunning":
            // A start that is refused, or made again while one stands, begins no wait.
            guard let id = step.session, step.refusal == nil, let session = sessions[id] else { break }
            if session.askedAt == nil, session.runsSince == nil { sessions[id]?.askedAt = step.moment }
        case "stopRunning": if let id = step.session { sessions[id]?.askedAt = nil }
        case "recorderCut", "recorderGone":
            // Nobody follows the holder that was cut: that was no handover, however soon somebody else starts.
            if let camera = step.camera, !step.opened.contains(camera) { cutSince[camera] = nil }
        default: break
        }
        for camera in step.cut { cutSince[camera] = step.moment }
    }

    /// Sessions that are gone with this step.
    private func ended(_ step: ScannedStep) -> [UInt64] {
        switch step.event {
        case "closed": return step.session.flatMap { sessions[$0] == nil ? nil : [$0] } ?? []
        case "disconnected":
            guard let client = step.client else { return [] }
            return sessions.filter { $0.value.client == client }.map(\.key).sorted()
        default: return []
        }
    }

    private mutating func note(_ told: ScannedStep.Told, at moment: Int64, _ row: inout TraceRow) {
        switch told.notice {
        case "DidStartRunning":
            if let since = sessions[told.session]?.askedAt { row.waited = moment - since }
            sessions[told.session]?.askedAt = nil
            sessions[told.session]?.runsSince = moment
            if let camera = row.camera, let since = cutSince.removeValue(forKey: camera) {
                row.handover = moment - since
            }
        case "DidStopRunning", "WasInterrupted", "SessionStopped":
            if let since = sessions[told.session]?.runsSince { row.held = moment - since }
            sessions[told.session]?.runsSince = nil
            if told.notice == "SessionStopped" { sessions[told.session]?.askedAt = nil }
        case "InterruptionEnded": row.interrupted = told.duration.flatMap { Int64(exactly: $0) }
        default: break
        }
    }

    // MARK: Who

    private func describe(_ id: UInt64, _ row: inout TraceRow) {
        guard let session = sessions[id] else {
            row.session = String(id)
            return
        }
        (row.session, row.app, row.user, row.camera) = (session.name, session.app, session.user, session.camera)
    }

    private func describeAsker(_ step: ScannedStep, _ row: inout TraceRow) {
        (row.app, row.user, row.camera) = (step.app, step.user, step.camera)
        if let id = step.session { return describe(id, &row) }
        guard let id = step.client, let client = clients[id] else { return }
        (row.app, row.user) = (client.app, client.user)
    }
}

/// What a row says of several notices that a session is told in one step: the one that decides most for it.
struct RowOutcome {
    var word: String
    /// The lowest counts.
    var rank: Int

    private static let first: [SessionEventKind] = [
        .sessionStopped, .wasInterrupted, .didStartRunning, .didStopRunning, .willBeInterrupted, .interruptionWithdrawn,
        .interruptionEnded, .interruptionChanged, .accessChanged,
    ]

    private static let all: [String: RowOutcome] = {
        var all: [String: RowOutcome] = [:]
        let others = SessionEventKind.allCases.filter { !first.contains($0) }
        for (rank, kind) in (first + others).enumerated() {
            all[kind.rawValue] = RowOutcome(word: "\(kind)", rank: rank)
        }
        return all
    }()

    static func of(_ notice: String) -> RowOutcome { all[notice] ?? RowOutcome(word: notice, rank: all.count) }
}
