import Arbiter
import ArbiterProtocol
import Bus
import Explain
import System

/// What the broker and a user's agent tell each other beside facts: its clients, and what is not known.
extension Desktops {
    /// The events of placements, all of them or none. An app in the background that has no client here is forgotten, and
    /// makes room: an agent that runs for weeks sees more apps than it may place at once.
    func placing(
        _ places: [(app: AppID, presence: Presence, focused: Bool)], by source: PresenceSource, _ client: BrokerClient
    ) throws(BrokerError) -> [Event] {
        let more = client.withMore()
        // Only an agent forgets; for others no client has to be looked for.
        let connected = source == .agent ? Set(clients.values.compactMap(\.app)) : []
        func isForgotten(_ place: (app: AppID, presence: Presence, focused: Bool)) -> Bool {
            source == .agent && place.presence == .background && !connected.contains(place.app)
        }
        var placed = more.placed
        for place in places { if isForgotten(place) { placed.remove(place.app) } else { placed.insert(place.app) } }
        guard placed.count <= max(more.placed.count, ClientBound.placedAppsMax) else {
            throw BrokerError(
                .limitExceeded,
                "The client has placed \(more.placed.count) apps and may place \(ClientBound.placedAppsMax).")
        }
        if placed.count > more.placed.count {
            try clients.charge(
                .placedApps, placed.count - more.placed.count, to: client,
                "End connections that placed apps which are not there any more.")
        } else {
            clients.release(.placedApps, more.placed.count - placed.count, of: client)
        }
        more.placed = placed
        return places.map { placing in
            let placement = isForgotten(placing) ? nil : FactBoard.Placement(placing.presence, focused: placing.focused)
            return self.place(placing.app, placement, by: source, client)
        }
    }

    /// Takes the place of a source, says where apps are, and only then that the source is there: until then it is not
    /// believed. A long list goes on in further turns of its connection, as each step of the core takes some ten to a
    /// hundred microseconds; a client that is displaced meanwhile says no more.
    func place(_ events: ArraySlice<Event>, _ source: PresenceSource, _ mayBe: MaySpeak, _ request: Request) {
        let client = request.client
        let isNew = sit(source, client, mayBe)
        say(
            events, request,
            unless: {
                if client.more?.sources.contains(source) == true { return nil }
                return BrokerError(.notTrusted, client.more?.displaced ?? "The client is no source any more.")
            },
            last: { [self] in if isNew { broker.step(.sourceAttached(source, user: mayBe.seat.user)) } })
    }

    /// Within the turn of the call, or, where the list is long, in further turns of its connection; then the call is answered.
    func say(
        _ events: ArraySlice<Event>, _ request: Request, unless fault: @escaping () -> BrokerError? = { nil },
        last: @escaping () -> Void = {}
    ) {
        var events = events
        func saySome(until end: Int64) -> Bool {
            while let event = events.popFirst() {
                if let fault = fault() {
                    request.message.answer(fault)
                    return true
                }
                broker.step(event)
                if EventLoop.now >= end && !events.isEmpty { return false }
            }
            last()
            request.message.answer()
            return true
        }
        if events.count <= Self.saidAtOnceMax {
            _ = saySome(until: .max)
        } else {
            request.client.connection.goOn(saySome)
        }
    }

    /// Events within the turn of their call: a millisecond's worth, and more apps than most desktops show.
    static let saidAtOnceMax = 16

    func listClients(for client: BrokerClient) -> WireValue {
        let more = client.withMore()
        if !more.knowsClients {
            more.knowsClients = true
            clientLists += 1
        }
        let own = clients.values.filter { $0.uid == client.uid && !$0.isGone }.sorted { $0.id < $1.id }
        return own.compactMap { other -> ConnectedClient? in
            guard let app = other.app, app.user == client.uid else { return nil }
            return ConnectedClient { ($0.app, $0.process) = (app.name, other.pid) }
        }
        .wireValue
    }

    func tellClientsChanged(of user: UInt32) {
        guard clientLists > 0 else { return }
        for client in clients.values
        where client.uid == user && client.more?.knowsClients == true && client.connection.isReady {
            tellShell(client, "ClientsChanged", [])
        }
    }

    /// The users whose desktops a client asks about: its own; for a trusted client, every one that has apps here.
    private func usersAskedAbout(by client: BrokerClient) -> Set<UInt32> {
        guard trust.isTrusted(client) else { return [client.uid] }
        let others = Set(clients.values.compactMap { $0.app?.user })
        return others.isEmpty ? [client.uid] : others
    }

    /// What counts as where apps are, by user.
    func placements(for client: BrokerClient) -> [PlacementStatus] {
        usersAskedAbout(by: client).sorted().map { user in
            PlacementStatus { ($0.user, $0.standing) = (user, broker.arbiter.presenceStanding(for: user)) }
        }
    }

    func unknownFacts(for client: BrokerClient) -> [UnknownFact] {
        let users = usersAskedAbout(by: client)
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
