import Arbiter
import ArbiterProtocol
public import PolicyFile
import Scenario

/// One change of a policy without a finding, in the counterexample or in the states and worlds that were walked with it.
public struct Repair: Sendable {
    public var change: PolicyChange
    public var states: Int
    public var worlds: Int
    /// Every reachable state was walked.
    public var isWhole: Bool
}

/// Looks for the single changes of a policy that repair a counterexample.
///
/// Each change is tried on the counterexample first, which takes a fraction of a millisecond. A policy that is not broken there is
/// walked, and offered where the walk finds nothing. Changes of the rules that rank the counterexample's sessions come first.
public struct RepairSearch: Sendable {
    public struct Report: Sendable {
        public var repairs: [Repair] = []
        /// Changes that were tried on the counterexample, and those that hold there.
        public var tried = 0
        public var heldThere = 0
        /// Changes that hold there and were not walked, because of a bound.
        public var notWalked = 0
    }

    /// As many as a person compares.
    public static let repairsMax = 5
    /// Most walks of changed policies end with a finding after some hundred states.
    static let walksMax = 64
    /// All states of a policy of a few rules, and the first worlds of a larger one, which put statements to the test.
    static let statesOfEach = 100_000
    /// Two or three seconds.
    static let statesMax = 600_000

    private let walk: PolicyWalk
    private let finding: PolicyWalk.Finding
    private let policies: String
    private let scenario: Scenario?
    /// How often the starving session runs in the counterexample.
    private let runs: Int

    /// - Parameter policies: the folder of the scenario's policies.
    public init(_ walk: PolicyWalk, _ finding: PolicyWalk.Finding, policies: String) {
        (self.walk, self.finding, self.policies) = (walk, finding, policies)
        scenario = try? Scenario.parse(finding.scenario, file: "counterexample", policies: policies)
        runs = scenario.map { Self.runs(of: finding, $0, walk.policy).count } ?? 0
    }

    public func run(_ limiter: @escaping SearchLimiter = { _ in nil }) -> Report {
        var report = Report()
        var (states, walks) = (0, 0)
        for change in changes {
            report.tried += 1
            guard holdsThere(change.policy) else { continue }
            report.heldThere += 1
            guard report.repairs.count < Self.repairsMax, states < Self.statesMax, walks < Self.walksMax else {
                report.notWalked += 1
                continue
            }
            walks += 1
            let (walked, repair) = verify(change, limiter)
            states += walked
            if let repair { report.repairs.append(repair) }
        }
        return report
    }

    private var changes: [PolicyChange] {
        let rules = Set(
            finding.cameras.flatMap { [$0.holder, $0.beneficiary].compactMap(\.self) + $0.waiting }.map(\.rankRule))
        func isNear(_ change: PolicyChange) -> Bool {
            change.place == .rule(change.place.name) && rules.contains(change.place.name)
        }
        let all = PolicyChange.all(of: walk.policy)
        return all.filter(isNear) + all.filter { !isNear($0) }
    }

    private func holdsThere(_ changed: Policy) -> Bool {
        guard let scenario else { return false }
        let (stage, count) = Self.runs(of: finding, scenario, changed)
        if !stage.violations.isEmpty || stage.arbiter.brokenStatement() != nil { return false }
        let replayed = stage.steps.map { ($0.event, $0.moment) }
        if !TimedReplay.broken(changed, replayed, until: stage.now).isEmpty { return false }
        guard let loop = finding.loop else { return true }
        // The session runs once more around the loop, or no longer asks in vain.
        return loop.around > 0 && count > runs || !isStarving(in: stage.arbiter)
    }

    private func isStarving(in arbiter: Arbiter) -> Bool {
        walk.policy.statements.contains { statement in
            Starving(statement, in: arbiter).map { $0.bits(in: arbiter) != 0 } ?? false
        }
    }

    private static func runs(
        of finding: PolicyWalk.Finding, _ scenario: Scenario, _ policy: Policy
    ) -> (stage: Stage, count: Int) {
        var stage = Stage(Arbiter(policy: policy))
        _ = scenario.run(on: &stage)
        let session = finding.starving.flatMap { scenario.names.session($0) }
        var count = 0
        for effect in stage.steps.flatMap(\.effects) {
            if case .notify(_, let id, _, .didStartRunning) = effect, id == session { count += 1 }
        }
        return (stage, count)
    }

    private func verify(_ change: PolicyChange, _ limiter: @escaping SearchLimiter) -> (states: Int, repair: Repair?) {
        guard
            let changed = try? PolicyWalk(
                change.policy, clients: walk.clients, cameras: walk.cameras, scope: walk.scope,
                pairsOnly: walk.pairsOnly)
        else { return (0, nil) }
        let report = changed.run(SearchBounds(statesMax: Self.statesOfEach), policyLine: "built-in", limiter: limiter)
        let states = report.states + (report.fairness?.states ?? 0)
        guard report.finding == nil, isPutToTheTest(report) else { return (states, nil) }
        return (states, Repair(change: change, states: states, worlds: report.worlds, isWhole: report.isComplete))
    }

    /// Whether the broken statement still applies in some state: a change that leaves it no state does not repair it.
    private func isPutToTheTest(_ report: PolicyWalk.Report) -> Bool {
        zip(walk.policy.statements, report.applied).allSatisfy { $0.name != finding.statement || $1 > 0 }
    }
}

extension PolicyWalk.Finding {
    /// Writes the repairs after the scenario, as comments.
    /// - Parameter origin: the file and line of a place; nil: not known.
    public mutating func note(_ report: RepairSearch.Report, _ origin: (PolicyPart) -> String?) {
        repairs = report.repairs
        var lines: [String]
        if report.repairs.isEmpty {
            let left = report.notWalked > 0 ? ", of which \(report.notWalked) were not walked" : ""
            lines = [
                "No single change of the policy was found that repairs it: of \(report.tried), "
                    + "\(report.heldThere) hold here\(left), and none everywhere."
            ]
        } else {
            lines = [report.repairs.count == 1 ? "One change repairs it:" : "Each of these changes alone repairs it:"]
            for repair in report.repairs { lines.append("  \(repair.words(origin))") }
        }
        if !scenario.hasSuffix("\n") { scenario += "\n" }
        scenario += (["#"] + lines.map { "# \($0)" }).joined(separator: "\n")
    }
}

extension Repair {
    public func words(_ origin: (PolicyPart) -> String?) -> String {
        let walked = isWhole ? "in all \(states) states" : "in the first \(states) states"
        return "\(change.words(origin)) (verified \(walked) of \(worlds) world\(worlds == 1 ? "" : "s"))"
    }
}
