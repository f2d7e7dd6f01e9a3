public import Arbiter

/// How much of a policy scenarios have reached.
///
/// A clause counts when some step of some scenario made it decide, and once more when it was asked and did not
/// apply, where that can be. Everything is read off the core: the rules that its verdicts, notices and refusals
/// name, and the policy's own functions asked with the facts of the moment.
public struct PolicyCoverage: Hashable, Sendable {
    public let policy: Policy
    /// In the order of the file format.
    public let clauses: [PolicyClause]
    public private(set) var fired: Set<PolicyClause> = []
    /// Rules that were asked and did not match, and order keys in which two bids were equal.
    public private(set) var unmatched: Set<PolicyClause> = []

    public init(_ policy: Policy) {
        self.policy = policy
        clauses = policy.clauses
    }

    /// Notes that a clause decided. Clauses that the policy does not have, or that can decide nothing, are no news.
    mutating func fire(_ clause: PolicyClause) { fired.insert(clause) }
    mutating func unmatch(_ clause: PolicyClause) { unmatched.insert(clause) }

    /// Adds what another run under the same policy has reached.
    public mutating func merge(_ other: PolicyCoverage) {
        precondition(policy == other.policy, "coverage of two policies is not to be added")
        fired.formUnion(other.fired)
        unmatched.formUnion(other.unmatched)
    }

    /// Of so many, so many were reached.
    public struct Share: Hashable, Sendable {
        public var reached = 0
        public var all = 0

        /// Nil where there was nothing to reach: that is no coverage, and not all of it.
        public var percent: Double? { all == 0 ? nil : 100 * Double(reached) / Double(all) }
    }

    public func firedShare(of group: PolicyClause.Group) -> Share {
        share {
            $0.group == group
        } counting: {
            fired.contains($0)
        }
    }

    /// Only of clauses that have an opposite.
    public func unmatchedShare(of group: PolicyClause.Group) -> Share {
        share {
            $0.group == group && policy.hasOpposite($0)
        } counting: {
            unmatched.contains($0)
        }
    }

    private func share(
        _ isAsked: (PolicyClause) -> Bool, counting isReached: (PolicyClause) -> Bool
    ) -> Share {
        let asked = clauses.filter(isAsked)
        return Share(reached: asked.filter(isReached).count, all: asked.count)
    }

    /// Both together, over the whole policy.
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
        public enum Lack: String, Hashable, Sendable {
            case neverFired, neverUnmatched
        }

        public func sentence(in policy: Policy) -> String {
            let title = clause.title(in: policy)
            switch (lack, clause) {
            case (.neverFired, .causeRule), (.neverFired, .rankRule): return "\(title): no scenario made it fire"
            case (.neverFired, .access(.strong)): return "\(title): no scenario has a weak one refused"
            case (.neverFired, .access): return "\(title): no scenario has a camera by it"
            case (.neverFired, _): return "\(title): no scenario made it decide anything"
            case (.neverUnmatched, .order): return "\(title): no scenario let two bids be equal in it"
            case (.neverUnmatched, _): return "\(title): no scenario saw it not match"
            }
        }
    }

    /// What is missing, in the order of the file format.
    public var gaps: [Gap] {
        clauses.flatMap { clause in
            var gaps: [Gap] = []
            if !fired.contains(clause) { gaps.append(Gap(clause: clause, lack: .neverFired)) }
            if policy.hasOpposite(clause), !unmatched.contains(clause) {
                gaps.append(Gap(clause: clause, lack: .neverUnmatched))
            }
            return gaps
        }
    }
}
