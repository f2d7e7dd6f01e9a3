public import ArbiterProtocol

/// Which bid wins when bids meet: one answer to each question that `docs/policy.md` asks, in the reference's own
/// words, so that it needs none of the real arbiter's.
public struct HouseContention: Sendable {
    public enum Tie: Sendable { case newcomer, holder }
    public enum SameApp: Sendable { case newest, replace, refuse }
    public enum GivesWay: Sendable { case weakest, longestHeld }

    public var tie = Tie.holder
    public var sameApp = SameApp.newest
    /// The second of two cameras of one app that exclude each other is refused its start.
    public var refusesOwnConflict = false
    public var refusesNewcomers = false
    public var evictsLosers = false
    public var shares = false
    public var sharesWithEveryone = false
    /// Bids are compared only when a session starts.
    public var decidesAtOpen = false
    /// Of two bids the earlier start is the stronger one, as far as the order says anything of starts.
    public var prefersOldest = false
    public var coolDown = Duration.seconds(10)
    /// What the costs of the cameras that are held may add up to; nil: anything.
    public var budget: Int?
    public var givesWay = GivesWay.weakest
    public var strongestMayExceed = false
    public var backfill = false

    public init() {}
}

/// What a camera costs, and which cannot run beside it; either side listing the other is enough.
public struct HouseCamera: Sendable {
    public var camera: CameraID
    public var conflicts: [CameraID]
    public var cost: Int

    public init(camera: CameraID, conflicts: [CameraID], cost: Int) {
        (self.camera, self.conflicts, self.cost) = (camera, conflicts, cost)
    }
}

/// A fact about apps that a policy declares for itself.
public struct HouseScale: Sendable {
    public var name: String
    /// Strongest first.
    public var values: [String]
    /// Of an app that was told nothing, or none of `values`.
    public var unknown: String

    public init(name: String, values: [String], unknown: String) {
        (self.name, self.values, self.unknown) = (name, values, unknown)
    }
}
