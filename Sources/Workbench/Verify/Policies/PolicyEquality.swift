import Arbiter
import ArbiterProtocol
import PolicyFile

/// Whether two policies say the same, but for names and for order that means nothing, so that no walk is needed. Rules are compared
/// by their answers for every combination of facts, also impossible ones: equal policies decide the same, and unequal policies may.
struct PolicyEquality {
    let first: Policy
    let second: Policy

    /// Also false where it would take too long to tell.
    var holds: Bool {
        // Only rules, ranks and cameras have several ways to say the same.
        let differ = first.keysThatDiffer(from: second).subtracting([PolicyKey("", "ranks")])
        guard differ.allSatisfy({ ["cause", "rank", "camera"].contains($0.table) }), haveSameRanks, haveSameCameras
        else { return false }
        for cause in CauseRule.causes {
            let lists = [first, second].map { policy in
                policy.causeRules.filter { $0.cause == cause }.map { Clause(when: $0.when, answer: .access($0.access)) }
            }
            if !areSame(lists, otherwise: .access(.all)) { return false }
        }
        let lists = [first, second].map { policy in
            policy.rankRules.map { rule in
                var plain = rule.plain
                // By its place among the given ranks; a denied session has none.
                plain.rank = rule.deny ? 0 : Self.given(policy).firstIndex(of: rule.rank) ?? 0
                return Clause(when: rule.when, answer: .rank(plain))
            }
        }
        return areSame(lists, otherwise: .rank(RankRule(name: "", rank: Self.given(first).count - 1)))
    }

    /// Ranks that no rule gives and only one of the two has. Only a program that lowers itself to one by its name can tell.
    var idleRanks: [String] {
        unique(first.ranks + second.ranks).filter { first.ranks.contains($0) != second.ranks.contains($0) }
    }

    private var haveSameRanks: Bool {
        Self.given(first).map { first.ranks[$0] } == Self.given(second).map { second.ranks[$0] }
    }

    /// The ranks that sessions can have, strongest first: a session that no rule matches has the weakest.
    private static func given(_ policy: Policy) -> [Int] {
        let byRules = policy.rankRules.filter { !$0.deny }.map(\.rank)
        let matchesAll = policy.rankRules.contains { $0.when.isEmpty }
        return Set(byRules + (matchesAll && !byRules.isEmpty ? [] : [policy.ranks.count - 1])).sorted()
    }

    private var haveSameCameras: Bool {
        let cameras = PolicyReads([first, second]).cameras
        return cameras.allSatisfy { one in
            first.cost(one) == second.cost(one)
                && cameras.allSatisfy { first.conflict(one, $0) == second.conflict(one, $0) }
        }
    }

    private struct Clause: Hashable {
        var when: [FactTest]
        let answer: RuleList.Answer

        /// The clause once a test is known to hold or not; `nil` where it cannot match any more.
        func knowing(_ test: FactTest, holds: Bool) -> Clause? {
            var left = self
            left.when = []
            for other in when {
                switch test.decides(other, holds: holds) {
                case true?: continue
                case false?: return nil
                case nil: left.when.append(other)
                }
            }
            return left
        }
    }

    /// A second at most.
    private static let stepsMax = 100_000

    private func areSame(_ lists: [[Clause]], otherwise: RuleList.Answer) -> Bool {
        var steps = 0
        // Different facts often leave the same clauses.
        var known: Set<[[Clause]]> = []
        func look(_ lists: [[Clause]]) -> Bool {
            // A rule after one that always matches never answers.
            let lists = lists.map { list in
                list.firstIndex { $0.when.isEmpty }.map { Array(list[...$0]) } ?? list
            }
            guard let test = lists.lazy.compactMap({ $0.first?.when.first }).first else {
                return (lists[0].first?.answer ?? otherwise) == (lists[1].first?.answer ?? otherwise)
            }
            if lists[0] == lists[1] || !known.insert(lists).inserted { return true }
            steps += 1
            guard steps < Self.stepsMax else { return false }
            return [true, false].allSatisfy { holds in
                look(lists.map { $0.compactMap { $0.knowing(test, holds: holds) } })
            }
        }
        return look(lists)
    }
}

extension FactTest {
    /// Whether another test holds where this one holds or does not, as far as that follows.
    fileprivate func decides(_ other: FactTest, holds: Bool) -> Bool? {
        if self == other { return holds }
        let (own, others) = (written, other.written)
        guard own.key == others.key else { return nil }
        if case .pressure(let level) = self, case .pressure(let wanted) = other {
            if holds { return wanted <= level ? true : nil }
            return wanted >= level ? false : nil
        }
        if holds { return false }
        // The fact has only two values.
        return otherwise.count == 1 ? true : nil
    }
}
