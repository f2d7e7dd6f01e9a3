public import ArbiterProtocol
import CLinux
import Glibc
import System

extension BusConnection {
    /// Nanoseconds that a call waits for its answer, as with every D-Bus library, unless it says otherwise.
    public static let callTimeMax: Int64 = 25_000_000_000

    /// A call whose answer the handler gets: the arguments, the peer's error, `.noReply` after `timeout`
    /// nanoseconds, or `.disconnected`. The handler is called exactly once, on the loop's thread, never from in here.
    ///
    /// Before the peer is ready the call waits here, until it is known whether the peer takes descriptors. Descriptors among
    /// the arguments stay the caller's, which keeps them open until the answer.
    /// - Parameters:
    ///   - destination: a name, where the peer is a message bus.
    public func call(
        to destination: String? = nil, path: String, interface: String, member: String, _ arguments: [WireValue] = [],
        timeout: Int64 = callTimeMax, _ handler: @escaping (Result<BusMessage, BrokerError>) -> Void
    ) {
        call(
            to: destination, path: path, interface: interface, member: member,
            arguments.signature, passing: arguments.flatMap(\.fileDescriptors), timeout: timeout,
            { $0.append(all: arguments) }, handler)
    }

    /// The same, with what `body` appends.
    /// - Parameter signature: of all of it. Of the descriptors in it, `descriptors` are those that it has.
    public func call(
        to destination: String? = nil, path: String, interface: String, member: String, _ signature: String,
        passing descriptors: [Int32] = [], timeout: Int64 = callTimeMax,
        _ body: @escaping (inout MessageWriter) -> Void,
        _ handler: @escaping (Result<BusMessage, BrokerError>) -> Void
    ) {
        let pending = PendingCall(timeout: timeout, handler)
        let head = MessageWriter.Head.call(to: destination, path: path, interface: interface, member: member)
        pending.make = { [unowned self] in make(pending, head, signature, descriptors, body) }
        if isOpen && pendingEnd == nil && !isReady { untilReady.append(pending) } else { pending.make() }
    }

    private func make(
        _ pending: PendingCall, _ head: MessageWriter.Head, _ signature: String, _ descriptors: [Int32],
        _ body: (inout MessageWriter) -> Void
    ) {
        pending.make = {}
        do {
            guard isOpen, pendingEnd == nil, !isDeaf else { throw Self.closed }
            try head.check()
            let serial = try write(head, signature, passing: descriptors, body)
            flush()
            // The last messages of a peer that is gone are still read, in the next turn.
            if isDeaf { throw Self.closed }
            pending.deadline = EventLoop.now + max(1, pending.timeout)
            calls[serial] = pending
            refresh()
        } catch {
            let told = error as? BrokerError ?? BrokerError(.invalidArguments, "\(error).")
            loop.defer { pending.finish(.failure(told)) }
        }
    }

    private static let closed = BrokerError(.disconnected, "The connection is closed.")

    func answered(_ answer: BusMessage) {
        guard let pending = calls.removeValue(forKey: answer.head.replySerial) else { return }
        if let error = answer.error { pending.finish(.failure(error)) } else { pending.finish(.success(answer)) }
    }

    func failCallsDue() {
        let now = EventLoop.now
        for (serial, pending) in calls.filter({ $0.value.deadline <= now }).sorted(by: { $0.key < $1.key }) {
            calls[serial] = nil
            pending.finish(
                .failure(BrokerError(.noReply, "No answer came within \(pending.timeout / 1_000_000_000) s.")))
        }
    }

    func failCalls() {
        let open = calls.sorted { $0.key < $1.key }.map(\.value) + untilReady
        (calls, untilReady) = ([:], [])
        for pending in open {
            pending.finish(.failure(BrokerError(.disconnected, "The connection ended before the answer came.")))
        }
    }
}

final class PendingCall {
    let timeout: Int64
    var deadline = Int64.max
    /// Writes it; done once.
    var make: () -> Void = {}
    private var handler: ((Result<BusMessage, BrokerError>) -> Void)?

    init(timeout: Int64, _ handler: @escaping (Result<BusMessage, BrokerError>) -> Void) {
        self.timeout = timeout
        self.handler = handler
    }

    func finish(_ result: Result<BusMessage, BrokerError>) {
        make = {}
        handler.take()?(result)
    }
}
