import Arbiter
public import ArbiterProtocol
import PolicyFile

/// How much of a policy scenarios have reached.
///
/// A clause counts when some step of some scenario made it decide, and once more when it was asked and did not apply,
/// where that can be. Both follow from the rules that the core's verdicts, notices and refusals name, and from the
/// policy's own functions.
///
/// A fact of a rule counts by unique cause: once where the rule answers and the answer would be another without it, and
/// once where the rule is asked and this fact alone keeps it from matching, and from answering otherwise.
public struct PolicyCoverage: Hashable, Sendable {
    public let policy: Policy
    /// In the order of the file format.
    public let clauses: [PolicyClause]
    public private(set) var fired: Set<PolicyClause> = []
    /// Rules that were asked and did not match, and order keys in which two bids were equal.
    public private(set) var unmatched: Set<PolicyClause> = []

    /// Reasons why clauses cannot be reached.
    private let proofs: [Gap: String]

    public init(_ policy: Policy) { self.init(policy, proofs: policy.coverageProofs) }

    /// For a run, which needs no proofs.
    init(gathering policy: Policy) { self.init(policy, proofs: [:]) }

    private init(_ policy: Policy, proofs: [Gap: String]) {
        self.policy = policy
        self.proofs = proofs
        clauses = policy.clauses
    }

    mutating func fire(_ clause: PolicyClause) { fired.insert(clause) }
    mutating func unmatch(_ clause: PolicyClause) { unmatched.insert(clause) }

    /// For a clause that was named and changed nothing.
    mutating func takeBack(_ clause: PolicyClause) { fired.remove(clause) }

    /// Adds the coverage of another run under the same policy.
    public mutating func merge(_ other: PolicyCoverage) {
        precondition(policy == other.policy, "coverage of two policies is not to be added")
        fired.formUnion(other.fired)
        unmatched.formUnion(other.unmatched)
    }

    public struct Share: Hashable, Sendable {
        public var reached = 0
        public var all = 0

        /// `nil` where there was nothing to reach.
        public var percent: Double? { all == 0 ? nil : 100 * Double(reached) / Double(all) }
    }

    public func firedShare(of group: PolicyClause.Group) -> Share { share(of: group, .neverFired) }

    /// Of the clauses that have an opposite.
    public func unmatchedShare(of group: PolicyClause.Group) -> Share { share(of: group, .neverUnmatched) }

    private func share(of group: PolicyClause.Group, _ lack: Gap.Lack) -> Share {
        let asked = asked.filter { $0.clause.group == group && $0.lack == lack }
        let reached = asked.filter(isReached).count
        return Share(reached: reached, all: asked.count - asked.filter { !isReached($0) && isProven($0) }.count)
    }

    private var asked: [Gap] {
        clauses.flatMap { clause in
            [Gap(clause: clause, lack: .neverFired)]
                + (policy.hasOpposite(clause) ? [Gap(clause: clause, lack: .neverUnmatched)] : [])
        }
    }

    private func isReached(_ gap: Gap) -> Bool {
        switch gap.lack {
        case .neverFired: fired.contains(gap.clause)
        case .neverUnmatched: unmatched.contains(gap.clause)
        }
    }

    private func isProven(_ gap: Gap) -> Bool { proofs[gap] != nil }

    public var total: Share {
        PolicyClause.Group.allCases.reduce(into: Share()) { sum, group in
            for share in [firedShare(of: group), unmatchedShare(of: group)] {
                sum.reached += share.reached
                sum.all += share.all
            }
        }
    }

    public struct Gap: Hashable, Sendable {
        public var clause: PolicyClause
        public var lack: Lack
        public enum Lack: String, Hashable, Sendable { case neverFired, neverUnmatched }

        public init(clause: PolicyClause, lack: Lack) { (self.clause, self.lack) = (clause, lack) }

        public func sentence(in policy: Policy) -> String { "\(clause.title(in: policy)): \(words(policy).missing)" }

        /// The gap as the claim of a scenario that closes it.
        public func claim(in policy: Policy) -> String { words(policy).claim }

        private func words(_ policy: Policy) -> (missing: String, claim: String) {
            let title = clause.title(in: policy)
            switch (lack, clause) {
            case (.neverFired, .causeRule), (.neverFired, .rankRule):
                return ("no scenario made it fire", "\(title) answers")
            case (.neverFired, .access(.strong)):
                return ("no scenario has a weak one refused", "a client whose identity is weak is refused")
            case (.neverFired, .access): return ("no scenario has a camera by it", "an app has a camera by \(title)")
            case (.neverFired, .fact(let rule, let test)):
                return ("no scenario made it decide anything", "\"\(rule)\" decides by \(test.pair)")
            case (.neverFired, .rankChoice(let rule, let choice)):
                return ("no scenario made it decide anything", "the \(choice.rawValue) of \"\(rule)\" decides")
            case (.neverFired, .acrossCameras(let rule, let choice)):
                return (
                    "no scenario has its holder lose to an app on another camera",
                    "the \(choice.rawValue) of \"\(rule)\" is for an app on another camera"
                )
            case (.neverFired, .order(let key)):
                return ("no scenario would come out otherwise without it", "\(key.name) decides between two apps")
            case (.neverFired, .choice(.coolDown)):
                return ("no scenario would come out otherwise without it", "\(title) decides")
            case (.neverFired, .conflicts): return ("no scenario made it decide anything", "\(title) decide")
            case (.neverFired, .choice): return ("no scenario made it decide anything", "\(title) decides")
            case (.neverUnmatched, .order(let key)):
                return ("no scenario let two bids be equal in it", "two apps are equal in \(key.name)")
            case (.neverUnmatched, .fact(let rule, let test)):
                return (
                    "no scenario has it alone keep the rule from deciding",
                    "\"\(rule)\" would decide but for \(test.pair)"
                )
            case (.neverUnmatched, _): return ("no scenario saw it not match", "\(title) is asked and does not match")
            }
        }
    }

    /// In the order of the file format, without gaps that are proven to be out of reach.
    public var gaps: [Gap] { asked.filter { !isReached($0) && !isProven($0) } }

    /// Gaps that no scenario can close, and why: proven from the policy alone.
    public var unreachable: [(gap: Gap, why: String)] {
        asked.compactMap { gap in isReached(gap) ? nil : proofs[gap].map { (gap, $0) } }
    }

    package func closed(of gaps: [Gap]) -> [Gap] { gaps.filter(isReached) }
}

extension FactTest {
    var pair: String { "\(written.key) = \(written.value)" }
}

extension Policy {
    /// Clauses that no scenario can reach, each with the reason, as far as that follows from the rules.
    var coverageProofs: [PolicyCoverage.Gap: String] {
        let reach = RuleReach(self)
        var proofs: [PolicyCoverage.Gap: String] = [:]
        for clause in clauses {
            proofs[.init(clause: clause, lack: .neverFired)] = whyNever(clause, reach)
            if hasOpposite(clause) {
                proofs[.init(clause: clause, lack: .neverUnmatched)] = whyNeverOpposite(clause, reach)
            }
        }
        return proofs
    }

    private func whyNever(_ clause: PolicyClause, _ reach: RuleReach) -> String? {
        switch clause {
        case .causeRule(let name), .rankRule(let name): reach.whyNever(.answering, of: name)
        case .rankChoice(let name, _), .acrossCameras(let name, _): reach.whyNever(.answering, of: name)
        case .fact(let name, _): reach.whyNever(.deciding, of: name)
        case .order(.focused): reach.whyNever([.focused(true)])
        case .order(.foreground): reach.whyNever([.foreground(false)])
        case .access, .order, .choice, .conflicts: nil
        }
    }

    private func whyNeverOpposite(_ clause: PolicyClause, _ reach: RuleReach) -> String? {
        switch clause {
        case .causeRule(let name), .rankRule(let name): reach.whyNever(.missing, of: name)
        case .fact(let name, let test): reach.whyNever(.missingBy(test), of: name)
        case .access, .rankChoice, .acrossCameras, .order, .choice, .conflicts: nil
        }
    }

    /// `nil` where the clause counts by its verdicts alone.
    fileprivate func without(_ clause: PolicyClause) -> Policy? {
        var other = self
        switch clause {
        case .order(let key): other.contention.order.removeAll { $0 == key }
        case .choice(.coolDown): other.contention.coolDown = .zero
        default: return nil
        }
        return other
    }
}

/// An order key and the cool-down count where they changed a notice: a scenario in which a verdict named them runs
/// again under the policy without them.
extension Scenario {
    /// - Parameter known: clauses that other scenarios have reached.
    func runWithCoverage(knowing known: Set<PolicyClause>) -> (outcome: Outcome, coverages: [PolicyCoverage]) {
        var stage = Stage(Arbiter(policy: world.policy))
        stage.coverage = CoverageRecorder()
        let outcome = run(on: &stage)
        var coverages = stage.coverage?.coverages ?? []
        // A policy that the scenario loads later is not the one that `under` replaces.
        guard let own = coverages.firstIndex(where: { $0.policy == world.policy }) else { return (outcome, coverages) }
        for clause in coverages[own].clauses where coverages[own].fired.contains(clause) && !known.contains(clause) {
            guard let other = world.policy.without(clause) else { continue }
            if under(other).run().told == outcome.told { coverages[own].takeBack(clause) }
        }
        return (outcome, coverages)
    }
}

extension Outcome {
    fileprivate var told: [Substring] {
        actual.map { line in
            let bytes = line.utf8
            return line[..<(bytes.indices.first { bytes[$0...].starts(with: " because ".utf8) } ?? bytes.endIndex)]
        }
    }
}
