import Arbiter
public import ArbiterProtocol
import CLinux
import Explain
public import Vocabulary

/// Counts of decisions since camarbd's start.
///
/// Counts are kept by user, because a user sees his own and nobody else's. No app has a name here. Memory is bounded: users,
/// names of rules and cameras, and sessions, which the broker bounds and `forget` drops.
///
/// Threading: a value; the broker keeps it on its loop's thread.
public struct BrokerMetrics: Sendable {
    private var ofUser: [UInt32: Counts] = [:]
    /// Of users beyond the bound, who see none of their own; root's sums have them.
    private var ofOthers = Counts()
    private var ofNobody = Counts()
    /// The start request of each session that does not run yet.
    private var waitingSince: [SessionID: Moment] = [:]
    /// The order to cut each camera's last holder, until the next has a frame.
    private var cutSince: [CameraID: Moment] = [:]
    /// Recorder cores that ended while they were needed, by camera.
    public private(set) var recorderResets = Tally()
    /// By camera.
    public private(set) var cameraFaults = Tally()

    /// Of further users the counts are in sums only.
    public static let usersMax = 64

    public init() {}

    /// A session's user and camera; `nil` where it is gone.
    public typealias Sessions = (user: (SessionID) -> UInt32?, camera: (SessionID) -> CameraID?)

    /// Once after each step.
    /// - Parameter asker: the user whose request the event was.
    public mutating func note(_ event: Event, _ effects: [Effect], at now: Moment, asker: UInt32?, sessions: Sessions) {
        noteCause(event, effects, at: now)
        for effect in effects {
            switch effect {
            case .refused(let refusal): count(for: asker) { $0.refusals.note(refusal.rule) }
            case .cut(let camera, _, _, _, _): cutSince[camera] = now
            case .notify(_, let session, _, let notice): note(notice, of: session, at: now, sessions)
            default: break
            }
        }
    }

    public mutating func forget(_ session: SessionID) { waitingSince[session] = nil }

    private mutating func noteCause(_ event: Event, _ effects: [Effect], at now: Moment) {
        switch event {
        case .startRunning(let session):
            // A start that is refused, or made again while one stands, begins no wait.
            if !effects.contains(where: \.isRefusal), waitingSince[session] == nil { waitingSince[session] = now }
        case .stopRunning(let session), .closed(let session): forget(session)
        case .recorderCut(let camera, _): noteCut(camera, effects)
        case .recorderGone(let camera):
            recorderResets.note(camera.name)
            noteCut(camera, effects)
        case .deviceFailed(let camera, _, _): cameraFaults.note(camera.name)
        default: break
        }
    }

    /// Without a next session it was no handover, however soon another one starts.
    private mutating func noteCut(_ camera: CameraID, _ effects: [Effect]) {
        let isFollowed = effects.contains { effect in
            if case .open(camera, _, _, _) = effect { true } else { false }
        }
        if !isFollowed { cutSince[camera] = nil }
    }

    private mutating func note(_ notice: SessionEvent, of session: SessionID, at now: Moment, _ sessions: Sessions) {
        switch notice {
        case .didStartRunning:
            let began = waitingSince.removeValue(forKey: session)
            let camera = sessions.camera(session)
            let cut = camera.flatMap { cutSince.removeValue(forKey: $0) }
            count(for: sessions.user(session)) { counts in
                if let camera { counts.grants.note(camera.name) }
                if let began { counts.waits.note(now - began) }
                if let cut { counts.handovers.note(now - cut) }
            }
        case .wasInterrupted(let interruption):
            count(for: sessions.user(session)) { $0.interruptions.note(interruption.causes.reason?.wireName ?? "none") }
        case .interruptionEnded(let interruption):
            count(for: sessions.user(session)) { $0.interruptionLengths.note(interruption.duration) }
        case .sessionStopped(let stop):
            forget(session)
            count(for: sessions.user(session)) { $0.stops.note(stop.reason.rawValue) }
        case .recordingFinished(let finished):
            count(for: sessions.user(session)) { $0.recordings.note(finished.why.rawValue) }
        case .photoCaptured(let photo):
            count(for: sessions.user(session)) { $0.photos.note(photo.error == nil ? "taken" : "failed") }
        default: break
        }
    }

    private mutating func count(for user: UInt32?, _ change: (inout Counts) -> Void) {
        guard let user else { return change(&ofNobody) }
        if ofUser.count >= Self.usersMax && ofUser[user] == nil { return change(&ofOthers) }
        change(&ofUser[user, default: Counts()])
    }

    public func counts(of user: UInt32) -> Counts { ofUser[user] ?? Counts() }

    /// One user's own counts, for everybody but root.
    public func text(of user: UInt32) -> String {
        var metrics = OpenMetrics()
        counts(of: user).add(to: &metrics)
        return metrics.text
    }

    public var total: Counts {
        var total = ofNobody
        total.add(ofOthers)
        for (_, counts) in ofUser.sorted(by: { $0.key < $1.key }) { total.add(counts) }
        return total
    }
}

extension Effect {
    fileprivate var isRefusal: Bool { if case .refused = self { true } else { false } }
}

/// Counts of the sessions of one user, or of all (`tallies`, `histograms`).
public struct Counts: Hashable, Sendable {
    /// Sessions that began to run, by camera.
    public var grants = Tally()
    /// By the cause that was given as the reason.
    public var interruptions = Tally()
    /// Terminal stops, by reason.
    public var stops = Tally()
    /// Requests that a rule refused, by rule.
    public var refusals = Tally()
    /// Recordings that ended, by why.
    public var recordings = Tally()
    /// Photos, by result: `taken` or `failed`.
    public var photos = Tally()
    /// From a start request to the first frame.
    public var waits = Histogram.waits
    /// Of interruptions, from beginning to end.
    public var interruptionLengths = Histogram.waits
    /// From the order to cut the camera's last holder to the first frame of the next.
    public var handovers = Histogram.handovers

    public init() {}

    private struct Family<Kept>: Sendable {
        var name: String
        var label = ""
        var kept: any WritableKeyPath<Counts, Kept> & Sendable
        /// Values of the label that are written before they have counted.
        var always: [String] = []
        var help: String
    }

    private static let tallies = [
        Family(name: "camarb_grants", label: "camera", kept: \.grants, help: "Sessions that began to run."),
        Family(
            name: "camarb_interruptions", label: "cause", kept: \.interruptions,
            help: "Interruptions, by the cause that was told as the reason."),
        Family(
            name: "camarb_session_stops", label: "reason", kept: \.stops, help: "Sessions that were stopped for good."),
        Family(name: "camarb_refusals", label: "rule", kept: \.refusals, help: "Requests that a rule refused."),
        Family(
            name: "camarb_recordings", label: "why", kept: \.recordings, always: RecordingEnd.allCases.map(\.rawValue),
            help: "Recordings that ended."),
        Family(name: "camarb_photos", label: "result", kept: \.photos, help: "Photos, taken and failed."),
    ]

    private static let histograms = [
        Family(name: "camarb_wait_seconds", kept: \.waits, help: "From a start request to the first frame."),
        Family(
            name: "camarb_interruption_seconds", kept: \.interruptionLengths,
            help: "Interruptions, from their beginning to their end."),
        Family(
            name: "camarb_handover_seconds", kept: \.handovers,
            help: "From the order to cut a camera's holder to the first frame of the next."),
    ]

    public mutating func add(_ other: Counts) {
        for family in Self.tallies { self[keyPath: family.kept].add(other[keyPath: family.kept]) }
        for family in Self.histograms { self[keyPath: family.kept].add(other[keyPath: family.kept]) }
    }

    func add(to metrics: inout OpenMetrics) {
        for family in Self.tallies {
            metrics.counter(
                family.name, by: family.label, self[keyPath: family.kept], always: family.always, family.help)
        }
        for family in Self.histograms { metrics.histogram(family.name, self[keyPath: family.kept], family.help) }
    }
}

extension Publisher {
    /// The metrics of `docs/fleet.md`: everything for a trusted client, and for others the counts of their own user's sessions.
    func metricsText(for client: BrokerClient) -> String {
        guard trust.isTrusted(client) else { return metrics.text(of: client.uid) }
        let status = broker.arbiter.status()
        var text = OpenMetrics()
        text.family("camarb", .info, "camarbd's version, and the policy in force.")
        text.sample(
            "camarb_info", 1 as UInt64,
            [("version", Release.version), ("policy", status.policy), ("policy_hash", broker.policy.hash)])
        metrics.total.add(to: &text)
        text.counter(
            "camarb_recorder_resets", by: "camera", metrics.recorderResets,
            "Recorder cores that ended while they were needed: crashed, or killed because they did not do their duty.")
        text.counter(
            "camarb_camera_faults", by: "camera", metrics.cameraFaults,
            "Times that a camera could not be opened, or failed.")
        text.counter(
            "camarb_disconnects", by: "why", clients.disconnects, "Connections that the broker ended or refused.")
        text.family("camarb_decisions", .counter, "Decisions of the core.")
        text.sample("camarb_decisions_total", broker.arbiter.lastDecision)
        for (name, value, help) in [
            ("camarb_clients", clients.count, "Connections."), ("camarb_sessions", clients.owners.count, "Sessions."),
            ("camarb_running_sessions", status.sessions.count { $0.state == .running }, "Sessions that run."),
            (
                "camarb_pressure", Int(status.pressure.rawValue),
                "How hard the machine is pressed: 0 nominal, 1 fair, 2 serious, 3 critical."
            ),
            ("camarb_process_open_fds", Int(camarb_own_descriptors()), "Open descriptors of camarbd."),
        ] {
            text.family(name, .gauge, help)
            text.sample(name, UInt64(clamping: value))
        }
        text.family("camarb_process_resident_memory_bytes", .gauge, unit: "bytes", "Memory of camarbd.")
        text.sample("camarb_process_resident_memory_bytes", camarb_own_memory())
        let budgets = clients.budgets
        text.family("camarb_budget_used", .gauge, "What is used of each budget that all users share.")
        for resource in Budgets.Resource.allCases {
            text.sample(
                "camarb_budget_used", UInt64(budgets.useOfAll(resource)), [("budget", resource.wireName)])
        }
        text.family("camarb_budget_limit", .gauge, "The most that may be used of it.")
        for resource in Budgets.Resource.allCases {
            text.sample(
                "camarb_budget_limit", UInt64(budgets.bound(resource).inAll), [("budget", resource.wireName)])
        }
        return text.text
    }
}
