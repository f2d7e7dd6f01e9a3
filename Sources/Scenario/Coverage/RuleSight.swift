import Arbiter
import PolicyFile

/// What facts show of a policy's rules: which answer, which are asked before and do not match, and which of their facts
/// decide that.
struct RuleSight: Sendable {
    private let lists: [RuleList]
    /// The same facts show the same again, and most steps change none.
    private var seen: Set<Facts> = []

    init(_ policy: Policy) { lists = RuleList.all(policy) }

    mutating func note(_ facts: Facts, in coverage: inout PolicyCoverage) {
        guard seen.insert(facts).inserted else { return }
        for list in lists { Self.note(facts, list, in: &coverage) }
    }

    private static func note(_ facts: Facts, _ list: RuleList, in coverage: inout PolicyCoverage) {
        var answered: Int?
        // Those that one fact alone keeps from matching.
        var nearly: [(entry: Int, test: FactTest)] = []
        for (index, entry) in list.entries.enumerated() {
            let missing = entry.when.lazy.filter { !$0.holds(for: facts) }.prefix(2)
            var all = missing.makeIterator()
            guard let first = all.next() else {
                answered = index
                break
            }
            coverage.unmatch(entry.clause)
            if all.next() == nil { nearly.append((index, first)) }
        }
        let actual = answered.map { list.entries[$0].answer } ?? list.otherwise
        for (index, test) in nearly where list.entries[index].answer != actual {
            coverage.unmatch(.fact(rule: list.entries[index].name, test))
        }
        guard let answered else { return }
        let entry = list.entries[answered]
        coverage.fire(entry.clause)
        guard list.answer(facts, behind: answered) != entry.answer else { return }
        for test in entry.when { coverage.fire(.fact(rule: entry.name, test)) }
    }
}

extension RuleList.Entry {
    fileprivate var clause: PolicyClause { isCause ? .causeRule(name) : .rankRule(name) }
}
