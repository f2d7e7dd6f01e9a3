/// The uses and bounds of each user's resources: the one place that charges and releases.
///
/// Three bounds stand before a charge, and each refusal names its own:
///
/// 1. a **ceiling** for one user, whatever is left;
/// 2. a **share** of what is left: with n users that have some of a resource, the asker included, it may have at most
///    1/(n+1) of what is left and its own together. That is dbus-broker's rule (`user_charge_check` in its `src/util/user.c`: a
///    share between 1/n and 1/n² of the whole). A fixed number a user is no bound where one person has 65,536 subordinate ids;
///    under a share the eighth of them still leaves a ninth user its part. A user's first unit is refused only when none is left;
/// 3. the **whole**, of which a part is kept for root and the broker's own user, and a little for each user who holds a
///    camera: they must be able to stop what goes on.
///
/// A trusted user is bounded by the whole, and by the ceiling for connections: it could end the broker by simpler means.
/// Releasing needs no budget and never fails. Nothing depends on the order of a dictionary.
package struct Budgets: Sendable {
    package enum Resource: Int, CaseIterable, Sendable {
        case connections, sessions, placedApps, microphones, questions, answers

        package var wireName: String { facts.wire }
        fileprivate var noun: String { facts.noun }
        /// About what one takes, as measured with clients that use it as far as they may.
        var bytes: Int { facts.bytes }

        fileprivate var facts: (wire: String, noun: String, bytes: Int, bound: Bound) {
            switch self {
            case .connections: ("connections", "connections", 16 << 10, .connections(ofUser: 64, inAll: 512))
            // 10 to 16 kB each as clients use them, so that all together stay below a third of the unit's MemoryMax=256M.
            // No desktop was seen with more than 40.
            case .sessions: ("sessions", "sessions", 12 << 10, Bound(ofUser: 256, inAll: 4096, trusted: 512, holder: 4))
            // At most 3 kB each: 48 MB. A desktop has some hundred apps.
            case .placedApps:
                ("placedApps", "placed apps", 3 << 10, Bound(ofUser: 2048, inAll: 16384, trusted: 2048, holder: 128))
            // A user has one microphone or two, and each takes it for few apps.
            case .microphones:
                ("microphones", "microphones taken", 1 << 10, Bound(ofUser: 256, inAll: 2048, trusted: 256, holder: 4))
            // Each keeps its whole message, 128 KiB at the most, for up to 10 s: 32 MB.
            case .questions:
                ("questions", "questions that wait", 16 << 10, Bound(ofUser: 64, inAll: 256, trusted: 32, holder: 4))
            // At most 0.7 kB each: 12 MB. A user's own, those of its permission store, and its privacy switch.
            case .answers:
                (
                    "answers", "answers about its apps", 700,
                    Bound(ofUser: 2049, inAll: 16384, trusted: 2048, holder: 128)
                )
            }
        }
    }

    /// Bounds of one resource, in units of it.
    package struct Bound: Sendable {
        package var ofUser: Int
        package var inAll: Int
        /// The part of `inAll` for trusted users alone.
        package var keptForTrusted: Int
        /// The part of `inAll` for each user who holds a camera.
        package var keptForHolder: Int
        /// Whether the ceiling is one for trusted users, too.
        package var bindsTrusted = false

        fileprivate init(ofUser: Int, inAll: Int, trusted: Int, holder: Int) {
            (self.ofUser, self.inAll, keptForTrusted, keptForHolder) = (ofUser, inAll, trusted, holder)
        }

        /// An eighth of the whole is root's, enough for `camclient` and a monitor in any case; a holder has one
        /// connection already, and two more are another tool and one for luck.
        package static func connections(ofUser: Int, inAll: Int) -> Bound {
            var bound = Bound(ofUser: ofUser, inAll: inAll, trusted: inAll / 8, holder: min(3, inAll / 64))
            bound.bindsTrusted = true
            return bound
        }
    }

    package struct Refusal: Error, Equatable, Sendable {
        package enum Which: Equatable, Sendable {
            case ceiling(Int)
            case share(Int, users: Int)
            case whole(Int)
        }
        package var user: UInt32
        package var resource: Resource
        package var has: Int
        package var asked: Int
        package var which: Which

        package init(user: UInt32, resource: Resource, has: Int, asked: Int, which: Which) {
            (self.user, self.resource, self.has, self.asked, self.which) = (user, resource, has, asked, which)
        }

        package var sentence: String {
            let wanted = asked == 1 ? "" : " and wants \(asked) more"
            let has = "User \(user) has \(has) \(resource.noun)\(wanted)"
            return switch which {
            case .ceiling(let most): "\(has); a user may have \(most)."
            case .share(let most, let users): "\(has); its share of what is left among \(users) users is \(most)."
            case .whole(let most): "\(has); there are \(most) in all, and none is left for it."
            }
        }

        /// The flag behind a bound of connections, for the operator who reads the journal.
        var flag: String {
            switch which {
            case .ceiling: " (--max-connections-per-user)"
            case .share, .whole: " (--max-connections)"
            }
        }
    }

    private let bounds: [Bound]
    private let trusted: Set<UInt32>
    package var holders: Set<UInt32> = []
    /// By user, and by resource; without users that have nothing.
    private var uses: [UInt32: [Int]] = [:]
    private var used: [Int]
    private var usersCount: [Int]

    package init(connections: Bound, trusted: Set<UInt32>) {
        bounds = Resource.allCases.map { $0 == .connections ? connections : $0.facts.bound }
        used = bounds.map { _ in 0 }
        usersCount = used
        self.trusted = trusted
    }

    package var users: [UInt32] { uses.keys.sorted() }

    package func use(of user: UInt32, _ resource: Resource) -> Int { uses[user]?[resource.rawValue] ?? 0 }
    package func useOfAll(_ resource: Resource) -> Int { used[resource.rawValue] }
    package func most(of user: UInt32, _ resource: Resource) -> Int {
        let bound = bounds[resource.rawValue]
        return trusted.contains(user) && !bound.bindsTrusted ? bound.inAll : min(bound.ofUser, bound.inAll)
    }
    package func bound(_ resource: Resource) -> Bound { bounds[resource.rawValue] }

    /// Charges all of it, or nothing.
    package mutating func charge(_ resource: Resource, _ amount: Int = 1, to user: UInt32) throws(Refusal) {
        precondition(amount >= 0, "A charge is not negative; release gives back.")
        if amount == 0 { return }
        let has = use(of: user, resource)
        if let which = obstacle(resource, amount, user, has) {
            throw Refusal(user: user, resource: resource, has: has, asked: amount, which: which)
        }
        if has == 0 { usersCount[resource.rawValue] += 1 }
        uses[user, default: bounds.map { _ in 0 }][resource.rawValue] += amount
        used[resource.rawValue] += amount
    }

    package mutating func release(_ resource: Resource, _ amount: Int = 1, of user: UInt32) {
        if amount == 0 { return }
        let left = use(of: user, resource) - amount
        precondition(amount > 0 && left >= 0, "More is released than was charged.")
        uses[user]?[resource.rawValue] = left
        used[resource.rawValue] -= amount
        if left == 0 { usersCount[resource.rawValue] -= 1 }
        if uses[user]?.allSatisfy({ $0 == 0 }) == true { uses[user] = nil }
    }

    private func obstacle(_ resource: Resource, _ amount: Int, _ user: UInt32, _ has: Int) -> Refusal.Which? {
        let bound = bounds[resource.rawValue]
        let isTrusted = trusted.contains(user)
        if !isTrusted || bound.bindsTrusted, has + amount > bound.ofUser { return .ceiling(bound.ofUser) }
        let free = bound.inAll - used[resource.rawValue] - kept(resource, bound, besides: user)
        if isTrusted { return amount <= free ? nil : .whole(bound.inAll) }
        // The holder's reserve comes before any share.
        if holders.contains(user), has + amount <= bound.keptForHolder, amount <= free { return nil }
        let left = max(0, free)
        guard amount <= left else { return .whole(bound.inAll) }
        let users = usersCount[resource.rawValue] + (has == 0 ? 1 : 0)
        let share = max(1, (left + has) / (users + 1))
        return has + amount <= share ? nil : .share(share, users: users)
    }

    /// The units that others than `user` are still to get.
    private func kept(_ resource: Resource, _ bound: Bound, besides user: UInt32) -> Int {
        var kept = 0
        if !trusted.contains(user) {
            kept += max(0, bound.keptForTrusted - trusted.reduce(0) { $0 + use(of: $1, resource) })
        }
        // At most one a camera; a sum, so that the order of the set means nothing.
        for holder in holders where holder != user && !trusted.contains(holder) {
            kept += max(0, bound.keptForHolder - use(of: holder, resource))
        }
        return kept
    }
}
