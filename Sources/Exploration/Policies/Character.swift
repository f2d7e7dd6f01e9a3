import Arbiter
import ArbiterProtocol

/// One kind of client, as far as a policy can tell clients apart: what stays as it is while the client is connected.
struct Character: Hashable {
    /// The name that a rule gives; nil: an app that no rule names.
    var app: String?
    /// Only its own word says so.
    var isClaimed = false
    var user: UInt32 = 1000
    var kind = ClientKind.app
    var multitasking = false
    var usesAudio = false
    /// It wants to watch beside whoever has the camera.
    var watches = false
    /// Nil: a service.
    var login: String?

    /// Every kind of client that the policies tell apart, those that rules name first.
    static func all(_ reads: PolicyReads) -> [Character] {
        var found: [Character] = []
        var natures: Set<Nature> = []
        for character in candidates(reads) where natures.insert(Nature(character, reads)).inserted {
            found.append(character)
        }
        return found
    }

    static func candidates(_ reads: PolicyReads) -> [Character] {
        var apps: [Character] = []
        var users: [UInt32] = []
        var kinds: [ClientKind] = []
        var multitasking = [false]
        var audio = [false]
        for test in reads.tests {
            switch test {
            case .app(let name): apps.append(Character(app: name))
            case .claimedApp(let name): apps.append(Character(app: name, isClaimed: true))
            case .user(let user): users.append(user)
            case .client(let kind): kinds.append(kind)
            case .multitasking: multitasking = [false, true]
            case .usesAudio: audio = [false, true]
            default: break
            }
        }
        // A kind that no rule names is like any other of that sort.
        kinds = ClientKind.allCases.filter { $0 == .app || kinds.contains($0) }
        users = unique([1000] + users)
        let watches = reads.sharing ? [false, true] : [false]
        let logins: [(String?, UInt32)] = reads.login ? [("c1", 1000), ("c2", 1001), (nil, 1000)] : [(nil, 0)]
        var all: [Character] = []
        for app in unique(apps) + [Character()] {
            for user in users {
                for kind in kinds {
                    for multitasking in multitasking {
                        for audio in audio {
                            for (login, owner, watching) in logins.flatMap({ login in
                                watches.map { (login.0, login.1, $0) }
                            }) {
                                var one = app
                                one.watches = watching
                                one.user = owner > 0 ? owner : user
                                one.kind = kind
                                one.multitasking = multitasking
                                one.usesAudio = audio
                                one.login = login
                                all.append(one)
                            }
                        }
                    }
                }
            }
        }
        return all
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

extension [Character] {
    /// Casts of so many in which every two kinds meet, each kind also itself; or all casts there are.
    ///
    /// All casts of three out of eight kinds would be 120 worlds; that every two meet takes a dozen, and what a
    /// policy says about two clients it says of each pair of three.
    func casts(of size: Int, all: Bool) -> [[Character]] {
        let every = multisets(of: size, from: 0)
        if all || size <= 2 { return every }
        var open: Set<[Int]> = []
        for a in indices { for b in a..<count { open.insert([a, b]) } }
        func pairs(_ cast: [Int]) -> Set<[Int]> {
            var pairs: Set<[Int]> = []
            for i in cast.indices { for j in cast.indices where i < j { pairs.insert([cast[i], cast[j]]) } }
            return pairs
        }
        var chosen: [[Int]] = []
        let indexed = [Int](indices).multisets(of: size, from: 0)
        while !open.isEmpty {
            // The first of the casts that bring most new pairs together.
            var best: (cast: [Int], new: Int) = ([], 0)
            for cast in indexed {
                let new = pairs(cast).intersection(open).count
                if new > best.new { best = (cast, new) }
            }
            guard best.new > 0 else { break }
            open.subtract(pairs(best.cast))
            chosen.append(best.cast)
        }
        return chosen.map { $0.map { self[$0] } }
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
