import Arbiter
import ArbiterProtocol
import System

/// Clients that are known by the numbers of their processes, on kernels that name no process itself: looked at again
/// before anything is granted.
extension Clients {
    /// Cuts a client whose process is not what it was when it connected.
    ///
    /// Its number was given to another process, it has changed its user, or it was moved to another control group: in any
    /// of these cases what it was vouched for is not so any more.
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

    /// Whether a session may be given its camera. While the effects of a step are carried out: where it may not, its
    /// client is cut after them, and the core, which waits for a first frame, decides anew.
    func isGrantable(_ session: SessionID) -> Bool {
        guard let client = owner(of: session), !isSameProcess(client) else { return true }
        broker.loop.defer { [self] in cutImpostor(client) }
        return false
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

    /// Whether a client has a right to any camera. One that is no app yet would have it as one: a copy of the core is told so.
    func hasRight(_ client: BrokerClient) throws(BrokerError) -> Bool {
        if broker.trust.isTrusted(client) { return true }
        if client.app != nil { return broker.arbiter.hasRight(client.id) }
        try requireSameProcess(client)
        guard let identity = AppIdentity.of(client.pid, user: client.uid, client.process) else {
            throw BrokerError(.disconnected, "The process that connected is gone.")
        }
        let membership = membership(of: client, identity)
        var copy = broker.arbiter
        for session in LoginSessionObserver.sessions(for: membership, of: client.uid) {
            guard let facts = broker.desktops.logins?.newcomersFacts(of: session, client.uid) else { continue }
            _ = copy.step(.loginSession(session, facts), at: Broker.now())
        }
        _ = copy.step(
            .connected(
                client.id, app: AppID(identity.name, user: client.uid),
                self.identity(of: client, identity, membership)), at: Broker.now())
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
