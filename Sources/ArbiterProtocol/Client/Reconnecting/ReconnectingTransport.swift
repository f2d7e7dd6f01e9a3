import Synchronization

/// A transport that finds the broker again when the connection ends, and puts the client's sessions back.
///
/// The client is told at once: its sessions are interrupted with `broker-restarted`, and their recordings have ended. When
/// a broker is there again, everything the client declared is said again, and its sessions are created anew and started
/// if they were; then their interruptions end as always. Recordings do not come back. Calls that are made meanwhile wait;
/// calls that were under way end with `.disconnected`, for nobody knows whether they were carried out.
///
/// Descriptors are not part of what is remembered: streams are opened anew at `didStartRunning`, as after any interruption.
public final class ReconnectingTransport: Transport {
    public typealias Connect = @Sendable () throws(BrokerError) -> any Transport

    /// The pause after the first try; each is twice the one before.
    public static let pauseFirst = Duration.milliseconds(50)
    public static let pauseMax = Duration.seconds(1)
    /// Longer than a service manager takes to end a broker that hangs and start another.
    public static let awayMax = Duration.seconds(60)
    /// A broker that ends this client's connections again and again means this client.
    public static let endsPerMinuteMax = 6
    /// As `ClientState` has it.
    static let earlySignalsMax = 256

    private enum Phase {
        /// Not started yet.
        case fresh(any Transport)
        case connected(any Transport)
        case away
        case over(BrokerError)
    }

    private struct State {
        var phase: Phase
        /// Counts connections: what an earlier one still says is passed over.
        var life = 1
        var lifeHasEnded = false
        var memory = ClientMemory()
        var creationsUnderWay = 0
        var early: [WireSignal] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
        var ends: [ContinuousClock.Instant] = []
        var onSignal: (@Sendable (WireSignal) -> Void)?
        var onEnd: (@Sendable (BrokerError) -> Void)?
        /// In order, and handed on by one thread at a time.
        var outbox: [WireSignal] = []
        var isHandingOn = false
    }

    private let connect: Connect
    private let state: Mutex<State>

    /// Connects for the first time.
    /// - Parameter connect: makes a fresh transport; called from any thread, must not wait long.
    /// - Throws: what `connect` throws.
    public init(_ connect: @escaping Connect) throws(BrokerError) {
        self.connect = connect
        state = Mutex(State(phase: .fresh(try connect())))
    }

    public func start(
        onSignal: @escaping @Sendable (WireSignal) -> Void, onEnd: @escaping @Sendable (BrokerError) -> Void
    ) {
        let transport: (any Transport)? = state.withLock { state in
            guard case .fresh(let transport) = state.phase else { return nil }
            state.onSignal = onSignal
            state.onEnd = onEnd
            state.phase = .connected(transport)
            return transport
        }
        if let transport { begin(transport, life: 1) }
    }

    private func begin(_ transport: any Transport, life: Int) {
        transport.start(
            onSignal: { [weak self] signal in self?.arrived(signal, life) },
            onEnd: { [weak self] error in self?.ended(error, life) })
    }

    public func close() {
        let transport: (any Transport)? = state.withLock { state in
            switch state.phase {
            case .fresh(let transport), .connected(let transport):
                state.phase = .over(Self.closed)
                return transport
            case .away: state.phase = .over(Self.closed)
            case .over: break
            }
            return nil
        }
        transport?.close()
        wakeAll()
    }

    private static let closed = BrokerError(.disconnected, "The connection was closed on this side.")

    // MARK: Calls

    public func call(_ call: WireCall) async throws(BrokerError) -> [WireValue] {
        let isCreation = call.member == "CreateSession"
        let (transport, life, translated) = try await ready(for: call, isCreation)
        let answer: [WireValue]
        do throws(BrokerError) {
            answer = try await transport.call(translated)
        } catch {
            if isCreation { creationEnded() }
            throw error
        }
        let known: [WireValue]? = state.withLock { state in
            guard state.life == life, !state.lifeHasEnded else { return nil }
            return state.memory.remember(call, answer)
        }
        if isCreation { creationEnded() }
        if let known { return known }
        // A stream that has ended since is the client's to close; anything else was done by a broker that is gone.
        for case .fileDescriptor in answer { return answer }
        throw BrokerError(.disconnected, "The connection ended before the answer could be kept.")
    }

    /// Waits until there is a broker.
    private func ready(
        for call: WireCall, _ isCreation: Bool
    ) async throws(BrokerError) -> (any Transport, life: Int, WireCall) {
        while true {
            let found: Result<(any Transport, life: Int, WireCall), BrokerError>? = state.withLock { state in
                switch state.phase {
                case .fresh, .away: return nil
                case .over(let error): return .failure(error)
                case .connected(let transport):
                    do throws(BrokerError) {
                        let translated = try state.memory.translated(call)
                        if isCreation { state.creationsUnderWay += 1 }
                        return .success((transport, state.life, translated))
                    } catch { return .failure(error) }
                }
            }
            if let found { return try found.get() }
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    guard case .away = state.phase else { return false }
                    state.waiting.append(continuation)
                    return true
                }
                if !waits { continuation.resume() }
            }
        }
    }

    private func wakeAll() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    // MARK: Signals

    private func arrived(_ signal: WireSignal, _ life: Int) {
        state.withLock { state in
            guard state.life == life, !state.lifeHasEnded else { return }
            if let known = state.memory.arrived(signal, at: .now) {
                state.outbox += known
            } else if state.creationsUnderWay > 0, state.early.count < Self.earlySignalsMax {
                state.early.append(signal)
            }
        }
        handOn()
    }

    /// The session is known now, or will never be.
    private func creationEnded() {
        state.withLock { state in
            state.creationsUnderWay -= 1
            takeEarly(&state)
            if state.creationsUnderWay == 0 { state.early = [] }
        }
        handOn()
    }

    private func takeEarly(_ state: inout State) {
        var rest: [WireSignal] = []
        for signal in state.early {
            if let known = state.memory.arrived(signal, at: .now) { state.outbox += known } else { rest.append(signal) }
        }
        state.early = rest
    }

    /// Hands signals on in order, whoever has put them there.
    private func handOn() {
        while true {
            let next: (WireSignal, @Sendable (WireSignal) -> Void)? = state.withLock { state in
                guard let onSignal = state.onSignal, !state.isHandingOn, !state.outbox.isEmpty else { return nil }
                state.isHandingOn = true
                return (state.outbox.removeFirst(), onSignal)
            }
            guard let (signal, onSignal) = next else { return }
            onSignal(signal)
            state.withLock { $0.isHandingOn = false }
        }
    }

    // MARK: The end, and another beginning

    private func ended(_ error: BrokerError, _ life: Int) {
        let goesOn: Bool? = state.withLock { state in
            guard state.life == life, !state.lifeHasEnded else { return nil }
            state.lifeHasEnded = true
            // While sessions are being put back, whoever does that sees it.
            guard case .connected = state.phase else { return nil }
            state.outbox += state.memory.lost(at: .now)
            state.early = []
            let now = ContinuousClock.now
            state.ends = state.ends.filter { now - $0 < .seconds(60) } + [now]
            if state.ends.count > Self.endsPerMinuteMax {
                state.phase = .over(error)
                return false
            }
            state.phase = .away
            return true
        }
        guard let goesOn else { return }
        handOn()
        if goesOn {
            Task.detached { [weak self] in await self?.reconnect(after: error) }
        } else {
            finish(error)
        }
    }

    private func finish(_ error: BrokerError) {
        let onEnd = state.withLock { state in
            state.phase = .over(error)
            return state.onEnd
        }
        wakeAll()
        onEnd?(error)
    }

    private func reconnect(after error: BrokerError) async {
        let until = ContinuousClock.now + Self.awayMax
        var pause = Self.pauseFirst
        var last = error
        while true {
            do throws(BrokerError) {
                if try await putBack(try connect()) { return wakeAll() }
            } catch { last = error }
            if case .over(let error) = state.withLock({ $0.phase }) { return finish(error) }
            if ContinuousClock.now >= until { return finish(last) }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, Self.pauseMax)
        }
    }

    /// Says everything again.
    /// - Returns: whether the broker was still there at the end.
    /// - Throws: `.disconnected` and the like: this broker has gone, too.
    private func putBack(_ transport: any Transport) async throws(BrokerError) -> Bool {
        let life = state.withLock { state in
            state.life += 1
            state.lifeHasEnded = false
            // Beside those of the broker before, which end by themselves.
            state.creationsUnderWay += 1
            return state.life
        }
        begin(transport, life: life)
        var isThere = false
        defer {
            creationEnded()
            if !isThere { transport.close() }
        }
        for declaration in state.withLock({ $0.memory.declarations }) {
            do throws(BrokerError) { _ = try await transport.call(declaration.call) } catch {
                if error.isOfTheConnection { throw error }
                // Another policy may know no such rank or attribute: then it counts no more.
            }
        }
        for session in state.withLock({ $0.memory.sessions }) {
            try await putBack(session.id, session.memory, transport)
        }
        isThere = state.withLock { state in
            guard !state.lifeHasEnded, case .away = state.phase else { return false }
            state.phase = .connected(transport)
            return true
        }
        return isThere
    }

    private func putBack(
        _ known: SessionID, _ memory: SessionMemory, _ transport: any Transport
    ) async throws(BrokerError) {
        do throws(BrokerError) {
            let answer = try await transport.call(ClientMemory.creation(memory))
            guard let path = answer.first?.string, let id = ObjectPath.sessionID(path) else {
                throw BrokerError(.invalidArguments, "CreateSession gave no session's path.")
            }
            state.withLock { state in
                state.memory.reestablished(known, as: id)
                takeEarly(&state)
            }
            handOn()
            for call in memory.replay {
                _ = try await transport.call(
                    WireCall(
                        path: path, interface: InterfaceName.session, member: call.member, arguments: call.arguments))
            }
        } catch {
            if error.isOfTheConnection { throw error }
            state.withLock { state in state.outbox += state.memory.refused(known, error, at: .now) }
            handOn()
        }
    }
}

extension BrokerError {
    /// The broker has said nothing; it is not there.
    fileprivate var isOfTheConnection: Bool { kind == .disconnected || kind == .noReply }
}
