public import ArbiterProtocol

/// When the user is told: at once, and never more than once in ten seconds.
///
/// What happens within the pause after a notification is kept, and said in one at its end: a camera that goes to and fro
/// between two apps is one notification every ten seconds, not twenty. A wait that is over by then is not told any more.
/// Times are arguments.
public struct NoticePacing: Hashable, Sendable {
    /// From one notification to the next.
    public static let pause = Duration.seconds(10)
    /// What one notification lists; a server cuts longer ones anyway. More are counted.
    public static let listedMax = 4

    private var kept: [AppNotice] = []
    private var leftOut = 0
    /// No notification before.
    private var mayTell: Moment?

    public init() {}

    public mutating func add(_ notice: AppNotice) {
        // The same again says nothing more.
        if kept.contains(notice) { return }
        if kept.count == Self.listedMax {
            leftOut += 1
            // Who answered for the user is never hidden behind what merely happened.
            guard notice.isAnswer, let place = kept.lastIndex(where: { !$0.isAnswer }) else { return }
            kept.remove(at: place)
        }
        kept.append(notice)
    }

    /// Forgets the waits that are over.
    /// - Parameter isThere: whether an app still waits for the camera of that name.
    public mutating func keepWaits(_ isThere: (_ app: String, _ camera: String) -> Bool) {
        kept.removeAll { notice in
            if case .waits(let app, let camera, _) = notice { !isThere(app, camera) } else { false }
        }
        if kept.isEmpty { leftOut = 0 }
    }

    /// When `take` has something; nil: nothing is to be told.
    public var deadline: Moment? { kept.isEmpty ? nil : mayTell ?? .zero }

    /// What to tell now. It counts as told.
    public mutating func take(at now: Moment) -> NotificationText? {
        guard let deadline, deadline <= now else { return nil }
        defer { (kept, leftOut) = ([], 0) }
        mayTell = now + Self.pause
        return NotificationText(kept, leftOut: leftOut)
    }
}
