public import Arbiter
import ArbiterProtocol
public import Scenario

/// Looks for the smallest scenarios that reach what a policy's scenarios have not reached, in the small worlds that `policy
/// verify` walks.
///
/// Worlds are walked breadth first, those of fewer clients and cameras before larger ones, and all of one size side by side:
/// so the first way to something is one of the shortest in the smallest world that has one. Leases are counted, because
/// each way is told as a scenario, run, and only believed when that reaches what it is for.
public struct ScenarioSearch: Sendable {
    public let policy: Policy
    public let clients: Int
    public let cameras: Int
    let gaps: [PolicyCoverage.Gap]
    let pairsOnly: Bool

    /// A scenario as a file has it, and what it is for.
    public struct Suggestion: Sendable {
        /// A sentence: what the scenario shows first.
        public var title: String
        public var scenario: String
        /// Everything that was missing, and that it reaches.
        public var closes: [PolicyCoverage.Gap]
        /// Steps.
        public var length: Int
    }

    public struct Report: Sendable {
        public var suggestions: [Suggestion] = []
        /// What no suggestion reaches, in the order of the file format.
        public var left: [PolicyCoverage.Gap] = []
        public var casts = 0
        public var castsInAll = 0
        public var worlds = 0
        public var states = 0
        public var transitions = 0
        /// Nil: every state of the largest worlds was walked, or nothing was left to look for.
        public var cutOffBy: SearchBound?
    }

    /// - Parameter gaps: of this policy; what is proven to be out of reach is none.
    public init(
        _ policy: Policy, _ gaps: [PolicyCoverage.Gap], clients: Int, cameras: Int, pairsOnly: Bool = false
    ) {
        self.policy = policy
        self.gaps = gaps
        self.clients = clients
        self.cameras = cameras
        self.pairsOnly = pairsOnly
    }

    /// - Parameter policyLine: what a scenario calls the policy, in the folder `policies`.
    public func run(
        _ bounds: SearchBounds = SearchBounds(), policyLine: String, policies: String = ".",
        limiter: SearchLimiter = { _ in nil }
    ) throws(ScenarioError) -> Report {
        var found = FoundScenarios(policy, gaps, policyLine: policyLine, policies: policies)
        var report = Report()
        for size in sizes where !found.wanted(in: size).isEmpty {
            let casting = Casting(size.reads(policy), clients: size.clients, pairsOnly: pairsOnly)
            let worlds = try SmallWorld.worlds(
                [policy], size.reads(policy), casting, cameras: size.cameras, scope: size.scope)
            var bounds = bounds
            if size.scope == .everything { bounds.statesMax = min(bounds.statesMax, report.states + Self.machineMax) }
            var walk = CoverageWalk(policy, worlds, size, bounds, statesBefore: report.states)
            walk.run(&found, limiter)
            report.states += walk.states
            report.transitions += walk.transitions
            report.cutOffBy = report.cutOffBy ?? walk.cutOffBy
            guard size.scope == .policy, !size.variesRights else { continue }
            (report.worlds, report.casts) = (worlds.count, Set(casting.casts.map(\.number)).count)
            report.castsInAll = casting.castsInAll
            if walk.cutOffBy != nil { break }
        }
        if found.isDone { report.cutOffBy = nil }
        report.suggestions = found.fewest()
        let closed = Set(report.suggestions.flatMap(\.closes))
        report.left = gaps.filter { !closed.contains($0) }
        return report
    }

    /// States of the worlds in which the machine's own events happen, too: few clauses need these, what does is near, and
    /// the larger worlds behind are to have their time.
    private static let machineMax = 100_000

    /// How large the worlds of one walk are.
    struct Size: Sendable {
        var clients: Int
        var cameras: Int
        /// Clients differ in what they may use cameras by; nothing else is looked for there.
        var variesRights = false
        /// Everything: the machine sleeps, cameras are unplugged, clients vanish. Recorders answer at once all the same.
        var scope = WalkScope.policy

        func reads(_ policy: Policy) -> PolicyReads {
            PolicyReads([policy], variesRights: variesRights, namesCount: true)
        }
    }

    /// The smallest first. The last contains all others but those for rights and for the machine.
    private var sizes: [Size] {
        let cameras = policy.linksCameras ? cameras : 1
        var sizes = [Size(clients: 1, cameras: 1, variesRights: true)]
        for clients in 1...clients {
            // Two clients may be on two cameras, and a third camera takes a third client. Before worlds get large, the
            // machine has its turn.
            if clients == 3 { sizes.append(Size(clients: 2, cameras: 1, scope: .everything)) }
            let most = min(clients, cameras)
            sizes += (clients < 3 ? 1...most : most...most).map { Size(clients: clients, cameras: $0) }
        }
        if clients < 3 { sizes.append(Size(clients: clients, cameras: 1, scope: .everything)) }
        return sizes
    }
}
