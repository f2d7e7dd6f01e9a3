import Arbiter
package import Vocabulary

/// A policy asked in words: for whoever explains, measures or writes policies. Decisions ask `CompiledPolicy`.
extension Policy {
    /// Every cause's first matching rule, in file order.
    package func answers(_ facts: Facts) -> [CauseRule] {
        var answered = CauseSet()
        return causeRules.filter { rule in
            guard !answered.contains(rule.cause), rule.when.allSatisfy({ $0.holds(for: facts) }) else { return false }
            answered.insert(rule.cause)
            return true
        }
    }

    /// The first matching rank rule, or the weakest rank where none matches.
    package func rank(_ facts: Facts) -> RankRule {
        for index in rankRules.indices where rankRules[index].when.allSatisfy({ $0.holds(for: facts) }) {
            return rankRules[index]
        }
        return RankRule(name: Law.weakestRank.text, rank: ranks.count - 1)
    }
}
