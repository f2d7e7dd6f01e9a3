package import ArbiterProtocol

/// A policy as plain Swift: a policy file's rules, read one by one.
package protocol HousePolicy: Sendable {
    /// Which sources are believed about presence, the most trusted first.
    var believed: [PresenceSource] { get }
    var pressureSettle: Duration { get }
    var rights: HouseRights { get }
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

package typealias Limit = (cause: Cause, access: Access)

package struct Manners: Sendable {
    /// 0 is the strongest.
    package var rank: Int
    package var denies: Bool
    /// Nothing below stands in its way when it is the one that comes.
    package var isImmediate: Bool
    package var grace: Duration
    package var protection: Duration
    package var lease: Duration?

    package init(
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
    /// Either side listing the other is enough.
    func excludes(_ a: CameraID, _ b: CameraID) -> Bool {
        cameras.contains {
            ($0.camera == a && $0.conflicts.contains(b)) || ($0.camera == b && $0.conflicts.contains(a))
        }
    }

    /// Whatever its pictures.
    package func dearest(_ camera: CameraID) -> Int { cameras.first { $0.camera == camera }?.dearest ?? 0 }

    package func cost(_ session: WholeWorld.Session) -> Int {
        cameras.first { $0.camera == session.camera }?.cost(of: session.pictures) ?? 0
    }

    package var weighsPictures: Bool { cameras.contains { !$0.costs.isEmpty } }
}

/// Which bid wins when bids meet: one answer to each question that `docs/policy.md` asks, in the reference's own
/// words, so that it needs none of the real arbiter's.
package struct HouseContention: Sendable {
    package enum Tie: Sendable { case newcomer, holder }
    package enum SameApp: Sendable { case newest, replace, refuse }
    package enum GivesWay: Sendable { case weakest, longestHeld }

    package var tie = Tie.holder
    package var sameApp = SameApp.newest
    /// The second of two cameras of one app that exclude each other is refused its start.
    package var refusesOwnConflict = false
    package var refusesNewcomers = false
    package var evictsLosers = false
    package var shares = false
    package var sharesWithEveryone = false
    /// Bids are compared only when a session starts.
    package var decidesAtOpen = false
    /// Of two bids the earlier start is the stronger one, as far as the order says anything of starts.
    package var prefersOldest = false
    package var coolDown = Duration.seconds(10)
    /// What the costs of the cameras that are held may add up to; nil: anything.
    package var budget: Int?
    package var givesWay = GivesWay.weakest
    package var strongestMayExceed = false
    package var backfill = false

    package init() {}
}

/// What a camera costs, and which cannot run beside it; either side listing the other is enough.
package struct HouseCamera: Sendable {
    package var camera: CameraID
    package var conflicts: [CameraID]
    /// With every picture that no line of `costs` is about.
    package var cost: Int
    package var costs: [HouseCost]

    package init(camera: CameraID, conflicts: [CameraID], cost: Int, costs: [HouseCost] = []) {
        (self.camera, self.conflicts, self.cost, self.costs) = (camera, conflicts, cost, costs)
    }

    /// What it counts where nobody knows its pictures.
    var dearest: Int { ([cost] + costs.map(\.cost)).max() ?? 0 }

    /// A line about the pixel format is closer than one about any; of those as close the one with the lowest rate that is enough.
    func cost(of pictures: WholeWorld.Pictures?) -> Int {
        guard let pictures else { return dearest }
        let fitting = costs.filter { line in
            line.width == pictures.width && line.height == pictures.height
                && line.frameRate > pictures.frameRate * 0.999999
                && (line.pixelFormat == nil || line.pixelFormat == pictures.pixelFormat)
        }
        let named = fitting.filter { $0.pixelFormat != nil }
        return (named.isEmpty ? fitting : named).min { $0.frameRate < $1.frameRate }?.cost ?? cost
    }
}

/// What a camera counts with pictures of a size and a format (nil: any), up to a rate.
package typealias HouseCost = (width: Int, height: Int, frameRate: Double, pixelFormat: String?, cost: Int)

/// A fact about apps that a policy declares for itself: its values, the strongest first, and which one an app has that
/// was told none of them.
package typealias HouseScale = (name: String, values: [String], unknown: String)

/// And who sets it by hand.
package typealias HouseMode = (name: String, setBy: [String])

/// The policy's rights to use cameras, in the reference's own words.
package struct HouseRights: Sendable {
    /// The user that sits at the camera's seat.
    package var seat = true
    package var users: [UInt32] = []
    package var groups: [UInt32] = []
    package var services: [String] = []
    package var onlyStrong = false
    /// Apps that `services` does not name need their user's yes.
    package var asks = false

    package init() {}
}
