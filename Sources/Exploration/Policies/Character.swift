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
    /// Nil: its user sits at the seat; `none`: a process outside any login session.
    var login: String?
    /// A group that a policy gives a right.
    var group: UInt32?
    var isWeak = false

    /// Every kind of client that the policies tell apart, those that rules name first: all that are of one kind.
    static func classes(_ reads: PolicyReads) -> [[Character]] {
        var found: [[Character]] = []
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
    static func sessionsOfOneClient(_ first: [Character], _ second: [Character]) -> [Character]? {
        for one in first {
            if let other = second.first(where: { $0.client == one.client }) { return [one, other] }
        }
        return nil
    }

    /// Without what is a session's.
    private var client: Character {
        var plain = self
        (plain.usesAudio, plain.watches) = (false, false)
        return plain
    }

    static func candidates(_ reads: PolicyReads) -> [Character] {
        var apps: [Character] = []
        var kinds: [ClientKind] = []
        var multitasking = [false]
        var audio = [false]
        for test in reads.tests {
            switch test {
            case .app(let name): apps.append(Character(app: name))
            case .claimedApp(let name): apps.append(Character(app: name, isClaimed: true))
            case .client(let kind): kinds.append(kind)
            case .multitasking: multitasking = [false, true]
            case .usesAudio: audio = [false, true]
            default: break
            }
        }
        apps += reads.entitledServices.map { Character(app: $0) }
        // A kind that no rule names is like any other of that sort.
        kinds = ClientKind.allCases.filter { $0 == .app || kinds.contains($0) }
        func each<Value>(
            _ all: [Character], _ path: WritableKeyPath<Character, Value>, _ values: [Value]
        ) -> [Character] {
            all.flatMap { one in
                values.map { value in
                    var varied = one
                    varied[keyPath: path] = value
                    return varied
                }
            }
        }
        var all = unique(apps) + [Character()]
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
