package import ArbiterProtocol
import Bus
import Glibc
import Synchronization
import System

/// A client's connection to the broker over its Unix socket.
///
/// One thread of its own runs the loop, and libsystemd is used on that thread only; other threads leave their
/// calls in a list and wake it. The thread ends with the connection, which `close` and the last release end.
package final class BusTransport: Transport {
    /// A call without an answer ends with `.noReply` after this long, in nanoseconds: D-Bus's customary 25 s.
    package static let callTimeMax: Int64 = 25_000_000_000

    private let thread: ClientThread

    private init(_ thread: ClientThread) { self.thread = thread }
    deinit { thread.close() }

    /// Connects to a broker; returns once the socket is connected, so waits only for a full backlog.
    package static func connect(address: String? = nil) throws(BrokerError) -> BusTransport {
        BusTransport(ClientThread(descriptor: try SocketAddress.connect(address)))
    }

    /// Adopts a connected socket, such as one end of a pair.
    package static func adopt(_ descriptor: Int32) -> BusTransport {
        BusTransport(ClientThread(descriptor: descriptor))
    }

    package func start(
        onSignal: @escaping @Sendable (BrokerSignal) -> Void, onEnd: @escaping @Sendable (BrokerError) -> Void
    ) {
        thread.start(onSignal: onSignal, onEnd: onEnd)
    }

    package func call(_ call: WireCall) async throws(BrokerError) -> [WireValue] {
        let result: Result<[WireValue], BrokerError> = await withCheckedContinuation { continuation in
            thread.enqueue(.call(call, continuation))
        }
        return try result.get()
    }

    package func close() { thread.close() }
    package var brokerID: String? { thread.brokerID }
}

private typealias Answer = CheckedContinuation<Result<[WireValue], BrokerError>, Never>

/// What callers and the loop's thread share.
private final class ClientThread: Sendable {
    enum Command: Sendable {
        case call(WireCall, Answer)
        case close
    }

    private struct State: ~Copyable {
        var phase: Phase
        var commands: [Command] = []
        var wakeup: Wakeup?
        var brokerID: String?
    }

    private enum Phase {
        case connected(Int32)
        case running
        case over(BrokerError)
    }

    private let state: Mutex<State>

    init(descriptor: Int32) { state = Mutex(State(phase: .connected(descriptor))) }

    static let closed = BrokerError(.disconnected, "The connection was closed on this side.")

    func enqueue(_ command: Command) {
        let end: BrokerError? = state.withLock { state in
            if case .over(let error) = state.phase { return error }
            state.commands.append(command)
            // One wake for a whole batch: the loop takes all there are.
            if state.commands.count == 1 { state.wakeup?.signal() }
            return nil
        }
        if let end, case .call(_, let answer) = command { answer.resume(returning: .failure(end)) }
    }

    func takeCommands() -> [Command] {
        state.withLock { state in
            defer { state.commands = [] }
            return state.commands
        }
    }

    func close() {
        let neverStarted: Int32? = state.withLock { state in
            guard case .connected(let descriptor) = state.phase else { return nil }
            state.phase = .over(ClientThread.closed)
            return descriptor
        }
        if let neverStarted {
            _ = Glibc.close(neverStarted)
            abandon(ClientThread.closed)
        } else {
            enqueue(.close)
        }
    }

    func start(onSignal: @escaping @Sendable (BrokerSignal) -> Void, onEnd: @escaping @Sendable (BrokerError) -> Void) {
        let found: Int32? = state.withLock { state in
            guard case .connected(let descriptor) = state.phase else { return nil }
            state.phase = .running
            return descriptor
        }
        guard let descriptor = found else { return }
        let started = startThread { [self] in
            let end = ClientLoop(self, onSignal).run(descriptor)
            abandon(end)
            onEnd(end)
        }
        if !started {
            _ = Glibc.close(descriptor)
            let error = BrokerError(.outOfResources, "No thread could be started for the connection.")
            abandon(error)
            onEnd(error)
        }
    }

    var brokerID: String? { state.withLock { $0.brokerID } }
    func isReady(with brokerID: String?) { state.withLock { $0.brokerID = brokerID } }

    func setWakeup(_ wakeup: Wakeup) {
        state.withLock { state in
            state.wakeup = wakeup
            if !state.commands.isEmpty { wakeup.signal() }
        }
    }

    /// No call is accepted any more, and those not begun yet have failed.
    private func abandon(_ error: BrokerError) {
        let commands = state.withLock { state in
            state.phase = .over(error)
            state.wakeup = nil
            defer { state.commands = [] }
            return state.commands
        }
        for case .call(_, let answer) in commands { answer.resume(returning: .failure(error)) }
    }
}

/// The loop's side; lives on its thread alone.
private final class ClientLoop: BusConnectionDelegate {
    private let thread: ClientThread
    private let onSignal: @Sendable (BrokerSignal) -> Void
    private var loop: EventLoop?
    private var connection: BusConnection?
    private var end: BrokerError?

    init(_ thread: ClientThread, _ onSignal: @escaping @Sendable (BrokerSignal) -> Void) {
        self.thread = thread
        self.onSignal = onSignal
    }

    func run(_ descriptor: Int32) -> BrokerError {
        do {
            let loop: EventLoop
            do { loop = try EventLoop() } catch {
                _ = Glibc.close(descriptor)
                throw error
            }
            self.loop = loop
            let connection = try BusConnection(adopting: descriptor, as: .client, on: loop, delegate: self)
            self.connection = connection
            let wakeup = try loop.addWakeup { [unowned self] in self.takeCommands() }
            thread.setWakeup(wakeup)
            _ = try loop.run()
            wakeup.cancel()
            // What deferred work is left answers the calls under way.
            connection.close()
            self.connection = nil
        } catch let fault as SystemFault where fault.saysThatThePeerIsGone {
            // A broker that is just ending takes connections into its queue until the last moment.
            return BrokerError(.disconnected, "The broker closed the connection, or ended.")
        } catch { return BrokerError(.outOfResources, "The connection could not be set up: \(error).") }
        return end ?? ClientThread.closed
    }

    private func takeCommands() {
        for command in thread.takeCommands() {
            switch command {
            case .close:
                connection?.close()
                // The loop ends in a later turn, when the calls under way have been answered.
                loop?.defer { [unowned self] in self.loop?.exit() }
            case .call(let call, let answer):
                guard let connection else {
                    answer.resume(returning: .failure(ClientThread.closed))
                    continue
                }
                connection.call(
                    path: call.path, interface: call.interface, member: call.member, call.arguments,
                    timeout: BusTransport.callTimeMax
                ) { result in
                    answer.resume(returning: Result { () throws(BrokerError) in try result.get().arguments() })
                }
            }
        }
    }

    func connectionReady(_ connection: BusConnection) { thread.isReady(with: connection.serverID) }

    func connection(_ connection: BusConnection, received message: BusMessage) {
        if message.kind == .call {
            message.answer(BrokerError(.unknownMethod, "A client has no methods to call."))
            return
        }
        guard message.kind == .signal, let arguments = try? message.arguments() else { return }
        let signal = WireSignal(
            path: message.path, interface: message.interface, member: message.member, arguments: arguments)
        if let read = BrokerSignal(signal) { onSignal(read) }
    }

    func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) {
        self.end =
            switch end {
            case .disconnected: BrokerError(.disconnected, "The broker closed the connection, or ended.")
            case .authenticationTimedOut: BrokerError(.disconnected, "The broker did not authenticate in time.")
            case .messageTooLong, .messageNotWhole:
                BrokerError(.disconnected, "The broker sent a message that is too long, or not whole.")
            case .unfit(let what): BrokerError(.disconnected, "The connection failed: \(what).")
            case .tooMuchQueued: BrokerError(.disconnected, "The broker did not read what it was sent.")
            case .fault(let fault): BrokerError(.disconnected, "The connection failed: \(fault).")
            }
        self.connection = nil
        loop?.exit()
    }
}

/// What a broker says unasked. To a session it is read once, here.
package enum BrokerSignal: Sendable {
    /// Or what is wrong with it.
    case session(SessionID, Result<SessionSignal, BrokerError>)
    /// To the client as a whole; read where somebody listens.
    case broker(WireSignal)

    /// Nil for the standard D-Bus interfaces' signals, which say nothing that these do not.
    package init?(_ signal: WireSignal) {
        switch signal.interface {
        case InterfaceName.session:
            guard let session = ObjectPath.sessionID(signal.path) else { return nil }
            self = .session(session, Result { () throws(BrokerError) in try SessionSignal(signal: signal) })
        case InterfaceName.broker, InterfaceName.shell: self = .broker(signal)
        default: return nil
        }
    }
}

/// How a client's words reach the broker. The client library knows only this; `BusTransport`
/// is the one over a Unix socket, and tests have one in memory.
///
/// Threading: every member may be called from any thread. Signals arrive in the order in which the broker sent them, on one
/// thread of the transport's own, and before the reply to any call that the broker answered later.
package protocol Transport: AnyObject, Sendable {
    func call(_ call: WireCall) async throws(BrokerError) -> [WireValue]

    /// Begins to deliver. Called once, before the first call; the handlers must not block.
    func start(onSignal: @escaping @Sendable (BrokerSignal) -> Void, onEnd: @escaping @Sendable (BrokerError) -> Void)

    /// Ends the connection; calls under way end with `.disconnected`. Idempotent.
    func close()

    /// What the broker at the other end calls itself, the same for all connections to one and different for the next that
    /// takes its place: a D-Bus server's GUID. Nil before its first answer, and where the transport does not know.
    var brokerID: String? { get }
}

extension Transport {
    package var brokerID: String? { nil }
}
