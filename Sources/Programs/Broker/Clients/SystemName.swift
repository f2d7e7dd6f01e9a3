import ArbiterProtocol
import Bus
import CLinux
import Glibc
import System

/// `org.camarb` on the system bus, for programs that look for a service by its name, and for programs in a sandbox, which reach names and no
/// sockets: it shows the facts that anybody may know, and gives its callers connections of their own.
///
///     bus ready ──▶ ask for the name ──owner──▶ calls and signals ──bus lost──▶ without, until the bus is ready
///                        └──refused, or another's──▶ without ──a while later──▶ ask again
///
/// All callers are one client, the visitor, of a user that does not exist. Only for `OpenConnection` is the bus asked which process called, and
/// nothing waits for its answer. An opened connection does not go by the bus any more, and outlives the name.
final class SystemName: BrokerPart {
    static let name = "org.camarb"
    /// The methods of `Broker1` that are answered on the bus: they change nothing, or make a connection.
    private static let methods = ["GetStatus", "GetSessions", "OpenConnection"]
    /// Nanoseconds that the bus may take to say whose a connection is: a thousand times what it takes.
    private static let askTimeMax: Int64 = 5_000_000_000

    private struct Opening {
        var call: BusMessage
        var sender: String
        /// When it had arrived, in nanoseconds of CLOCK_BOOTTIME.
        var moment: Int64
    }

    private var bus: MessageBus?
    private var again: Timer?
    private var pause = MessageBus.Kind.system.pauseMin
    private var openings = Openings<Opening>()
    /// Why there is no name, as the journal has it; empty where there is.
    private var trouble = ""

    /// - Returns: `nil` for a broker that is not the system's, or has no bus.
    init?(of broker: Broker, address: String) throws(SystemFault) {
        guard broker.options.isService, !address.isEmpty else { return nil }
        super.init(of: broker)
        again = try broker.loop.addTimer { [unowned self] in askForName() }
        // All callers on the bus are one account: what they ask for takes no turn of anybody with a connection.
        bus = try MessageBus(
            .system, address: address, on: broker.loop, delegate: self, account: .user(.max),
            keepers: broker.clients.keepers)
    }

    /// Gives the name back.
    func leave() {
        setOwner(false)
        bus?.close()
    }

    // MARK: The name

    private func askForName() {
        // In line behind an earlier broker that is about to end; nobody takes it away.
        bus?.askBus("RequestName", [.string(Self.name), .uint32(0)]) { [weak self] result in
            guard let self else { return }
            switch result.flatMap({ answer in Result { () throws(BrokerError) in try answer.readUInt32() } }) {
            case .success(1), .success(4): setOwner(true)
            case .success: lack("another process has it")
            // The bus's end is told by itself.
            case .failure(let error) where error.kind == .disconnected: break
            case .failure(let error):
                lack("the system bus refuses it: \(error.message)")
                again?.arm(at: EventLoop.now + pause)
                pause = min(2 * pause, MessageBus.Kind.system.pauseMax)
            }
        }
    }

    private func setOwner(_ isOwner: Bool) {
        let connection = isOwner ? bus?.connection : nil
        if let visitor = broker.audience.visitor {
            // The bus tells of a new name twice.
            if visitor.connection === connection { return }
            broker.audience.visitor = nil
            broker.properties.forget(visitor)
        }
        guard let connection else { return }
        broker.audience.visitor = BrokerClient(visitorOn: connection)
        pause = MessageBus.Kind.system.pauseMin
        if !trouble.isEmpty { broker.journal.send(.notice, "\(Self.name) is on the system bus again") }
        trouble = ""
    }

    private func lack(_ why: String) {
        setOwner(false)
        guard trouble != why else { return }
        trouble = why
        broker.journal.send(.notice, "\(Self.name) is not on the system bus: \(why)")
    }

    // MARK: Calls

    /// Why a call has no business on the bus; `nil` for one that is dispatched, be it to an error.
    private func refusal(of call: BusMessage) -> BrokerError? {
        if call.isInterface("org.freedesktop.DBus") || call.isInterface("org.freedesktop.DBus.Monitoring") {
            return BrokerError(.unknownInterface, "\(call.interface) is the bus's own; \(MessageBus.name) answers it.")
        }
        guard !call.hasInterface || call.isInterface("org.camarb.Broker1"),
            let method = Interface.broker.method(call.member), !Self.methods.contains(method.name)
        else { return nil }
        return BrokerError(
            .accessDenied,
            "\(Self.name) on the system bus only shows things, and answers \(Self.methods.joined(separator: ", ")) of "
                + "\(InterfaceName.broker). Call OpenConnection, and \(method.name) on that connection.")
    }

    func open(_ request: Request) throws(BrokerError) {
        let call = request.message
        request.answerLater()
        guard call.expectsAnswer else { return }
        let sender = call.sender
        try openings.add(Opening(call: call, sender: sender, moment: camarb_boottime_ns()), of: sender)
        serve()
    }

    private func serve() {
        while let opening = openings.next() {
            ask("GetConnectionCredentials", opening) { [self] answer throws(BrokerError) in
                try identify(opening, try SenderCredentials(answer))
            }
        }
    }

    /// - Parameter took: takes the bus's answer; where it throws, the call is refused.
    private func ask(
        _ member: String, _ opening: Opening, _ took: @escaping (BusMessage) throws(BrokerError) -> Void
    ) {
        bus?.askBus(member, [.string(opening.sender)], timeout: Self.askTimeMax) { [weak self] result in
            do throws(BrokerError) { try took(try result.get()) } catch { self?.finish(opening, error) }
        }
    }

    private func identify(_ opening: Opening, _ said: SenderCredentials) throws(BrokerError) {
        let process = broker.options.hasWeakIdentities ? nil : said.process
        let found: PeerCredentials
        do throws(SystemFault) {
            found = try PeerCredentials(ofUser: said.user, pid: said.pid, process, calledBy: opening.moment)
        } catch {
            throw BrokerError(.accessDenied, "The broker cannot tell which process called: \(error).")
        }
        if AppIdentity.isProxyOfNobody(found.pid) {
            throw BrokerError(
                .accessDenied,
                "Process \(found.pid) is a proxy in no app's sandbox: nothing tells which app it speaks for.")
        }
        guard let weak = found.weak else { return try connect(opening, found, said.groups) }
        // The number was looked up after the call. While the bus still has its sender, and the process is the same, it is that one's.
        ask("NameHasOwner", opening) { [self] answer throws(BrokerError) in
            guard try answer.readBool(), weak.holds(of: found.pid, found.process) else {
                throw BrokerError(.accessDenied, "The process that called has ended.")
            }
            try connect(opening, found, said.groups)
        }
    }

    private func connect(_ opening: Opening, _ peer: PeerCredentials, _ groups: [UInt32]) throws(BrokerError) {
        let theirs = try clients.connect(peer, groups: groups)
        opening.call.answer([.fileDescriptor(theirs)])
        // Where the bus does not pass it on this was the last of it, and the connection ends.
        close(theirs)
        finish(opening)
    }

    private func finish(_ opening: Opening, _ error: BrokerError? = nil) {
        if let error { opening.call.answer(error) }
        openings.done(opening.sender)
        serve()
    }
}

extension SystemName: MessageBusDelegate {
    func busReady(_ bus: MessageBus) { askForName() }

    func busLost(_ bus: MessageBus, _ why: String) {
        again?.arm(at: nil)
        lack(why)
    }

    /// The bus tells the owner alone that a name has come or gone.
    func bus(_ bus: MessageBus, received signal: BusMessage) {
        guard signal.sender == MessageBus.name, signal.isSignature("s"), (try? signal.readString()) == Self.name else {
            return
        }
        if signal.isMember("NameAcquired") { setOwner(true) }
        if signal.isMember("NameLost") { lack("another process has taken it") }
    }

    func bus(_ bus: MessageBus, called call: BusMessage) {
        if let refusal = refusal(of: call) { return call.answer(refusal) }
        guard let visitor = broker.audience.visitor else {
            return call.answer(BrokerError(.unknownObject, "This connection does not have the name \(Self.name)."))
        }
        broker.dispatcher.dispatch(Request(call, visitor))
    }
}
