package import Vocabulary

/// A policy made ready for decisions: rules as conditions on bits, strength as one number, cameras as sets of bits. It
/// never changes, and all copies of an arbiter share it; texts are looked up only for notices.
package final class CompiledPolicy: Sendable {
    package let source: Policy
    /// The texts that `Rule.index` means: cause rules, rank rules, order keys, each in the file's order.
    package let texts: [String]
    /// The texts for a bid that has won and waits only for the holder's time.
    let lateTexts: [String]
    /// The rules' own words for people, by the same index; empty where no rule has any.
    private let messages: [String]
    /// The words of rank rules for apps that lose to them; of cause rules the same as above.
    private let messagesToOthers: [String]
    /// The index of the order list's first text.
    let firstOrderText: Int
    let causes: [CompiledCause]
    let ranks: [CompiledRank]
    private let weakest: RankTerms
    /// The comparison of bids after their rank, strongest bits first.
    let order: [OrderField]
    /// Whether the order list ends with the age of the start request, and which way.
    let age: (isNewestFirst: Bool, rule: Rule)?
    package let names: PolicyNames
    let rights: Rights
    /// For each camera that the policy names: conflicting cameras as bits, and the cost.
    private let conflicts: [UInt64]
    private let costs: [CameraCost]
    /// The dearest cost of each camera, which every round reads.
    private let mostCosts: [Int]
    /// A camera's cost depends on the format, and a budget counts it: sessions are weighed one by one.
    let weighsFormats: Bool
    /// A decision on one camera can touch another.
    package let linksCameras: Bool
    let hasConflicts: Bool
    let shares: Bool
    /// A session that starts on its own app's camera is examined like any other newcomer: where newcomers that lose are
    /// refused and the longest held give way.
    let opensAnew: Bool
    package let reads: StrengthReads
    /// A rule reads whether a session has held its camera since its request.
    let readsBids: Bool
    /// The longest lease of all ranks; 0: none has one.
    package let longestLease: Int64
    /// The longest pause of all ranks; 0: none has one.
    package let longestPause: Int64

    /// A copy, because every comparison reads it.
    package let contention: Contention
    package let budget: Int?
    /// The sources of presence that count, the most trusted first.
    let sources: [PresenceSource]

    /// The policy without a file.
    static let builtIn = CompiledPolicy(.firstCome)

    package init(_ policy: Policy) {
        source = policy
        contention = policy.contention
        budget = policy.contention.budget
        sources = policy.sources.map { $0 }
        shares = policy.contention.sharing != .none
        opensAnew = budget != nil && contention.givesWay == .longestHeld && contention.newcomer == .refuse
        let names = PolicyNames(policy)
        self.names = names
        rights = policy.rights
        let cameras = names.cameras
        costs = cameras.map { camera in policy.cameras.first { $0.camera == camera }?.cost ?? 0 }
        mostCosts = costs.map(\.dearest)
        weighsFormats = policy.contention.budget != nil && costs.contains(where: \.isByFormat)
        conflicts = cameras.map { one in
            cameras.enumerated().reduce(0) { $0 | (policy.conflict(one, $1.element) ? 1 << UInt64($1.offset) : 0) }
        }
        hasConflicts = conflicts.contains { $0 != 0 }
        linksCameras = policy.linksCameras
        causes = policy.causeRules.enumerated().map { CompiledCause($1, at: $0, names) }
        let firstRank = causes.count
        ranks = policy.rankRules.enumerated().map { CompiledRank($1, at: firstRank + $0, names) }
        weakest = RankTerms(rank: policy.ranks.count - 1, rule: .law(.weakestRank))
        readsBids = (causes.map(\.when) + ranks.map(\.when)).contains { $0.reads(.bidIsNew) }
        longestLease = ranks.reduce(0) { max($0, $1.terms.lease ?? 0) }
        longestPause = ranks.reduce(0) { max($0, $1.terms.pause) }
        firstOrderText = firstRank + policy.rankRules.count
        (order, age) = OrderField.fields(of: policy, from: firstOrderText)
        let texts =
            policy.causeRules.map(\.name) + policy.rankRules.map(\.name)
            + policy.contention.order.map { "order: \($0.name)" }
        // Copies, so that arbiters of one policy on two threads do not count references to the same texts.
        self.texts = texts.map { String(decoding: Array($0.utf8), as: UTF8.self) }
        lateTexts = texts.map { "\($0), after its time" }
        let messages = policy.causeRules.map(\.message) + policy.rankRules.map(\.message)
        let toOthers = policy.causeRules.map(\.message) + policy.rankRules.map(\.messageToOthers)
        let hasMessages = !(messages + toOthers).allSatisfy(\.isEmpty)
        (self.messages, messagesToOthers) = hasMessages ? (messages, toOthers) : ([], [])
        reads = StrengthReads(policy)
    }

    @inline(__always) package func conflict(_ a: Int8, _ b: Int8) -> Bool {
        a >= 0 && b >= 0 && conflicts[Int(a)] >> UInt64(b) & 1 == 1
    }

    /// The highest cost in any format.
    @inline(__always) func cost(_ camera: Int8) -> Int { camera >= 0 ? mostCosts[Int(camera)] : 0 }

    /// The costs by format; `nil`: every format costs the same.
    func costsByFormat(_ camera: Int8) -> CameraCost? {
        guard weighsFormats, camera >= 0, costs[Int(camera)].isByFormat else { return nil }
        return costs[Int(camera)]
    }

    var hasMessages: Bool { !messages.isEmpty }

    /// - Parameter isOwn: the session has the rule's rank; else it loses to a session that does.
    /// - Returns: empty where the rule has none.
    func message(of rule: Rule, isOwn: Bool) -> String {
        guard rule.kind == .policy, messages.indices.contains(Int(rule.index)) else { return "" }
        return isOwn ? messages[Int(rule.index)] : messagesToOthers[Int(rule.index)]
    }

    /// The first rule that matches; where none does, the rank is the weakest.
    @inline(__always) func rank(_ facts: FactBits) -> RankTerms {
        for rank in ranks where rank.when.holds(for: facts) { return rank.terms }
        return weakest
    }
}

/// A cause rule. The four causes that a policy may raise have fixed places, so that a look keeps four results.
struct CompiledCause: Sendable, BitwiseCopyable {
    let when: Condition
    let place: Int
    let cause: Cause
    let access: Access
    let rule: Rule

    init(_ rule: CauseRule, at index: Int, _ names: PolicyNames) {
        when = names.condition(rule.when)
        cause = rule.cause
        place = CauseRule.causes.firstIndex(of: rule.cause) ?? 0
        access = rule.access
        self.rule = Rule(.policy, index)
    }
}

struct CompiledRank: Sendable, BitwiseCopyable {
    let when: Condition
    let terms: RankTerms

    init(_ source: RankRule, at index: Int, _ names: PolicyNames) {
        when = names.condition(source.when)
        terms = RankTerms(
            rank: source.rank, isImmediate: source.isImmediate, denies: source.deny,
            grace: source.grace.wholeNanoseconds, minHold: source.minHold.wholeNanoseconds,
            lease: source.lease?.wholeNanoseconds, pause: source.pauseAfterLease.wholeNanoseconds,
            rule: Rule(.policy, index))
    }
}

/// A rank as bids use it; times in nanoseconds.
package struct RankTerms: Sendable, BitwiseCopyable {
    /// 0 is the strongest.
    package var rank: Int
    var isImmediate = false
    var denies = false
    var grace: Int64 = 0
    var minHold: Int64 = 0
    var lease: Int64?
    var pause: Int64 = 0
    var rule: Rule

    /// The rank that a client lowered itself to: the privileges of the higher rank are gone, and its lease stays, with
    /// its pause.
    func lowered(to rank: Int) -> RankTerms {
        RankTerms(rank: rank, denies: denies, lease: lease, pause: pause, rule: .law(.lowered))
    }
}

/// The facts that the strength of bids depends on: apps that may win are announced when one of these changes.
package struct StrengthReads: Sendable {
    private(set) var presence = false
    private(set) var attributes = false
    package private(set) var operatorChoice = false
    private(set) var modes = false

    init(_ policy: Policy) {
        for key in policy.contention.order {
            switch key {
            case .focused, .foreground: presence = true
            case .attribute: attributes = true
            case .operatorChosen: operatorChoice = true
            case .recording, .newest, .oldest: break
            }
        }
        for test in policy.rankRules.flatMap(\.when) {
            switch test {
            case .foreground, .layout, .focused, .foregroundApps: presence = true
            case .attribute: attributes = true
            case .operatorChosen: operatorChoice = true
            case .mode: modes = true
            default: break
            }
        }
    }
}

extension Contention {
    /// Whether sessions of a user may share the camera of a holder.
    func isOpen(to user: UInt32, besideUser holder: UInt32) -> Bool { shareWith == .everyone || user == holder }
}
