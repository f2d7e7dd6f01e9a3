public import Arbiter
public import ArbiterProtocol
import Explain
import PolicyFile

/// The changes for sessions if another policy were loaded now.
///
/// Two copies of the arbiter go on side by side: into one the policy is loaded, the other keeps its own. A change is a
/// difference between the two at the end, or between their notices on the way. Both go on until no decision waits for
/// its time, a grace or a min-hold; recorders answer at once.
public struct PolicyPlan: Sendable {
    public struct Change: Hashable, Sendable {
        public enum Kind: String, Hashable, Sendable, CaseIterable {
            // It gets less, the worst first.
            case stopped, interrupted, restricted
            /// It has no camera now, and would be refused one.
            case refused
            /// A new lease ends its run.
            case leased
            // It gets more.
            case runs, widened, admitted
            /// It has what it had, and gets other notices.
            case told
        }

        public var session: SessionID
        public var app: AppID
        public var camera: CameraID
        public var kind: Kind
        /// From the load on.
        public var after: Duration
        public var rule: String
        /// The recording that ends.
        public var recording: RecordingID?
        public var words: String
    }

    /// The load, all notices, and comments about them, as a plan has them.
    public let lines: [String]
    /// The worst first, and then in the order of the sessions.
    public let changes: [Change]
    /// Stands for the policies and the changes. Times are not in it, for they are others a moment later.
    public let token: String

    /// - Parameter mayGoOn: called before each step; a clock belongs to the caller.
    /// - Returns: `nil` where `mayGoOn` ended it early.
    public init?(
        loading policy: Policy, on arbiter: Arbiter, at now: Moment, names: Names? = nil,
        while mayGoOn: @escaping @Sendable () -> Bool = { true }
    ) {
        var kept = Stage(planning: arbiter, at: now, while: mayGoOn)
        var loaded = kept
        loaded.perform(.event(.policyLoaded(policy)))
        loaded.settle()
        kept.settle()
        let end = max(kept.now, loaded.now)
        _ = kept.advance(to: end)
        _ = loaded.advance(to: end)
        var writer = ScenarioWriter(names: names ?? Names(of: arbiter), origin: now)
        var lines: [String] = []
        for step in loaded.steps { lines += writer.planned(step) }
        var changes: [Change] = []
        let (before, after) = (Self.notices(kept), Self.notices(loaded))
        for session in arbiter.sessions(after: SessionID(0), atMost: .max) {
            guard mayGoOn() else { return nil }
            changes += Self.change(of: session, (kept, before), (loaded, after), now).map { [$0] } ?? []
        }
        if kept.wasStopped || loaded.wasStopped { return nil }
        let order = Change.Kind.allCases
        changes.sort { a, b in
            (order.firstIndex(of: a.kind) ?? 0, a.session) < (order.firstIndex(of: b.kind) ?? 0, b.session)
        }
        self.changes = changes
        self.lines = lines + Self.comments(changes, writer)
        let parts =
            [arbiter.policy.hash, policy.hash]
            + changes.map { change in
                "\(change.session.rawValue) \(change.kind.rawValue) \(change.recording ?? 0) \(change.rule)"
            }
        token = PolicyHash.digits(of: parts.joined(separator: "\n").utf8)
    }

    // MARK: One session

    private typealias Notices = [SessionID: [(moment: Moment, event: SessionEvent)]]

    private static func notices(_ stage: Stage) -> Notices {
        stage.steps.reduce(into: [:]) { notices, step in
            for case .notify(_, let session, _, let event) in step.effects {
                notices[session, default: []].append((step.moment, event))
            }
        }
    }

    private static func change(
        of session: Status.SessionStatus, _ kept: (stage: Stage, told: Notices),
        _ loaded: (stage: Stage, told: Notices), _ now: Moment
    ) -> Change? {
        let id = session.id
        guard let before = kept.stage.arbiter.status(of: id), let after = loaded.stage.arbiter.status(of: id) else {
            return nil
        }
        let news = loaded.told[id] ?? []
        let cut = news.compactMap {
            if case .wasInterrupted(let told) = $0.event { told.recording } else { nil }
        }
        var change = Change(
            session: id, app: session.app, camera: session.camera, kind: .told, after: (news.last?.moment ?? now) - now,
            rule: after.rule ?? news.compactMap(\.event.rule).last ?? "", recording: cut.first, words: "")
        switch (Standing(before), Standing(after)) {
        case (let old, let new) where new < old:
            change.kind = after.state == .stopped ? .stopped : after.state == .interrupted ? .interrupted : .restricted
            // A recording ends with its session's run.
            if change.kind == .stopped { change.recording = session.recording }
        case (let old, let new) where old < new:
            change.kind = before.state == .running || before.state == .starting ? .widened : .runs
        case (.stopped, .stopped):
            guard let found = start(of: id, kept.stage, loaded.stage) else { return nil }
            (change.kind, change.rule) = found
        default:
            if let until = lease(of: session, kept.stage, loaded.stage) {
                (change.kind, change.after) = (.leased, until - now)
            } else if news.map(\.event).map(Heard.init) == (kept.told[id] ?? []).map(\.event).map(Heard.init) {
                return nil
            }
        }
        change.words = words(change, after, news.map(\.event))
        return change
    }

    /// The answers to a start of a stopped session, where they differ.
    private static func start(of session: SessionID, _ kept: Stage, _ loaded: Stage) -> (Change.Kind, String)? {
        func refusal(_ stage: Stage) -> Refusal? {
            var trial = stage.arbiter
            let effects = trial.step(.startRunning(session), at: stage.now)
            return effects.lazy.compactMap { if case .refused(let refusal) = $0 { refusal } else { nil } }.first
        }
        switch (refusal(kept), refusal(loaded)) {
        case (nil, let refusal?): return (.refused, refusal.rule)
        case (let refusal?, nil): return (.admitted, refusal.rule)
        case (nil, nil), (_?, _?): return nil
        }
    }

    /// The end of the lease that the load gives the holder; `nil` without one, or where it ends no earlier than before.
    private static func lease(of session: Status.SessionStatus, _ kept: Stage, _ loaded: Stage) -> Moment? {
        func until(_ stage: Stage) -> Moment? {
            stage.arbiter.overview().cameras.first { $0.holder == session.id }?.leaseUntil
        }
        guard let new = until(loaded) else { return nil }
        return until(kept).map { new < $0 } ?? true ? new : nil
    }

    // MARK: Words

    private static func words(_ change: Change, _ after: Status.SessionStatus, _ news: [SessionEvent]) -> String {
        let time = change.after > .zero ? " after \(TimeText.short(change.after))" : ""
        let cut = change.recording.map { "; cuts recording \($0)" } ?? ""
        let rule = change.rule.isEmpty ? "" : " because \"\(change.rule)\""
        switch change.kind {
        case .stopped: return "is stopped\(time)\(rule)\(cut)"
        case .interrupted: return "is interrupted\(time): \(ScenarioWriter.text(of: after.causes))\(rule)\(cut)"
        case .restricted: return "keeps \(after.access.names.joined(separator: "+"))\(time)\(rule)\(cut)"
        case .refused: return "is refused its next start\(rule)"
        case .leased: return "is stopped \(TimeText.short(change.after)) from now, when its new lease ends\(rule)"
        case .runs: return "runs\(time)\(rule)"
        case .widened: return "gets \(after.access.names.joined(separator: "+"))\(time)\(rule)"
        case .admitted: return "is no longer refused its next start\(rule)"
        case .told:
            return "is told \(news.isEmpty ? "less" : news.map(\.wireName).joined(separator: ", "))\(rule)\(cut)"
        }
    }

    private static func comments(_ changes: [Change], _ writer: ScenarioWriter) -> [String] {
        if changes.isEmpty { return ["# Nobody would notice."] }
        return ["# With this policy, and not with the one in force:"]
            + changes.map { "#   \(writer.names.name(of: $0.session).scenarioWord) \($0.words)" }
    }
}

/// How much a session has.
private enum Standing: Equatable {
    case stopped, interrupted
    case running(Access)

    init(_ status: Status.SessionStatus) {
        self =
            switch status.state {
            case .stopped: .stopped
            case .interrupted: .interrupted
            case .starting, .running: .running(status.access)
            }
    }

    static func < (one: Standing, other: Standing) -> Bool {
        switch (one, other) {
        case (.running(let few), .running(let many)): few != many && many.isSuperset(of: few)
        case (.stopped, .interrupted), (.stopped, .running), (.interrupted, .running): true
        case (_, .stopped), (.running, .interrupted), (.interrupted, .interrupted): false
        }
    }
}

/// A notice without moments, numbers and the names of rules.
private struct Heard: Equatable {
    private let name: String
    private let causes: CauseSet
    private let access: Access?

    init(_ event: SessionEvent) {
        name = event.wireName
        access = if case .accessChanged(let told) = event { told.access } else { nil }
        causes =
            switch event {
            case .wasInterrupted(let told), .interruptionChanged(let told): told.causes
            case .accessChanged(let told): told.causes
            case .willBeInterrupted(let told): CauseSet([told.cause])
            default: CauseSet()
            }
    }
}

extension SessionEvent {
    package var rule: String? {
        switch self {
        case .willBeInterrupted(let told): told.rule
        case .wasInterrupted(let told), .interruptionChanged(let told): told.rule
        case .accessChanged(let told): told.rule
        case .sessionStopped(let told): told.rule
        default: nil
        }
    }
}
