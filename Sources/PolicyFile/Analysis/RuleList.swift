package import Arbiter
package import ArbiterProtocol

/// Rules of which the first that matches answers one question: those of one cause, or those that give ranks.
package struct RuleList: Sendable {
    package struct Entry: Hashable, Sendable {
        package var name: String
        /// Each fact once.
        package var when: [FactTest]
        package var answer: Answer
        package var isCause: Bool
    }

    /// What a rule says, whatever it is called and whenever it says it.
    package enum Answer: Hashable, Sendable {
        case access(Access)
        case rank(RankRule)
    }

    package let entries: [Entry]
    /// What holds where none matches.
    package let otherwise: Answer

    /// Every list of a policy: one for each cause that some rule raises, and the ranks'.
    package static func all(_ policy: Policy) -> [RuleList] {
        var lists = CauseRule.causes.map { cause in
            RuleList(
                entries: policy.causeRules.filter { $0.cause == cause }.map { rule in
                    Entry(name: rule.name, when: once(rule.when), answer: .access(rule.access), isCause: true)
                }, otherwise: .access(.all))
        }
        lists.append(
            RuleList(
                entries: policy.rankRules.map { rule in
                    Entry(name: rule.name, when: once(rule.when), answer: .rank(rule.plain), isCause: false)
                }, otherwise: .rank(RankRule(name: "", rank: policy.ranks.count - 1))))
        return lists.filter { !$0.entries.isEmpty }
    }

    private static func once(_ tests: [FactTest]) -> [FactTest] {
        tests.reduce(into: []) { kept, test in if !kept.contains(test) { kept.append(test) } }
    }

    /// What would answer behind an entry.
    package func answer(_ facts: Facts, behind entry: Int) -> Answer {
        entries[(entry + 1)...].first { $0.when.allSatisfy { $0.holds(for: facts) } }?.answer ?? otherwise
    }
}

extension RankRule {
    /// What it gives, without its name and its facts.
    fileprivate var plain: RankRule {
        var rule = self
        rule.name = ""
        rule.when = []
        return rule
    }
}
