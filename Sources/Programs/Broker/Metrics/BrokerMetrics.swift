import Arbiter
public import ArbiterProtocol
public import Vocabulary

/// What the core decided since camarbd's start, in numbers: told after each step, it changes nothing.
///
/// Counts are kept by user, because a user is told his own and nobody else's. No app has a name here. Memory is bounded: users,
/// names of rules and cameras, and sessions, which the broker bounds and `forget` drops.
///
/// Threading: a value; the broker keeps it on its loop's thread.
public struct BrokerMetrics: Sendable {
    private var ofUser: [UInt32: Counts] = [:]
    /// Of users beyond the bound: root's sums have them, and they themselves are told nothing.
    private var ofOthers = Counts()
    private var ofNobody = Counts()
    /// Since when a session has wanted to run and has not yet.
    private var waitingSince: [SessionID: Moment] = [:]
    /// Since when the last holder of a camera is being cut, until the next has a frame.
    private var cutSince: [CameraID: Moment] = [:]
    /// Recorder cores that ended while they were needed, by camera.
    public private(set) var recorderResets = Tally()
    /// By camera.
    public private(set) var cameraFaults = Tally()

    /// A machine whose camera more users have shared since its start tells the others' counts in sums only.
    public static let usersMax = 64

    public init() {}

    /// What the broker knows of sessions; nil where one is gone. Asked only for what is counted.
    public typealias Sessions = (user: (SessionID) -> UInt32?, camera: (SessionID) -> CameraID?)

    /// Once after each step.
    /// - Parameter asker: whose request the event was; nil for one that nobody asked for.
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

    /// The session has been closed, or its client is gone.
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

    /// Nobody follows the holder that was cut: that was no handover, however soon somebody else starts.
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
        case .wasInterrupted(let told):
            count(for: sessions.user(session)) { $0.interruptions.note(told.causes.reason?.wireName ?? "none") }
        case .interruptionEnded(let told):
            count(for: sessions.user(session)) { $0.interruptionLengths.note(told.duration) }
        case .sessionStopped(let told):
            forget(session)
            count(for: sessions.user(session)) { $0.stops.note(told.reason.rawValue) }
        case .recordingFinished(let finished):
            count(for: sessions.user(session)) { $0.recordings.note(finished.why.rawValue) }
        case .photoCaptured(let photo):
            count(for: sessions.user(session)) { $0.photos.note(photo.error == nil ? "taken" : "failed") }
        default: break
        }
    }

    private mutating func count(for user: UInt32?, _ change: (inout Counts) -> Void) {
        guard let user else { return change(&ofNobody) }
        if ofUser[user] == nil && ofUser.count >= Self.usersMax { return change(&ofOthers) }
        change(&ofUser[user, default: Counts()])
    }

    /// One user's counts.
    public func counts(of user: UInt32) -> Counts { ofUser[user] ?? Counts() }

    /// One user's own counts, for everybody but root.
    public func text(of user: UInt32) -> String {
        var metrics = OpenMetrics()
        counts(of: user).add(to: &metrics)
        return metrics.text
    }

    /// Everybody's together.
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

/// What happened to the sessions of one user, or of everybody: `tallies` and `histograms` say of each what it is.
public struct Counts: Hashable, Sendable {
    /// Sessions that began to run, by camera.
    public var grants = Tally()
    /// By the cause that was told as the reason.
    public var interruptions = Tally()
    /// Terminal stops, by reason.
    public var stops = Tally()
    /// Requests that a rule refused, by rule.
    public var refusals = Tally()
    /// Recordings that ended, by why.
    public var recordings = Tally()
    /// `taken` and `failed`.
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
        /// Values of the label that are told before they have counted.
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
