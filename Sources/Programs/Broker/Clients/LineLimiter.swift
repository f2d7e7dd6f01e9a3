import System

/// Rate limit of the journal's lines that clients cause, by user: connecting, failing and leaving in a loop made 13,400 lines a
/// second, and journald drops a unit's other lines together with such a flood. Lines that are left out are counted.
///
/// Two token buckets stand before each line: one of the user it is about, and one of all users together, since one person
/// may have many user ids (`/etc/subuid`). A value without a clock: moments are nanoseconds of one monotonic clock.
package struct LineLimiter: Sendable {
    package struct Rate: Sendable {
        package var burst: Int64
        package var perSecond: Int64

        package init(burst: Int64, perSecond: Int64) { (self.burst, self.perSecond) = (burst, perSecond) }

        fileprivate var lineCost: Int64 { 1_000_000_000 / perSecond }
        fileprivate var creditMax: Int64 { burst * lineCost }
    }

    /// A person who reads sees what goes on from four lines; whoever debugs has a second line each second.
    package static let faults = LineLimiter(ofUser: Rate(burst: 4, perSecond: 1), inAll: Rate(burst: 32, perSecond: 4))
    /// Decisions are what the journal is read for, and a desktop makes a few at each change of windows. journald itself
    /// takes 10,000 lines in 30 s from a unit before it drops (RateLimitBurst=): all users together stay below.
    package static let decisions = LineLimiter(
        ofUser: Rate(burst: 200, perSecond: 20), inAll: Rate(burst: 1000, perSecond: 100))

    /// Users who are kept apart; those beyond share one bucket. As many as there may be connections, so that it takes
    /// a flood that changes its user all the time to get there.
    package static let usersMax = 512

    private struct Bucket {
        var credit: Int64
        var asOf: Int64
        var skipped = 0

        mutating func refill(_ rate: Rate, at now: Int64) {
            let passed = max(0, now - asOf)
            credit = passed >= rate.creditMax ? rate.creditMax : min(rate.creditMax, credit + passed)
            asOf = now
        }
    }

    private enum Account: Hashable {
        /// `nil` for a connection whose peer could not be named.
        case user(UInt32?)
        case everybodyElse
    }

    private let ofUser: Rate
    private let inAll: Rate
    private var accounts: [Account: Bucket] = [:]
    private var all: Bucket
    package var accountsCount: Int { accounts.count }

    package init(ofUser: Rate, inAll: Rate) {
        self.ofUser = ofUser
        self.inAll = inAll
        all = Bucket(credit: inAll.creditMax, asOf: .min / 2)
    }

    /// - Returns: how many lines about the same user were left out before this one; `nil` where it is left out, too.
    package mutating func admit(_ user: UInt32?, at now: Int64) -> Int? {
        let account = account(of: user, at: now)
        var bucket = accounts[account] ?? Bucket(credit: ofUser.creditMax, asOf: now)
        bucket.refill(ofUser, at: now)
        all.refill(inAll, at: now)
        guard bucket.credit >= ofUser.lineCost, all.credit >= inAll.lineCost else {
            bucket.skipped += 1
            accounts[account] = bucket
            return nil
        }
        let skipped = bucket.skipped
        bucket.credit -= ofUser.lineCost
        all.credit -= inAll.lineCost
        bucket.skipped = 0
        accounts[account] = bucket
        return skipped
    }

    /// The number of lines that were left out and not reported since, and their users, ordered.
    package mutating func takeSkipped(at now: Int64) -> (lines: Int, users: [UInt32])? {
        var lines = 0
        var users: [UInt32] = []
        for (account, bucket) in accounts where bucket.skipped > 0 {
            lines += bucket.skipped
            if case .user(let user?) = account { users.append(user) }
            accounts[account]?.skipped = 0
        }
        forgetIdle(at: now)
        return lines > 0 ? (lines, users.sorted()) : nil
    }

    private mutating func account(of user: UInt32?, at now: Int64) -> Account {
        if accounts[.user(user)] != nil { return .user(user) }
        if accounts.count >= Self.usersMax { forgetIdle(at: now) }
        return accounts.count < Self.usersMax ? .user(user) : .everybodyElse
    }

    private mutating func forgetIdle(at now: Int64) {
        accounts = accounts.filter { _, bucket in
            bucket.skipped > 0 || bucket.credit + max(0, now - bucket.asOf) < ofUser.creditMax
        }
    }
}

/// The journal, for lines that a client can cause. Lines that were left out are counted in the user's next line, or in a line of
/// their own a while later.
final class ClientLines {
    /// From a line that is left out to its report, in nanoseconds: a flood is reported six times a minute, and at its end.
    static let reportTime: Int64 = 10_000_000_000
    static let namedMax = 4

    private let journal: Journal
    private var limiter: LineLimiter
    private var timer: Timer?

    init(_ limiter: LineLimiter, _ journal: Journal, on loop: EventLoop) throws(SystemFault) {
        self.limiter = limiter
        self.journal = journal
        timer = try loop.addTimer { [unowned self] in report() }
    }

    func send(
        _ priority: Journal.Priority, about user: UInt32?, _ fields: [(name: String, value: String)] = [],
        _ message: (_ skipped: Int) -> String
    ) {
        let now = EventLoop.now
        guard let skipped = limiter.admit(user, at: now) else {
            if timer?.deadline == nil { timer?.arm(at: now + Self.reportTime) }
            return
        }
        journal.send(priority, message(skipped), fields)
    }

    /// A line of one sentence, with the count at its end.
    func send(_ priority: Journal.Priority, about user: UInt32?, _ sentence: String) {
        send(priority, about: user) { skipped in skipped == 0 ? sentence : "\(sentence) (and \(skipped) others like it)"
        }
    }

    private func report() {
        guard let (lines, users) = limiter.takeSkipped(at: EventLoop.now) else { return }
        let named = users.prefix(Self.namedMax).map { "\($0)" }.joined(separator: ", ")
        let others = users.count > Self.namedMax ? " and \(users.count - Self.namedMax) others" : ""
        let whose =
            users.isEmpty ? "unknown peers" : "clients of \(users.count == 1 ? "user" : "users") \(named)\(others)"
        journal.send(.notice, "\(lines) more lines about \(whose) were not written")
    }
}
