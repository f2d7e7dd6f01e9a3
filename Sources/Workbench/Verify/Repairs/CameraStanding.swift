public import Arbiter
public import ArbiterProtocol
import Explain
public import Scenario

/// One camera at one moment: its holder, the winner that waits, the other bids and their order, and its deadlines.
public struct CameraStanding: Sendable {
    public var camera: CameraID
    public var at: Moment
    public var tenancy: TenancyState
    public var holder: Bidder?
    /// The winner, which gets the camera after the holder's time or a cut.
    public var beneficiary: Bidder?
    /// In the order of their ids.
    public var waiting: [Bidder] = []
    /// The earliest first.
    public var deadlines: [Deadline] = []

    public struct Bidder: Sendable {
        public var session: String
        public var rank: String
        /// The rule that gives it its rank, or why it has another rank.
        public var rankRule: String
        /// The rule by which it has the camera or has not.
        public var rule: String?
        public var behind: String?
    }

    public struct Deadline: Sendable {
        public var at: Moment
        public var what: String
    }
}

extension Arbiter {
    /// All cameras, in the order of their ids.
    /// - Parameter now: never earlier than in the last step.
    public func standings(_ names: Names, at now: Moment) -> [CameraStanding] {
        overview().cameras.map { standing(of: $0, names, at: now) }
    }

    private func standing(of camera: Status.CameraStatus, _ names: Names, at now: Moment) -> CameraStanding {
        var standing = CameraStanding(camera: camera.id, at: now, tenancy: camera.tenancy)
        for session in state.sessionSlots.slots.map({ state.id($0) }) where asksToRun(session) {
            guard let status = status(of: session), status.camera == camera.id else { continue }
            let bidder = bidder(status, names)
            if camera.holder == session {
                standing.holder = bidder
                standing.holder?.rule = camera.rule
            } else if camera.next == session {
                standing.beneficiary = bidder
            } else {
                standing.waiting.append(bidder)
            }
        }
        standing.deadlines = deadlines(of: camera.id, names)
        return standing
    }

    private func bidder(_ status: Status.SessionStatus, _ names: Names) -> CameraStanding.Bidder {
        let given = facts(of: status.id).map { policy.rank($0) }
        let isLowered = given.map { policy.ranks[$0.rank] != status.rank } ?? false
        return CameraStanding.Bidder(
            session: names.name(of: status.id), rank: status.rank,
            rankRule: isLowered ? Law.lowered.text : given?.name ?? Law.weakestRank.text, rule: status.rule,
            behind: status.waitsFor.map { names.name(of: $0) })
    }

    private func deadlines(of id: CameraID, _ names: Names) -> [CameraStanding.Deadline] {
        guard let slot = state.camera(id) else { return [] }
        var found: [CameraStanding.Deadline] = []
        func note(_ at: Moment, _ what: String) {
            if at >= state.now, at < .distantFuture { found.append(CameraStanding.Deadline(at: at, what: what)) }
        }
        let tenancy = state.cameras[slot].tenancy
        if let cut = tenancy.cut { note(cut.until, "the cut is done by then, or the recorder is killed") }
        if case .starting(_, let until) = tenancy {
            note(until, "the first frame is there by then, or the camera fails")
        }
        if let held = tenancy.held {
            let holder = names.name(of: state.id(held.session))
            if let until = held.minHoldUntil, until > state.now { note(until, "the min-hold of \(holder) ends") }
            if let until = held.leaseUntil { note(until, "the lease of \(holder) ends") }
            if let contest = held.contest {
                let what =
                    contest.announced == nil ? "\(holder) is told that it has to go" : "the grace of \(holder) ends"
                note(contest.due, what)
            }
        }
        for timer in state.timers where timer.camera == slot || timer.camera == nil {
            if let what = words(for: timer, names) { note(timer.due, what) }
        }
        return found.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    private func words(for timer: TimedFact, _ names: Names) -> String? {
        let app = timer.app.flatMap { state.isThere($0) ? names.name(of: state.id($0)) : nil } ?? "an app that left"
        return switch timer.kind {
        case .reservation: "the camera is no longer kept for \(app)"
        case .backoff: "the camera is tried again"
        case .noRoom: "\(timer.session.map { names.name(of: state.id($0)) } ?? app) is tried again"
        case .closing, .resuming: "the recorder has answered by then, or is killed"
        case .coolDown: "the cool-down of \(app) ends"
        case .pause: "the pause of \(app) ends"
        case .formatKept: "the camera may take another format again"
        case .leaseUsed: "\(app) has a whole lease again"
        case .falling: "the lower pressure counts"
        case .question: "no answer about \(app) is a no"
        }
    }
}

extension CameraStanding {
    static func comments(_ cameras: [CameraStanding]) -> [String] {
        cameras.flatMap { ["#"] + $0.lines.map { "# \($0)" } }
    }

    /// A head, and a row for each session and each deadline.
    public var lines: [String] {
        var rows: [[String]] = []
        if let holder { rows.append(["holder"] + holder.cells(isHolder: true)) }
        if let beneficiary { rows.append(["has won"] + beneficiary.cells(isHolder: false)) }
        for bidder in waiting { rows.append(["waiting"] + bidder.cells(isHolder: false)) }
        for (place, deadline) in deadlines.enumerated() {
            rows.append([place == 0 ? "deadlines" : "", TimeText.write(deadline.at), deadline.what])
        }
        let what = holder == nil && beneficiary == nil && waiting.isEmpty ? ", and nobody asks for it" : ""
        let head = "camera \(camera.name) at \(TimeText.write(at)): \(tenancy.rawValue)\(what)"
        return [head] + Self.columns(rows)
    }

    private static func columns(_ rows: [[String]]) -> [String] {
        // The text of a deadline stands in no column.
        func width(_ place: Int) -> Int {
            rows.filter { place < $0.count && ($0.count > 3 || place < 2) }.map { $0[place].count }.max() ?? 0
        }
        return rows.map { row in
            let cells = row.enumerated().map { place, cell in
                let width = place + 1 < row.count ? width(place) : 0
                return cell + String(repeating: " ", count: max(0, width - cell.count))
            }
            return "  " + cells.joined(separator: "  ")
        }
    }
}

extension CameraStanding.Bidder {
    fileprivate func cells(isHolder: Bool) -> [String] {
        let by = rule.map { "\(isHolder ? "has it" : "not yet") by “\($0)”" } ?? ""
        return [session, "rank \(rank) by “\(rankRule)”", behind.map { "behind \($0)" } ?? "", by]
    }
}
