import Arbiter
public import ArbiterProtocol
import Explain
public import PolicyFile
public import Scenario

/// The events of the worlds that are walked.
public enum WalkScope: Sendable, Hashable {
    /// Events that a policy can see: apps, facts, bids and time. Recorders answer at once, and the machine is whole.
    case policy
    /// Besides, recorders answer at any time, cameras are unplugged and blocked, clients vanish and configure, the machine sleeps,
    /// and the policy is loaded anew. Most of that is nothing to a policy, and makes a world many times as large.
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
    /// More than are walked where only pairs of roles are to meet.
    let populationsInAll: Int
    let pairsOnly: Bool
    /// Mirror images of a state are walked once.
    let reducesSymmetry: Bool
    /// `nil` where walks count how much of each lease is left.
    package let leases: LeaseAbstraction?
    let timed: TimedWorlds?

    public struct Report: Sendable {
        public var worlds = 0
        /// More than were walked where a bound was met.
        public var worldsInAll = 0
        /// Populations of which every world was walked, and how many there are.
        public var populations = 0
        public var populationsInAll = 0
        public var states = 0
        public var transitions = 0
        /// Worlds with a finding that were walked again with leases counted.
        public var recounted = 0
        public var depth = 0
        /// For each statement of the policy, in how many states its apps asked to run together. A statement that never applied
        /// was not put to the test.
        public var applied: [Int] = []
        public var cutOffBy: SearchBound?
        public var finding: Finding?
        /// `nil` where no statement is about fairness, or there was a finding before.
        public var fairness: Fairness?
        /// `nil` where no statement is about time, or there was a finding before.
        public var timed: TimedReport?
        public var isComplete: Bool { cutOffBy == nil && finding == nil }
    }

    public struct Finding: Sendable {
        public var message: String
        /// The statement's name; `nil` where an invariant is broken.
        public var statement: String?
        /// Events, with the recorders' answers.
        public var length: Int
        /// A scenario that `camclient test` runs. Its first line says what is broken; comments at its end have the table of the
        /// cameras and the repairs.
        public var scenario: String
        /// At the end of the scenario.
        public var cameras: [CameraStanding] = []
        /// Of a loop, the number of its events up to its beginning and around it; 0 where nothing has to happen any more.
        public var loop: (stem: Int, around: Int)?
        var starving: String?
        /// Single changes of the policy that repair it; `nil` where none were looked for.
        public var repairs: [Repair]?
    }

    /// - Parameters:
    ///   - pairsOnly: only enough populations that every two roles meet.
    ///   - countsLeases: states that differ only in what is left of leases are walked each: slow, and for tests.
    public init(
        _ policy: Policy, clients: Int, cameras: Int, scope: WalkScope = .everything, pairsOnly: Bool = false,
        reducesSymmetry: Bool = true, countsLeases: Bool = false
    ) throws(ScenarioError) {
        (self.policy, self.clients, self.cameras) = (policy, clients, cameras)
        (self.scope, self.reducesSymmetry, self.pairsOnly) = (scope, reducesSymmetry, pairsOnly)
        leases = countsLeases ? nil : LeaseAbstraction([policy], isReplaced: scope.machineEvents)
        let reads = PolicyReads([policy])
        let populations = Populations(reads, clients: clients, pairsOnly: pairsOnly)
        populationsInAll = populations.countInAll
        worlds = try SmallWorld.worlds(reads, populations, cameras: cameras, scope: scope)
        timed = try TimedWorlds(
            policy, clients: clients, cameras: cameras, pairsOnly: pairsOnly, reducesSymmetry: reducesSymmetry)
    }

    package func symmetry(of world: SmallWorld, _ leases: LeaseAbstraction?) -> AppSymmetry {
        world.symmetry.under(policy.statements, isReduced: reducesSymmetry, countsLeases: leases == nil)
    }

    /// - Parameters:
    ///   - policyLine: how a scenario names the policy: `kiosk.toml`, or a block of TOML.
    ///   - threads: the report is the same for any number.
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

    /// Walks for the statements that no single state can break: those about time, then those about fairness. Neither walk is made
    /// after a finding.
    public func walkCourses(
        _ report: inout Report, _ bounds: SearchBounds, policyLine: String, policies: String, limiter: SearchLimiter
    ) {
        if let timed, report.finding == nil {
            let (about, finding) = timed.run(bounds, policyLine: policyLine, policies: policies, limiter: limiter)
            (report.timed, report.finding) = (about, finding)
            report.cutOffBy = report.cutOffBy ?? about.cutOffBy
            for (place, applied) in zip(timed.places, about.applied) { report.applied[place] = applied }
        }
        // Time and memory are of all walks together; a number of states is each one's own.
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

    /// Looks in all worlds for a session that goes on asking and never runs. This walk keeps every step, and reduces no symmetry.
    /// - Returns: `nil` where no statement is about fairness.
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
            fairness.states += search.cursor.tree.count
            fairness.transitions += search.cursor.transitions
            if let found = search.found {
                let scenario = PathScenario(world: world, policyLine: policyLine, policies: policies)
                fairness.finding = scenario.finding(found, policy, scope)
                fairness.cutOffBy = nil
                return fairness
            }
            guard let cut = search.cursor.cutOffBy else { continue }
            fairness.cutOffBy = cut
            // The other worlds may be small enough to be kept.
            if cut != .states || fairness.states >= bounds.statesMax { return fairness }
        }
        return fairness
    }

    /// States of one world that are kept with their steps: some 200 MB.
    private static let keptStatesMax = 1_000_000

    /// Statements about an app or a camera that no rule and no table names: most likely they mean another one.
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

    /// Problems of the statements themselves, as sentences.
    public func problems(_ report: Report) -> [String] {
        // Only a complete walk tells what never happens.
        guard report.isComplete, report.populations == report.populationsInAll else { return strangers }
        return strangers
            + zip(policy.statements.indices, report.applied).filter { place, applied in
                applied == 0 && report.timed?.settled.contains(place) != true
            }.map { place, _ in
                "the statement “\(policy.statements[place].name)” applied in no state: no session that it speaks of ever asks to run, "
                    + "or they never meet on one camera"
            }
    }

    /// Words for the facts and events that vary on a machine and in no world.
    public var neverVaried: [String] { WalkLimits([policy], worlds, scope).neverVaried }

    /// Keys of the policy that no walk reads: a verdict says nothing of them.
    public var keysNotWalked: [PolicyKey] { WalkLimits([policy], worlds, scope).keysNotWalked }
}

extension PolicyDifference {
    /// Words for the facts and events that vary on a machine and in no world.
    public var neverVaried: [String] { WalkLimits(policies, worlds, scope).neverVaried }

    /// Keys in which the two differ and that no walk reads.
    public var keysNotCompared: [PolicyKey] { WalkLimits(policies, worlds, scope).keysNotCompared }
}
