import Arbiter
import ArbiterProtocol

/// The members of a small world: a session each, and whose client it belongs to.
struct Cast {
    /// What the session's client is, for each session.
    var sessions: [Character]
    /// Which client each session belongs to, by its number from 0 on; two of one client stand side by side.
    var clients: [Int]
    /// Casts of the same members have one number; which of two alike are one client only makes another world of the
    /// same cast.
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

/// Every cast that a walk goes through, and how many there would be.
struct Casting {
    private(set) var casts: [Cast] = []
    /// Of as many clients as were asked for, and those that statements need besides.
    private(set) var castsInAll = 0

    /// - Parameter pairsOnly: only enough casts that every two kinds meet, each kind also itself.
    init(_ reads: PolicyReads, clients: Int, pairsOnly: Bool) {
        let classes = Character.classes(reads)
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
                    guard let two = Character.sessionsOfOneClient(classes[pair[0]], classes[pair[1]]),
                        seen.insert(pair).inserted
                    else { continue }
                    let rest = cast.indices.filter { $0 != first && $0 != second }.map { kinds[cast[$0]] }
                    casts.append(
                        Cast(sessions: two + rest, clients: [0, 0] + rest.indices.map { $0 + 1 }, number: number))
                }
            }
        }
    }

    /// Only the casts in which somebody may have one of these sets of facts.
    func about(_ roles: [[FactTest]]) -> Casting {
        var casting = self
        casting.casts.removeAll { cast in
            !cast.sessions.contains { session in roles.contains { session.mayEver($0) } }
        }
        return casting
    }

    /// Whether all wanted members are in a cast.
    private static func has(_ cast: [Int], _ wanted: [Int]) -> Bool {
        var rest = cast
        return wanted.allSatisfy { kind in
            guard let place = rest.firstIndex(of: kind) else { return false }
            rest.remove(at: place)
            return true
        }
    }

    /// Casts of so many in which every two kinds meet.
    ///
    /// All casts of three out of eight kinds are 120; that every two meet takes a dozen.
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
    private static func actors(_ reads: PolicyReads, _ kinds: [Character]) -> [[Int]] {
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
    /// Every choice of so many elements, with repetition, in order.
    func multisets(of size: Int, from first: Int) -> [[Element]] {
        if size == 0 { return [[]] }
        return indices[first...].flatMap { index in
            multisets(of: size - 1, from: index).map { [self[index]] + $0 }
        }
    }
}
