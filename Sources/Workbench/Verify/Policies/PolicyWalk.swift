import Arbiter
public import ArbiterProtocol
import Explain
public import PolicyFile
public import Scenario

/// What may happen in the worlds that are walked.
public enum WalkScope: Sendable, Hashable {
    /// What a policy can see: apps, facts, bids and time. Recorders answer at once, and the machine is whole.
    case policy
    /// Besides, recorders answer whenever they like, cameras are unplugged and blocked, clients vanish and configure, the machine
    /// sleeps, and the policy is loaded anew. Most of that is nothing to a policy, and makes a world many times as large.
    case everything

    package var lateRecorders: Bool { self == .everything }
    package var machineEvents: Bool { self == .everything }
}

/// Walks every state that the small worlds of a policy can reach, breadth first, and holds each of them to the
/// invariants of the contract and to the policy's own statements.
public struct PolicyWalk: Sendable {
    public let policy: Policy
    public let clients: Int
    public let cameras: Int
    public let scope: WalkScope
    package let worlds: [SmallWorld]
    /// How many casts there would be; fewer are walked where only pairs of kinds are to meet.
    let castsInAll: Int
    let pairsOnly: Bool
    /// Two states that are each other's mirror image are walked once.
    let isFolded: Bool
    /// Nil: what is left of leases is counted.
    package let leases: Leases?
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
        /// Where it is a loop: how many of its events lead there, and how many are around it; 0: nothing has to happen any more.
        public var loop: (stem: Int, around: Int)?
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
        (self.policy, self.clients, self.cameras) = (policy, clients, cameras)
        (self.scope, self.isFolded, self.pairsOnly) = (scope, isFolded, pairsOnly)
        leases = countsLeases ? nil : Leases([policy], isReplaced: scope.machineEvents)
        let casting = Casting(PolicyReads([policy]), clients: clients, pairsOnly: pairsOnly)
        castsInAll = casting.castsInAll
        worlds = try SmallWorld.worlds([policy], casting, cameras: cameras, scope: scope)
        timed = try TimedWorlds(policy, clients: clients, cameras: cameras, pairsOnly: pairsOnly, isFolded: isFolded)
    }

    package func cast(of world: SmallWorld, _ leases: Leases?) -> FoldedCast {
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
        if let timed, report.finding == nil {
            let (about, finding) = timed.run(bounds, policyLine: policyLine, policies: policies, limiter: limiter)
            (report.timed, report.finding) = (about, finding)
            report.cutOffBy = report.cutOffBy ?? about.cutOffBy
            for (place, applied) in zip(timed.places, about.applied) { report.applied[place] = applied }
        }
        // What ended a walk before ends this one, too; a number of states is each one's own.
        guard report.finding == nil, report.cutOffBy != .time, report.cutOffBy != .memory,
            let fair = fairness(bounds, policyLine: policyLine, policies: policies, limiter: limiter)
        else { return }
        (report.fairness, report.finding) = (fair, fair.finding)
        report.cutOffBy = report.cutOffBy ?? fair.cutOffBy
    }

    public struct Fairness: Sendable {
        public var worlds = 0
        public var worldsInAll = 0
        public var states = 0
        public var transitions = 0
        public var cutOffBy: SearchBound?
        public var finding: Finding?
    }

    public var asksForFairness: Bool { policy.statements.contains(where: \.isFair) }

    /// Looks in all worlds for somebody who goes on asking and never runs: a walk of its own, since it tells mirror images
    /// apart, and keeps every step.
    /// - Returns: nil: no statement asks for it.
    public func fairness(
        _ bounds: SearchBounds = SearchBounds(), policyLine: String, policies: String = ".",
        limiter: SearchLimiter = { _ in nil }
    ) -> Fairness? {
        guard asksForFairness else { return nil }
        var fairness = Fairness(worldsInAll: worlds.count)
        for world in worlds {
            fairness.worlds += 1
            let (states, transitions, number) = (fairness.states, fairness.transitions, fairness.worlds)
            var search = FairSearch(self, world, statesMax: min(bounds.statesMax - states, Self.keptStatesMax))
            search.run { limiter($0.inWorld(number, of: worlds.count, behind: states, transitions)) }
            fairness.states += search.scout.ways.count
            fairness.transitions += search.scout.transitions
            if let found = search.found {
                let story = FairStory(Story(world: world, policyLine: policyLine, policies: policies), policy, scope)
                fairness.finding = story.finding(found)
                fairness.cutOffBy = nil
                return fairness
            }
            guard let cut = search.scout.cutOffBy else { continue }
            fairness.cutOffBy = cut
            // A world that is too large to be kept says nothing of the others.
            if cut != .states || fairness.states >= bounds.statesMax { return fairness }
        }
        return fairness
    }

    /// States of one world that are kept with their steps: 200 MB or so.
    private static let keptStatesMax = 1_000_000

    /// Statements that speak of an app or a camera which no rule and no table knows: most likely they mean another one.
    public var strangers: [String] {
        let rules = policy.causeRules.flatMap(\.when) + policy.rankRules.flatMap(\.when)
        let apps = rules.compactMap(\.appName)
        let cameras =
            rules.compactMap { if case .camera(let camera) = $0 { camera } else { nil } }
            + policy.cameras.flatMap { [$0.camera] + $0.conflicts }
        return policy.statements.flatMap { statement in
            unique(statement.testsRead).compactMap { test in
                if let app = test.appName, !apps.contains(app) {
                    return "the statement “\(statement.name)” speaks of the app “\(app)”, which no rule knows"
                }
                if case .camera(let camera) = test, !cameras.contains(camera) {
                    return
                        "the statement “\(statement.name)” speaks of the camera “\(camera.name)”, which no rule knows"
                }
                return nil
            }
        }
    }

    /// What is wrong with the statements themselves, as sentences.
    public func problems(_ report: Report) -> [String] {
        // What was not walked to its end says nothing about what never happens.
        guard report.isComplete, report.casts == report.castsInAll else { return strangers }
        return strangers
            + zip(policy.statements, report.applied).filter { $0.1 == 0 }.map { statement, _ in
                "the statement “\(statement.name)” applied in no state: no session that it speaks of ever asks to run, "
                    + "or they never meet on one camera"
            }
    }

    /// What is the same in all worlds, in words, although it could be otherwise on a machine.
    public var neverVaried: [String] { WalkLimits([policy], worlds, scope).neverVaried }

    /// Keys that the policy says and that no walk reads: a verdict says nothing of what they do.
    public var keysNotWalked: [PolicyKey] { WalkLimits([policy], worlds, scope).keysNotWalked }
}

extension PolicyDifference {
    /// What is the same in all worlds, in words, although it could be otherwise on a machine.
    public var neverVaried: [String] { WalkLimits(policies, worlds, scope).neverVaried }

    /// Keys by which the two differ and that no walk reads: what they change no comparison sees.
    public var keysNotCompared: [PolicyKey] { WalkLimits(policies, worlds, scope).keysNotCompared }
}
