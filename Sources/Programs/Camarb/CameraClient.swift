// An app imports this library and no other: it says the vocabulary, the wire's values and its own words.
@_exported public import ArbiterProtocol
import Synchronization

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
    let transport: any Transport
    let state = Mutex(ClientState())
    private let notices = NoticeQueue<BrokerNotice>()
    private let wantsNotices = Atomic(false)
    let streams = StreamThread()

    /// - Parameter transport: a fresh one; the client starts it, and closes it when it is gone itself.
    package init(over transport: any Transport) {
        self.transport = transport
        transport.start(
            onSignal: { [weak self] signal in self?.arrived(signal) }, onEnd: { [weak self] error in self?.end(error) })
    }

    deinit {
        transport.close()
        streams.end()
    }

    /// Ends the connection and all its sessions. Idempotent.
    public func disconnect() {
        end(BrokerError(.disconnected, "The client disconnected."))
        transport.close()
    }

    /// What the broker tells everybody. Read it in one place; notices count from the first use of this property.
    public var brokerNotices: Notices<BrokerNotice> {
        wantsNotices.store(true, ordering: .relaxed)
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
        isolation: isolated (any Actor)? = #isolation, _ body: (borrowing SessionHandle) async throws -> Result
    ) async throws -> Result {
        let session = try await makeSession(camera: camera, configuration: configuration)
        let result: Result
        do { result = try await body(session) } catch {
            // The body's error is the one worth telling; the broker frees the session with the connection at worst.
            try? await session.close()
            throw error
        }
        try? await session.close()
        return result
    }

    /// Creates a stopped session that lives as long as its handle. `withSession` is the easier form.
    public func makeSession(
        camera: String = "", configuration: Configuration = Configuration()
    ) async throws(BrokerError) -> SessionHandle {
        try state.withLock { (state) throws(BrokerError) in try state.creationBegins() }
        let id: SessionID
        do throws(BrokerError) {
            var reader = WireReader(
                "CreateSession",
                try await call(
                    ObjectPath.broker, InterfaceName.broker, "CreateSession",
                    [.string(camera), .dictionary(configuration.wire)]))
            let path = try reader.string("session")
            guard let named = ObjectPath.sessionID(path) else {
                throw BrokerError(
                    .invalidArguments, "CreateSession gave \(path.quotedShort), which is no session's path.")
            }
            id = named
        } catch {
            state.withLock { $0.creationFailed() }
            throw error
        }
        let inbox = SessionInbox(pictures: PictureFeed(client: self, session: id))
        let duties = state.withLock { $0.created(id, inbox) }
        for duty in duties { perform(duty) }
        return SessionHandle(SessionCore(client: self, id: id, inbox: inbox))
    }

    private func arrived(_ signal: BrokerSignal) {
        switch signal {
        case .session(let session, let signal): perform(state.withLock { $0.arrived(signal, for: session) })
        case .broker(let signal):
            guard wantsNotices.load(ordering: .relaxed) else { return }
            do {
                guard let notice = try BrokerNotice(signal: signal) else { return }
                if !notices.offer(notice) { notices.finish(.ended(.unreadNotices)) }
            } catch { notices.finish(.ended(error)) }
        }
    }

    private func perform(_ duty: ClientState.Duty) {
        switch duty {
        case .nothing: break
        case .deliver(let session, let notice, let inbox):
            if !inbox.offer(notice), state.withLock({ $0.closed(session) }) != nil {
                perform(.giveUp(session, inbox, .unreadNotices))
            }
        case .giveUp(let session, let inbox, let error):
            inbox.finish(error)
            postClose(session)
        }
    }

    private func end(_ error: BrokerError) {
        for inbox in state.withLock({ $0.end(error) }) { inbox.finish(error) }
        notices.finish(.ended(error))
    }

    package func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [WireValue] = []
    ) async throws(BrokerError) -> [WireValue] {
        if let ended = state.withLock({ $0.ended }) { throw ended }
        return try await transport.call(
            WireCall(path: path, interface: interface, member: member, arguments: arguments))
    }

    /// Says that a session is over, and waits for nothing.
    func postClose(_ session: SessionID) {
        let transport = transport
        Task.detached {
            _ = try? await transport.call(
                WireCall(path: ObjectPath.session(session), interface: InterfaceName.session, member: "Close"))
        }
    }
}

extension BrokerError {
    static let unreadNotices = BrokerError(
        .outOfResources,
        "1024 events were left unread, so the next had no place; read events as they come, and create the session anew."
    )
}

extension CameraClient {
    /// Connects to a broker.
    /// - Parameters:
    ///   - address: `unix:path=…` or a path; nil: what `$CAMARB_SOCKET` says, else the user's own broker, else the machine's.
    ///   - reconnects: whether the client finds the broker again when it is restarted, and its sessions, their pictures and
    ///     their recordings go on; otherwise every sequence of events ends with the connection.
    /// - Throws: `.disconnected` and why, `.invalidValue` for an address that is none.
    public static func connect(address: String? = nil, reconnects: Bool = true) throws(BrokerError) -> CameraClient {
        guard reconnects else { return CameraClient(over: try BusTransport.connect(address: address)) }
        return CameraClient(
            over: try ReconnectingTransport { () throws(BrokerError) in try BusTransport.connect(address: address) })
    }
}
