import Arbiter
import ArbiterProtocol

/// Choices of `[contention]` that no verdict names: they count where the same event would come to something else under the
/// policy with the other choice.
///
/// A copy of the arbiter is asked, as it is asked for a plan: it is given the policy again, or the one with the other
/// choice, and then the event. Only where both stand alike before the event did the event make the difference.
struct ChoiceTrials: Sendable {
    private let policy: Policy
    private let others: [(clause: PolicyClause, policy: Policy)]

    init(_ policy: Policy) {
        self.policy = policy
        others = policy.clauses.compactMap { clause in
            var other = policy
            switch clause {
            case .choice(.givesWay):
                other.contention.givesWay = policy.contention.givesWay == .weakest ? .longestHeld : .weakest
            case .choice(.backfill): other.contention.backfill = false
            default: return nil
            }
            return (clause, other)
        }
    }

    func run(_ event: Event, at now: Moment, _ arbiter: Arbiter, _ coverage: inout PolicyCoverage) {
        for other in others where !coverage.fired.contains(other.clause) {
            var (one, two) = (arbiter, arbiter)
            _ = one.step(.policyLoaded(policy), at: now)
            _ = two.step(.policyLoaded(other.policy), at: now)
            guard Observation(one).picture == Observation(two).picture else { continue }
            _ = one.step(event, at: now)
            _ = two.step(event, at: now)
            if Observation(one).picture != Observation(two).picture { coverage.fire(other.clause) }
        }
    }
}
