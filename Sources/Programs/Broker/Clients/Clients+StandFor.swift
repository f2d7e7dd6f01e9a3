import Arbiter
import ArbiterProtocol
import System

/// Programs that reach a camera through their user's agent: each of them is a client of its own.
///
/// The agent has a connection for each, and says once which process it is. From there on nothing differs from a client that
/// connected itself: its app, its groups and its login session are what the kernel says of that process, and it ends with it.
///
/// What the agent says is believed only of its own user's processes, which share that user's right to cameras. It gives no name
/// that only root can give unless the agent's own name is one, since any program of that user's may be in the agent's unit.
extension Clients {
    func standFor(_ process: UInt32, began: UInt64, _ request: Request) throws(BrokerError) {
        let client = request.client
        try requireSameProcess(client)
        let group = ControlGroup(path: AppIdentity.controlGroup(client.pid) ?? "")
        try requireMayStandFor(others: client, Speakers.Origin(group, user: client.uid))
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

    private func requireMayStandFor(others client: BrokerClient, _ origin: Speakers.Origin) throws(BrokerError) {
        if broker.trust.isTrusted(client) { return }
        guard let unit = broker.arbiter.policy.agentUnit, origin.unit == unit else {
            throw BrokerError(
                .notTrusted,
                "Only the unit that the policy names under [agent] speaks for other processes, and \(broker.trust.words)."
            )
        }
    }

    /// The handle first, then what /proc says under the number, then whether the handle's process still lives: so what
    /// /proc said is about that process.
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
        // What the agent says may come from any program of its user's, so it gives nothing that only root can give: a
        // service of that user's may be in further groups, or in no login session, by root's word.
        if !isVouched { groups = groups.filter(Set(client.groups).contains) }
        guard handle.isAlive else { throw BrokerError(.invalidValue, "Process \(process) has just ended.") }
        return BrokerClient.More.StoodFor(
            pid: pid, process: handle, weak: client.isWeak ? WeakIdentity(facts) : nil, groups: groups,
            isVouched: isVouched,
            login: LoginSessionObserver.membership(LoginSessions.membership(ofProcess: client.pid, user: client.uid)))
    }
}
