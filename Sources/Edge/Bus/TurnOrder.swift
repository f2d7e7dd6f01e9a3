/// The account that a connection's turns are charged to: turns are fair between accounts, not between connections, so that a peer
/// that opens many gets no more of the loop.
public struct TurnAccount: Hashable, Sendable {
    /// It must be heard whatever others do: half of the loop's time goes to such accounts, if they want it.
    public var isFirst: Bool
    /// A user's number, or another one of the owner's choice.
    public var number: UInt64

    public static func user(_ uid: UInt32, isFirst: Bool = false) -> TurnAccount {
        TurnAccount(isFirst: isFirst, number: UInt64(uid))
    }
    /// Connections of the program's own making, such as those to recorder cores.
    public static let own = TurnAccount(isFirst: true, number: .max)
}

/// Which of the connections that have something to read is next: the order alone, without connections and without a clock.
///
/// Start-time fair queueing (Goyal, Vin, Cheng: "Start-Time Fair Queuing", SIGCOMM 1996), twice: between the first
/// class and the ordinary one, and between the accounts of a class; inside an account connections take turns, the one that
/// asked first first. What is shared is time: an account whose turn took five milliseconds waits until the others have
/// had as much. One that comes back after a while has no credit: it is next, and no more than that.
///
/// Ties go to the first class, and between accounts to the one whose oldest connection asked first.
package struct TurnOrder: Sendable {
    /// Start tags of the accounts that shared of late.
    private struct Shares<Key: Hashable & Sendable>: Sendable {
        /// The start of the account that was served last.
        private(set) var clock: Int64 = 0
        /// Where the next start of each is, at the least; an account that is not here starts at the clock.
        private var finishes: [Key: Int64] = [:]

        func start(of key: Key) -> Int64 { max(clock, finishes[key] ?? clock) }

        mutating func serve(_ key: Key, _ cost: Int64) {
            let start = start(of: key)
            clock = start
            finishes[key] = start + cost
            // Accounts whose time is up start at the clock, as unknown ones do.
            if finishes.count > TurnOrder.accountsMax { finishes = finishes.filter { $0.value > start } }
        }
    }

    /// Accounts whose past is remembered before those that have none to pay for are forgotten. The size of a full table;
    /// there are never more accounts that owe something than connections.
    static let accountsMax = 64
    /// Nanoseconds that an account may use in a window without waiting for its turn, while nobody waits: nearly
    /// every call of a well-behaved client. Nine accounts together stay below a window.
    package static let atOnceTimeMax: Int64 = 1_000_000
    package static let windowTime: Int64 = 10_000_000

    private struct Line: Sendable {
        var account: TurnAccount
        var waiting: [(id: UInt64, asked: UInt64)] = []
    }

    private var lines: [Line] = []
    private var asked: UInt64 = 0
    private var classes = Shares<Bool>()
    private var accounts = Shares<TurnAccount>()
    private var windowBegan: Int64 = .min / 2
    private var usedInWindow: [TurnAccount: Int64] = [:]
    /// Which connection had the last turn, and since when no other had one.
    private var last: (id: UInt64, since: Int64) = (0, .min / 2)

    package init() {}
    package var isEmpty: Bool { lines.isEmpty }

    /// Whether a connection that has just become readable may have its turn without asking: nobody waits, and either
    /// it has been the only one for a window, or its account has hardly used this one.
    package func mayGoAtOnce(_ id: UInt64, of account: TurnAccount, at now: Int64) -> Bool {
        guard lines.isEmpty else { return false }
        if last.id == id, now - last.since >= Self.windowTime { return true }
        if now - windowBegan >= Self.windowTime { return true }
        return (usedInWindow[account] ?? 0) < Self.atOnceTimeMax
    }

    /// A connection asks for a turn. It has not asked already.
    package mutating func ask(_ id: UInt64, of account: TurnAccount) {
        asked += 1
        if let line = lines.firstIndex(where: { $0.account == account }) {
            lines[line].waiting.append((id, asked))
        } else {
            lines.append(Line(account: account, waiting: [(id, asked)]))
        }
    }

    package mutating func next() -> (id: UInt64, account: TurnAccount)? {
        guard let isFirst = nextClass else { return nil }
        let candidates = lines.indices.filter { lines[$0].account.isFirst == isFirst }
        let best = candidates.min { one, other in
            let (a, b) = (accounts.start(of: lines[one].account), accounts.start(of: lines[other].account))
            return a != b ? a < b : lines[one].waiting[0].asked < lines[other].waiting[0].asked
        }
        guard let best else { return nil }
        let account = lines[best].account
        let id = lines[best].waiting.removeFirst().id
        if lines[best].waiting.isEmpty { lines.remove(at: best) }
        return (id, account)
    }

    /// The class that had less; the first one, where both had as much. Nil: nobody waits.
    private var nextClass: Bool? {
        let first = lines.contains { $0.account.isFirst }
        guard lines.contains(where: { !$0.account.isFirst }) else { return first ? true : nil }
        return first && classes.start(of: true) <= classes.start(of: false)
    }

    /// A turn is over, also one that was had at once. It took `cost` nanoseconds.
    package mutating func used(_ id: UInt64, of account: TurnAccount, _ cost: Int64, at now: Int64) {
        let cost = max(0, cost)
        if last.id != id { last = (id, now) }
        if now - windowBegan >= Self.windowTime {
            windowBegan = now
            if !usedInWindow.isEmpty { usedInWindow.removeAll(keepingCapacity: true) }
        }
        usedInWindow[account, default: 0] += cost
        classes.serve(account.isFirst, cost)
        accounts.serve(account, cost)
    }

    package mutating func forget(_ id: UInt64) {
        for line in lines.indices {
            guard let place = lines[line].waiting.firstIndex(where: { $0.id == id }) else { continue }
            lines[line].waiting.remove(at: place)
            if lines[line].waiting.isEmpty { lines.remove(at: line) }
            return
        }
    }
}
