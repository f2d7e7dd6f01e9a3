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
        /// The key has another value; both as a policy file has them, and nil where the key is missing.
        case set(key: String, from: String?, to: String?)
        /// The rule no longer asks for this fact.
        case dropFact(String)
        /// The rule stands before this one, which is just before it now.
        case before(rule: String)
    }

    /// As the beginning of “… repairs it”.
    /// - Parameter origin: the file and line of a place; nil: not known.
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
        changes.changeRanks()
        changes.changeCauses()
        changes.changeContention()
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

        /// Every value that the keys' tables name, in the place of the one that there is.
        private mutating func change<Owner>(
            _ place: (Key<Owner>) -> PolicyPart, _ keys: [Key<Owner>],
            _ path: WritableKeyPath<Policy, Owner>
        ) {
            let owner = policy[keyPath: path]
            for key in keys {
                for other in key.repairs(owner, policy) {
                    let what = What.set(key: key.name, from: key.shown(owner, policy), to: key.shown(other, policy))
                    add(place(key), what) { $0[keyPath: path] = other }
                }
            }
        }

        mutating func changeRanks() {
            for (index, rule) in policy.rankRules.enumerated() {
                let place = PolicyPart.rule(rule.name)
                // A rule that denies has no rank, and the others deny nobody.
                let own = PolicyKeys.rank.filter { $0.name == (rule.deny ? "deny" : "rank") }
                let others = PolicyKeys.rank.filter { !["rank", "deny"].contains($0.name) }
                change({ _ in place }, rule.deny ? others + own : own + others, \.rankRules[index])
                changeFacts(of: place, rule.when, \.rankRules[index].when)
                if index > 0 {
                    add(place, .before(rule: policy.rankRules[index - 1].name)) {
                        $0.rankRules.swapAt(index, index - 1)
                    }
                }
            }
        }

        private mutating func changeFacts(
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

        mutating func changeCauses() {
            for (index, rule) in policy.causeRules.enumerated() {
                let place = PolicyPart.rule(rule.name)
                // What is left is a smaller change than the cause.
                change({ _ in place }, PolicyKeys.cause.reversed(), \.causeRules[index])
                changeFacts(of: place, rule.when, \.causeRules[index].when)
                if index > 0 {
                    add(place, .before(rule: policy.causeRules[index - 1].name)) {
                        $0.causeRules.swapAt(index, index - 1)
                    }
                }
            }
        }

        mutating func changeContention() {
            var keys = PolicyKeys.contention
            // Another choice is a smaller change than another time.
            if let time = keys.firstIndex(where: { $0.name == "cool-down" }),
                let choice = keys.firstIndex(where: { $0.name == "gives-way" })
            {
                keys.swapAt(time, choice)
            }
            change({ .contention($0.name) }, keys, \.contention)
        }
    }
}
