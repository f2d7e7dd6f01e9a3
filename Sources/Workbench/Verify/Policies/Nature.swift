import Arbiter
package import ArbiterProtocol
import PolicyFile

/// What the policies make of a kind of client, whatever else happens. Facts are of two sorts: those that a client keeps
/// as long as it is connected, and those that change. Put in what it keeps, and a rule never matches, or is left with
/// the facts that change. Two kinds of clients for which the same rules are left, with the same answers, are one:
/// exchange one for the other in any world, and every decision is as it was, except the names of rules.
struct Nature: Hashable {
    private var causes: [[Answer]] = []
    private var ranks: [[Answer]] = []
    private var statements: [[FactTest]?] = []
    /// A client's identity decides more than what rules say of it: which clients are one app, and which users are another's.
    private var identity: [Bool] = []
    private var login: String?
    private var user: UInt32?
    private var watches: Bool
    private var rights: [Right] = []

    private enum Right { case none, seat, named }

    private struct Answer: Hashable {
        var when: [FactTest]
        var access = Access.all
        /// Where rules count by their names.
        var name = ""
        var rank: RankRule?
    }

    init(_ character: CastRole, _ reads: PolicyReads) {
        login = character.login
        let isCounted = reads.sharing || reads.declares || reads.foregroundApps || reads.microphone
        user = character.login == nil && !isCounted ? nil : character.user
        watches = character.watches
        for policy in reads.policies {
            rights.append(Self.right(of: character, policy.rights))
            for cause in CauseRule.causes {
                var answers = Self.firstMatching(
                    policy.causeRules.filter { $0.cause == cause }.compactMap { rule in
                        character.remaining(rule.when).map {
                            Answer(when: $0, access: rule.access, name: reads.namesCount ? rule.name : "")
                        }
                    })
                // An exemption from nothing.
                while !reads.namesCount, answers.last?.access == .all { answers.removeLast() }
                causes.append(answers)
            }
            ranks.append(
                Self.firstMatching(
                    policy.rankRules.compactMap { rule in
                        character.remaining(rule.when).map {
                            Answer(when: $0, name: reads.namesCount ? rule.name : "", rank: rule.plain)
                        }
                    }))
        }
        for tests in reads.conjunctions where tests.contains(where: \.saysWho) {
            identity.append(character.remaining(tests) != nil)
        }
        for tests in reads.policies.flatMap(\.statements).flatMap(\.conjunctions) {
            statements.append(character.remaining(tests))
        }
    }

    private static func right(of character: CastRole, _ rights: Rights) -> Right {
        if character.user == 0 { return .named }
        if character.isWeak, rights.identity == .strong { return .none }
        let isNamed =
            rights.users.contains { $0.number == character.user }
            || rights.groups.contains { $0.number != nil && $0.number == character.group }
            || (!character.isClaimed && character.app.map(rights.services.contains) == true)
        return isNamed ? .named : rights.seat && character.login != "none" ? .seat : .none
    }

    /// Without those that never answer, because an earlier one matches wherever they do.
    private static func firstMatching(_ answers: [Answer]) -> [Answer] {
        answers.reduce(into: []) { kept, answer in
            if !kept.contains(where: { $0.when.allSatisfy(answer.when.contains) }) { kept.append(answer) }
        }
    }
}

extension FactTest {
    fileprivate var saysWho: Bool {
        switch self {
        case .app, .claimedApp, .user: true
        default: false
        }
    }
}

extension CastRole {
    /// What is left of a rule's tests when its nature is put in: those that read what changes. Nil: it never matches.
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

extension PolicyWalk {
    /// The kinds of clients that a policy tells apart, each with the facts of all that are taken for one. For tests.
    package static func kinds(of policy: Policy) -> [[Facts]] {
        let reads = PolicyReads([policy])
        let all = CastRole.candidates(reads)
        return unique(all.map { Nature($0, reads) }).map { nature in
            all.filter { Nature($0, reads) == nature }.map(\.facts)
        }
    }
}
