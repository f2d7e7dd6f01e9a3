package import ArbiterProtocol
import Synchronization

/// A transport that finds the broker again when the connection ends, and puts the client's sessions back.
///
/// When a broker is there again, everything the client declared is said again, and its sessions are created anew. A session
/// that ran shows the secret that it was given for that (`GetReclaimSecret`), and goes on where it was, with its streams and
/// its recording: the client hears nothing. Where that does not come about within 3 s, or there was no secret, the client is
/// told that the session is interrupted with `broker-restarted` and its recording has ended; it is started anew, and the
/// interruption ends as always. Such a recording does not come back. Calls that are made meanwhile wait; calls that were under
/// way end with `.disconnected`, for nobody knows whether they were carried out.
///
/// Descriptors are not part of what is remembered: streams need no broker, and last as long as their grant.
package final class ReconnectingTransport: Transport {
    package typealias Connect = @Sendable () throws(BrokerError) -> any Transport

    /// The pause after the first try; each is twice the one before.
    package static let pauseFirst = Duration.milliseconds(50)
    package static let pauseMax = Duration.seconds(1)
    /// Longer than a service manager takes to end a broker that hangs and start another.
    package static let awayMax = Duration.seconds(60)
    /// A broker that ends this client's connections again and again means this client.
    package static let endsPerMinuteMax = 6
    static let minute = Duration.seconds(60)
    static let earlySignalsMax = ClientState.earlySignalsMax

    enum Phase {
        case fresh(any Transport)
        case connected(any Transport)
        case away
        case over(BrokerError)
    }

    struct State {
        var phase: Phase
        /// Counts connections: what an earlier one still says is passed over.
        var life = 1
        var lifeHasEnded = false
        var memory = ClientMemory()
        var creationsUnderWay = 0
        var early: [(session: SessionID, signal: Result<SessionSignal, BrokerError>)] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// Of the broker that is in use, or was last, by that one's choice.
        var ends: [ContinuousClock.Instant] = []
        var brokerID: String?
        var onSignal: (@Sendable (BrokerSignal) -> Void)?
        var onEnd: (@Sendable (BrokerError) -> Void)?
        /// In order, and handed on by one thread at a time.
        var outbox: [BrokerSignal] = []
        var isHandingOn = false
    }

    let connect: Connect
    let state: Mutex<State>
    /// As `SessionHold` has it, or shorter.
    let holdMax: Duration
    let minute: Duration

    /// Connects for the first time.
    /// - Parameter connect: makes a fresh transport; called from any thread, must not wait long.
    package convenience init(_ connect: @escaping Connect) throws(BrokerError) {
        try self.init(holdMax: SessionHold.holdMax, connect)
    }

    /// - Parameters:
    ///   - holdMax: how long the client is not told of a broker's end where it may hear nothing at all; at most what it is
    ///     by itself.
    ///   - minute: in which a broker's ends are counted. A test's own is longer than any machine is slow.
    package init(holdMax: Duration, minute: Duration = minute, _ connect: @escaping Connect) throws(BrokerError) {
        (self.holdMax, self.minute, self.connect) = (holdMax, minute, connect)
        state = Mutex(State(phase: .fresh(try connect())))
    }

    package func start(
        onSignal: @escaping @Sendable (BrokerSignal) -> Void, onEnd: @escaping @Sendable (BrokerError) -> Void
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

    func begin(_ transport: any Transport, life: Int) {
        transport.start(
            onSignal: { [weak self] signal in self?.arrived(signal, life) },
            onEnd: { [weak self] error in self?.ended(error, life) })
    }

    package func close() {
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

    package func call(_ call: WireCall) async throws(BrokerError) -> [WireValue] {
        let isCreation = call.member == "CreateSession"
        let (transport, life, translated) = try await ready(for: call, isCreation)
        let answer: [WireValue]
        do throws(BrokerError) { answer = try await transport.call(translated) } catch {
            if isCreation { creationEnded() }
            throw error
        }
        let known: [WireValue]? = state.withLock { state in
            guard state.life == life, !state.lifeHasEnded else { return nil }
            return state.memory.remember(call, answer)
        }
        if isCreation { creationEnded() }
        if let known { return known }
        // The client closes a stream that has ended since; every other answer is of a broker that is gone.
        for case .fileDescriptor in answer { return answer }
        throw BrokerError(.disconnected, "The connection ended before the answer could be kept.")
    }

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

    func wakeAll() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    // MARK: Signals

    private func arrived(_ signal: BrokerSignal, _ life: Int) {
        state.withLock { state in
            guard state.life == life, !state.lifeHasEnded else { return }
            guard case .session(let session, let said) = signal else { return state.outbox.append(signal) }
            if let known = state.memory.arrived(session, said, at: .now) {
                state.outbox += known
            } else if state.creationsUnderWay > 0, state.early.count < Self.earlySignalsMax {
                state.early.append((session, said))
            }
        }
        askForSecrets()
        handOn()
    }

    /// Asks for what the sessions that run could be given back by. In the background: a broker that knows no secrets, or a
    /// session that has no camera of its own, is as before there were any.
    func askForSecrets() {
        let (transport, life, wishes) = state.withLock { state in
            guard case .connected(let transport) = state.phase, !state.lifeHasEnded else {
                return ((any Transport)?.none, 0, [(known: SessionID, run: UInt64, call: WireCall)]())
            }
            return (transport, state.life, state.memory.takeWishes())
        }
        guard let transport else { return }
        for wish in wishes {
            Task.detached { [weak self] in
                guard let answer = try? await transport.call(wish.call), let secret = answer.first?.string else {
                    return
                }
                self?.state.withLock { state in
                    guard state.life == life, !state.lifeHasEnded else { return }
                    _ = state.memory.inSession(wish.known) { memory in
                        memory.keep(secret, of: wish.run)
                        return []
                    }
                }
            }
        }
    }

    /// The session is known now, or will never be.
    func creationEnded() {
        state.withLock { state in
            state.creationsUnderWay -= 1
            takeEarly(&state)
            if state.creationsUnderWay == 0 { state.early = [] }
        }
        handOn()
    }

    func takeEarly(_ state: inout State) {
        let early = state.early
        state.early = early.filter { session, signal in
            guard let known = state.memory.arrived(session, signal, at: .now) else { return true }
            state.outbox += known
            return false
        }
    }

    /// Hands signals on in order, whoever has put them there.
    func handOn() {
        while true {
            let next: (BrokerSignal, @Sendable (BrokerSignal) -> Void)? = state.withLock { state in
                guard let onSignal = state.onSignal, !state.isHandingOn, !state.outbox.isEmpty else { return nil }
                state.isHandingOn = true
                return (state.outbox.removeFirst(), onSignal)
            }
            guard let (signal, onSignal) = next else { return }
            onSignal(signal)
            state.withLock { $0.isHandingOn = false }
        }
    }

    /// Sessions that another broker could give back as they are.
    package var reclaimableCount: Int {
        state.withLock { state in state.memory.sessions.count { $0.memory.isReclaimable } }
    }
}
