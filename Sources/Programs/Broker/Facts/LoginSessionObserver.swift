import Arbiter
import ArbiterProtocol
import Bus
import System

/// logind's login sessions and the machine's sleep, as facts for the core.
///
/// The core knows the sessions that clients are in, and one more for each client's user, the one that the user looks at:
/// `user-1000`. By that a process outside any login session, or in one over the network, has the right of the seat
/// that its user sits at; and programs that a user's own manager started, as desktops do, are in it.
///
/// A session that has ended under its clients is inactive and at no seat for as long as they stay: a program that outlives
/// its user's session must not pass for a service, which no session rule touches. A session that logind has not reported yet is
/// inactive at the usual seat: whoever starts in it waits for that. Without logind nothing is known: nobody is paused, and nobody
/// has a seat's right. After logind's end its last report holds.
final class LoginSessionObserver {
    private unowned let desktops: Desktops
    private var broker: Broker { desktops.broker }
    private var logind: Logind?
    /// Why login sessions are not known; empty where they are.
    private(set) var trouble = ""
    /// Login sessions are known, or known not to be: after a start, questions about the right to a camera wait for it.
    private(set) var isSettled = false
    private var wasKnown = false
    private var sessions: [String: LoginSessionStatus] = [:]
    /// The registered clients in each session: it is forgotten with the last.
    private var members: [LoginSessionID: Members] = [:]
    /// Members' sessions that logind has reported: one that is not there has ended.
    private var seen: Set<LoginSessionID> = []
    private var reported: [LoginSessionID: LoginSessionFacts] = [:]
    private struct Members {
        let user: UInt32
        var count = 0
    }
    private var sleepDeadline: Timer?
    /// logind waits for us to let the machine sleep.
    private(set) var isHoldingSleep = false

    /// - Parameter address: the system bus's; empty where logind is not to be asked.
    init(_ desktops: Desktops, address: String) throws(SystemFault) {
        self.desktops = desktops
        guard !address.isEmpty else {
            trouble = "camarbd was told not to ask (--system-bus)"
            isSettled = true
            return
        }
        sleepDeadline = try desktops.broker.loop.addTimer { [unowned self] in sleepTimePassed() }
        logind = try Logind(
            address: address, on: desktops.broker.loop, delegate: self, keepers: desktops.broker.clients.keepers)
    }

    /// A process that its user's own manager started is in the session that its user looks at.
    static func membership(_ found: LoginSessions.Membership?) -> LoginMembership {
        switch found {
        case .session(let name): .session(LoginSessionID(name))
        case .user(let user): .session(id(ofUser: user))
        case nil: .outside
        }
    }

    /// The sessions that the right of such a process depends on. Root needs nobody's.
    static func sessions(for membership: LoginMembership, of user: UInt32) -> [LoginSessionID] {
        let users = user == 0 ? [] : [id(ofUser: user)]
        guard case .session(let own) = membership else { return users }
        return users == [own] ? users : [own] + users
    }

    private static let userPrefix = "user-"

    private static func id(ofUser user: UInt32) -> LoginSessionID { LoginSessionID("\(userPrefix)\(user)") }

    private static func user(of id: LoginSessionID) -> UInt32? {
        id.name.hasPrefix(userPrefix) ? UInt32(id.name.dropFirst(userPrefix.count)) : nil
    }

    /// Before the core is stepped with the client, so that the state of its session is known.
    func join(_ id: LoginSessionID, user: UInt32) {
        members[id, default: Members(user: user)].count += 1
        refresh(id)
    }

    /// After the core has forgotten the client.
    func leave(_ id: LoginSessionID) {
        members[id]?.count -= 1
        if members[id]?.count == 0 {
            members[id] = nil
            seen.remove(id)
        }
        refresh(id)
    }

    private func refreshAll() { for id in Set(members.keys).union(reported.keys).sorted() { refresh(id) } }

    private func refresh(_ id: LoginSessionID) {
        guard wasKnown else { return }
        let facts = members[id].map { self.facts(of: id, $0.user) }
        guard facts != reported[id] else { return }
        reported[id] = facts
        desktops.report { $0.report(login: id, facts, by: .logind) }
    }

    /// The facts that come to the core with the first client in a session; `nil` where it has them.
    func newcomersFacts(of id: LoginSessionID, _ user: UInt32) -> LoginSessionFacts? {
        wasKnown && reported[id] == nil ? facts(of: id, user) : nil
    }

    private func facts(of id: LoginSessionID, _ user: UInt32) -> LoginSessionFacts {
        if let user = Self.user(of: id) {
            return display(of: user).map(Self.facts) ?? LoginSessionFacts(active: false, seat: nil, user: user)
        }
        if let session = sessions[id.name] {
            seen.insert(id)
            return Self.facts(session)
        }
        return LoginSessionFacts(active: false, seat: seen.contains(id) ? nil : .usual, user: user)
    }

    /// The session that a user looks at: at a seat before over the network, and there the active one; of equals the one whose id
    /// comes first, so that the same sessions always give the same one.
    private func display(of user: UInt32) -> LoginSessionStatus? {
        func order(_ session: LoginSessionStatus) -> (Int, Int, Int, String) {
            (session.isAtSeat ? 0 : 1, session.isActive ? 0 : 1, session.isLocked ? 1 : 0, session.id)
        }
        return sessions.values.filter { $0.user == user }.min { order($0) < order($1) }
    }

    private static func facts(_ session: LoginSessionStatus) -> LoginSessionFacts {
        LoginSessionFacts(
            active: session.isActive, locked: session.isLocked,
            seat: session.isAtSeat ? SeatID(session.seat) : nil, user: session.user)
    }

    private func settle() {
        guard !isSettled else { return }
        isSettled = true
        broker.cameras.becameKnown()
    }

    func user(of id: LoginSessionID) -> UInt32? { Self.user(of: id) ?? sessions[id.name]?.user }

    /// Ordered by id; only sessions of users that the asker may know.
    func status(where isKnown: (UInt32) -> Bool) -> [LoginSessionStatus] {
        sessions.values.filter { isKnown($0.user) }.sorted { $0.id < $1.id }
    }

    /// The machine may sleep when nothing is captured and every file is whole. Looked at after each step while it waits.
    func letSleepWhenSettled() { if isHoldingSleep, broker.cameras.areQuietForSleep { letSleep() } }

    private func sleepTimePassed() {
        guard isHoldingSleep else { return }
        broker.journal.send(.warning, "the machine sleeps before every recording is finished: its time was up")
        letSleep()
    }

    private func letSleep() {
        isHoldingSleep = false
        sleepDeadline?.arm(at: nil)
        logind?.letSleep()
    }
}

extension LoginSessionObserver: LogindDelegate {
    func logindKnows(_ found: [LoginSessionStatus]) {
        if let logind, logind.leftOut > 0 {
            broker.journal.send(
                .warning,
                "there are more than \(Logind.sessionsMax) login sessions; \(logind.leftOut) of them count as inactive")
        }
        sessions = [:]
        for session in found { sessions[session.id] = session }
        trouble = ""
        wasKnown = true
        refreshAll()
        settle()
    }

    func logindLost(_ why: String) {
        if trouble != why { broker.journal.send(.notice, "login sessions are not known: \(why)") }
        trouble = why
        settle()
    }

    func loginSessionChanged(_ session: LoginSessionStatus) {
        sessions[session.id] = session
        sessionChanged(session.id)
    }

    func loginSessionEnded(_ id: String) {
        sessions[id] = nil
        sessionChanged(id)
    }

    private func sessionChanged(_ id: String) {
        refresh(LoginSessionID(id))
        for user in members.keys.sorted() where Self.user(of: user) != nil { refresh(user) }
    }

    func machineSleeps(_ asleep: Bool) {
        isHoldingSleep = asleep
        if asleep, let logind {
            // logind gives up at the end of its delay, and so a fifth of it is left for its own work and a late turn of ours.
            sleepDeadline?.arm(at: EventLoop.now + logind.sleepDelay / 5 * 4)
        } else {
            sleepDeadline?.arm(at: nil)
        }
        desktops.report { $0.report(asleep: asleep, by: .logind) }
    }

    func logindRefusedInhibitor(_ why: String) {
        broker.journal.send(
            .warning, "recordings may be cut short when the machine sleeps: logind does not let camarb delay it: \(why)"
        )
    }
}

extension LoginSessionStatus { fileprivate var isAtSeat: Bool { !isRemote && !seat.isEmpty } }
