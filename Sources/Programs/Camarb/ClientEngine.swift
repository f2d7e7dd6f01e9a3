import ArbiterProtocol
import Bus
import CCamarb
import CLinux
import Glibc
import Synchronization
import System

/// libcamarb's client, with the thread that dispatches it.
///
///     running ──disconnect, or the broker is gone for good──▶ ended: every call throws why, every sequence has ended
///
/// The library is used by one thread at a time, with the lock of `state`. The engine's thread dispatches and takes events; other
/// threads call. Continuations are resumed, and queues filled, behind the lock. The thread keeps the engine until the client has
/// ended, and sessions and pictures keep it for longer; with the last reference the library's client is freed.
final class ClientEngine: Sendable {
    /// A pointer to a part of libcamarb, which is used with the lock.
    struct Locked<Value>: Hashable, @unchecked Sendable {
        let pointer: UnsafeMutablePointer<Value>
    }

    typealias Client = UnsafeMutablePointer<camarb_client>
    typealias Session = Locked<camarb_session>
    typealias Answer = Result<(value: UInt64, arguments: [WireValue]), BrokerError>
    /// The continuation of a call; `nil` has it made once more.
    typealias Caller = CheckedContinuation<Answer?, Never>

    struct State: Sendable {
        let locked: Locked<camarb_client>
        let face: Locked<face>
        let context: FaceContext
        var calls: [camarb_call: (caller: Caller, session: Session?)] = [:]
        /// Callers that wait for a broker, or for the answer to one of 64 calls under way.
        var waiting: [Caller] = []
        var sessions: [Session: SessionCore] = [:]
        var creations: [Session: Caller] = [:]
        var lastKnown: UInt64 = 0
        var end: BrokerError?
        var client: Client { locked.pointer }
    }

    /// The outcome of a turn for continuations and queues, which are served behind the lock, in order.
    private enum News: Sendable {
        case signal(WireSignal)
        case notice(SessionCore, Result<SessionSignal, BrokerError>, isOfStream: Bool)
        case sessionEnded(SessionCore, BrokerError)
        case answer(Caller, Answer?)
        case end(BrokerError)
    }

    let state: Mutex<State>
    private let notices: NoticeQueue<BrokerNotice>

    /// Connects, and begins to dispatch.
    init(address: String?, reconnects: Bool, notices: NoticeQueue<BrokerNotice>) throws(BrokerError) {
        let context = FaceContext(address)
        let face = UnsafeMutablePointer<face>.allocate(capacity: 1)
        face.initialize(
            to: .init(
                connect: connectFace, told: faceWasTold, context: Unmanaged.passUnretained(context).toOpaque(),
                ends_with_broker: !reconnects))
        var made: Client?
        let result = client_make(&made, face, nil, nil, 0)
        guard result >= 0, let made else {
            face.deallocate()
            throw context.error
                ?? BrokerError(
                    .outOfResources, "The connection could not be set up: \(SystemFault("connect", result)).")
        }
        state = Mutex(State(locked: Locked(pointer: made), face: Locked(pointer: face), context: context))
        self.notices = notices
        let descriptor = camarb_client_fd(made)
        guard startThread({ [self] in dispatch(descriptor) }) else {
            throw BrokerError(.outOfResources, "No thread could be started for the connection.")
        }
    }

    deinit {
        state.withLock { state in
            camarb_client_free(state.client)
            state.face.pointer.deallocate()
        }
    }

    /// Ends the connection and all that needs it. Idempotent.
    func end(_ sentence: String) { state.withLock { face_end($0.client, sentence) } }

    func listen() { state.withLock { $0.context.listens = true } }

    // MARK: Calls

    /// Has `begin` keep the caller, which is resumed with its answer, or with `nil` to begin once more.
    private func answer(
        _ begin: (inout State, Caller) throws(BrokerError) -> Void
    ) async throws(BrokerError) -> (value: UInt64, arguments: [WireValue]) {
        while true {
            let answer = await withCheckedContinuation { caller in
                let refusal = state.withLock { state -> BrokerError? in
                    if let end = state.end { return end }
                    do throws(BrokerError) { try begin(&state, caller) } catch { return error }
                    return nil
                }
                if let refusal { caller.resume(returning: .failure(refusal)) }
            }
            if let answer { return try answer.get() }
        }
    }

    /// Calls as soon as there is a broker.
    /// - Parameters:
    ///   - session: ends the call with itself.
    ///   - call: the number of a call of libcamarb's, or a negative errno number.
    func ask(
        of session: Session? = nil, _ call: (Client) throws(BrokerError) -> camarb_call
    ) async throws(BrokerError) -> (value: UInt64, arguments: [WireValue]) {
        try await answer { (state, caller) throws(BrokerError) in
            if let session, state.sessions[session] == nil { throw SessionCore.wasClosed }
            let number = try call(state.client)
            if number > 0 {
                state.calls[number] = (caller, session)
            } else if number == -camarb_call(ENOTCONN) || number == -camarb_call(EAGAIN) {
                state.waiting.append(caller)
            } else {
                throw BrokerError(of: state.client, Int32(clamping: number))
            }
        }
    }

    /// Calls a method of any interface.
    /// - Parameters:
    ///   - path: of the object; nil: the session's.
    ///   - isDeclaration: the next broker is told the same.
    func call(
        _ interface: String, _ member: String, _ arguments: [WireValue], at path: String? = nil,
        of session: SessionCore? = nil, isDeclaration: Bool = false
    ) async throws(BrokerError) -> [WireValue] {
        try await ask(of: session?.session) { (client) throws(BrokerError) in
            guard face_is_connected(client) else { return -camarb_call(ENOTCONN) }
            let path = if let session { try session.path() } else { path ?? ObjectPath.root }
            guard let message = face_message(client, path, interface, member) else { return -camarb_call(ENOTCONN) }
            let values = SystemdMessage(message)
            for argument in arguments { values.append(argument) }
            if let fault = values.fault {
                face_drop(message)
                throw BrokerError(.invalidArguments, "\(fault).")
            }
            return face_ask(client, message, isDeclaration)
        }.arguments
    }

    // MARK: Sessions

    func create(_ core: SessionCore, camera: String, _ configuration: WireDictionary) async throws(BrokerError) {
        do throws(BrokerError) {
            _ = try await answer { (state, caller) throws(BrokerError) in
                guard face_has_room(state.client) else { return state.waiting.append(caller) }
                let wanted = camarb_configuration_new()
                defer { camarb_configuration_free(wanted) }
                wanted?.set(configuration)
                guard let session = camarb_session_new(state.client, camera, wanted) else {
                    throw BrokerError(of: state.client, -EAGAIN)
                }
                let locked = Session(pointer: session)
                core.begins(as: locked)
                state.sessions[locked] = core
                state.creations[locked] = caller
            }
        } catch {
            if let session = core.session { free(session) }
            throw error
        }
    }

    /// Forgets a session, and closes it at the broker.
    /// - Parameter isClosed: the broker has closed it.
    func free(_ session: Session, isClosed: Bool = false) {
        let callers = state.withLock { state -> [Caller] in
            guard state.sessions.removeValue(forKey: session) != nil else { return [] }
            if isClosed { face_is_closed(session.pointer) }
            camarb_session_free(session.pointer)
            let left = state.calls.filter { $0.value.session == session }
            for number in left.keys { state.calls[number] = nil }
            return left.values.map(\.caller)
        }
        for caller in callers { caller.resume(returning: .failure(SessionCore.wasClosed)) }
    }

    // MARK: The thread

    private func dispatch(_ descriptor: Int32) {
        var isOver = false
        while !isOver {
            var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = camarb_poll(&waited, 1, -1)
            let (news, looking) = state.withLock { state in
                let news = Self.turn(&state)
                isOver = state.end != nil
                return (news, state.sessions.values.filter { $0.isLookedAt })
            }
            for one in news { tell(one) }
            for core in looking { core.showNewest() }
        }
    }

    private static func turn(_ state: inout State) -> [News] {
        _ = camarb_client_dispatch(state.client)
        var news = state.context.takeSignals().map { News.signal($0) }
        while let event = camarb_client_next_event(state.client)?.pointee { take(event, &state, &news) }
        for (session, caller) in state.creations where face_session_id(session.pointer) > 0 {
            // Brokers count from where they like: an id that was given away before stays what it was.
            state.lastKnown = max(face_session_id(session.pointer), state.lastKnown + 1)
            state.sessions[session]?.isKnown(as: state.lastKnown)
            state.creations[session] = nil
            news.append(.answer(caller, .success((0, []))))
        }
        if state.end != nil || face_is_connected(state.client) {
            news += state.waiting.map { .answer($0, nil) }
            state.waiting = []
        }
        return news
    }

    private static func take(_ event: camarb_event, _ state: inout State, _ news: inout [News]) {
        switch event.type {
        case CAMARB_EVENT_ANSWERED:
            guard let (caller, _) = state.calls.removeValue(forKey: event.call) else { return }
            news.append(.answer(caller, answer(event, of: state.client)))
        case CAMARB_EVENT_CAMERAS_CHANGED: break
        case CAMARB_EVENT_DISCONNECTED:
            let end = BrokerError(of: event)
            state.end = end
            news += state.calls.values.map { .answer($0.caller, .failure(end)) }
            state.calls = [:]
            news.append(.end(end))
        default:
            guard let pointer = event.session, case let session = Session(pointer: pointer),
                let core = state.sessions[session]
            else { return }
            if event.type == CAMARB_EVENT_ENDED {
                let end = BrokerError(of: event)
                if let caller = state.creations.removeValue(forKey: session) {
                    news.append(.answer(caller, .failure(end)))
                }
                news.append(.sessionEnded(core, end))
            } else {
                let signal = Result { () throws(BrokerError) in try SessionSignal(of: event) }
                let isOfStream = event.decision == 0 && face_stream_is_broken(pointer)
                news.append(.notice(core, signal, isOfStream: isOfStream))
            }
        }
    }

    private static func answer(_ event: camarb_event, of client: Client) -> Answer {
        guard let answer = face_answer(client) else {
            let isRefused = event.error.pointee != 0 || event.error_name.pointee != 0
            return isRefused ? .failure(BrokerError(of: event)) : .success((event.value, []))
        }
        let message = SystemdMessage(answer)
        if let error = message.error { return .failure(error) }
        return Result { () throws(BrokerError) in (0, try message.arguments()) }
    }

    private func tell(_ news: News) {
        switch news {
        case .signal(let signal):
            do throws(BrokerError) {
                if let notice = try BrokerNotice(signal: signal), notices.offer(notice) == false {
                    notices.finish(.ended(.unreadNotices))
                }
            } catch { notices.finish(.ended(error)) }
        case .notice(let core, let signal, let isOfStream): core.take(signal, isOfStream: isOfStream)
        case .sessionEnded(let core, let error): core.finish(error)
        case .answer(let caller, let answer): caller.resume(returning: answer)
        case .end(let error): notices.finish(.ended(error))
        }
    }
}

/// libcamarb's callbacks of a client, which come with the engine's lock.
final class FaceContext: @unchecked Sendable {
    private let address: String?
    fileprivate var listens = false
    fileprivate private(set) var error: BrokerError?
    private var signals: [WireSignal] = []

    fileprivate init(_ address: String?) { self.address = address }

    fileprivate func connect(_ fault: UnsafeMutableBufferPointer<CChar>) -> Int32 {
        do throws(BrokerError) { return try SocketAddress.connect(address) } catch {
            self.error = error
            let bytes = error.message.utf8CString
            for place in fault.indices { fault[place] = place < min(bytes.count, fault.count) - 1 ? bytes[place] : 0 }
            return error.kind == .invalidValue ? -EINVAL : -ECONNREFUSED
        }
    }

    fileprivate func take(_ message: SystemdMessage) {
        guard listens, let arguments = try? message.arguments() else { return }
        signals.append(
            WireSignal(
                path: message.path, interface: message.interface, member: message.member, arguments: arguments))
    }

    fileprivate func takeSignals() -> [WireSignal] {
        defer { signals = [] }
        return signals
    }
}

private func connectFace(_ context: UnsafeMutableRawPointer?, _ fault: UnsafeMutablePointer<CChar>?, _ bytes: Int)
    -> Int32
{
    guard let context else { return -EINVAL }
    return Unmanaged<FaceContext>.fromOpaque(context).takeUnretainedValue().connect(
        UnsafeMutableBufferPointer(start: fault, count: bytes))
}

private func faceWasTold(_ signal: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
    guard let signal, let context else { return }
    Unmanaged<FaceContext>.fromOpaque(context).takeUnretainedValue().take(SystemdMessage(signal))
}
