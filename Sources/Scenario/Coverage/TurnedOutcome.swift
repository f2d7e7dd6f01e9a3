import Arbiter

/// An order key and the cool-down count where they turned something: a verdict named them, and without them clients would
/// have been told something else.
///
/// A key that is the first in which two bids differ has decided, but if what follows it says the same, it might as well not
/// be there. So a scenario in which it decided is run again under the policy without it.
extension Scenario {
    /// - Parameter known: clauses that other scenarios have shown to count.
    func runWithCoverage(knowing known: Set<PolicyClause>) -> (outcome: Outcome, coverages: [PolicyCoverage]) {
        var stage = Stage(Arbiter(policy: world.policy))
        stage.coverage = CoverageRecorder()
        let outcome = run(on: &stage)
        var coverages = stage.coverage?.coverages ?? []
        // What a scenario loads later is no longer the policy that it is put under.
        guard let own = coverages.firstIndex(where: { $0.policy == world.policy }) else { return (outcome, coverages) }
        for clause in coverages[own].clauses where coverages[own].fired.contains(clause) && !known.contains(clause) {
            guard let other = world.policy.without(clause) else { continue }
            if under(other).run().told == outcome.told { coverages[own].takeBack(clause) }
        }
        return (outcome, coverages)
    }
}

extension Policy {
    /// Nil: the clause counts by what its verdicts say alone.
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

extension Outcome {
    /// What happened, without the names of the rules that it happened by.
    fileprivate var told: [Substring] {
        actual.map { line in
            let bytes = line.utf8
            return line[..<(bytes.indices.first { bytes[$0...].starts(with: " because ".utf8) } ?? bytes.endIndex)]
        }
    }
}
