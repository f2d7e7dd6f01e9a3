import Arbiter
import ArbiterProtocol
import Bus
import CLinux
import Explain
import System

extension Clients {
    func charge(
        _ resource: Budgets.Resource, _ amount: Int = 1, to client: BrokerClient, _ advice: String
    ) throws(BrokerError) {
        do throws(Budgets.Refusal) { try budgets.charge(resource, amount, to: client.uid) } catch {
            throw BrokerError(.limitExceeded, "\(error.sentence) \(advice)")
        }
    }

    func release(_ resource: Budgets.Resource, _ amount: Int, of client: BrokerClient) {
        release(resource, amount, of: client.uid)
    }

    func release(_ resource: Budgets.Resource, _ amount: Int, of user: UInt32) {
        budgets.release(resource, amount, of: user)
        if freed.note(resource, amount, at: EventLoop.now) { giveBackSoon() }
    }

    /// The user that holds a camera is heard among the first, and has a part of each budget in any case.
    func noteHolders() {
        budgets.holders = Set(cameras.order.compactMap { $0.holder?.user })
        let holding = Set(
            cameras.order.compactMap { broker.arbiter.holder(of: $0.camera) }.compactMap { owner(of: $0)?.id })
        for client in all.values {
            let isFirst = trust.isTrusted(client) || holding.contains(client.id)
            if client.connection.account.isFirst != isFirst {
                client.connection.account = .user(client.uid, isFirst: isFirst)
            }
        }
    }

    private func giveBackSoon() {
        if freed.timer == nil { freed.timer = try? broker.loop.addTimer { [unowned self] in giveBack() } }
        freed.timer?.arm(at: freed.nextTime(at: EventLoop.now))
    }

    private func giveBack() {
        freed.wasGivenBack(at: EventLoop.now)
        camarb_give_back_heap()
    }

    /// What the asker may know of the budgets: its own user's part; a trusted one, everybody's and the sums.
    func budgetUses(for client: BrokerClient) -> [BudgetUse] {
        func use(of user: UInt32?, _ resource: Budgets.Resource, _ used: Int, _ most: Int) -> BudgetUse {
            BudgetUse {
                ($0.user, $0.resource, $0.used, $0.most) = (user, resource.wireName, UInt64(used), UInt64(most))
            }
        }
        func uses(of user: UInt32) -> [BudgetUse] {
            Budgets.Resource.allCases.map { use(of: user, $0, budgets.use(of: user, $0), budgets.most(of: user, $0)) }
                .filter { $0.used > 0 }
        }
        guard trust.isTrusted(client) else { return uses(of: client.uid) }
        let sums = Budgets.Resource.allCases.map { use(of: nil, $0, budgets.useOfAll($0), budgets.bound($0).inAll) }
        return sums + budgets.users.prefix(Self.shownUsersMax).flatMap(uses)
    }

    /// Users that a status lists budgets of: as many as people use a machine, and the answer stays short.
    static let shownUsersMax = 64
}

extension Budgets.Refusal {
    /// The flag behind the bound, for the operator who reads the journal.
    var flag: String {
        switch which {
        case .ceiling: " (--max-connections-per-user)"
        case .share, .whole: " (--max-connections)"
        }
    }
}

/// How much of the heap has become free since it was last given back to the machine, about. glibc keeps freed memory
/// for the next allocation; a flood's would be kept for good. Giving back looks through the whole heap, some
/// milliseconds for a hundred megabytes, and so happens when it is worth it, and seldom.
struct FreedMemory {
    /// Below this nobody would notice. In bytes.
    static let worthwhileBytes = 4 << 20
    /// Between a large release and giving back, in nanoseconds: a user's connections end one by one when it leaves.
    static let delay: Int64 = 500_000_000
    /// Between two times, in nanoseconds: a client that takes and releases in a loop costs a thousandth of the broker's time.
    static let pause: Int64 = 5_000_000_000

    var timer: Timer?
    private var bytes = 0
    private var lastTime: Int64 = 0

    mutating func note(_ resource: Budgets.Resource, _ amount: Int, at now: Int64) -> Bool {
        bytes += amount * resource.bytes
        return bytes >= Self.worthwhileBytes && timer?.deadline == nil
    }

    func nextTime(at now: Int64) -> Int64 { max(now + Self.delay, lastTime + Self.pause) }

    mutating func wasGivenBack(at now: Int64) {
        bytes = 0
        lastTime = now
    }
}
