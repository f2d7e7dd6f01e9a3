import Arbiter
package import ArbiterProtocol
import TomlFile

/// Proofs that no session can reach parts of a policy's rules: impossible boxes, or those of other rules, cover
/// everything.
package struct RuleReach: Sendable {
    package enum Sight: Hashable, Sendable {
        case answering
        case missing
        /// It answers, and without it the answer would be another: then each of its facts decides.
        case deciding
        /// It would answer, and answer otherwise, but for this one fact.
        case missingBy(FactTest)
    }

    private let lists: [RuleList]
    private let space: FactSpace
    /// Of each list's rules; every question asks for them.
    private let boxes: [[FactBox]]

    package init(_ policy: Policy) {
        lists = RuleList.all(policy)
        space = FactSpace(policy)
        let space = space
        boxes = lists.map { list in list.entries.map { space.box($0.when) } }
    }

    /// `nil` where a session can show it, or where a bounded search has not settled it.
    package func whyNever(_ sight: Sight, of rule: String) -> String? {
        for (list, boxes) in zip(lists, boxes) {
            if let index = list.entries.firstIndex(where: { $0.name == rule }) {
                return whyNever(sight, index, list, boxes)
            }
        }
        return nil
    }

    package func whyNever(_ tests: [FactTest]) -> String? { whyExcluded(space.box(tests)) }

    private func whyNever(_ sight: Sight, _ index: Int, _ list: RuleList, _ boxes: [FactBox]) -> String? {
        let entry = list.entries[index]
        let region: FactBox
        switch sight {
        case .answering, .deciding: region = space.box(entry.when)
        case .missing: region = [:]
        case .missingBy(let test): region = space.box(entry.when, but: test)
        }
        if let why = whyExcluded(region) { return why }
        // A rule that shares no facts with it does not matter; most rules do not.
        let near = list.entries.indices.filter { $0 != index && space.meet(region, boxes[$0]) }
        let earlier = near.filter { $0 < index }
        if isCovered(region, earlier.map { boxes[$0] } + (sight == .missing ? [boxes[index]] : [])) {
            if sight == .missing { return "whenever it is asked, it matches" }
            let hiders = earlier.fewest { some in isCovered(region, some.map { boxes[$0] }) }
            let names = hiders.map { Wording.quoted(list.entries[$0].name) }.joined(separator: " and ")
            return "\(names) \(hiders.count == 1 ? "answers" : "answer") before it then"
        }
        switch sight {
        case .answering, .missing: return nil
        case .deciding, .missingBy: break
        }
        // Is a point left where the answer behind it differs?
        if list.otherwise != entry.answer, !isCovered(region, near.map { boxes[$0] }) { return nil }
        for later in near where later > index && list.entries[later].answer != entry.answer {
            let before = near.filter { $0 < later }.map { boxes[$0] }
            let both = region.merging(boxes[later]) { $0.intersection($1) }
            if !isCovered(both, before.filter { space.meet(both, $0) }) { return nil }
        }
        return sight == .deciding
            ? "without the rule the answer would be the same" : "the answer is the same without that fact"
    }

    private func isCovered(_ region: FactBox, _ covers: [FactBox]) -> Bool {
        space.answer(region, by: covers, stepsMax: Self.stepsMax) == .covered
    }

    /// For each question about a rule: 256 rules of four facts are some thousand questions, which take seconds together
    /// at most. A clause that needs more is not proven, and counts.
    private static let stepsMax = 2000

    private func whyExcluded(_ region: FactBox) -> String? {
        guard isCovered(region, []) else { return nil }
        let reasons = space.impossible.fewest { space.answer(region, knowing: $0) == .covered }
        let why = reasons.map(\.why).eachOnce
        return why.isEmpty ? "its other facts leave that one no other value" : why.joined(separator: "; ")
    }
}

/// Rules of which the first that matches answers one question: those of one cause, or those that give ranks.
package struct RuleList: Sendable {
    package struct Entry: Hashable, Sendable {
        package var name: String
        package var when: [FactTest]
        package var answer: Answer
        package var isCause: Bool
        var isDeny: Bool { if case .rank(let rule) = answer { rule.deny } else { false } }
    }

    /// A rule without its name and its conditions.
    package enum Answer: Hashable, Sendable {
        case access(Access)
        case rank(RankRule)
    }

    package let entries: [Entry]
    package let otherwise: Answer

    /// One for each cause that some rule raises, and the ranks'.
    package static func all(_ policy: Policy) -> [RuleList] {
        var lists = CauseRule.causes.map { cause in
            RuleList(
                entries: policy.causeRules.filter { $0.cause == cause }.map { rule in
                    Entry(name: rule.name, when: rule.when.eachOnce, answer: .access(rule.access), isCause: true)
                }, otherwise: .access(.all))
        }
        lists.append(
            RuleList(
                entries: policy.rankRules.map { rule in
                    Entry(name: rule.name, when: rule.when.eachOnce, answer: .rank(rule.plain), isCause: false)
                }, otherwise: .rank(RankRule(name: "", rank: policy.ranks.count - 1))))
        return lists.filter { !$0.entries.isEmpty }
    }

    package func answer(_ facts: Facts, behind entry: Int) -> Answer {
        entries[(entry + 1)...].first { $0.when.allSatisfy { $0.holds(for: facts) } }?.answer ?? otherwise
    }
}

extension RankRule {
    package var plain: RankRule {
        var rule = self
        rule.name = ""
        rule.when = []
        return rule
    }
}
