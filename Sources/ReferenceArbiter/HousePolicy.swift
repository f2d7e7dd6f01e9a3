public import ArbiterProtocol

/// A policy as plain Swift: either written by hand from what it is meant to do, so that the TOML file of the same name
/// is another way to say it, or a policy file's rules, read one by one.
public protocol HousePolicy: Sendable {
    /// Which sources are believed about presence, the most trusted first.
    var believed: [PresenceSource] { get }
    var pressureSettle: Duration { get }
    var rights: HouseRights { get }
    /// What limits a session, and what is left of its access.
    func limits(_ sight: Sight) -> [Limit]
    /// How strong its bid is by its rank alone, and how gently it is treated.
    func manners(_ sight: Sight) -> Manners
    /// Compared from left to right behind the rank; smaller is stronger.
    func order(_ sight: Sight, started: Int) -> [Int]
    /// Strongest first.
    var ranks: [String] { get }
    var scales: [HouseScale] { get }
    var modes: [HouseMode] { get }
    var contention: HouseContention { get }
    var cameras: [HouseCamera] { get }
}

public struct Limit: Sendable {
    public var cause: Cause
    public var access: Access

    public init(cause: Cause, access: Access) { (self.cause, self.access) = (cause, access) }
}

/// What comes with a rank.
public struct Manners: Sendable {
    /// 0 is the strongest.
    public var rank: Int
    public var denies: Bool
    /// Nothing below stands in its way when it is the one that comes.
    public var isImmediate: Bool
    public var grace: Duration
    public var protection: Duration
    public var lease: Duration?

    public init(
        rank: Int = 0, denies: Bool = false, isImmediate: Bool = false, grace: Duration = .zero,
        protection: Duration = .zero, lease: Duration? = nil
    ) {
        (self.rank, self.denies, self.isImmediate) = (rank, denies, isImmediate)
        (self.grace, self.protection, self.lease) = (grace, protection, lease)
    }

    /// A client that gave up its rank gave up what comes with it, except the lease, which is a duty.
    func lowered(to rank: Int) -> Manners {
        rank > self.rank ? Manners(rank: rank, denies: denies, lease: lease) : self
    }
}

extension HousePolicy {
    public var pressureSettle: Duration { .seconds(5) }
    public var rights: HouseRights { HouseRights() }
    public var ranks: [String] { ["everyone"] }
    public var scales: [HouseScale] { [] }
    public var modes: [HouseMode] { [] }
    public var contention: HouseContention { HouseContention() }
    public var cameras: [HouseCamera] { [] }
    public func manners(_: Sight) -> Manners { Manners() }
    public func order(_: Sight, started: Int) -> [Int] { [] }

    /// Either side listing the other is enough.
    func excludes(_ a: CameraID, _ b: CameraID) -> Bool {
        cameras.contains {
            ($0.camera == a && $0.conflicts.contains(b)) || ($0.camera == b && $0.conflicts.contains(a))
        }
    }

    /// Whatever its pictures.
    public func dearest(_ camera: CameraID) -> Int { cameras.first { $0.camera == camera }?.dearest ?? 0 }

    public func cost(_ session: WholeWorld.Session) -> Int {
        cameras.first { $0.camera == session.camera }?.cost(of: session.pictures) ?? 0
    }

    public var weighsPictures: Bool { cameras.contains { !$0.costs.isEmpty } }
}
