import ArbiterProtocol

/// What a client knows of its connection: which session's signals go where. A value, so that every order in which
/// replies, signals and the end may come can be tested without a thread.
///
///     connected ──end──▶ ended: every route finishes, every later one is refused
///
/// A session's first signals may come before the task that created it hears its path: while a creation is under
/// way, signals of unknown sessions are kept for it.
struct ClientState {
    private struct Route {
        var inbox: SessionInbox
        /// The sequence number that the next signal must have.
        var expected: UInt64 = 1
    }

    private var routes: [SessionID: Route] = [:]
    private var creationsUnderWay = 0
    private var early: [(session: SessionID, signal: Result<SessionSignal, BrokerError>)] = []
    private(set) var ended: BrokerError?

    /// A stopped session sends next to nothing before its creator starts it; this leaves room for 64 of them.
    static let earlySignalsMax = 256

    enum Duty {
        case nothing
        case deliver(SessionID, SessionSignal, SessionInbox)
        /// The session can no longer be trusted to be whole: tell its reader, and close it.
        case giveUp(SessionID, SessionInbox, BrokerError)
    }

    mutating func creationBegins() throws(BrokerError) {
        if let ended { throw ended }
        creationsUnderWay += 1
    }

    mutating func creationFailed() {
        creationsUnderWay -= 1
        forgetEarlySignalsIfIdle()
    }

    /// - Returns: the early signals' duties, in order.
    mutating func created(_ session: SessionID, _ inbox: SessionInbox) -> [Duty] {
        creationsUnderWay -= 1
        if let ended { return [.giveUp(session, inbox, ended)] }
        routes[session] = Route(inbox: inbox)
        let mine = early.filter { $0.session == session }
        early.removeAll { $0.session == session }
        forgetEarlySignalsIfIdle()
        return mine.map { arrived($0.signal, for: session) }
    }

    private mutating func forgetEarlySignalsIfIdle() { if creationsUnderWay == 0 { early = [] } }
    mutating func closed(_ session: SessionID) -> SessionInbox? { routes.removeValue(forKey: session)?.inbox }

    /// Takes a signal of a session in, and checks that none is missing before it.
    mutating func arrived(_ signal: Result<SessionSignal, BrokerError>, for session: SessionID) -> Duty {
        guard let route = routes[session] else {
            if creationsUnderWay > 0, early.count < Self.earlySignalsMax { early.append((session, signal)) }
            return .nothing
        }
        let notice: SessionSignal
        do throws(BrokerError) { notice = try signal.get() } catch { return giveUp(session, route, error) }
        guard notice.sequence == route.expected else {
            return giveUp(
                session, route,
                BrokerError(
                    .failed,
                    """
                    The broker sent event \(notice.sequence) of session \(session.rawValue) where \(route.expected) \
                    was due, so the session's state is not known any more; create it anew.
                    """))
        }
        routes[session]?.expected += 1
        return .deliver(session, notice, route.inbox)
    }

    private mutating func giveUp(_ session: SessionID, _ route: Route, _ error: BrokerError) -> Duty {
        routes[session] = nil
        return .giveUp(session, route.inbox, error)
    }

    /// The connection is over. Only the first reason counts.
    /// - Returns: what to finish.
    mutating func end(_ error: BrokerError) -> [SessionInbox] {
        guard ended == nil else { return [] }
        ended = error
        early = []
        defer { routes = [:] }
        return routes.sorted { $0.key < $1.key }.map(\.value.inbox)
    }
}
