import Arbiter
public import ArbiterProtocol
public import PolicyFile

/// One change of a policy, to another value of a closed set or to none, and the policy with it.
public struct PolicyChange: Sendable {
    /// A `[[cause]]` or `[[rank]]`, or a key of `[contention]`.
    public var place: PolicyPart
    public var what: What
    public var policy: Policy

    public enum What: Hashable, Sendable {
        /// Values as a policy file has them; `nil` where the key is missing.
        case set(key: String, from: String?, to: String?)
        /// The rule no longer reads this fact.
        case dropFact(String)
        /// The rule changes places with this one, which is just before it.
        case before(rule: String)
    }

    /// As the beginning of “… repairs it”.
    /// - Parameter origin: the file and line of a place, where they are known.
    public func words(_ origin: (PolicyPart) -> String?) -> String {
        let at = origin(place).map { " (\($0))" } ?? ""
        let owner = place == .rule(place.name) ? "rule “\(place.name)”\(at)" : "[\(place.table)]\(at)"
        switch what {
        case .set(let key, let from?, let to?): return "changing `\(key)` of \(owner) from \(from) to \(to)"
        case .set(let key, nil, let to?): return "setting `\(key)` of \(owner) to \(to)"
        case .set(let key, let from, nil): return "taking `\(key) = \(from ?? "")` out of \(owner)"
        case .dropFact(let fact): return "taking `\(fact)` out of \(owner)"
        case .before(let rule): return "putting \(owner) before rule “\(rule)”"
        }
    }

    /// Every single change of a policy's closed sets, in the order of its file.
    static func all(of policy: Policy) -> [PolicyChange] {
        var changes = Changes(policy: policy)
        for (index, rule) in policy.rankRules.enumerated() {
            let place = PolicyPart.rule(rule.name)
            // A rule that denies has no rank, and other rules do not deny.
            let own = PolicyKeys.rank.filter { $0.name == (rule.deny ? "deny" : "rank") }
            let others = PolicyKeys.rank.filter { !["rank", "deny"].contains($0.name) }
            changes.change({ _ in place }, rule.deny ? others + own : own + others, \.rankRules[index])
            changes.changeFacts(of: place, rule.when, \.rankRules[index].when)
            changes.exchange(\.rankRules, index, \.name)
        }
        for (index, rule) in policy.causeRules.enumerated() {
            let place = PolicyPart.rule(rule.name)
            // The access is a smaller change than the cause.
            changes.change({ _ in place }, PolicyKeys.cause.reversed(), \.causeRules[index])
            changes.changeFacts(of: place, rule.when, \.causeRules[index].when)
            changes.exchange(\.causeRules, index, \.name)
        }
        var keys = PolicyKeys.contention
        // Another choice is a smaller change than another time.
        if let time = keys.firstIndex(where: { $0.name == "cool-down" }),
            let choice = keys.firstIndex(where: { $0.name == "gives-way" })
        {
            keys.swapAt(time, choice)
        }
        changes.change({ .contention($0.name) }, keys, \.contention)
        return changes.found
    }

    private struct Changes {
        let policy: Policy
        var found: [PolicyChange] = []

        private mutating func add(_ place: PolicyPart, _ what: What, _ change: (inout Policy) -> Void) {
            var changed = policy
            change(&changed)
            if changed != policy { found.append(PolicyChange(place: place, what: what, policy: changed)) }
        }

        /// Every other value that the tables of keys name.
        mutating func change<Owner>(
            _ place: (Key<Owner>) -> PolicyPart, _ keys: [Key<Owner>], _ path: WritableKeyPath<Policy, Owner>
        ) {
            let owner = policy[keyPath: path]
            for key in keys {
                for other in key.repairs(owner, policy) {
                    let what = What.set(key: key.name, from: key.shown(owner, policy), to: key.shown(other, policy))
                    add(place(key), what) { $0[keyPath: path] = other }
                }
            }
        }

        mutating func changeFacts(
            of rule: PolicyPart, _ facts: [FactTest], _ path: WritableKeyPath<Policy, [FactTest]>
        ) {
            for (index, fact) in facts.enumerated() {
                let (key, value) = fact.written
                add(rule, .dropFact("\(key) = \(value)")) { $0[keyPath: path].remove(at: index) }
                for other in fact.otherwise {
                    add(rule, .set(key: key, from: value, to: other.written.value)) {
                        $0[keyPath: path][index] = other
                    }
                }
            }
        }

        mutating func exchange<Rule>(
            _ rules: WritableKeyPath<Policy, [Rule]>, _ index: Int, _ name: KeyPath<Rule, String>
        ) {
            guard index > 0 else { return }
            let names = policy[keyPath: rules].map { $0[keyPath: name] }
            add(.rule(names[index]), .before(rule: names[index - 1])) { $0[keyPath: rules].swapAt(index, index - 1) }
        }
    }
}
