import Arbiter
import ArbiterProtocol
import SystemdBus

/// What the broker and a user's agent tell each other beside facts: who the clients are, and what is not known.
extension Broker {
    // MARK: Placements

    /// Takes an app into what a source speaks of.
    private func notePlaced(_ app: AppID, _ client: BrokerClient) throws(BrokerError) {
        let more = client.withMore()
        if more.placed.contains(app) { return }
        guard more.placed.count < ClientBound.placedAppsMax else {
            throw BrokerError(
                .limitExceeded, "The client has placed \(more.placed.count) apps, the most it may place.")
        }
        more.placed.insert(app)
    }

    /// The event of a placement. An app in the background that has no client here is forgotten, and makes room: an
    /// agent that runs for weeks sees more apps than it may place at once.
    func placing(
        _ app: AppID, _ presence: Presence, focused: Bool, by source: PresenceSource, _ client: BrokerClient
    ) throws(BrokerError) -> Event {
        if source == .agent, presence == .background, !clients.values.contains(where: { $0.app == app }) {
            client.more?.placed.remove(app)
            return .unplaced(app, by: source)
        }
        try notePlaced(app, client)
        return .placed(app, presence, focused: focused, by: source)
    }

    // MARK: Clients

    func listClients(for client: BrokerClient) -> WireValue {
        let more = client.withMore()
        if !more.knowsClients {
            more.knowsClients = true
            clientLists += 1
        }
        let own = clients.values.filter { $0.uid == client.uid && !$0.isGone }.sorted { $0.id < $1.id }
        return .dictionaries(
            own.compactMap { other in
                guard let app = other.app, app.user == client.uid else { return nil }
                return ["app": .string(app.name), "process": .uint32(UInt32(bitPattern: other.pid))]
            })
    }

    /// To the agents of the client's user: another app, or one less.
    func tellClientsChanged(of user: UInt32) {
        guard clientLists > 0 else { return }
        for client in clients.values
        where client.uid == user && client.more?.knowsClients == true && client.connection.isReady {
            let signal = BusMessage.sealedSignal(
                on: client.connection, path: ObjectPath.shell, interface: InterfaceName.shell, member: "ClientsChanged",
                [])
            if let signal { client.connection.send(signal) }
        }
    }

    // MARK: Microphones

    /// Whether somebody who is still there has said so: of two who did, one has not the last word.
    func isMicrophoneTaken(_ app: AppID) -> Bool {
        clients.values.contains { !$0.isGone && $0.more?.microphones.contains(app) == true }
    }

    // MARK: What is not known

    /// Of the asker's own desktop; who is trusted hears of every user that has apps here.
    func unknownFacts(for client: BrokerClient) -> [UnknownFact] {
        var users: Set<UInt32> = [client.uid]
        if isTrusted(client) {
            let others = Set(clients.values.compactMap { $0.app?.user })
            if !others.isEmpty { users = others }
        }
        return UnknownFact.allCases.filter { fact in
            !users.allSatisfy { user in
                switch fact {
                case .windows:
                    speakers.isTaken(.init(.shell, user: nil)) || speakers.isTaken(.init(.shell, user: user))
                        || speakers.isTaken(.init(.agent, user: user))
                case .microphones: speakers.isTaken(.init(.microphones, user: user))
                }
            }
        }
    }
}
