import ArbiterProtocol
import Bus
import System

/// A part of the desktop with a service on the user's bus.
protocol DesktopService: AnyObject {
    var name: String { get }
    /// The connection to the bus is new: it has no match rules and no calls of this service yet.
    func begin(_ bus: MessageBus)
    /// Its name has another owner, or none (""). Called for changes, not at the beginning.
    func owned(by owner: String)
    /// A signal of any sender; it is the service's own where `sender` is the service's owner.
    func heard(_ signal: BusMessage) throws(BrokerError)
    func lost()
}

/// A service that is queried for its state; after a failure again, ever more rarely.
class AskedService: DesktopService {
    let name: String
    private(set) final weak var bus: MessageBus?
    private let signals: String
    private var again: Timer?
    private var backOff = BackOff.desktop
    private var failures = 0
    /// Queries in a row that fail; after them only the next owner, or change, begins a query.
    private static let failuresMax = 5
    /// Grows with each query: results of an earlier one are dropped.
    private var round = 0

    /// - Parameter signals: the service's own signals to match, beside its name and interface.
    init(_ name: String, signals: String = "", on loop: EventLoop) throws(SystemFault) {
        (self.name, self.signals) = (name, signals)
        again = try loop.addTimer { [unowned self] in ask() }
    }

    final func begin(_ bus: MessageBus) {
        self.bus = bus
        failures = 0
        bus.match("type='signal',sender='\(name)',interface='\(name)'\(signals)")
        ask()
    }

    func ask() {}
    func owned(by owner: String) {}
    func heard(_ signal: BusMessage) throws(BrokerError) {}

    func lost() {
        bus = nil
        forget()
    }

    /// Drops the query under way, and all retries.
    final func forget() {
        round += 1
        again?.arm(at: nil)
    }

    final func ask(
        _ path: String, _ member: String, _ arguments: [WireValue] = [],
        _ take: @escaping (Result<BusMessage, BrokerError>) -> Void
    ) {
        forget()
        let asked = round
        bus?.call(name, path: path, interface: name, member: member, arguments) { [weak self] result in
            if let self, round == asked { take(result) }
        }
    }

    final func worked() {
        backOff.reset()
        failures = 0
    }

    final func failed() {
        failures += 1
        if failures <= Self.failuresMax { askLater(backOff.wait().nanoseconds) }
    }

    /// Not later than that: an earlier retry stays.
    final func askLater(_ pause: Int64) { if again?.deadline == nil { again?.arm(at: EventLoop.now + pause) } }
}

final class DesktopBus: MessageBusDelegate {
    private let journal: Journal
    private let services: [any DesktopService]
    private var bus: MessageBus?
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
        // A malformed signal is ignored: nothing was decided by it. Each service reads from the beginning.
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
