import ArbiterProtocol
import Bus
import System

/// A part of the desktop that is a service on the user's bus, and followed there.
protocol DesktopService: AnyObject {
    /// Its well-known name.
    var name: String { get }
    /// The bus is there, and knows nothing of us yet: signals are to be matched, and questions asked.
    func begin(_ bus: MessageBus)
    /// Its name has another owner, or none (""). Told when it changes, not at the beginning.
    func owned(by owner: String)
    /// A signal of anybody's; it is the service's where `sender` is the service's owner.
    func heard(_ signal: BusMessage) throws(BrokerError)
    /// There is no bus any more, or none yet.
    func lost()
}

/// The user's session bus, with the services on it that are followed.
final class DesktopBus: MessageBusDelegate {
    private let journal: Journal
    private let services: [any DesktopService]
    private var bus: MessageBus?
    /// What was written down last, so that it is written once.
    private var trouble: String?

    init(_ services: [any DesktopService], on loop: EventLoop, journal: Journal) throws(SystemFault) {
        self.services = services
        self.journal = journal
        bus = try MessageBus(.session, on: loop, delegate: self)
    }

    func close() { bus?.close() }

    func busReady(_ bus: MessageBus) {
        if trouble != nil { journal.send(.notice, "the session bus is there") }
        trouble = nil
        for service in services {
            bus.match(MessageBus.ownerRule(service.name))
            service.begin(bus)
        }
    }

    func bus(_ bus: MessageBus, received signal: BusMessage) {
        if signal.sender == MessageBus.name {
            guard let (name, owner) = MessageBus.ownerChange(signal) else { return }
            for service in services where service.name == name { service.owned(by: owner) }
            return
        }
        // Nonsense is passed over: nothing was decided by it. Each reads from the beginning.
        for service in services {
            signal.rewind()
            try? service.heard(signal)
        }
    }

    func bus(_ bus: MessageBus, called call: BusMessage) {
        call.answer(BrokerError(.unknownObject, "camagent has no methods here."))
    }

    func busLost(_ bus: MessageBus, _ why: String) {
        for service in services { service.lost() }
        if why != trouble {
            journal.send(.notice, "\(why); the desktop shows and asks nothing for camarb until there is one")
        }
        trouble = why
    }
}
