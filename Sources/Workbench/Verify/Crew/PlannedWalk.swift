import Arbiter
public import ArbiterProtocol

public struct PlannedWalk: Sendable {
    public var walk: PolicyWalk
    public var bounds: SearchBounds
    /// What a scenario calls the policy: `kiosk.toml`, or a block of TOML.
    public var policyLine: String
    public var policies: String
    /// Worlds, by their numbers from 0 on, that were walked whole before, and are not walked again.
    public var known: [Int: WalkedWorld]

    public init(
        _ walk: PolicyWalk, _ bounds: SearchBounds = SearchBounds(), policyLine: String, policies: String = ".",
        known: [Int: WalkedWorld] = [:]
    ) {
        (self.walk, self.bounds, self.policyLine, self.policies) = (walk, bounds, policyLine, policies)
        self.known = known.filter { number, world in
            walk.worlds.indices.contains(number) && world.applied.count == walk.policy.statements.count
        }
    }
}

/// What there is to say of a world that was walked to its end, and in which nothing is broken.
public struct WalkedWorld: Hashable, Sendable {
    public var states: Int
    public var transitions: Int
    public var depth: Int
    /// 1: it was walked again with leases counted.
    public var recounted: Int
    /// For each statement, in how many states it applied.
    public var applied: [Int]

    public init(states: Int = 0, transitions: Int = 0, depth: Int = 0, recounted: Int = 0, applied: [Int]) {
        (self.states, self.transitions, self.depth) = (states, transitions, depth)
        (self.recounted, self.applied) = (recounted, applied)
    }

    mutating func count(_ search: WorldWalk) {
        states += search.scout.ways.count
        transitions += search.scout.transitions
        depth = max(depth, search.scout.depth)
        // A world that is walked a second time has the same states.
        applied = search.applied
    }
}

/// What a walk that was done together with others came to.
public struct WalkEnd: Sendable {
    /// Which of the planned ones it is, from 0 on.
    public var walk: Int
    public var report: PolicyWalk.Report
    /// From the beginning of its first world to the end of its last, as the clock has it that was given.
    public var took: Duration
}

extension PolicyWalk {
    /// Does several walks with as many threads as one likes, so that no core is idle while there is a world that nobody walks.
    /// The reports are those that one thread gives that walks one world after the other, and they come in the order of the walks.
    /// - Parameters:
    ///   - clock: asked when a walk begins and ends, on any thread; a walk has none of its own.
    ///   - limiter: asked on the calling thread, about each walk that is under way. Where memory is short, the largest
    ///     world goes on, and the others are walked later, one at a time; only one that is alone is cut off.
    ///   - kept: called on the calling thread with each world that was walked whole.
    ///   - ended: called on the calling thread with each walk that is over.
    public static func run(
        _ walks: [PlannedWalk], threads: Int, clock: @escaping @Sendable () -> Moment = { .zero },
        limiter: @escaping SearchLimiter = { _ in nil },
        kept: @escaping (_ walk: Int, _ world: Int, _ figures: WalkedWorld) -> Void = { _, _, _ in },
        ended: @escaping (WalkEnd) -> Void
    ) { WorldCrew(walks, threads: threads, clock: clock).run(CrewListener(limiter: limiter, kept: kept, ended: ended)) }
}
