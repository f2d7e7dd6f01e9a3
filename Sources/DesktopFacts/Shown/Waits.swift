public import ArbiterProtocol

/// Which of the user's apps wait for a camera, and which wait so long that their user is told, each wait once.
///
/// Times are arguments: `now` of the monotonic clock, by which time passes here, and `wallClock`, in which the broker says
/// when a wait began.
public struct Waits: Hashable, Sendable {
    /// So long an app may wait without a word: most cameras change hands within it.
    public static let patience = Duration.seconds(5)

    private struct Wait: Hashable {
        var app: String
        /// Its name for people.
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
                // What was found out when it was first heard of stands: the wall clock may be set meanwhile.
                if var known = before.first(where: { $0.app == waiting.app && $0.camera == use.name }) {
                    known.holder = use.holder
                    return known
                }
                // A clock that was set in between has nobody wait for years, and nobody begin tomorrow.
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

    /// When the next app will have waited too long; nil: every waiting app has been told of.
    public var deadline: Moment? { waits.lazy.filter { !$0.isTold }.map(\.toldAt).min() }

    /// The apps that have waited too long, the longest first. They count as told.
    public mutating func due(at now: Moment) -> [AppNotice] {
        let due = waits.indices.filter { !waits[$0].isTold && waits[$0].toldAt <= now }
        for place in due { waits[place].isTold = true }
        return due.map { waits[$0] }.sorted { ($0.since, $0.app, $0.camera) < ($1.since, $1.app, $1.camera) }
            .map { .waits(app: $0.app, camera: $0.camera, holder: $0.holder) }
    }
}
