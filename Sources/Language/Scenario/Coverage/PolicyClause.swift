import Arbiter
public import ArbiterProtocol
public import PolicyFile

/// A part of a policy that a scenario can test: a right to cameras, a rule, a right or duty of a rank, or a choice of
/// `[contention]` that can decide something.
public enum PolicyClause: Hashable, Sendable {
    case access(Named)
    case causeRule(String)
    case rankRule(String)
    /// A fact of a rule, which decides where the answer would be another without it.
    case fact(rule: String, FactTest)
    /// A right or duty of a rank rule, beside the rank.
    case rankChoice(rule: String, RankChoice)
    /// The grace or the min-hold of a holder that loses to an app on another camera.
    case acrossCameras(rule: String, RankChoice)
    case order(Contention.OrderKey)
    case choice(ContentionChoice)
    case conflicts(CameraID)

    public enum Named: Hashable, Sendable {
        case user(Rights.Account)
        case group(Rights.Account)
        case service(String)
        /// `identity = "strong"`: clients without it have no right.
        case strong
    }

    public enum RankChoice: String, Hashable, Sendable, CaseIterable {
        case grace, lease, pause, immediate, deny
        case minHold = "min-hold"
    }

    /// A key of `[contention]`, except its order list.
    public struct ContentionChoice: Hashable, Sendable {
        public let key: String

        public static let tie = ContentionChoice(key: "tie")
        public static let newcomer = ContentionChoice(key: "newcomer")
        public static let loser = ContentionChoice(key: "loser")
        public static let sharing = ContentionChoice(key: "sharing")
        public static let budget = ContentionChoice(key: "budget")
        public static let sameApp = ContentionChoice(key: "same-app")
        public static let ownConflict = ContentionChoice(key: "own-conflict")
        public static let reDecide = ContentionChoice(key: "re-decide")
        public static let coolDown = ContentionChoice(key: "cool-down")
        public static let strongestMayExceed = ContentionChoice(key: "strongest-may-exceed")
        public static let givesWay = ContentionChoice(key: "gives-way")
        public static let shareWith = ContentionChoice(key: "share-with")
        public static let backfill = ContentionChoice(key: "backfill")

        /// In the order of reports; other keys stand behind them.
        private static let first: [ContentionChoice] = [
            .tie, .newcomer, .loser, .sharing, .budget, .sameApp, .ownConflict, .reDecide, .coolDown,
            .strongestMayExceed, .givesWay, .shareWith, .backfill,
        ]
        static let all =
            first
            + PolicyKeys.contention.map { ContentionChoice(key: $0.name) }.filter {
                $0.key != "order" && !first.contains($0)
            }

        /// No verdict names the key, so steps are tried under the policy without it.
        var isTried: Bool { self == .givesWay || self == .backfill || !Self.first.contains(self) }

        var row: Key<Contention>? { PolicyKeys.contention.first { $0.name == key } }
    }

    public enum Group: String, Hashable, Sendable, CaseIterable {
        case access = "[access]"
        case causeRules = "[[cause]] rules"
        case rankRules = "[[rank]] rules"
        case facts = "facts of rules"
        case rankChoices = "what ranks may"
        case contention = "[contention]"
    }

    public var group: Group {
        switch self {
        case .access: .access
        case .causeRule: .causeRules
        case .rankRule: .rankRules
        case .fact: .facts
        case .rankChoice, .acrossCameras: .rankChoices
        case .order, .choice, .conflicts: .contention
        }
    }

    public var part: PolicyPart {
        switch self {
        case .access(.user): .access("users")
        case .access(.group): .access("groups")
        case .access(.service): .access("services")
        case .access(.strong): .access("identity")
        case .causeRule(let name), .rankRule(let name), .fact(let name, _), .rankChoice(let name, _),
            .acrossCameras(let name, _):
            .rule(name)
        case .order: .contention("order")
        case .choice(let choice): .contention(choice.key)
        case .conflicts(let camera): .camera(camera.name)
        }
    }

    public func title(in policy: Policy) -> String {
        switch self {
        case .access(.user(let account)): "[access] user \(account.title)"
        case .access(.group(let account)): "[access] group \(account.title)"
        case .access(.service(let name)): "[access] service \"\(name)\""
        case .access(.strong): "[access] identity: strong"
        case .causeRule(let name): "[[cause]] \"\(name)\""
        case .rankRule(let name): "[[rank]] \"\(name)\""
        case .fact(let name, let test): "\(test.pair) of \"\(name)\""
        case .rankChoice(let name, let choice): "\(choice.rawValue) of \"\(name)\""
        case .acrossCameras(let name, let choice): "\(choice.rawValue) of \"\(name)\" across cameras"
        case .order(let key): "order: \(key.name)"
        case .conflicts(let camera): "conflicts of camera \"\(camera.name)\""
        case .choice(let choice): "\(choice.key): \(value(of: choice, policy))"
        }
    }

    private func value(of choice: ContentionChoice, _ policy: Policy) -> String {
        choice.row?.shown(policy.contention, policy)?.filter { $0 != "\"" } ?? "none"
    }
}

extension Policy {
    /// Whether a scenario can also show a clause not to apply: a rule that reads facts does not match, two bids are
    /// equal in an order key.
    public func hasOpposite(_ clause: PolicyClause) -> Bool {
        switch clause {
        case .causeRule(let name): causeRules.first { $0.name == name }?.when.isEmpty == false
        case .rankRule(let name): rankRules.first { $0.name == name }?.when.isEmpty == false
        case .order(let key): !key.tellsAllApart
        case .fact: true
        case .access, .rankChoice, .acrossCameras, .choice, .conflicts: false
        }
    }

    /// Every clause that scenarios can make count under this policy, in the order of the file format.
    ///
    /// Root's right and the seat's, which every policy gives, are left out. So is what can decide nothing here: order
    /// keys behind `newest` or `oldest` and the tie (no two bids are equal in that), `newcomer` where no start can
    /// lose, `loser` where no holder can lose to a bid, `cool-down` without leases and evictions, `gives-way` where no
    /// budget has two holders to choose from, a grace or a min-hold across cameras that do not touch each other, and
    /// `none`, `facts` and `backfill = false`, which are the absence of a rule.
    public var clauses: [PolicyClause] {
        var clauses = rights.users.map { PolicyClause.access(.user($0)) }
        clauses += rights.groups.map { .access(.group($0)) }
        clauses += rights.services.map { .access(.service($0)) }
        if rights.identity == .strong { clauses.append(.access(.strong)) }
        clauses += causeRules.map { .causeRule($0.name) }
        clauses += rankRules.map { .rankRule($0.name) }
        for list in RuleList.all(self) {
            for entry in list.entries { clauses += entry.when.map { PolicyClause.fact(rule: entry.name, $0) } }
        }
        for rule in rankRules {
            func add(_ choice: PolicyClause.RankChoice, if counts: Bool) {
                if counts { clauses.append(.rankChoice(rule: rule.name, choice)) }
            }
            add(.immediate, if: rule.isImmediate && rankRules.contains { $0.grace > .zero || $0.minHold > .zero })
            add(.grace, if: rule.grace > .zero)
            add(.minHold, if: rule.minHold > .zero)
            add(.lease, if: rule.lease != nil)
            add(.pause, if: rule.lease != nil && rule.pause > .zero)
            add(.deny, if: rule.deny)
            guard camerasTouch else { continue }
            if rule.grace > .zero { clauses.append(.acrossCameras(rule: rule.name, .grace)) }
            if rule.minHold > .zero { clauses.append(.acrossCameras(rule: rule.name, .minHold)) }
        }
        clauses += decidingOrder.map { .order($0) }
        clauses += PolicyClause.ContentionChoice.all.filter(canDecide).map { .choice($0) }
        clauses += cameras.filter { !$0.conflicts.isEmpty }.map { .conflicts($0.camera) }
        return clauses
    }

    /// The order list up to its last key that is ever read: no two sessions began with the same start request.
    var decidingOrder: [Contention.OrderKey] {
        guard let last = contention.order.firstIndex(where: { $0.tellsAllApart }) else { return contention.order }
        return Array(contention.order[...last])
    }

    private func canDecide(_ choice: PolicyClause.ContentionChoice) -> Bool {
        switch choice {
        case .sameApp: true
        case .ownConflict: contention.ownConflict == .refuse && cameras.contains { !$0.conflicts.isEmpty }
        case .newcomer: newcomersCanLose
        case .tie: !contention.order.contains { $0.tellsAllApart }
        case .loser: holdersCanLose
        case .sharing: contention.sharing != .none
        case .reDecide: contention.reDecide == .open
        case .coolDown: sendsAway && contention.coolDown > .zero
        case .budget: contention.budget != nil && cameras.contains { $0.cost.dearest > 0 }
        case .strongestMayExceed: contention.strongestMayExceed && canDecide(.budget)
        // Two holders and a newcomer, each on a camera that costs something.
        case .givesWay: canDecide(.budget) && cameras.filter { $0.cost.dearest > 0 }.count > 2
        case .shareWith: contention.sharing != .none
        case .backfill: contention.backfill && camerasTouch
        default: choice.row.map { !$0.isSame(contention, Contention()) } ?? false
        }
    }

    private var camerasTouch: Bool { cameras.contains { !$0.conflicts.isEmpty } || canDecide(.budget) }

    /// Every session has a place on every camera, beside whoever controls it.
    private var everybodyShares: Bool {
        contention.sharing != .none && contention.shareWith == .everyone && !camerasTouch
    }

    private var holdersCanLose: Bool {
        if everybodyShares, contention.loser == .interrupt { return rankRules.contains { $0.lease != nil } }
        return ranks.count > 1 || !contention.order.isEmpty || contention.tie == .newcomer
            || rankRules.contains { $0.lease != nil }
    }

    /// Where the newest bid is the strongest, no start loses.
    private var newcomersCanLose: Bool {
        if everybodyShares, contention.newcomer == .queue { return false }
        if ranks.count > 1 || sendsAway { return true }
        return contention.order.first.map { $0 != .newest } ?? (contention.tie == .holder)
    }

    /// Apps can lose a camera in a way that lets them cool down.
    private var sendsAway: Bool {
        rankRules.contains { $0.lease != nil } || (contention.loser == .evict && holdersCanLose)
    }
}

extension Contention.OrderKey {
    var tellsAllApart: Bool { self == .newest || self == .oldest }
}

extension Rights.Account {
    fileprivate var title: String { name.map { "\"\($0)\"" } ?? number.map { "\($0)" } ?? "" }
}
