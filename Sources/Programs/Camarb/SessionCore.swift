import ArbiterProtocol
import CCamarb
import Synchronization

/// The session that handles, sequences of events and pictures, and the client's thread share.
final class SessionCore: Sendable {
    static let wasClosed = BrokerError(.unknownSession, "The session was closed by its client.")

    let client: CameraClient
    private let notices = NoticeQueue<SessionNotice>()
    private let pictures = NoticeQueue<Result<Picture?, BrokerError>>()
    private let isClosed = Atomic(false)
    private let known = Atomic<UInt64>(0)
    private let readers = Atomic(0)
    /// Set once, before another thread has the core; used with the engine's lock while the engine has the session.
    private(set) nonisolated(unsafe) var session: ClientEngine.Session?

    init(client: CameraClient) { self.client = client }

    var engine: ClientEngine { client.engine }
    /// The client's own number, which stays the same over a broker's restart.
    var id: SessionID { SessionID(known.load(ordering: .relaxed)) }

    func begins(as session: ClientEngine.Session) { self.session = session }
    func isKnown(as id: UInt64) { known.store(id, ordering: .relaxed) }

    /// With the engine's lock.
    /// - Throws: `.unknownSession` for one that the present broker does not have.
    func path() throws(BrokerError) -> String {
        let number = session.map { face_session_id($0.pointer) } ?? 0
        guard number > 0 else {
            throw BrokerError(
                .unknownSession,
                "Session \(id.rawValue) is closed, or the broker that was restarted did not take it.")
        }
        return ObjectPath.session(SessionID(number))
    }

    // MARK: Calls

    /// - Returns: the answer, such as the number of a photo.
    @discardableResult
    func ask(_ call: (UnsafeMutablePointer<camarb_session>) -> camarb_call) async throws(BrokerError) -> UInt64 {
        guard let session else { throw Self.wasClosed }
        return try await engine.ask(of: session) { _ in call(session.pointer) }.value
    }

    @discardableResult
    func ask(
        with settings: WireDictionary,
        _ call: (UnsafeMutablePointer<camarb_session>, UnsafeMutablePointer<camarb_configuration>?) -> camarb_call
    ) async throws(BrokerError) -> UInt64 {
        try await ask { session in
            let configuration = camarb_configuration_new()
            defer { camarb_configuration_free(configuration) }
            configuration?.set(settings)
            return call(session, configuration)
        }
    }

    func call(
        _ interface: String, _ member: String, _ arguments: [WireValue] = []
    ) async throws(BrokerError) -> [WireValue] {
        try await engine.call(interface, member, arguments, of: self)
    }

    // MARK: Its end

    private func leave() -> Bool {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return false }
        pictures.finish(.success(nil))
        notices.finish(.ended(Self.wasClosed))
        return true
    }

    func close() async throws(BrokerError) {
        guard leave(), let session else { return }
        let hasBroker = engine.state.withLock { face_is_connected($0.client) && face_session_id(session.pointer) > 0 }
        guard hasBroker else { return engine.free(session) }
        do throws(BrokerError) { _ = try await call(InterfaceName.session, "Close") } catch {
            engine.free(session)
            throw error
        }
        engine.free(session, isClosed: true)
    }

    func closeWithoutWaiting() { if leave(), let session { engine.free(session) } }

    // MARK: What arrives

    /// - Parameter isOfStream: the signal says why the grant has no pictures.
    func take(_ signal: Result<SessionSignal, BrokerError>, isOfStream: Bool) {
        switch signal {
        case .success(let signal):
            if isOfStream, case .runtimeError(let code, let message) = signal.event {
                let kind = BrokerError.Kind(rawValue: code) ?? .failed
                pictures.offer(.failure(BrokerError(kind, message)))
            }
            if notices.offer(.event(signal)) == false { giveUp(.unreadNotices) }
        case .failure(let error): giveUp(error)
        }
    }

    private func giveUp(_ error: BrokerError) {
        finish(error)
        if let session { engine.free(session) }
    }

    /// The session is over. Only the first reason counts.
    func finish(_ error: BrokerError) {
        pictures.finish(.failure(error))
        notices.finish(.ended(error))
    }

    /// The next notice, and whether it is the last one.
    func next() async -> (element: SessionNotice, isLast: Bool) {
        guard let notice = await notices.next() else { return (.ended(.waitCancelled), true) }
        if case .ended = notice { return (notice, true) }
        return (notice, false)
    }

    // MARK: Pictures

    /// Without a reader frames are left in the stream, which rests then.
    var isLookedAt: Bool { readers.load(ordering: .relaxed) > 0 }

    func readerCame() {
        guard readers.add(1, ordering: .relaxed).newValue == 1 else { return }
        withSession { session in
            camarb_session_set_pictures(session, true)
            // A reader that comes back after a while gets a new picture, not the one from before its pause.
            face_skip_frames(session)
        }
    }

    func readerLeft() { readers.subtract(1, ordering: .relaxed) }

    /// The next picture; nil when the session was closed here, or the waiting task was cancelled.
    func nextPicture() async throws(BrokerError) -> Picture? {
        let next = await pictures.next { newest().map { .success($0) } }
        return try next?.get() ?? nil
    }

    /// After a turn: one frame waits, and a newer one takes its place.
    func showNewest() {
        if pictures.isAwaited, let picture = newest() {
            pictures.hand(.success(picture))
        } else {
            withSession { face_keep_newest_frame($0) }
        }
    }

    private func newest() -> Picture? {
        withSession { camarb_session_newest_frame($0).flatMap { Picture($0, of: engine) } } ?? nil
    }

    @discardableResult
    private func withSession<Result: Sendable>(_ body: (UnsafeMutablePointer<camarb_session>) -> Result) -> Result? {
        engine.state.withLock { state in
            guard let session, state.sessions[session] != nil else { return nil }
            return body(session.pointer)
        }
    }
}
