import Loop
import Machine

/// The journal, for lines that a client can cause: the only way in which the broker writes such a line.
///
/// What was left out is told by the user's next line, or by itself a while later.
final class ClientLines {
    /// How long lines may stay untold, in nanoseconds: a flood is told about six times a minute, and at its end.
    static let reportTime: Int64 = 10_000_000_000
    /// Users that a report names.
    static let namedMax = 4

    private let journal: Journal
    private var limiter: LineLimiter
    private var timer: Timer?

    init(_ limiter: LineLimiter, _ journal: Journal, on loop: EventLoop) throws(SystemFault) {
        self.limiter = limiter
        self.journal = journal
        timer = try loop.addTimer { [unowned self] in report() }
    }

    /// Writes a line about a user's client, or counts it.
    /// - Parameter user: nil where nobody knows.
    func send(
        _ priority: Journal.Priority, about user: UInt32?, _ fields: [(name: String, value: String)] = [],
        _ message: (_ untold: Int) -> String
    ) {
        let now = EventLoop.now
        guard let untold = limiter.admit(user, at: now) else {
            if timer?.deadline == nil { timer?.arm(at: now + Self.reportTime) }
            return
        }
        journal.send(priority, message(untold), fields)
    }

    /// The same for a line of one sentence, which tells of those before it at its end.
    func send(_ priority: Journal.Priority, about user: UInt32?, _ sentence: String) {
        send(priority, about: user) { untold in
            untold == 0 ? sentence : "\(sentence) (and \(untold) others like it)"
        }
    }

    private func report() {
        guard let (lines, users) = limiter.takeUntold(at: EventLoop.now) else { return }
        let named = users.prefix(Self.namedMax).map { "\($0)" }.joined(separator: ", ")
        let others = users.count > Self.namedMax ? " and \(users.count - Self.namedMax) others" : ""
        let whose =
            users.isEmpty ? "unknown peers" : "clients of \(users.count == 1 ? "user" : "users") \(named)\(others)"
        journal.send(.notice, "\(lines) more lines about \(whose) were not written")
    }
}
