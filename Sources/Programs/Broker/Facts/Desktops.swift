import Arbiter
import ArbiterProtocol
import Bus
import Explain
import System

/// The facts around the cameras: the clients that speak for users' desktops, what they and the machine said, and what
/// follows from it for the core (`FactBoard`).
final class Desktops: BrokerPart {
    var speakers = Speakers()
    private(set) var facts = FactBoard()
    var clientLists = 0
    var useLists = 0
    private(set) var logins: LoginSessionObserver?
    private(set) var pressure: PressureObserver?
    private(set) var calendar: CalendarObserver?

    func begin() throws(SystemFault) {
        let files = LoadFiles(root: broker.options.machine)
        pressure = try PressureObserver(self, on: broker.loop) { files.read() }
        pressure?.policyChanged()
        calendar = try CalendarObserver(self, on: broker.loop)
        logins = try LoginSessionObserver(self, address: broker.options.systemBus ?? MessageBus.Kind.systemAddress)
    }

    /// After each step: what only counts while somebody asks for a camera, or the machine waits to sleep.
    func lookWhereWanted() {
        if let logins, logins.isHoldingSleep { logins.letSleepWhenSettled() }
        pressure?.lookWhereWanted()
    }

    /// Takes up what somebody said, and tells the core what changes by it.
    func say(_ request: Request? = nil, _ word: (inout FactBoard) -> Event?) {
        // The board is left before the core is stepped, whose effects may say something, too.
        let event = word(&facts)
        if let event, let request { return broker.decide(event, request) }
        if let event { broker.step(event) }
        request?.answer()
    }

    /// The same for what ends by itself, without a request.
    func forget(_ words: (inout FactBoard) -> [Event]) { for event in words(&facts) { broker.step(event) } }

    func place(
        _ app: AppID, _ placement: FactBoard.Placement?, by source: PresenceSource, _ client: BrokerClient
    ) -> Event {
        facts.say(place: app, placement, source: source, by: .client(client.id))
    }

    func forget(_ client: BrokerClient) {
        guard let more = client.more else { return }
        forget { $0.forgetMicrophones(of: .client(client.id)) }
        broker.clients.release(.microphones, more.microphones.count, of: client)
        for source in more.sources { detach(source, client) }
        broker.clients.release(.placedApps, more.placed.count, of: client)
        forgetMicrophones(client)
        forgetAsking(client)
        if more.knowsClients { clientLists -= 1 }
        if more.wantsUse { useLists -= 1 }
    }
}

extension Desktops: PressureObserverOwner, CalendarObserverOwner {
    package var policy: Policy { broker.arbiter.policy }
    package var isAskedToRun: Bool { broker.arbiter.isAskedToRun }
    package func measured(_ level: SystemPressure?) { say { $0.say(pressure: level, by: .gauge) } }
    package func pressureChanged(_ words: String) { broker.journal.send(.notice, words) }

    package func calendarSays(_ mode: String?) {
        broker.step(.calendar(mode))
        broker.journal.send(.notice, "the calendar says \(mode.map { "mode \($0)" } ?? "no mode")")
    }
}
