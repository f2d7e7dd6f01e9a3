public import Vocabulary

/// The last steps of an arbiter that runs, so that a decision of late can be lived through again.
///
/// The arbiter itself remembers what it decided, not what it was before. It is a value, and the same events give the
/// same decisions: so a copy now and then, and the events since, are enough to have it as it was before any of them.
///
///     copy ── event ── event ── event ── copy ── event ── event ──▶ now
public struct History: Sendable {
    /// A copy costs as much as the arbiter is large, living an event again some microseconds: together they stay
    /// below a millisecond, and nobody waits for either.
    static let eventsBetweenCopies = 128
    /// As many steps as `explain` reaches back, and the recorders' answers that belong to them.
    static let copiesMax = 24

    private struct Stretch: Sendable {
        var start: Arbiter
        var events: [(event: Event, at: Moment)] = []
    }

    private var stretches: [Stretch] = []

    public init() {}

    /// Notes an event right before the arbiter is stepped with it.
    public mutating func note(_ event: Event, at moment: Moment, before arbiter: Arbiter) {
        if stretches.last.map({ $0.events.count >= Self.eventsBetweenCopies }) ?? true {
            var start = arbiter
            start.forgetDecisions()
            if stretches.count == Self.copiesMax { stretches.removeFirst() }
            stretches.append(Stretch(start: start))
        }
        stretches[stretches.count - 1].events.append((event, moment))
    }

    /// Why a decision fell as it did, and what would have turned it.
    /// - Parameters:
    ///   - id: 0: the latest.
    ///   - arbiter: the one whose steps were noted, as it is now.
    /// - Returns: nil: as `Arbiter.explain`.
    public func explain(_ id: DecisionID, of arbiter: Arbiter) -> Explanation? {
        guard var explanation = arbiter.explain(id), !explanation.verdicts.isEmpty else { return arbiter.explain(id) }
        // However many a decision is about, the answer comes in the same time.
        let attempts = max(1, TurnSearch.attemptsMax / explanation.verdicts.count)
        for (place, search) in searches(explanation) {
            let result = search.search(attempts: attempts)
            explanation.verdicts[place].turnedBy = result.found
            explanation.verdicts[place].searched = result.searched
        }
        return explanation
    }

    /// For each verdict the step that brought it: a handover is one decision in several steps.
    private func searches(_ explanation: Explanation) -> [(place: Int, search: TurnSearch)] {
        guard let first = stretches.lastIndex(where: { $0.start.ledger.decision < explanation.decision }) else {
            return []
        }
        var open = Array(explanation.verdicts.indices)
        var found: [(Int, TurnSearch)] = []
        var arbiter = stretches[first].start
        for (event, at) in stretches[first...].lazy.flatMap(\.events) {
            let before = arbiter
            _ = arbiter.step(event, at: at)
            guard arbiter.lastDecision == explanation.decision else { continue }
            open.removeAll { place in
                let verdict = explanation.verdicts[place]
                let search = TurnSearch(
                    before: before, event: event, at: at, session: verdict.session, outcome: verdict.outcome)
                guard search.fell(arbiter) else { return false }
                found.append((place, search))
                return true
            }
            if open.isEmpty { break }
        }
        return found
    }
}
