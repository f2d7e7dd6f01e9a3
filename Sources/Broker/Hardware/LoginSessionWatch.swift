import Arbiter
import ArbiterProtocol
import SystemdBus

/// What logind knows, as facts for the core: which login sessions are active and not locked, and when the machine sleeps.
///
/// The core hears of the sessions that clients are in, and of no others. A session that has ended under its clients is
/// inactive for as long as they stay: a program that outlives its user's session must not pass for a service, which no
/// session rule touches. The same goes for a session that logind has not told of yet. Where logind is not there at all,
/// nothing is known and nobody is paused; where it went away, what it said last holds.
final class LoginSessionWatch {
    private unowned let broker: Broker
    private var logind: Logind?
    private var displays: DisplayMonitor?
    /// Why login sessions are not known; empty when they are.
    private(set) var trouble = ""
    /// Known, or known not to be: questions about who may have a camera wait for it after a start.
    private(set) var isSettled = false
    /// logind has spoken, if only once.
    private var wasKnown = false
    private var sessions: [String: LoginSessionStatus] = [:]
    /// Registered clients in each, so that it is forgotten with the last.
    private var members: [LoginSessionID: Int] = [:]
    private var told: [LoginSessionID: Fact] = [:]
    private var sleepDeadline: Timer?
    /// logind waits for us to let the machine sleep.
    private(set) var isHoldingSleep = false

    private struct Fact: Hashable {
        var isActive: Bool
        var isLocked: Bool
        static let gone = Fact(isActive: false, isLocked: false)
    }

    /// - Parameter address: the system bus's; empty: logind is not to be asked.
    init(_ broker: Broker, address: String) throws(SystemFault) {
        self.broker = broker
        guard !address.isEmpty else {
            trouble = "camarbd was told not to ask (--system-bus)"
            isSettled = true
            return
        }
        sleepDeadline = try broker.loop.addTimer { [unowned self] in sleepTimePassed() }
        logind = try Logind(address: address, on: broker.loop, delegate: self)
    }

    // MARK: Clients

    /// What the core is to call the session that a process belongs to: `3`, or `user-1000` for one that is wherever its
    /// user looks.
    static func id(of membership: LoginSessions.Membership?) -> LoginSessionID? {
        switch membership {
        case .session(let name): LoginSessionID(name)
        case .user(let user): LoginSessionID("\(userPrefix)\(user)")
        case nil: nil
        }
    }

    private static let userPrefix = "user-"

    /// Before the core hears of the client: the state of its session is known by then.
    func join(_ id: LoginSessionID) {
        members[id, default: 0] += 1
        if id.name.hasPrefix(Self.userPrefix), displays == nil, logind != nil {
            displays = try? DisplayMonitor(on: broker.loop) { [unowned self] in refreshAll() }
        }
        refresh(id)
    }

    /// After the core has forgotten the client.
    func leave(_ id: LoginSessionID) {
        let left = members[id, default: 1] - 1
        members[id] = left > 0 ? left : nil
        refresh(id)
    }

    // MARK: Facts

    private func refreshAll() {
        for id in Set(members.keys).union(told.keys).sorted() { refresh(id) }
    }

    /// Tells the core what it does not know yet of a session.
    private func refresh(_ id: LoginSessionID) {
        guard wasKnown else { return }
        let fact = members[id] == nil ? nil : fact(of: id)
        guard fact != told[id] else { return }
        told[id] = fact
        if let fact {
            broker.step(.loginSession(id, active: fact.isActive, locked: fact.isLocked))
        } else {
            broker.step(.loginSessionEnded(id))
        }
    }

    private func fact(of id: LoginSessionID) -> Fact {
        var name: String? = id.name
        if id.name.hasPrefix(Self.userPrefix) {
            name = UInt32(id.name.dropFirst(Self.userPrefix.count)).flatMap(LoginSessions.display)
        }
        guard let session = name.flatMap({ sessions[$0] }) else { return .gone }
        return Fact(isActive: session.isActive, isLocked: session.isLocked)
    }

    private func settle() {
        guard !isSettled else { return }
        isSettled = true
        broker.cameraBecameKnown()
    }

    /// Whose a session is; nil where logind has not told of it.
    func user(of id: LoginSessionID) -> UInt32? {
        if id.name.hasPrefix(Self.userPrefix) { return UInt32(id.name.dropFirst(Self.userPrefix.count)) }
        return sessions[id.name]?.user
    }

    /// Ordered by id; only those that an asker may know, who is trusted or their user.
    func status(where isKnown: (UInt32) -> Bool) -> [LoginSessionStatus] {
        sessions.values.filter { isKnown($0.user) }.sorted { $0.id < $1.id }
    }

    // MARK: Sleep

    /// The machine may sleep when nothing is captured and every file is whole. Looked at after each step while it waits.
    func letSleepWhenSettled() {
        guard isHoldingSleep, broker.isQuietForSleep else { return }
        letSleep()
    }

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

extension LoginSessionWatch: LogindDelegate {
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
        for user in members.keys.sorted() where user.name.hasPrefix(Self.userPrefix) { refresh(user) }
    }

    func machineSleeps(_ asleep: Bool) {
        isHoldingSleep = asleep
        if asleep, let logind {
            // logind gives up at the end of its delay, and so a fifth of it is left for its own work and a late turn of ours.
            sleepDeadline?.arm(at: EventLoop.now + logind.sleepDelay / 5 * 4)
        } else {
            sleepDeadline?.arm(at: nil)
        }
        broker.step(.sleep(asleep))
    }

    func logindRefusedInhibitor(_ why: String) {
        broker.journal.send(
            .warning, "recordings may be cut short when the machine sleeps: logind does not let camarb delay it: \(why)"
        )
    }
}

extension Broker {
    /// Nothing is captured, and every file that was begun is finished.
    var isQuietForSleep: Bool {
        cameraOrder.allSatisfy { link in
            guard !link.outputs.hasFiles else { return false }
            let tenancy = arbiter.status(of: link.camera)?.tenancy
            return tenancy == nil || tenancy == "free" || tenancy == "reserved"
        }
    }
}
