import Arbiter
import ArbiterProtocol

struct Cast {
    var sessions: [CastRole]
    /// Which client each session belongs to, by its number from 0 on; two of one client stand side by side.
    var clients: [Int]
    /// Casts of the same members have one number; which of two alike are one client only makes another world of the same cast.
    var number: Int

    /// Sessions for which nothing but their names differs have one key.
    var keys: [[Int]] {
        let kinds = unique(sessions)
        return sessions.indices.map { index in
            let isDouble = clients.filter { $0 == clients[index] }.count > 1
            return [kinds.firstIndex(of: sessions[index]) ?? 0, isDouble ? 1 : 0]
        }
    }
}

package struct Casting {
    private(set) var casts: [Cast] = []
    /// Of as many clients as were asked for, and those that statements need besides.
    private(set) var castsInAll = 0

    /// - Parameter pairsOnly: only enough casts that every two kinds meet, each kind also itself.
    init(_ reads: PolicyReads, clients: Int, pairsOnly: Bool) {
        let classes = CastRole.classes(reads)
        let kinds = classes.map { $0[0] }
        let every = [Int](kinds.indices).multisets(of: clients, from: 0)
        var chosen = pairsOnly ? Self.pairing(every, kinds.count) : every
        let needed = Self.actors(reads, kinds)
        castsInAll = every.count + needed.filter { $0.count > clients }.count
        chosen += needed.filter { wanted in !chosen.contains { Self.has($0, wanted) } }
        // Where statements are put to the test comes first: what is broken is found the sooner.
        let isNeeded = chosen.map { cast in needed.contains { Self.has(cast, $0) } }
        chosen =
            chosen.indices.filter { isNeeded[$0] }.map { chosen[$0] }
            + chosen.indices.filter { !isNeeded[$0] }.map { chosen[$0] }
        for (number, cast) in chosen.enumerated() {
            let sessions = cast.map { kinds[$0] }
            casts.append(Cast(sessions: sessions, clients: Array(cast.indices), number: number))
            // One client with two sessions: of every two members that can be one client, once for each two kinds.
            var seen: Set<[Int]> = []
            for first in cast.indices {
                for second in cast.indices where second > first {
                    let pair = [cast[first], cast[second]]
                    guard let two = CastRole.sessionsOfOneClient(classes[pair[0]], classes[pair[1]]),
                        seen.insert(pair).inserted
                    else { continue }
                    let rest = cast.indices.filter { $0 != first && $0 != second }.map { kinds[cast[$0]] }
                    casts.append(
                        Cast(sessions: two + rest, clients: [0, 0] + rest.indices.map { $0 + 1 }, number: number))
                }
            }
        }
    }

    func about(_ roles: [[FactTest]]) -> Casting {
        var casting = self
        casting.casts.removeAll { cast in
            !cast.sessions.contains { session in roles.contains { session.mayEver($0) } }
        }
        return casting
    }

    private static func has(_ cast: [Int], _ wanted: [Int]) -> Bool {
        var rest = cast
        return wanted.allSatisfy { kind in
            guard let place = rest.firstIndex(of: kind) else { return false }
            rest.remove(at: place)
            return true
        }
    }

    /// Casts of so many in which every two kinds meet. All casts of three out of eight kinds are 120; that every two
    /// meet takes a dozen.
    private static func pairing(_ every: [[Int]], _ kinds: Int) -> [[Int]] {
        guard let size = every.first?.count, size > 2 else { return every }
        var open: Set<[Int]> = []
        for a in 0..<kinds { for b in a..<kinds { open.insert([a, b]) } }
        func pairs(_ cast: [Int]) -> Set<[Int]> {
            var pairs: Set<[Int]> = []
            for i in cast.indices { for j in cast.indices where i < j { pairs.insert([cast[i], cast[j]]) } }
            return pairs
        }
        var chosen: [[Int]] = []
        while !open.isEmpty {
            // The first of the casts that bring most new pairs together.
            var best: (cast: [Int], new: Int) = ([], 0)
            for cast in every {
                let new = pairs(cast).intersection(open).count
                if new > best.new { best = (cast, new) }
            }
            guard best.new > 0 else { break }
            open.subtract(pairs(best.cast))
            chosen.append(best.cast)
        }
        return chosen
    }

    /// For each statement about several apps, the one behind which one waits included: every choice of kinds that can
    /// play its parts. A statement's actors meet, however few clients the other worlds have.
    private static func actors(_ reads: PolicyReads, _ kinds: [CastRole]) -> [[Int]] {
        var found: [[Int]] = []
        for statement in reads.policies.flatMap(\.statements) {
            // Whoever is in the way is one of the players, where there are several.
            let roles = statement.roles + (statement.roles.count == 1 ? statement.by.map { [$0] } ?? [] : [])
            guard roles.count > 1 else { continue }
            var choices: [[Int]] = [[]]
            for role in roles {
                let able = kinds.indices.filter { kinds[$0].mayEver(role) }
                choices = unique(choices.flatMap { choice in able.map { (choice + [$0]).sorted() } })
            }
            found += choices
        }
        return unique(found)
    }
}

extension Array {
    func multisets(of size: Int, from first: Int) -> [[Element]] {
        if size == 0 { return [[]] }
        return indices[first...].flatMap { index in multisets(of: size - 1, from: index).map { [self[index]] + $0 } }
    }
}

/// One kind of client, as far as a policy can tell clients apart: what stays as it is while the client is connected.
struct CastRole: Hashable {
    /// The name that a rule gives; nil: an app that no rule names.
    var app: String?
    var isClaimed = false
    var user: UInt32 = 1000
    var kind = ClientKind.app
    var multitasking = false
    var usesAudio = false
    var watches = false
    /// Nil: its user sits at the seat; `none`: a process outside any login session.
    var login: String?
    var group: UInt32?
    var isWeak = false

    /// Every kind of client that the policies tell apart, those that rules name first: all that are of one kind.
    static func classes(_ reads: PolicyReads) -> [[CastRole]] {
        var found: [[CastRole]] = []
        var places: [Nature: Int] = [:]
        for character in candidates(reads) {
            let nature = Nature(character, reads)
            if let place = places[nature] {
                found[place].append(character)
            } else {
                places[nature] = found.count
                found.append([character])
            }
        }
        return found
    }

    /// A client may have two sessions of different kinds: what a session is by itself, it chooses for each.
    /// - Returns: one of either kind whose clients are the same; nil: there are none.
    static func sessionsOfOneClient(_ first: [CastRole], _ second: [CastRole]) -> [CastRole]? {
        for one in first { if let other = second.first(where: { $0.client == one.client }) { return [one, other] } }
        return nil
    }

    private var client: CastRole {
        var plain = self
        (plain.usesAudio, plain.watches) = (false, false)
        return plain
    }

    static func candidates(_ reads: PolicyReads) -> [CastRole] {
        var apps: [CastRole] = []
        var kinds: [ClientKind] = []
        var multitasking = [false]
        var audio = [false]
        for test in reads.tests {
            switch test {
            case .app(let name): apps.append(CastRole(app: name))
            case .claimedApp(let name): apps.append(CastRole(app: name, isClaimed: true))
            case .client(let kind): kinds.append(kind)
            case .multitasking: multitasking = [false, true]
            case .usesAudio: audio = [false, true]
            default: break
            }
        }
        apps += reads.entitledServices.map { CastRole(app: $0) }
        // A kind that no rule names is like any other of that sort.
        kinds = ClientKind.allCases.filter { $0 == .app || kinds.contains($0) }
        func each<Value>(_ all: [CastRole], _ path: WritableKeyPath<CastRole, Value>, _ values: [Value]) -> [CastRole] {
            all.flatMap { one in
                values.map { value in
                    var varied = one
                    varied[keyPath: path] = value
                    return varied
                }
            }
        }
        var all = unique(apps) + [CastRole()]
        all = all.flatMap { one in
            homes(reads).map { home in
                var varied = one
                (varied.login, varied.user) = home
                return varied
            }
        }
        all = each(all, \.kind, kinds)
        all = each(all, \.multitasking, multitasking)
        all = each(all, \.usesAudio, audio)
        all = each(all, \.group, [nil] + reads.entitledGroups)
        all = each(all, \.isWeak, reads.weakness ? [false, true] : [false])
        return each(all, \.watches, reads.sharing ? [false, true] : [false])
    }

    /// Where clients live: for which user, and in which login session; services live in none.
    private static func homes(_ reads: PolicyReads) -> [(String?, UInt32)] {
        let users = reads.users
        let outside: [(String?, UInt32)] = reads.outsiders ? users.map { ("none", $0) } : []
        guard reads.login else { return users.map { (nil, $0) } + outside }
        return outside
            + users.enumerated().map { ("c\($0.offset + 1)", $0.element) }
            + users.filter { $0 == users[0] || reads.namedUsers.contains($0) }.map { (nil, $0) }
    }

    /// What a person may call it; the names of a world are made unique by numbers.
    var name: String {
        if let app { return app.hasSuffix(".service") ? String(app.dropLast(8)) : app }
        return switch kind {
        case .app: watches ? "watcher" : multitasking ? "notes" : "photos"
        case .picker: "picker"
        case .voip: "call"
        }
    }
}
