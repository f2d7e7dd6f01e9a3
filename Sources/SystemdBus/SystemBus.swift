public import ArbiterProtocol
import CLinux
import Glibc

/// What a connection to the system bus tells its owner, on the loop's thread.
public protocol SystemBusDelegate: AnyObject {
    /// The bus is there, and knows us. Nothing of an earlier connection holds: no match, no answer under way.
    func systemBusReady(_ bus: SystemBus)
    func systemBus(_ bus: SystemBus, received signal: BusMessage)
    /// It is not there, or not any more, and why in a sentence. Tried again by itself.
    func systemBusLost(_ bus: SystemBus, _ why: String)
}

/// The machine's message bus, for as long as there is one: where it was lost, or has not been started yet, it is looked
/// for again, ever more rarely.
///
/// The bus is a peer like any other, with two habits of its own: it wants to be greeted, and messages name whom they are
/// for. So this is a `BusConnection`, which waits for nothing, and not one of libsystemd's own.
public final class SystemBus {
    /// Where buses are unless `$DBUS_SYSTEM_BUS_ADDRESS` says otherwise.
    public static let usualAddress = "unix:path=/run/dbus/system_bus_socket"
    public static let name = "org.freedesktop.DBus"
    static let path = "/org/freedesktop/DBus"

    /// Nanoseconds between tries to connect; each is twice as long as the one before.
    static let pauseMin: Int64 = 1_000_000_000
    static let pauseMax: Int64 = 60_000_000_000

    private let address: String
    private let loop: EventLoop
    private weak var delegate: (any SystemBusDelegate)?
    private var connection: BusConnection?
    private var timer: Timer?
    private var pause = SystemBus.pauseMin

    /// Connects in the next turn of the loop, so that the delegate is told of nothing from inside here.
    public init(address: String, on loop: EventLoop, delegate: any SystemBusDelegate) throws(SystemFault) {
        self.address = address
        self.loop = loop
        self.delegate = delegate
        timer = try loop.addTimer { [unowned self] in connect() }
        timer?.arm(at: EventLoop.now)
    }

    /// The environment's address, else the usual one.
    public static var address: String {
        guard let said = getenv("DBUS_SYSTEM_BUS_ADDRESS"), said[0] != 0 else { return usualAddress }
        return String(cString: said)
    }

    deinit { connection?.close() }

    /// The handler is called once, later; with `.disconnected` when there is no bus.
    public func call(
        _ destination: String, path: String, interface: String, member: String, _ arguments: [WireValue] = [],
        _ handler: @escaping (Result<BusMessage, BrokerError>) -> Void
    ) {
        guard let connection else {
            loop.defer { handler(.failure(BrokerError(.disconnected, "There is no system bus."))) }
            return
        }
        connection.call(
            to: destination, path: path, interface: interface, member: member, arguments, handler)
    }

    /// Lets signals through that a match rule describes, until the bus is lost.
    public func match(_ rule: String) {
        call(Self.name, path: Self.path, interface: Self.name, member: "AddMatch", [.string(rule)]) { _ in }
    }

    // MARK: Connecting

    private func connect() {
        do throws(BrokerError) {
            let path = try SocketAddress.path(of: address)
            let descriptor = camarb_unix_connect(path)
            guard descriptor >= 0 else {
                return failed("\(SystemFault("connect to the system bus at \(path)", descriptor))")
            }
            do throws(SystemFault) {
                connection = try BusConnection(adopting: descriptor, as: .client, on: loop, delegate: self)
            } catch {
                failed("\(error)")
            }
        } catch {
            failed("cannot connect to the system bus: \(error.message)")
        }
    }

    private func failed(_ why: String) {
        connection?.close()
        connection = nil
        timer?.arm(at: EventLoop.now + pause)
        pause = min(pause * 2, Self.pauseMax)
        delegate?.systemBusLost(self, why)
    }
}

extension SystemBus: BusConnectionDelegate {
    public func connectionReady(_ connection: BusConnection) {
        call(Self.name, path: Self.path, interface: Self.name, member: "Hello") { [weak self] result in
            guard let self, self.connection === connection else { return }
            switch result {
            case .success:
                pause = Self.pauseMin
                delegate?.systemBusReady(self)
            // One that ended is told of below.
            case .failure(let error) where error.kind == .disconnected: break
            case .failure(let error): failed("the system bus does not take us: \(error.message)")
            }
        }
    }

    public func connection(_ connection: BusConnection, received message: BusMessage) {
        switch message.kind {
        case .signal: delegate?.systemBus(self, received: message)
        case .call: message.answer(BrokerError(.unknownMethod, "camarb has no methods on the system bus."))
        case .answer, .error: break
        }
    }

    public func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) {
        guard self.connection === connection else { return }
        failed("the system bus has ended the connection")
    }
}
