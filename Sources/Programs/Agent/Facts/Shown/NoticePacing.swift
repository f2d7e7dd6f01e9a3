public import ArbiterProtocol

/// The times of notifications: at once, and never more than once in ten seconds.
///
/// Events within the pause after a notification are kept, and shown in one at its end: a camera that goes to and fro
/// between two apps is one notification every ten seconds, not twenty. A wait that is over by then is dropped. Times
/// are arguments.
public struct NoticePacing: Hashable, Sendable {
    /// From one notification to the next.
    public static let pause = Duration.seconds(10)
    /// The lines of one notification; a server cuts longer ones anyway. More are counted.
    public static let listedMax = 4

    private var kept: [AppNotice] = []
    private var leftOut = 0
    private var mayTell: Moment?

    public init() {}

    public mutating func add(_ notice: AppNotice) {
        // The same notice twice adds nothing.
        if kept.contains(notice) { return }
        if kept.count == Self.listedMax {
            leftOut += 1
            // An answer on behalf of the user is never hidden by mere events.
            guard notice.isAnswer, let place = kept.lastIndex(where: { !$0.isAnswer }) else { return }
            kept.remove(at: place)
        }
        kept.append(notice)
    }

    /// Drops the waits that are over.
    /// - Parameter isThere: whether an app still waits for the camera of that name.
    public mutating func keepWaits(_ isThere: (_ app: String, _ camera: String) -> Bool) {
        kept.removeAll { notice in
            if case .waits(let app, let camera, _) = notice { !isThere(app, camera) } else { false }
        }
        if kept.isEmpty { leftOut = 0 }
    }

    /// The time when `take` has something; `nil`: nothing is pending.
    public var deadline: Moment? { kept.isEmpty ? nil : mayTell ?? .zero }

    /// The text to show now; it counts as shown.
    public mutating func take(at now: Moment) -> NotificationText? {
        guard let deadline, deadline <= now else { return nil }
        defer { (kept, leftOut) = ([], 0) }
        mayTell = now + Self.pause
        return NotificationText(kept, leftOut: leftOut)
    }
}

/// The waits of the user's apps for cameras, each notified once after a long time.
///
/// Times are arguments: `now` of the monotonic clock, and `wallClock`, in which the broker gives the beginning of a
/// wait.
public struct Waits: Hashable, Sendable {
    /// An app may wait this long without a notice: most cameras change hands within it.
    public static let patience = Duration.seconds(5)

    private struct Wait: Hashable {
        var app: String
        var camera: String
        var holder: Interrupter?
        var since: Moment
        var isTold = false

        var toldAt: Moment { since + Waits.patience }
    }

    private var waits: [Wait] = []

    public init() {}

    /// - Parameter wallClock: microseconds of CLOCK_REALTIME, at `now`.
    public mutating func update(_ cameras: [CameraUse], at now: Moment, wallClock: Int64) {
        let before = waits
        waits = cameras.flatMap { use in
            use.waiting.map { waiting in
                // The time of the first report stands: the wall clock may be set meanwhile.
                if var known = before.first(where: { $0.app == waiting.app && $0.camera == use.name }) {
                    known.holder = use.holder
                    return known
                }
                // A clock that was set in between makes nobody wait for years, or begin tomorrow.
                let age = min(max(0, wallClock - max(0, waiting.since)), 3_600_000_000)
                return Wait(
                    app: waiting.app, camera: use.name, holder: use.holder,
                    since: Moment(nanoseconds: now.nanoseconds - age * 1000))
            }
        }
    }

    public func contains(app: String, camera: String) -> Bool {
        waits.contains { $0.app == app && $0.camera == camera }
    }

    /// The time when the next app will have waited too long; `nil`: every waiting app has its notice.
    public var deadline: Moment? { waits.lazy.filter { !$0.isTold }.map(\.toldAt).min() }

    /// The apps that have waited too long, the longest first. They count as notified.
    public mutating func due(at now: Moment) -> [AppNotice] {
        let due = waits.indices.filter { !waits[$0].isTold && waits[$0].toldAt <= now }
        for place in due { waits[place].isTold = true }
        return due.map { waits[$0] }.sorted { ($0.since, $0.app, $0.camera) < ($1.since, $1.app, $1.camera) }
            .map { .waits(app: $0.app, camera: $0.camera, holder: $0.holder) }
    }
}
