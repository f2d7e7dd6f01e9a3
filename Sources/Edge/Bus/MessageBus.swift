public import ArbiterProtocol
import CLinux
import Glibc
public import System

/// The owner of a connection to a message bus, called on the loop's thread.
public protocol MessageBusDelegate: AnyObject {
    /// The bus is there, and knows us. Nothing of an earlier connection holds: no match, no name, no answer under way.
    func busReady(_ bus: MessageBus)
    func bus(_ bus: MessageBus, received signal: BusMessage)
    /// Somebody on the bus calls a method of ours, and is answered.
    func bus(_ bus: MessageBus, called call: BusMessage)
    /// It is not there, or not any more, and why in a sentence. Tried again by itself.
    func busLost(_ bus: MessageBus, _ why: String)
}

extension MessageBusDelegate {
    public func bus(_ bus: MessageBus, called call: BusMessage) {
        call.answer(BrokerError(.unknownMethod, "camarb has no methods on the \(bus.kind.words)."))
    }
}

/// A message bus, the machine's or a user's, for as long as there is one: where it was lost, or has not been started yet,
/// it is looked for again, ever more rarely.
///
/// The bus is a peer like any other, with two habits of its own: it wants to be greeted, and messages name the peer
/// they are for.
public final class MessageBus {
    /// The bus itself, as it is called on every bus.
    public static let name = "org.freedesktop.DBus"
    static let path = "/org/freedesktop/DBus"

    /// Whose bus it is.
    public enum Kind: Hashable, Sendable {
        case system
        /// A user's, on which that user's desktop is.
        case session

        /// Where the system's bus is unless `$DBUS_SYSTEM_BUS_ADDRESS` says otherwise.
        public static let usualSystemAddress = "unix:path=/run/dbus/system_bus_socket"

        /// The environment's address of the system's bus, else the usual one.
        public static var systemAddress: String {
            environment("DBUS_SYSTEM_BUS_ADDRESS") ?? usualSystemAddress
        }

        /// `nil` where the environment of no login session names the user's bus.
        public var address: String? {
            switch self {
            case .system: Self.systemAddress
            case .session:
                environment("DBUS_SESSION_BUS_ADDRESS")
                    ?? environment("XDG_RUNTIME_DIR").map { "unix:path=\($0)/bus" }
            }
        }

        var words: String { self == .system ? "system bus" : "session bus" }

        var nowhere: String {
            self == .system
                ? "the system bus's address names no Unix socket"
                : "there is no session bus ($DBUS_SESSION_BUS_ADDRESS names no Unix socket, or neither it nor "
                    + "$XDG_RUNTIME_DIR is set)"
        }

        /// Nanoseconds between tries to connect; each is twice as long as the one before. A machine has its bus from its
        /// start on; a desktop's comes and goes with its login session, and is looked for as its other services are.
        package var pauseMin: Int64 { self == .system ? 1_000_000_000 : 250_000_000 }
        package var pauseMax: Int64 { self == .system ? 60_000_000_000 : 30_000_000_000 }

        /// Whoever is on a bus may send what it likes: nothing that concerns camarb is longer than a permission store of ten
        /// thousand apps, or a list of all login sessions that logind may have.
        static let messageBytesMax = 1 << 20
    }

    public let kind: Kind
    /// Where it may be, in the order in which it is tried.
    private let paths: [String]
    private let loop: EventLoop
    private weak var delegate: (any MessageBusDelegate)?
    private let keepers: DescriptorKeepers?
    private let account: TurnAccount
    public private(set) var connection: BusConnection?
    private var timer: Timer?
    private var pause: Int64
    private var isClosed = false
    /// It has greeted us.
    public private(set) var isReady = false

    /// Connects in the next turn of the loop, so that the delegate is told of nothing from inside here.
    /// - Parameter address: nil: where the bus of that kind is.
    /// - Parameter keepers: They take descriptors that come with others' calls and signals, and those of answers alone come into
    ///   this process; nil: all do.
    public init(
        _ kind: Kind, address: String? = nil, on loop: EventLoop, delegate: any MessageBusDelegate,
        account: TurnAccount = .own, keepers: DescriptorKeepers? = nil
    ) throws(SystemFault) {
        (self.kind, self.account, self.keepers) = (kind, account, keepers)
        paths = (address ?? kind.address).map(SocketAddress.busPaths(in:)) ?? []
        self.loop = loop
        self.delegate = delegate
        pause = kind.pauseMin
        timer = try loop.addTimer { [unowned self] in connect() }
        timer?.arm(at: EventLoop.now)
    }

    deinit { connection?.close() }

    /// Leaves the bus for good, and with it every name. The delegate is told of nothing more.
    public func close() {
        isClosed = true
        isReady = false
        delegate = nil
        timer?.arm(at: nil)
        connection?.close()
        connection = nil
    }

    /// The handler is called once, later; with `.disconnected` when there is no bus.
    public func call(
        _ destination: String, path: String, interface: String, member: String, _ arguments: [WireValue] = [],
        timeout: Int64 = BusConnection.callTimeMax, _ handler: @escaping (Result<BusMessage, BrokerError>) -> Void
    ) {
        guard let connection else { return failed(handler) }
        connection.call(
            to: destination, path: path, interface: interface, member: member, arguments, timeout: timeout, handler)
    }

    /// The same, with what `body` appends.
    public func call(
        _ destination: String, path: String, interface: String, member: String, _ signature: String,
        _ body: @escaping (inout MessageWriter) -> Void, _ handler: @escaping (Result<BusMessage, BrokerError>) -> Void
    ) {
        guard let connection else { return failed(handler) }
        connection.call(to: destination, path: path, interface: interface, member: member, signature, body, handler)
    }

    private func failed(_ handler: @escaping (Result<BusMessage, BrokerError>) -> Void) {
        loop.defer { [kind] in handler(.failure(BrokerError(.disconnected, "There is no \(kind.words)."))) }
    }

    /// Lets signals through that a match rule describes, until the bus is lost.
    public func match(_ rule: String) { askBus("AddMatch", [.string(rule)]) { _ in } }

    /// Asks the bus itself.
    public func askBus(
        _ member: String, _ arguments: [WireValue] = [], timeout: Int64 = BusConnection.callTimeMax,
        _ handler: @escaping (Result<BusMessage, BrokerError>) -> Void
    ) {
        call(Self.name, path: Self.path, interface: Self.name, member: member, arguments, timeout: timeout, handler)
    }

    /// Lets the bus say when a name has another owner.
    public static func ownerRule(_ name: String) -> String {
        "type='signal',sender='\(Self.name)',interface='\(Self.name)',member='NameOwnerChanged',arg0='\(name)'"
    }

    /// The contents of such a signal; `nil` for others.
    public static func ownerChange(_ signal: BusMessage) -> (name: String, owner: String)? {
        guard signal.sender == Self.name, signal.isMember("NameOwnerChanged"), signal.isSignature("sss"),
            let name = try? signal.readString(), (try? signal.readString()) != nil,
            let owner = try? signal.readString()
        else { return nil }
        return (name, owner)
    }

    /// Says to all that listen what has changed.
    public func emit(path: String, interface: String, member: String, _ arguments: [WireValue] = []) {
        if isReady { connection?.signal(path: path, interface: interface, member: member, arguments) }
    }

    private func connect() {
        guard !isClosed else { return }
        guard !paths.isEmpty else { return failed(kind.nowhere) }
        var fault = ""
        for path in paths {
            let descriptor = camarb_unix_connect(path)
            guard descriptor >= 0 else {
                fault = "\(SystemFault("connect to the \(kind.words) at \(path)", descriptor))"
                continue
            }
            do throws(SystemFault) {
                connection = try BusConnection(
                    adopting: descriptor, as: .client, on: loop, delegate: self, account: account, keepers: keepers)
                connection?.messageBytesMax = Kind.messageBytesMax
                return
            } catch { fault = "\(error)" }
        }
        failed(fault)
    }

    private func failed(_ why: String) {
        connection?.close()
        connection = nil
        isReady = false
        timer?.arm(at: EventLoop.now + pause)
        pause = min(pause * 2, kind.pauseMax)
        delegate?.busLost(self, why)
    }
}

extension MessageBus: BusConnectionDelegate {
    public func connectionReady(_ connection: BusConnection) {
        askBus("Hello") { [weak self] result in
            guard let self, self.connection === connection else { return }
            switch result {
            case .success:
                pause = kind.pauseMin
                isReady = true
                delegate?.busReady(self)
            // `connectionEnded` tells of the end.
            case .failure(let error) where error.kind == .disconnected: break
            case .failure(let error): failed("the \(kind.words) does not take us: \(error.message)")
            }
        }
    }

    public func connection(_ connection: BusConnection, received message: BusMessage) {
        switch message.kind {
        case .signal: delegate?.bus(self, received: message)
        case .call:
            if let delegate {
                delegate.bus(self, called: message)
            } else {
                message.answer(BrokerError(.unknownObject, "There is nothing here any more."))
            }
        case .answer, .error: break
        }
    }

    public func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) {
        guard self.connection === connection else { return }
        failed("the \(kind.words) has ended the connection")
    }
}
