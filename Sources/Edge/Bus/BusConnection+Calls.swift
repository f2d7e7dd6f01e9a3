public import ArbiterProtocol
import CLinux
import CSystemd
import System

extension BusConnection {
    /// A call whose answer the handler gets: the arguments, the peer's error, `.noReply` after `timeout`
    /// nanoseconds, or `.disconnected`. The handler is called exactly once, on the loop's thread, never from in here.
    ///
    /// Before the peer is ready the call waits here, since libsystemd would block until it knows whether the peer
    /// takes descriptors. Descriptors among the arguments stay the caller's, which keeps them open until the answer.
    /// - Parameters:
    ///   - destination: a name, where the peer is a message bus.
    ///   - fill: appends arguments of types that `WireValue` does not have.
    public func call(
        to destination: String? = nil, path: String, interface: String, member: String, _ arguments: [WireValue] = [],
        timeout: Int64 = 25_000_000_000, filling fill: ((BusMessage) -> Void)? = nil,
        _ handler: @escaping (Result<BusMessage, BrokerError>) -> Void
    ) {
        let pending = PendingCall(self, timeout, handler)
        func make() {
            makeCall(pending, to: destination, path: path, interface: interface, member: member) { message in
                for argument in arguments { message.append(argument) }
                fill?(message)
            }
        }
        if isOpen && pendingEnd == nil && !isReady {
            calls[ObjectIdentifier(pending)] = pending
            untilReady.append(make)
        } else {
            make()
        }
    }

    private func makeCall(
        _ pending: PendingCall, to destination: String?, path: String, interface: String, member: String,
        _ fill: (BusMessage) -> Void
    ) {
        do {
            guard isOpen, pendingEnd == nil, !peerHasClosed else { throw Self.closed }
            let message = try BusMessage.call(
                on: self, to: destination, path: path, interface: interface, member: member)
            fill(message)
            if let fault = message.buildFault { throw fault }
            var slot: OpaquePointer?
            let box = Unmanaged.passRetained(pending)
            // Without libsystemd's own time limit, which knows one clock: it is ours (`deadlinePassed`).
            let result = sd_bus_call_async(bus, &slot, message.pointer, callAnswered, box.toOpaque(), .max)
            guard result >= 0, let slot else {
                box.release()
                throw SystemFault("call \(interface).\(member)", result)
            }
            // The slot keeps the box, and the call the slot, until it is finished.
            _ = sd_bus_slot_set_destroy_callback(slot) { data in
                if let data { Unmanaged<PendingCall>.fromOpaque(data).release() }
            }
            pending.wasMade(slot)
            calls[ObjectIdentifier(pending)] = pending
            isQuiet = false
            account(message.payloadBytes)
        } catch {
            calls[ObjectIdentifier(pending)] = nil
            let told: BrokerError
            switch error {
            case let fault as SystemFault where fault.saysThatThePeerIsGone:
                askForTurn()
                told = Self.closed
            default: told = error as? BrokerError ?? BrokerError(.invalidArguments, "\(error).")
            }
            loop.defer { pending.finish(.failure(told)) }
        }
    }

    private static let closed = BrokerError(.disconnected, "The connection is closed.")

    /// The peer has closed, and that may not have been read yet. Nothing is written then: libsystemd, which finds it out by
    /// writing, drops what the peer said last.
    private var peerHasClosed: Bool {
        guard intake == nil, camarb_peer_has_closed(waitedOn) != 0 else { return false }
        askForTurn()
        return true
    }

    fileprivate func answered(_ pending: PendingCall, _ message: OpaquePointer) {
        somethingArrived = true
        calls[ObjectIdentifier(pending)] = nil
        // While the connection ends libsystemd answers for the peer, as if a time limit had passed.
        if sd_bus_is_open(bus) <= 0 {
            pending.finish(.failure(BrokerError(.disconnected, "The connection ended before the answer came.")))
            return
        }
        let answer = BusMessage(borrowing: message, self)
        if let error = answer.error { pending.finish(.failure(error)) } else { pending.finish(.success(answer)) }
    }

    func failCallsDue() {
        let now = EventLoop.now
        let due = calls.values.filter { $0.deadline <= now }.sorted { $0.number < $1.number }
        for pending in due {
            calls[ObjectIdentifier(pending)] = nil
            pending.finish(
                .failure(BrokerError(.noReply, "No answer came within \(pending.timeout / 1_000_000_000) s.")))
        }
    }

    func failCalls() {
        untilReady = []
        let open = calls.values.sorted { $0.number < $1.number }
        calls = [:]
        for pending in open {
            pending.finish(.failure(BrokerError(.disconnected, "The connection ended before the answer came.")))
        }
    }
}

final class PendingCall {
    let connection: BusConnection
    let timeout: Int64
    /// When its time is up; never, until it was made.
    private(set) var deadline = Int64.max
    private(set) var number: UInt64 = 0
    private var slot: OpaquePointer?
    private var handler: ((Result<BusMessage, BrokerError>) -> Void)?

    init(
        _ connection: BusConnection, _ timeout: Int64, _ handler: @escaping (Result<BusMessage, BrokerError>) -> Void
    ) {
        self.connection = connection
        self.timeout = timeout
        self.handler = handler
    }

    func wasMade(_ slot: OpaquePointer) {
        self.slot = slot
        number = connection.nextCallNumber()
        deadline = EventLoop.now + max(1, timeout)
    }

    func finish(_ result: Result<BusMessage, BrokerError>) {
        // An answer that comes later finds nobody.
        let made = slot
        slot = nil
        _ = sd_bus_slot_unref(made)
        let told = handler
        handler = nil
        told?(result)
    }
}

private func callAnswered(
    _ message: OpaquePointer?, _ data: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
    guard let message, let data else { return 1 }
    let pending = Unmanaged<PendingCall>.fromOpaque(data).takeUnretainedValue()
    pending.connection.answered(pending, message)
    return 1
}
