import Arbiter
import ArbiterProtocol

/// The sessions of one small world, by their roles.
struct Population {
    var sessions: [Role]
    /// The client of each session, by its number from 0; two sessions of one client stand side by side.
    var clients: [Int]
    /// Populations of the same roles have one number; which two roles share a client only makes another of their worlds.
    var number: Int

    /// Sessions that differ in nothing but their names have one key.
    var keys: [[Int]] {
        let kinds = unique(sessions)
        return sessions.indices.map { index in
            let isDouble = clients.filter { $0 == clients[index] }.count > 1
            return [kinds.firstIndex(of: sessions[index]) ?? 0, isDouble ? 1 : 0]
        }
    }
}

struct Populations {
    private(set) var all: [Population] = []
    /// All populations of the asked size, and the larger ones that statements need.
    private(set) var countInAll = 0

    /// - Parameter pairsOnly: only enough populations that every two roles meet, each role also itself.
    init(_ reads: PolicyReads, clients: Int, pairsOnly: Bool) {
        let classes = Role.classes(reads)
        let kinds = classes.map { $0[0] }
        let every = [Int](kinds.indices).multisets(of: clients, from: 0)
        var chosen = pairsOnly ? Self.pairing(every, kinds.count) : every
        let needed = Self.actors(reads, kinds)
        countInAll = every.count + needed.filter { $0.count > clients }.count
        chosen += needed.filter { wanted in !chosen.contains { Self.has($0, wanted) } }
        // Populations that put statements to the test come first, so that a finding comes sooner.
        func isNeeded(_ roles: [Int]) -> Bool { needed.contains { Self.has(roles, $0) } }
        chosen = chosen.filter(isNeeded) + chosen.filter { !isNeeded($0) }
        for (number, roles) in chosen.enumerated() {
            all.append(Population(sessions: roles.map { kinds[$0] }, clients: Array(roles.indices), number: number))
            // One client with two sessions: of every two roles that can share a client, once for each two kinds.
            var seen: Set<[Int]> = []
            for first in roles.indices {
                for second in roles.indices where second > first {
                    guard let two = Role.sessionsOfOneClient(classes[roles[first]], classes[roles[second]]),
                        seen.insert([roles[first], roles[second]]).inserted
                    else { continue }
                    let rest = roles.indices.filter { $0 != first && $0 != second }.map { kinds[roles[$0]] }
                    let clients = [0, 0] + rest.indices.map { $0 + 1 }
                    all.append(Population(sessions: two + rest, clients: clients, number: number))
                }
            }
        }
    }

    func about(_ roles: [[FactTest]]) -> Populations {
        var some = self
        some.all.removeAll { population in
            !population.sessions.contains { session in roles.contains { session.mayEver($0) } }
        }
        return some
    }

    private static func has(_ roles: [Int], _ wanted: [Int]) -> Bool {
        var rest = roles
        return wanted.allSatisfy { kind in
            guard let place = rest.firstIndex(of: kind) else { return false }
            rest.remove(at: place)
            return true
        }
    }

    /// Enough of the populations that every two roles meet: of the 120 of three out of eight roles, a dozen.
    private static func pairing(_ every: [[Int]], _ kinds: Int) -> [[Int]] {
        guard let size = every.first?.count, size > 2 else { return every }
        var open = Set((0..<kinds).flatMap { a in (a..<kinds).map { [a, $0] } })
        func pairs(_ roles: [Int]) -> Set<[Int]> {
            Set(roles.indices.flatMap { i in roles[(i + 1)...].map { [roles[i], $0] } })
        }
        var chosen: [[Int]] = []
        while !open.isEmpty {
            // The first of those that bring most new pairs together.
            var best: (roles: [Int], new: Int) = ([], 0)
            for roles in every {
                let new = pairs(roles).intersection(open).count
                if new > best.new { best = (roles, new) }
            }
            guard best.new > 0 else { break }
            open.subtract(pairs(best.roles))
            chosen.append(best.roles)
        }
        return chosen
    }

    /// For each statement about several apps, every choice of roles that can play its parts, so that its actors meet however few
    /// clients the other worlds have.
    private static func actors(_ reads: PolicyReads, _ kinds: [Role]) -> [[Int]] {
        unique(
            reads.policies.flatMap(\.statements).flatMap { statement -> [[Int]] in
                // The app in the way is one of the players, where there are several.
                let roles = statement.roles + (statement.roles.count == 1 ? statement.by.map { [$0] } ?? [] : [])
                guard roles.count > 1 else { return [] }
                return roles.reduce([[]]) { choices, role in
                    let able = kinds.indices.filter { kinds[$0].mayEver(role) }
                    return unique(choices.flatMap { choice in able.map { (choice + [$0]).sorted() } })
                }
            })
    }
}

extension Array {
    func multisets(of size: Int, from first: Int) -> [[Element]] {
        if size == 0 { return [[]] }
        return indices[first...].flatMap { index in multisets(of: size - 1, from: index).map { [self[index]] + $0 } }
    }
}
