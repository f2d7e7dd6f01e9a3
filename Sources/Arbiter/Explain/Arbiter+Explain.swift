public import Vocabulary

extension Arbiter {
    /// What was decided and by which rule; `History.explain` also says what would have turned it.
    /// - Parameter id: 0: the latest.
    /// - Returns: nil: no such decision, or older than the last `1,024` that said something.
    public func explain(_ id: DecisionID) -> Explanation? {
        (id == 0 ? ledger.decisions.latest : ledger.decisions.find(id)).map { record in
            Explanation(
                decision: record.id, at: record.at, event: record.event,
                verdicts: record.verdicts.map { verdict in
                    Explanation.Verdict(
                        session: verdict.session, outcome: verdict.outcome, rule: verdict.rule,
                        read: verdict.facts.map { FactReading.read($0, record.policy) } ?? [],
                        opponent: verdict.against)
                })
        }
    }
}
