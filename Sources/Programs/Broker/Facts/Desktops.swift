import Arbiter
import ArbiterProtocol
import Bus
import Explain
import System

/// The facts around the cameras: the clients that speak for users' desktops, the facts that they and the machine report, and
/// the events for the core that follow (`FactBoard`).
final class Desktops: BrokerPart {
    var speakers = Speakers()
    private(set) var facts = FactBoard()
    /// Clients that wait for `ClientsChanged` and `UseChanged`.
    private(set) var clientLists = 0
    private var useLists = 0
    private(set) var logins: LoginSessionObserver?
    private(set) var pressure: PressureObserver?
    private(set) var calendar: CalendarObserver?

    /// Events within the turn of their call: a millisecond's worth, and more apps than most desktops show.
    static let stepsAtOnceMax = 16

    func begin() throws(SystemFault) {
        let files = LoadFiles(root: broker.options.machine)
        pressure = try PressureObserver(self, on: broker.loop) { files.read() }
        pressure?.policyChanged()
        calendar = try CalendarObserver(self, on: broker.loop)
        logins = try LoginSessionObserver(self, address: broker.options.systemBusAddress)
    }

    /// After each step: facts that only count while somebody asks for a camera, or the machine waits to sleep.
    func lookWhereWanted() {
        if let logins, logins.isHoldingSleep { logins.letSleepWhenSettled() }
        pressure?.lookWhereWanted()
    }

    // MARK: Facts

    /// Takes a report, and steps the core with its event, if there is one.
    func report(_ request: Request? = nil, _ change: (inout FactBoard) -> Event?) {
        // The board is left before the core is stepped, whose effects may report something, too.
        let event = change(&facts)
        if let event, let request { return broker.decide(event, request) }
        if let event { broker.step(event) }
        request?.answer()
    }

    /// As `report`, for facts that end without a request.
    func forget(_ changes: (inout FactBoard) -> [Event]) { for event in changes(&facts) { broker.step(event) } }

    func forget(_ client: BrokerClient) {
        guard let more = client.more else { return }
        forget { $0.forgetMicrophones(of: .client(client.id)) }
        clients.release(.microphones, more.microphones.count, of: client.uid)
        for source in more.sources { detach(source, client) }
        clients.release(.placedApps, more.placed.count, of: client.uid)
        forgetMicrophones(client)
        forgetAsking(client)
        if more.knowsClients { clientLists -= 1 }
        if more.wantsUse { useLists -= 1 }
    }

    /// Steps the core within the turn of the call, or, where the list is long, in further turns of its connection, as each step
    /// takes some ten to a hundred microseconds; then the call is answered.
    func step(
        _ events: [Event], _ request: Request, unless fault: @escaping () -> BrokerError? = { nil },
        last: @escaping () -> Void = {}
    ) {
        var events = events[...]
        func stepSome(until end: Int64) -> Bool {
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
        if events.count <= Self.stepsAtOnceMax {
            _ = stepSome(until: .max)
        } else {
            request.client.connection.goOn(stepSome)
        }
    }

    // MARK: Places of apps

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
        let added = placed.count - more.placed.count
        try clients.charge(
            .placedApps, max(0, added), to: client, "End connections that placed apps which are not there any more.")
        clients.release(.placedApps, max(0, -added), of: client.uid)
        more.placed = placed
        return places.map { place in
            let placement = isForgotten(place) ? nil : FactBoard.Placement(place.presence, focused: place.focused)
            return facts.report(place: place.app, placement, source: source, by: .client(client.id))
        }
    }

    /// Attaches a source, places apps, and only then steps the core with the source: until then it is not believed. A client that
    /// is displaced meanwhile places no further app.
    func place(_ events: [Event], _ source: PresenceSource, _ admission: Admission, _ request: Request) {
        let client = request.client
        let isNew = take(source, client, admission)
        step(
            events, request,
            unless: {
                if client.more?.sources.contains(source) == true { return nil }
                return client.notTrusted("The client is not a source any more.")
            },
            last: { [self] in if isNew { broker.step(.sourceAttached(source, user: admission.slot.user)) } })
    }

    // MARK: The desktop's clients

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

    func notifyClientsChanged(of user: UInt32) {
        guard clientLists > 0 else { return }
        for client in clients.values
        where client.uid == user && client.more?.knowsClients == true && client.connection.isReady {
            send(client, "ClientsChanged", [])
        }
    }

    /// The users whose desktops a client asks about: its own; for a trusted client, every one that has apps here.
    private func usersAskedAbout(by client: BrokerClient) -> Set<UInt32> {
        guard trust.isTrusted(client) else { return [client.uid] }
        let others = Set(clients.values.compactMap { $0.app?.user })
        return others.isEmpty ? [client.uid] : others
    }

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

    // MARK: Use of cameras

    func listUse(for client: BrokerClient) -> WireValue {
        let more = client.withMore()
        if !more.wantsUse {
            more.wantsUse = true
            useLists += 1
        }
        let waits = broker.arbiter.waits(of: client.uid)
        return cameras.order.compactMap { link -> CameraUse? in
            guard let camera = broker.arbiter.status(of: link.camera) else { return nil }
            let holder = camera.holderApp.map { trust.shown($0, to: client) } ?? link.outside.map { .outside($0) }
            let waiting = waits.filter { $0.camera == link.camera }.prefix(Inquiries.companyMax)
            guard holder != nil || !waiting.isEmpty else { return nil }
            let isOwn = camera.holderApp?.user == client.uid
            let isRecording = camera.holder.flatMap { broker.arbiter.status(of: $0)?.isRecording } ?? false
            return CameraUse {
                ($0.camera, $0.name, $0.holder) = (link.camera, camera.capabilities.name, holder)
                ($0.isOwn, $0.isRecording) = (isOwn, isOwn && isRecording)
                $0.since = camera.heldSince.map(Self.realTime)
                $0.waiting = waiting.map { wait in
                    CameraUse.WaitingApp { ($0.app, $0.since) = (wait.app.name, Self.realTime(wait.since)) }
                }
            }
        }
        .wireValue
    }

    static func realTime(_ moment: Moment) -> Int64 {
        WallClock.microseconds - (Broker.now() - moment).wholeNanoseconds / 1000
    }

    /// Notifies desktops of a step: that use has changed, and that a recording was cut.
    func publish(_ event: Event, _ effects: [Effect]) {
        if speakers.isEmpty, useLists == 0 { return }
        var isChanged = false
        switch event {
        // An app that waited and leaves has no notice, and a user's own switch may concern no session.
        case .disconnected, .closed, .ownPrivacy: isChanged = true
        default: break
        }
        for effect in effects {
            switch effect {
            case .announce(.holderChanged): isChanged = true
            case .notify(_, let session, _, let notice):
                if notice.changesUse { isChanged = true }
                if case .wasInterrupted(let interruption) = notice, interruption.recording != nil {
                    notifyCut(session, interruption.causes, interruption.interrupter)
                }
            default: break
            }
        }
        if isChanged { notifyUseChanged() }
    }

    /// Once to each client that has called `ListUse` since its last `UseChanged`.
    func notifyUseChanged() {
        guard useLists > 0 else { return }
        for client in clients.values where client.more?.wantsUse == true && client.connection.isReady {
            client.more?.wantsUse = false
            useLists -= 1
            send(client, "UseChanged", [])
        }
    }

    private func notifyCut(_ session: SessionID, _ causes: CauseSet, _ interrupter: Interrupter?) {
        guard let app = clients.owner(of: session)?.app, let status = broker.arbiter.status(of: session),
            let cause = causes.reason
        else { return }
        let cut = RecordingCut {
            ($0.app, $0.camera, $0.interrupter, $0.cause) = (app.name, status.camera, interrupter, cause)
        }
        for client in speaking(for: app.user) { send(client, "RecordingCut", cut.wireArguments) }
    }

    /// Sends a signal of `Shell1`.
    func send(_ client: BrokerClient, _ member: String, _ arguments: [WireValue]) {
        client.connection.signal(path: ObjectPath.shell, interface: InterfaceName.shell, member: member, arguments)
    }
}

extension Desktops: PressureObserverOwner, CalendarObserverOwner {
    package var policy: Policy { broker.arbiter.policy }
    package var isAskedToRun: Bool { broker.arbiter.isAskedToRun }
    package func measured(_ level: SystemPressure?) { report { $0.report(pressure: level, by: .gauge) } }
    package func pressureChanged(_ words: String) { broker.journal.send(.notice, words) }

    package func calendarChanged(to mode: String?) {
        broker.step(.calendar(mode))
        broker.journal.send(.notice, "the calendar says \(mode.map { "mode \($0)" } ?? "no mode")")
    }
}

extension SessionEvent {
    fileprivate var changesUse: Bool {
        switch self {
        case .wasInterrupted, .interruptionChanged, .interruptionEnded, .sessionStopped, .recordingStarted,
            .recordingFinished:
            true
        default: false
        }
    }
}
