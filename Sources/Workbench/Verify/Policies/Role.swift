import Arbiter
package import ArbiterProtocol
import PolicyFile

/// One kind of client, as far as a policy can tell clients apart by what stays as it is while they are connected.
struct Role: Hashable {
    /// `nil` for an app that no rule names.
    var app: String?
    var isClaimed = false
    var user: UInt32 = 1000
    var kind = ClientKind.app
    var multitasking = false
    var usesAudio = false
    var watches = false
    /// `nil`: its user sits at the seat; `none`: a process outside any login session.
    var login: String?
    var group: UInt32?
    var isWeak = false

    /// Every role that the policies tell apart, those that rules name first, each with all that are equivalent to it.
    static func classes(_ reads: PolicyReads) -> [[Role]] {
        var found: [[Role]] = []
        var places: [RoleSignature: Int] = [:]
        for role in candidates(reads) {
            let signature = RoleSignature(role, reads)
            if let place = places[signature] {
                found[place].append(role)
            } else {
                places[signature] = found.count
                found.append([role])
            }
        }
        return found
    }

    /// A client may have two sessions of different roles: each session chooses audio and sharing for itself.
    /// - Returns: one of either class whose clients are the same; `nil` where there are none.
    static func sessionsOfOneClient(_ first: [Role], _ second: [Role]) -> [Role]? {
        for one in first { if let other = second.first(where: { $0.client == one.client }) { return [one, other] } }
        return nil
    }

    private var client: Role {
        var plain = self
        (plain.usesAudio, plain.watches) = (false, false)
        return plain
    }

    private static func candidates(_ reads: PolicyReads) -> [Role] {
        func each<Value>(_ all: [Role], _ path: WritableKeyPath<Role, Value>, _ values: [Value]) -> [Role] {
            all.flatMap { role in
                values.map { value in
                    var varied = role
                    varied[keyPath: path] = value
                    return varied
                }
            }
        }
        func bothIf(_ isRead: Bool) -> [Bool] { isRead ? [false, true] : [false] }
        let named = reads.tests.compactMap { test -> Role? in
            switch test {
            case .app(let name): Role(app: name)
            case .claimedApp(let name): Role(app: name, isClaimed: true)
            default: nil
            }
        }
        var all = unique(named + reads.entitledServices.map { Role(app: $0) }) + [Role()]
        all = all.flatMap { role in
            homes(reads).map { home in
                var varied = role
                (varied.login, varied.user) = home
                return varied
            }
        }
        // A kind that no rule names is like any other of that sort.
        all = each(all, \.kind, ClientKind.allCases.filter { $0 == .app || reads.tests.contains(.client($0)) })
        all = each(all, \.multitasking, bothIf(reads.multitasking))
        all = each(all, \.usesAudio, bothIf(reads.audio))
        all = each(all, \.group, [nil] + reads.entitledGroups)
        all = each(all, \.isWeak, bothIf(reads.weakness))
        return each(all, \.watches, bothIf(reads.sharing))
    }

    /// The login session and user of clients; services are in no login session.
    private static func homes(_ reads: PolicyReads) -> [(String?, UInt32)] {
        let users = reads.users
        let outside: [(String?, UInt32)] = reads.outsiders ? users.map { ("none", $0) } : []
        guard reads.login else { return users.map { (nil, $0) } + outside }
        return outside
            + users.enumerated().map { ("c\($0.offset + 1)", $0.element) }
            + users.filter { $0 == users[0] || reads.namedUsers.contains($0) }.map { (nil, $0) }
    }

    /// A name for people; a world makes its names unique with numbers.
    var name: String {
        if let app { return app.hasSuffix(".service") ? String(app.dropLast(8)) : app }
        return switch kind {
        case .app: watches ? "watcher" : multitasking ? "notes" : "photos"
        case .picker: "picker"
        case .voip: "call"
        }
    }

    /// The tests of a rule that remain with the role put in, which read facts that change; `nil`: the rule never matches.
    fileprivate func remaining(_ tests: [FactTest]) -> [FactTest]? {
        var left: [FactTest] = []
        for test in tests {
            let holds: Bool
            switch test {
            case .app(let name): holds = name == app && !isClaimed
            case .claimedApp(let name): holds = name == app && isClaimed
            case .user(let number): holds = number == user
            case .client(let named): holds = named == kind
            case .multitasking(let wanted): holds = wanted == multitasking
            case .usesAudio(let wanted): holds = wanted == usesAudio
            case .loginSession(let state):
                holds = (state == .none) == (login == nil || login == "none")
                if holds, state != .none { left.append(test) }
            default:
                holds = true
                left.append(test)
            }
            if !holds { return nil }
        }
        return left
    }

    func mayEver(_ tests: [FactTest]) -> Bool { remaining(tests) != nil }

    fileprivate var facts: Facts {
        Facts(
            app: isClaimed ? nil : app, claimedApp: isClaimed ? app : nil, user: user, client: kind,
            multitasking: multitasking, camera: CameraID("camera"), usesAudio: usesAudio)
    }
}

/// The part of a role that decisions can depend on: exchange two roles with one signature in any world, and every decision is the same,
/// but for the names of rules.
private struct RoleSignature: Hashable {
    private let rules: RuleSignature
    /// Identity decides more than rules do: which clients are one app, and which users are another's.
    private let identity: [Bool]
    private let login: String?
    private let user: UInt32?
    private let watches: Bool
    private let rights: [Right]

    private enum Right { case none, seat, named }

    init(_ role: Role, _ reads: PolicyReads) {
        (login, watches) = (role.login, role.watches)
        let isCounted = reads.sharing || reads.declares || reads.foregroundApps || reads.microphone
        user = role.login == nil && !isCounted ? nil : role.user
        rules = RuleSignature(reads, role.remaining)
        rights = reads.policies.map { Self.right(of: role, $0.rights) }
        identity = reads.conjunctions.filter { $0.contains(where: \.isOfIdentity) }.map { role.remaining($0) != nil }
    }

    private static func right(of role: Role, _ rights: Rights) -> Right {
        if role.user == 0 { return .named }
        if role.isWeak, rights.identity == .strong { return .none }
        let isNamed =
            rights.users.contains { $0.number == role.user }
            || rights.groups.contains { $0.number != nil && $0.number == role.group }
            || (!role.isClaimed && role.app.map(rights.services.contains) == true)
        return isNamed ? .named : rights.seat && role.login != "none" ? .seat : .none
    }
}

/// The rules of policies with some facts put in: each rule never matches, or is left with the tests of other facts.
struct RuleSignature: Hashable {
    private var causes: [[Answer]] = []
    private var ranks: [[Answer]] = []
    private let statements: [[FactTest]?]

    private struct Answer: Hashable {
        var when: [FactTest]
        var access = Access.all
        /// Where rules count by their names.
        var name = ""
        var rank: RankRule?
    }

    /// - Parameter remaining: the tests that are left of a conjunction; `nil` where it never matches.
    init(_ reads: PolicyReads, _ remaining: ([FactTest]) -> [FactTest]?) {
        func name(_ name: String) -> String { reads.namesCount ? name : "" }
        for policy in reads.policies {
            for cause in CauseRule.causes {
                var answers = Self.firstMatching(
                    policy.causeRules.filter { $0.cause == cause }.compactMap { rule in
                        remaining(rule.when).map { Answer(when: $0, access: rule.access, name: name(rule.name)) }
                    })
                // The last exemptions exempt from nothing.
                while !reads.namesCount, answers.last?.access == .all { answers.removeLast() }
                causes.append(answers)
            }
            ranks.append(
                Self.firstMatching(
                    policy.rankRules.compactMap { rule in
                        remaining(rule.when).map { Answer(when: $0, name: name(rule.name), rank: rule.plain) }
                    }))
        }
        statements = reads.policies.flatMap(\.statements).flatMap(\.conjunctions).map(remaining)
    }

    /// Without answers that never come, because an earlier one matches wherever they do.
    private static func firstMatching(_ answers: [Answer]) -> [Answer] {
        answers.reduce(into: []) { kept, answer in
            if !kept.contains(where: { $0.when.allSatisfy(answer.when.contains) }) { kept.append(answer) }
        }
    }
}

extension FactTest {
    fileprivate var isOfIdentity: Bool {
        switch self {
        case .app, .claimedApp, .user: true
        default: false
        }
    }
}

extension PolicyWalk {
    /// The roles that a policy tells apart, each with the facts of all that are equivalent. For tests.
    package static func kinds(of policy: Policy) -> [[Facts]] {
        Role.classes(PolicyReads([policy])).map { $0.map(\.facts) }
    }
}
