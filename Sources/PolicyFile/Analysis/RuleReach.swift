package import Arbiter
import TomlFile

/// What of a policy's rules no session can ever show, proven from the rules alone: a sentence says why.
///
/// A point is a choice of values for all facts. What is asked is always whether there is one point of some kind; there is
/// none where boxes that cannot be, or that others answer, cover everything.
package struct RuleReach: Sendable {
    /// What a rule could be seen to do.
    package enum Sight: Hashable, Sendable {
        /// It answers.
        case answering
        /// It is asked, and does not match.
        case missing
        /// It answers, and without it the answer would be another: then each of its facts decides.
        case deciding
        /// It would answer, and answer otherwise, but for this one fact.
        case missingBy(FactTest)
    }

    private let lists: [RuleList]
    private let space: FactSpace
    private let impossible: [FactSpace.Impossibility]

    package init(_ policy: Policy) {
        lists = RuleList.all(policy)
        space = FactSpace(policy)
        impossible = FactSpace.impossibilities(policy)
    }

    /// Why no session can ever show this of a rule; nil: one can, or a bounded search has not settled it.
    package func whyNever(_ sight: Sight, of rule: String) -> String? {
        for list in lists {
            if let index = list.entries.firstIndex(where: { $0.name == rule }) {
                return whyNever(sight, index, list)
            }
        }
        return nil
    }

    /// Why facts hold for no session; nil: they can.
    package func whyNever(_ tests: [FactTest]) -> String? { whyExcluded(space.box(tests)) }

    private func whyNever(_ sight: Sight, _ index: Int, _ list: RuleList) -> String? {
        let entry = list.entries[index]
        let earlier = Array(list.entries[..<index])
        let region: FactBox
        switch sight {
        case .answering, .deciding: region = space.box(entry.when)
        case .missing: region = [:]
        case .missingBy(let test): region = space.box(entry.when, but: test)
        }
        if let why = whyExcluded(region) { return why }
        let itself = sight == .missing ? [entry] : []
        if isCovered(region, earlier + itself) {
            if sight == .missing { return "whenever it is asked, it matches" }
            let hiders = PolicyAnalysis.fewest(earlier) { isCovered(region, $0) }
            let names = hiders.map { Wording.quoted($0.name) }.joined(separator: " and ")
            return "\(names) \(hiders.count == 1 ? "answers" : "answer") before it then"
        }
        switch sight {
        case .answering, .missing: return nil
        case .deciding, .missingBy: break
        }
        // Some point is left where what answers behind it says something else?
        for (later, other) in list.entries.enumerated() where later > index && other.answer != entry.answer {
            let between = Array(list.entries[(index + 1)..<later])
            if !isCovered(meeting(region, other.when), earlier + between) { return nil }
        }
        if list.otherwise != entry.answer, !isCovered(region, earlier + Array(list.entries[(index + 1)...])) {
            return nil
        }
        return sight == .deciding
            ? "without the rule the answer would be the same" : "the answer is the same without that fact"
    }

    /// Both together.
    private func meeting(_ region: FactBox, _ tests: [FactTest]) -> FactBox {
        region.merging(space.box(tests)) { $0.intersection($1) }
    }

    private func isCovered(_ region: FactBox, _ entries: [RuleList.Entry]) -> Bool {
        let covers = impossible.map(\.tests) + entries.map(\.when)
        return CoverSearch.answer(
            region, in: space.everything, by: covers.map { space.box($0) }, stepsMax: Self.stepsMax) == .covered
    }

    /// For each of the questions about a rule: 256 rules of four facts are some thousand questions, which are to take no
    /// more than seconds together. What needs more is not proven, and counts.
    private static let stepsMax = 2000

    private func whyExcluded(_ region: FactBox) -> String? {
        guard isCovered(region, []) else { return nil }
        let reasons = PolicyAnalysis.fewest(impossible) { some in
            CoverSearch.answer(region, in: space.everything, by: some.map { space.box($0.tests) }) == .covered
        }
        let why = reasons.map(\.why).reduce(into: [String]()) { kept, one in
            if !kept.contains(one) { kept.append(one) }
        }
        return why.isEmpty ? "its other facts leave that one no other value" : why.joined(separator: "; ")
    }
}
