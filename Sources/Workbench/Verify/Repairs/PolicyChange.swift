import Arbiter
public import ArbiterProtocol

/// One change of a policy, to another value of a closed set or to none, and the policy with it.
public struct PolicyChange: Sendable {
    public var place: Place
    public var what: What
    public var policy: Policy

    /// What of the policy is changed.
    public enum Place: Hashable, Sendable {
        /// A `[[cause]]` or `[[rank]]`, by its name.
        case rule(String)
        /// A key of `[contention]`.
        case contention(String)
    }

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
    public func words(_ origin: (Place) -> String?) -> String {
        let at = origin(place).map { " (\($0))" } ?? ""
        let owner =
            switch place {
            case .rule(let name): "rule “\(name)”\(at)"
            case .contention: "[contention]\(at)"
            }
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

        private mutating func add(_ place: Place, _ what: What, _ change: (inout Policy) -> Void) {
            var changed = policy
            change(&changed)
            if changed != policy { found.append(PolicyChange(place: place, what: what, policy: changed)) }
        }

        private func quoted(_ text: String) -> String { "\"\(text)\"" }

        mutating func changeRanks() {
            let leases = unique(policy.rankRules.compactMap(\.lease)).sorted()
            for (index, rule) in policy.rankRules.enumerated() {
                let place = Place.rule(rule.name)
                func set<Value>(
                    _ key: String, _ path: WritableKeyPath<RankRule, Value>, _ from: String?, _ to: String?,
                    _ value: Value
                ) { add(place, .set(key: key, from: from, to: to)) { $0.rankRules[index][keyPath: path] = value } }
                // The nearest ranks first: the smaller change.
                let ranks = policy.ranks.indices.sorted { (abs($0 - rule.rank), $0) < (abs($1 - rule.rank), $1) }
                for rank in ranks where !rule.deny {
                    set("rank", \.rank, quoted(policy.ranks[rule.rank]), quoted(policy.ranks[rank]), rank)
                }
                set("immediate", \.isImmediate, "\(rule.isImmediate)", "\(!rule.isImmediate)", !rule.isImmediate)
                set("grace", \.grace, text(rule.grace), quoted("0s"), .zero)
                set("min-hold", \.minHold, text(rule.minHold), quoted("0s"), .zero)
                set("lease", \.lease, rule.lease.map { text($0) }, nil, nil)
                // Of all times only those that the policy has for others.
                for lease in leases { set("lease", \.lease, rule.lease.map { text($0) }, text(lease), lease) }
                if rule.deny { set("deny", \.deny, "true", "false", false) }
                changeFacts(of: rule.name, rule.when) { $0.rankRules[index].when = $1 }
                if index > 0 {
                    add(place, .before(rule: policy.rankRules[index - 1].name)) {
                        $0.rankRules.swapAt(index, index - 1)
                    }
                }
            }
        }

        private func text(_ duration: Duration) -> String { quoted(TimeText.write(duration)) }

        private mutating func changeFacts(
            of rule: String, _ facts: [FactTest], _ change: (inout Policy, [FactTest]) -> Void
        ) {
            for (index, fact) in facts.enumerated() {
                let (key, value) = fact.written
                var rest = facts
                rest.remove(at: index)
                add(.rule(rule), .dropFact("\(key) = \(value)")) { change(&$0, rest) }
                for other in fact.otherwise {
                    var turned = facts
                    turned[index] = other
                    add(.rule(rule), .set(key: key, from: value, to: other.written.value)) { change(&$0, turned) }
                }
            }
        }

        mutating func changeCauses() {
            for (index, rule) in policy.causeRules.enumerated() {
                let place = Place.rule(rule.name)
                for access in [Access.preview, .photo, .record, .configure] {
                    let changed = rule.access.symmetricDifference(access)
                    add(place, .set(key: "access", from: list(rule.access.names), to: list(changed.names))) {
                        $0.causeRules[index].access = changed
                    }
                }
                for cause in CauseRule.causes {
                    add(place, .set(key: "cause", from: quoted(rule.cause.wireName), to: quoted(cause.wireName))) {
                        $0.causeRules[index].cause = cause
                    }
                }
                changeFacts(of: rule.name, rule.when) { $0.causeRules[index].when = $1 }
                if index > 0 {
                    add(place, .before(rule: policy.causeRules[index - 1].name)) {
                        $0.causeRules.swapAt(index, index - 1)
                    }
                }
            }
        }

        private func list(_ names: [String]) -> String { "[\(names.map(quoted).joined(separator: ", "))]" }

        mutating func changeContention() {
            changeOrder()
            choose("tie", \.tie)
            choose("same-app", \.sameApp)
            choose("own-conflict", \.ownConflict)
            choose("newcomer", \.newcomer)
            choose("loser", \.loser)
            choose("sharing", \.sharing, but: [.all])
            choose("share-with", \.shareWith)
            choose("re-decide", \.reDecide)
            choose("gives-way", \.givesWay)
            let contention = policy.contention
            set("cool-down", \.coolDown, text(contention.coolDown), quoted("0s"), .zero)
            set(
                "strongest-may-exceed", \.strongestMayExceed, "\(contention.strongestMayExceed)",
                "\(!contention.strongestMayExceed)", !contention.strongestMayExceed)
            set("backfill", \.backfill, "\(contention.backfill)", "\(!contention.backfill)", !contention.backfill)
        }

        private mutating func set<Value>(
            _ key: String, _ path: WritableKeyPath<Contention, Value>, _ from: String, _ to: String, _ value: Value
        ) { add(.contention(key), .set(key: key, from: from, to: to)) { $0.contention[keyPath: path] = value } }

        /// Every other value of a choice that is served.
        private mutating func choose<Choice: CaseIterable & RawRepresentable<String> & Hashable>(
            _ key: String, _ path: WritableKeyPath<Contention, Choice>, but others: [Choice] = []
        ) {
            let now = policy.contention[keyPath: path]
            for value in Choice.allCases where !others.contains(value) {
                set(key, path, quoted(now.rawValue), quoted(value.rawValue), value)
            }
        }

        /// One key less, two neighbours exchanged, or one key more.
        private mutating func changeOrder() {
            let order = policy.contention.order
            func set(_ changed: [Contention.OrderKey]) {
                self.set("order", \.order, list(order.map(\.name)), list(changed.map(\.name)), changed)
            }
            for index in order.indices {
                var changed = order
                changed.remove(at: index)
                set(changed)
                if index > 0 {
                    changed = order
                    changed.swapAt(index, index - 1)
                    set(changed)
                }
            }
            let keys = Contention.OrderKey.builtIn + policy.attributes.map { .attribute($0.name) }
            // The newest and the oldest contradict each other.
            let hasAge = order.contains(.newest) || order.contains(.oldest)
            for key in keys where !order.contains(key) && !(hasAge && [.newest, .oldest].contains(key)) {
                for index in 0...order.count {
                    var changed = order
                    changed.insert(key, at: index)
                    set(changed)
                }
            }
        }
    }
}

extension FactTest {
    fileprivate var otherwise: [FactTest] {
        switch self {
        case .loginSession(let now): Facts.LoginState.allCases.filter { $0 != now }.map { .loginSession($0) }
        case .foreground(let now): [.foreground(!now)]
        case .layout(let now): Presence.Layout.allCases.filter { $0 != now }.map { .layout($0) }
        case .focused(let now): [.focused(!now)]
        case .foregroundApps(let now): Facts.ForegroundApps.allCases.filter { $0 != now }.map { .foregroundApps($0) }
        case .client(let now): ClientKind.allCases.filter { $0 != now }.map { .client($0) }
        case .multitasking(let now): [.multitasking(!now)]
        case .position(let now): CameraPosition.allCases.filter { $0 != now }.map { .position($0) }
        case .usesAudio(let now): [.usesAudio(!now)]
        case .microphoneTaken(let now): [.microphoneTaken(!now)]
        case .pressure(let now): SystemPressure.allCases.filter { $0 != now }.map { .pressure(atLeast: $0) }
        case .recording(let now): [.recording(!now)]
        case .bidIsNew(let now): [.bidIsNew(!now)]
        case .operatorChosen(let now): [.operatorChosen(!now)]
        // Names are no closed set.
        case .app, .claimedApp, .user, .camera, .attribute, .mode: []
        }
    }
}
