package import ArbiterProtocol

/// How a client's words reach the broker. The client library knows only this; `BusTransport`
/// is the one over a Unix socket, and tests have one in memory.
///
/// Threading: every member may be called from any thread. Signals arrive in the order in which the
/// broker sent them, on one thread of the transport's own, and before the reply to any call that the
/// broker answered later.
package protocol Transport: AnyObject, Sendable {
    /// Calls a method and waits for its answer.
    /// - Throws: the broker's error, or `.disconnected` when the connection ends first,
    ///   or `.noReply` after the transport's own time limit (25 s, D-Bus's customary one).
    func call(_ call: WireCall) async throws(BrokerError) -> [WireValue]

    /// Begins to deliver. Called once, before the first call; the handlers must not block.
    func start(
        onSignal: @escaping @Sendable (WireSignal) -> Void,
        onEnd: @escaping @Sendable (BrokerError) -> Void)

    /// Ends the connection; calls under way end with `.disconnected`. Idempotent.
    func close()

    /// What the broker at the other end calls itself, the same for all connections to one and different for the next that
    /// takes its place: a D-Bus server's GUID. Nil before its first answer, and where the transport does not know.
    var brokerID: String? { get }
}

extension Transport {
    package var brokerID: String? { nil }
}
