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
    /// With every picture that no line of `costs` is about.
    public var cost: Int
    public var costs: [HouseCost]

    public init(camera: CameraID, conflicts: [CameraID], cost: Int, costs: [HouseCost] = []) {
        (self.camera, self.conflicts, self.cost, self.costs) = (camera, conflicts, cost, costs)
    }

    /// What it counts where nobody knows its pictures.
    var dearest: Int { ([cost] + costs.map(\.cost)).max() ?? 0 }

    /// A line about the pixel format is closer than one about any; of those as close the one with the lowest rate that is
    /// enough.
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

/// What a camera counts with pictures of a size, up to a rate.
public struct HouseCost: Sendable {
    public var width: Int
    public var height: Int
    public var frameRate: Double
    /// Nil: any.
    public var pixelFormat: String?
    public var cost: Int

    public init(width: Int, height: Int, frameRate: Double, pixelFormat: String?, cost: Int) {
        (self.width, self.height, self.frameRate) = (width, height, frameRate)
        (self.pixelFormat, self.cost) = (pixelFormat, cost)
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
