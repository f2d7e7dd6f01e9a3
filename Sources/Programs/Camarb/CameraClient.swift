// An app imports this library and no other: it says the vocabulary, the wire's values and its own words.
@_exported public import ArbiterProtocol

/// A connection to the broker.
///
///     try await CameraClient.connect().withSession(camera: "front") { session in
///         try await session.startRunning()
///         for await event in session.events {
///             switch event {
///             case .wasInterrupted(let interruption): show(interruption.reason, until: interruption.interrupter)
///             case .interruptionEnded: hideBanner()
///             case .recordingFinished(let recording): keep(recording)
///             case .ended(let error): throw error
///             default: break
///             }
///         }
///     }
///
/// Any number of tasks may use one client. When the connection ends, every call under way and every later one
/// throws why, and every sequence of events ends with it. What the client held is freed by the broker at once.
public final class CameraClient: Sendable {
    let engine: ClientEngine
    private let notices = NoticeQueue<BrokerNotice>()

    /// Connects to a broker.
    /// - Parameters:
    ///   - address: `unix:path=…` or a path; nil: what `$CAMARB_SOCKET` says, else the user's own broker, else the machine's.
    ///   - reconnects: whether the client finds the broker again when it is restarted, and its sessions, their pictures and
    ///     their recordings go on; otherwise every sequence of events ends with the connection.
    /// - Throws: `.disconnected` and why, `.invalidValue` for an address that is none.
    public static func connect(address: String? = nil, reconnects: Bool = true) throws(BrokerError) -> CameraClient {
        try CameraClient(address, reconnects)
    }

    private init(_ address: String?, _ reconnects: Bool) throws(BrokerError) {
        engine = try ClientEngine(address: address, reconnects: reconnects, notices: notices)
    }

    deinit { engine.end("The client is gone.") }

    /// Ends the connection and all its sessions. Idempotent.
    public func disconnect() { engine.end("The client disconnected.") }

    /// The broker's notices to every client. Read them in one place; notices count from the first use of this property.
    public var brokerNotices: Notices<BrokerNotice> {
        engine.listen()
        return Notices { [self] in
            guard let notice = await notices.next() else { return (.ended(.waitCancelled), true) }
            if case .ended = notice { return (notice, true) }
            return (notice, false)
        }
    }

    /// Creates a session, lends it to `body`, and closes it when `body` is done, however it ends.
    /// - Parameters:
    ///   - camera: its id, or `""` for the first.
    ///   - configuration: what the session wants; applied when it runs.
    /// - Throws: `.unknownCamera`, `.unsupportedConfiguration`, `.limitExceeded`, or what `body` throws.
    public func withSession<Result>(
        camera: String = "", configuration: Configuration = Configuration(),
        isolation: isolated (any Actor)? = #isolation, _ body: (SessionHandle) async throws -> Result
    ) async throws -> Result {
        let lease = try await makeSession(camera: camera, configuration: configuration)
        let result: Result
        do { result = try await body(lease.handle) } catch {
            // The body's error is the one worth telling; the broker frees the session with the connection at worst.
            try? await lease.close()
            throw error
        }
        try? await lease.close()
        return result
    }

    /// Creates a stopped session that lives as long as its lease. `withSession` is the easier form.
    public func makeSession(
        camera: String = "", configuration: Configuration = Configuration()
    ) async throws(BrokerError) -> SessionLease {
        let core = SessionCore(client: self)
        try await engine.create(core, camera: camera, configuration.wire)
        return SessionLease(core)
    }

    package func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [WireValue] = [],
        isDeclaration: Bool = false
    ) async throws(BrokerError) -> [WireValue] {
        try await engine.call(interface, member, arguments, at: path, isDeclaration: isDeclaration)
    }
}
