public import Arbiter
import ArbiterProtocol
public import Scenario

/// What may happen in the worlds that are walked.
public enum WalkScope: Sendable, Hashable {
    /// What a policy can see: apps, facts, bids and time. Recorders answer at once, and the machine is whole.
    case policy
    /// Besides, recorders answer whenever they like, cameras are unplugged and blocked, clients vanish and configure, the
    /// machine sleeps, and the policy is loaded anew. Most of that is nothing to a policy, and makes a world many times as
    /// large.
    case everything

    var lateRecorders: Bool { self == .everything }
    var machineEvents: Bool { self == .everything }
}

/// Walks every state that the small worlds of a policy can reach, breadth first, and holds each of them to the
/// invariants of the contract and to the policy's own statements.
public struct PolicyWalk: Sendable {
    public let policy: Policy
    public let clients: Int
    public let cameras: Int
    public let scope: WalkScope
    let worlds: [SmallWorld]
    /// How many casts there would be; fewer are walked where only pairs of kinds are to meet.
    let castsInAll: Int
    let pairsOnly: Bool
    /// Two states that are each other's mirror image are walked once.
    let isFolded: Bool
    /// Nil: what is left of leases is counted.
    let leases: Leases?
    /// For the statements about time; nil: there are none.
    let timed: TimedWorlds?

    public struct Report: Sendable {
        public var worlds = 0
        /// Those that there are; fewer were walked where a bound was met.
        public var worldsInAll = 0
        /// Choices of kinds of clients that were walked in every world, and how many there are.
        public var casts = 0
        public var castsInAll = 0
        public var states = 0
        public var transitions = 0
        /// Worlds that were walked again with leases counted, to see whether what was found broken is.
        public var recounted = 0
        /// Steps of the longest way that had to be gone.
        public var depth = 0
        /// For each statement of the policy, in how many states it applied: apps of which it speaks asked to run there,
        /// together. A statement that never applied was not put to the test.
        public var applied: [Int] = []
        /// Nil: every state that can be reached was.
        public var cutOffBy: SearchBound?
        public var finding: Finding?
        /// What a walk for fairness came to; nil: none was made.
        public var fairness: Fairness?
        /// What was walked for the statements about time; nil: there are none, or something else is broken already.
        public var timed: TimedReport?
        public var isComplete: Bool { cutOffBy == nil && finding == nil }
    }

    /// A broken promise, and the shortest way to it.
    public struct Finding: Sendable {
        public var message: String
        /// The statement's name; nil where an invariant is broken.
        public var statement: String?
        /// Events, recorders' answers included.
        public var length: Int
        /// A scenario that `camclient test` runs; the broken promise stands in its first line, and behind it, as comments,
        /// how the cameras stand in the end, and what would repair it.
        public var scenario: String
        /// How the cameras stand in the end.
        public var cameras: [CameraStanding] = []
        /// Where it is a loop: how many of its events lead there, and how many are around it; 0: nothing has to happen
        /// any more.
        public var loop: (stem: Int, around: Int)?
        /// Whose loop it is, by the name of its session.
        var starving: String?
        /// One change of the policy each, with which nothing that was walked is broken any more; nil: nobody looked.
        public var repairs: [Repair]?
    }

    /// - Parameters:
    ///   - pairsOnly: not every choice of kinds of clients, but only enough that every two kinds meet.
    ///   - countsLeases: states that differ in nothing but what is left of leases are walked each. Slow, and only of
    ///     use where the other way is doubted.
    public init(
        _ policy: Policy, clients: Int, cameras: Int, scope: WalkScope = .everything, pairsOnly: Bool = false,
        isFolded: Bool = true, countsLeases: Bool = false
    ) throws(ScenarioError) {
        self.policy = policy
        self.clients = clients
        self.cameras = cameras
        self.scope = scope
        self.isFolded = isFolded
        self.pairsOnly = pairsOnly
        leases = countsLeases ? nil : Leases([policy], isReplaced: scope.machineEvents)
        let casting = Casting(PolicyReads([policy]), clients: clients, pairsOnly: pairsOnly)
        castsInAll = casting.castsInAll
        worlds = try SmallWorld.worlds([policy], casting, cameras: cameras, scope: scope)
        timed = try TimedWorlds(policy, clients: clients, cameras: cameras, pairsOnly: pairsOnly, isFolded: isFolded)
    }

    /// Which apps of the world may stand for one another, and what counts.
    func cast(of world: SmallWorld, _ leases: Leases?) -> FoldedCast {
        let tellsWhoIsInTheWay = policy.statements.contains(where: \.asksWhoIsInTheWay)
        var cast = isFolded && !tellsWhoIsInTheWay ? world.cast : world.cast.unfolded
        cast.tellsWhoIsInTheWay = tellsWhoIsInTheWay
        cast.countsLeases = leases == nil
        return cast
    }

    /// - Parameters:
    ///   - policyLine: what a scenario calls the policy: `kiosk.toml`, or a block of TOML.
    ///   - threads: whatever their number, the report is the same.
    public func run(
        _ bounds: SearchBounds = SearchBounds(), policyLine: String, policies: String = ".", threads: Int = 2,
        limiter: @escaping SearchLimiter = { _ in nil }
    ) -> Report {
        var report = Report()
        let plan = PlannedWalk(self, bounds, policyLine: policyLine, policies: policies)
        Self.run([plan], threads: threads, limiter: limiter) { report = $0.report }
        walkCourses(&report, bounds, policyLine: policyLine, policies: policies, limiter: limiter)
        return report
    }

    /// Adds to a report what the statements come to that no single state shows: those about time, and then those about
    /// fairness. Each is a walk of its own, and none is made where something is broken already.
    public func walkCourses(
        _ report: inout Report, _ bounds: SearchBounds, policyLine: String, policies: String, limiter: SearchLimiter
    ) {
        walkTimed(&report, bounds, policyLine: policyLine, policies: policies, limiter: limiter)
        walkFair(&report, bounds, policyLine: policyLine, policies: policies, limiter: limiter)
    }

    private func walkTimed(
        _ report: inout Report, _ bounds: SearchBounds, policyLine: String, policies: String, limiter: SearchLimiter
    ) {
        guard let timed, report.finding == nil else { return }
        // What ended the first walk ends this one, too; a number of states is each one's own.
        let (about, finding) = timed.run(bounds, policyLine: policyLine, policies: policies, limiter: limiter)
        report.timed = about
        report.finding = finding
        report.cutOffBy = report.cutOffBy ?? about.cutOffBy
        for (place, applied) in zip(timed.places, about.applied) { report.applied[place] = applied }
    }

    private func walkFair(
        _ report: inout Report, _ bounds: SearchBounds, policyLine: String, policies: String, limiter: SearchLimiter
    ) {
        guard report.finding == nil, report.cutOffBy != .time, report.cutOffBy != .memory else { return }
        guard let fair = fairness(bounds, policyLine: policyLine, policies: policies, limiter: limiter) else { return }
        report.fairness = fair
        report.finding = fair.finding
        report.cutOffBy = report.cutOffBy ?? fair.cutOffBy
    }
}
