import Arbiter
import ArbiterProtocol
import System

/// Which process a client is. On kernels that name no process itself, clients are known by the numbers of their processes, and
/// looked at again before anything is granted.
extension Clients {
    /// Cuts a client whose process is not what it was when it connected: its number was given to another process, it has changed
    /// its user, or it was moved to another control group, for which it was not vouched.
    func requireSameProcess(_ client: BrokerClient) throws(BrokerError) {
        if isSameProcess(client) { return }
        cutImpostor(client)
        throw BrokerError(.accessDenied, "Process \(client.pid) is not what it was when it connected; connect anew.")
    }

    private func isSameProcess(_ client: BrokerClient) -> Bool {
        client.weak?.holds(of: client.pid, client.process) ?? true
    }

    private func cutImpostor(_ client: BrokerClient) {
        if client.isGone { return }
        broker.journal.send(
            .warning,
            "disconnected process \(client.pid): its user, its beginning or its control group is not what it was when it "
                + "connected, and this kernel names no process for certain")
        forget(client)
    }

    /// Whether a session may be given its camera. Called while the effects of a step are carried out: where it may not, its
    /// client is cut after them, and the core, which waits for a first frame, decides anew.
    func isGrantable(_ session: SessionID) -> Bool {
        guard let client = owner(of: session), !isSameProcess(client) else { return true }
        broker.loop.defer { [self] in cutImpostor(client) }
        return false
    }

    func identity(of client: BrokerClient) throws(BrokerError) -> AppIdentity {
        try requireSameProcess(client)
        guard let identity = AppIdentity.of(client.pid, user: client.uid, client.process) else {
            throw BrokerError(.disconnected, "The process that connected is gone.")
        }
        return identity
    }

    /// Only root's word puts a client outside of its user's sessions, and an agent's is not that.
    func membership(of client: BrokerClient, _ identity: AppIdentity) -> LoginMembership {
        let membership = LoginSessionObserver.membership(identity.membership)
        if let agent = client.more?.agent, !agent.isVouched, membership == .outside { return agent.login }
        return membership
    }

    func identity(
        of client: BrokerClient, _ identity: AppIdentity, isNamed: Bool = false, _ membership: LoginMembership
    ) -> ClientIdentity {
        ClientIdentity(
            verified: isNamed || (identity.isVerified && client.more?.agent?.isVouched != false),
            weak: client.isWeak, groups: client.groups, login: membership,
            own: !broker.options.isService && client.uid == broker.trust.ownUser)
    }

    /// Whether a client has a right to any camera. For one that is no app yet, a copy of the core decides.
    func hasRight(_ client: BrokerClient) throws(BrokerError) -> Bool {
        if trust.isTrusted(client) { return true }
        if client.app != nil { return broker.arbiter.hasRight(client.id) }
        let identity = try identity(of: client)
        let membership = membership(of: client, identity)
        var copy = broker.arbiter
        for session in LoginSessionObserver.sessions(for: membership, of: client.uid) {
            guard let facts = desktops.logins?.newcomersFacts(of: session, client.uid) else { continue }
            _ = copy.step(.loginSession(session, facts), at: Broker.now())
        }
        let app = AppID(identity.name, user: client.uid)
        _ = copy.step(
            .connected(client.id, app: app, self.identity(of: client, identity, membership)), at: Broker.now())
        return copy.hasRight(client.id)
    }

    /// The path is read before the process is looked at: for a process that has ended, /proc has nothing or another's
    /// path, and nothing would count as no sandbox.
    func livingGroup(of client: BrokerClient) throws(BrokerError) -> ControlGroup {
        try requireSameProcess(client)
        guard let path = AppIdentity.controlGroup(client.pid), client.process.isAlive else {
            throw BrokerError(.accessDenied, "Process \(client.pid), which connected, has ended.")
        }
        return ControlGroup(path: path)
    }
}

// MARK: Clients that stand for another process

/// A user's agent has a connection for each program that reaches a camera through it, and declares once which process the
/// connection stands for. From there on the client's app, groups, login session and end are that process's.
///
/// The agent is believed only of its own user's processes, which share that user's right to cameras. It gives no name that only
/// root can give unless the agent's own name is one, since any program of that user's may be in the agent's unit.
extension Clients {
    func standFor(_ process: UInt32, began: UInt64, _ request: Request) throws(BrokerError) {
        let client = request.client
        try requireSameProcess(client)
        let group = ControlGroup(path: AppIdentity.controlGroup(client.pid) ?? "")
        let unit = broker.arbiter.policy.agentUnit
        guard trust.isTrusted(client) || (unit != nil && Speakers.Origin(group, user: client.uid).unit == unit) else {
            throw BrokerError(
                .notTrusted,
                "Only the unit that the policy names under [agent] speaks for other processes, and \(trust.words).")
        }
        guard client.app == nil, client.more == nil else {
            throw BrokerError(
                .accessDenied,
                "The connection counts as an app, or speaks for its user, already; StandFor comes first, once in a connection."
            )
        }
        let isVouched = client.uid == 0 || group.isVouchedService
        let stoodFor = try lookUp(process, began, for: client, isVouched)
        do throws(SystemFault) { try processes?.add(stoodFor.process, tag: client.id.rawValue) } catch {
            throw BrokerError(.outOfResources, "Process \(process) cannot be watched: \(error).")
        }
        client.become(stoodFor)
        try register(client)
        request.answer([.string(client.app?.name ?? "")])
    }

    /// The handle first, then /proc under the number, then whether the handle's process still lives: so /proc was read of
    /// that process.
    private func lookUp(
        _ process: UInt32, _ began: UInt64, for client: BrokerClient, _ isVouched: Bool
    ) throws(BrokerError) -> BrokerClient.More.StoodFor {
        guard let pid = Int32(exactly: process), let handle = ProcessHandle(opening: pid),
            let facts = ProcessFacts(of: pid), handle.isAlive, facts.user == client.uid,
            UInt64(exactly: facts.began) == began
        else {
            throw BrokerError(
                .invalidValue,
                "There is no process \(process) of user \(client.uid) that began \(began) ns after the machine's start."
            )
        }
        var groups = PeerGroups.of(process: pid)
        // A service of that user's may be in further groups, or in no login session, by root's word alone.
        if !isVouched { groups = groups.filter(Set(client.groups).contains) }
        guard handle.isAlive else { throw BrokerError(.invalidValue, "Process \(process) has just ended.") }
        return BrokerClient.More.StoodFor(
            pid: pid, process: handle, weak: client.isWeak ? WeakIdentity(facts) : nil, groups: groups,
            isVouched: isVouched,
            login: LoginSessionObserver.membership(LoginSessions.membership(ofProcess: client.pid, user: client.uid)))
    }
}
