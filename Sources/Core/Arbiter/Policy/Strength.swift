import Vocabulary

/// How strong a bid is, as one number: smaller is stronger. The rule that told two bids apart follows from the bits in
/// which they differ, and is looked up only for notices.
package struct Strength: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// The rank above the order list's keys, from the left.
    var key: UInt64
    /// The age of the start request, where the order list has it; else 0.
    var age: UInt64

    package static func < (a: Strength, b: Strength) -> Bool { a.key != b.key ? a.key < b.key : a.age < b.age }

    /// Ranks are fewer than 64.
    static let rankShift: UInt64 = 58
}

/// A key of the order list before the age of the start request: some bits of `Strength.key`.
struct OrderField: Sendable {
    enum Reads: Sendable {
        case fact(FactBits.Field)
        case attribute(Int)
    }

    let reads: Reads
    let shift: UInt64
    let rule: Rule

    /// 6 bits for an attribute's place, one for a truth; 4 truths and 8 attributes are 52, below the rank's six.
    private static let attributeWidth: UInt64 = 6

    /// Keys after the age of the start request decide nothing: no two requests are of one age.
    static func fields(of policy: Policy, from text: Int) -> (
        fields: [OrderField], age: (isNewestFirst: Bool, rule: Rule)?
    ) {
        var fields: [OrderField] = []
        var shift = Strength.rankShift
        func truth(_ field: FactBits.Field, _ rule: Rule) {
            shift -= 1
            fields.append(OrderField(reads: .fact(field), shift: shift, rule: rule))
        }
        for (index, key) in policy.contention.order.enumerated() {
            // The second of two equal keys decides nothing.
            if policy.contention.order[..<index].contains(key) { continue }
            let rule = Rule(.order, text + index)
            switch key {
            case .focused: truth(.focused, rule)
            case .foreground: truth(.foreground, rule)
            case .recording: truth(.recording, rule)
            case .operatorChosen: truth(.chosen, rule)
            case .newest: return (fields, (true, rule))
            case .oldest: return (fields, (false, rule))
            case .attribute(let name):
                // A key that the policy lacks decides nothing; a file with such an order is refused.
                guard let place = policy.attributes.firstIndex(where: { $0.name == name }) else { continue }
                shift -= attributeWidth
                fields.append(OrderField(reads: .attribute(place), shift: shift, rule: rule))
            }
        }
        return (fields, nil)
    }

    @inline(__always) func bits(_ facts: FactBits) -> UInt64 {
        switch reads {
        case .fact(let field): (facts.has(field) ? 0 : 1) << shift
        case .attribute(let place): (facts.attributes >> UInt64(8 * place) & 0x3f) << shift
        }
    }
}

/// The outcome of comparing two bids, and its rule.
struct Comparison: Hashable, Sendable, BitwiseCopyable {
    enum Winner: Hashable, Sendable { case first, second, tie }
    var winner: Winner
    var rule: Rule

    var isWon: Bool { winner == .first }
}

extension CompiledPolicy {
    @inline(__always) func strength(_ rank: Int, _ facts: FactBits, started: UInt64) -> Strength {
        var key = UInt64(rank) << Strength.rankShift
        for field in order { key |= field.bits(facts) }
        guard let age else { return Strength(key: key, age: 0) }
        return Strength(key: key, age: age.isNewestFirst ? .max - started : started)
    }

    /// Ranks first, then the order list from left to right; each bid comes with the rule of its rank.
    func compare(_ a: (strength: Strength, rank: Rule), _ b: (strength: Strength, rank: Rule)) -> Comparison {
        let (x, y) = (a.strength, b.strength)
        guard x != y else { return Comparison(winner: .tie, rule: tieRule) }
        let isFirst = x < y
        return Comparison(winner: isFirst ? .first : .second, rule: rule(rankOfWinner: isFirst ? a.rank : b.rank, x, y))
    }

    /// The rule that tells two bids apart: the winner's rank rule, or the first key of the order list in which they
    /// differ.
    private func rule(rankOfWinner: Rule, _ x: Strength, _ y: Strength) -> Rule {
        let differing = x.key ^ y.key
        if differing >> Strength.rankShift != 0 { return rankOfWinner }
        if differing == 0, let age { return age.rule }
        let highest = 63 - UInt64(differing.leadingZeroBitCount)
        return order.first { $0.shift <= highest }?.rule ?? tieRule
    }
}

extension CompiledPolicy {
    /// The rule of a verdict that only the tie decided.
    package var tieRule: Rule { .law(contention.tie == .newcomer ? .tieNewcomer : .tieHolder) }

    var sameAppRule: Rule {
        switch contention.sameApp {
        case .newest: .law(.sameAppNewest)
        case .replace: .law(.sameAppReplace)
        case .refuse: .law(.sameAppRefuse)
        }
    }
}
