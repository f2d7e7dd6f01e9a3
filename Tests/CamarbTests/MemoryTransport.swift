import ArbiterProtocol
import Camarb
import Synchronization
import Testing

/// A broker in memory: answers calls from a closure, and sends what a test tells it to.
final class MemoryTransport: Transport {
    typealias Answer = @Sendable (MemoryTransport, WireCall) throws(BrokerError) -> [WireValue]

    private struct State {
        var onSignal: (@Sendable (BrokerSignal) -> Void)?
        var onEnd: (@Sendable (BrokerError) -> Void)?
        var calls: [WireCall] = []
        var isClosed = false
        /// How much each session was told.
        var told: [SessionID: UInt64] = [:]
    }

    private let state = Mutex(State())
    private let answer: Answer
    private let callsSeen: AsyncStream<WireCall>.Continuation
    /// Every call, as it comes.
    let calls: AsyncStream<WireCall>
    let brokerID: String?

    init(
        brokerID: String? = nil,
        answer: @escaping Answer = { _, call throws(BrokerError) in try MemoryTransport.standardAnswer(call) }
    ) {
        self.brokerID = brokerID
        self.answer = answer
        (calls, callsSeen) = AsyncStream.makeStream()
    }

    /// Session 7 is created, and process 12 is a client; everything else gives nothing.
    static func standardAnswer(_ call: WireCall) throws(BrokerError) -> [WireValue] {
        switch call.member {
        case "CreateSession": [.objectPath("/org/camarb/session/7")]
        case "StartRecording", "CapturePhoto": [.uint64(5)]
        case "CapturePhotoBracket": [.array(type: "t", [.uint64(6), .uint64(7)])]
        case "OpenStream": [.fileDescriptor(9)]
        case "ListClients": [.dictionaries([["app": .string("photos"), "process": .uint32(12)]])]
        case "ListAnswers", "ListUse": [.dictionaries([])]
        default: []
        }
    }

    func call(_ call: WireCall) async throws(BrokerError) -> [WireValue] {
        let isClosed = state.withLock { state in
            state.calls.append(call)
            return state.isClosed
        }
        callsSeen.yield(call)
        if isClosed { throw BrokerError(.disconnected, "The connection is closed.") }
        return try answer(self, call)
    }

    func start(
        onSignal: @escaping @Sendable (BrokerSignal) -> Void, onEnd: @escaping @Sendable (BrokerError) -> Void
    ) {
        state.withLock {
            $0.onSignal = onSignal
            $0.onEnd = onEnd
        }
    }

    func close() { state.withLock { $0.isClosed = true } }

    var isClosed: Bool { state.withLock { $0.isClosed } }
    var callsSoFar: [WireCall] { state.withLock { $0.calls } }

    func send(_ signal: WireSignal) { if let read = BrokerSignal(signal) { state.withLock { $0.onSignal }?(read) } }

    func send(_ event: SessionEvent, sequence: UInt64, decision: DecisionID = 1, session: SessionID = SessionID(7)) {
        send(SessionSignal(sequence: sequence, decision: decision, event: event).signal(of: session))
    }

    /// Tells a session more, each in its turn.
    func tell(_ events: SessionEvent..., session: SessionID = SessionID(7)) {
        for event in events {
            let sequence = state.withLock { state in
                state.told[session, default: 0] += 1
                return state.told[session, default: 0]
            }
            send(event, sequence: sequence, session: session)
        }
    }

    func end(_ error: BrokerError = .gone) { state.withLock { $0.onEnd }?(error) }

    /// The next call of `member`; the suites' time limit bounds the wait.
    func waitForCall(_ member: String) async -> WireCall? {
        for await call in calls where call.member == member { return call }
        return nil
    }
}

/// Brokers in memory, one after the other: the n-th connection reaches the n-th.
final class Brokers: Sendable {
    private let all: [MemoryTransport]
    private let next = Mutex(0)

    init(_ all: [MemoryTransport]) { self.all = all }

    /// What connects to the next, and is refused when there is none.
    func transport() throws(BrokerError) -> ReconnectingTransport {
        try ReconnectingTransport(holdMax: .seconds(600), minute: .seconds(600)) {
            [self] () throws(BrokerError) -> any Transport in
            let number = next.withLock { next in
                next += 1
                return next - 1
            }
            guard number < all.count else { throw BrokerError(.disconnected, "There is no further broker.") }
            return all[number]
        }
    }
}

/// A session at a broker in memory, and what it is told.
struct OpenSession: ~Copyable {
    let client: CameraClient
    let handle: SessionHandle
    var events: Notices<SessionEvent>.AsyncIterator

    /// - Parameter runs: it asks to run.
    init(
        of client: CameraClient, camera: String = "front",
        _ asked: [ConfigurationKey: ConfigurationValue] = [:], runs: Bool = false
    ) async throws {
        let handle = try await client.makeSession(camera: camera, configuration: Configuration(asked))
        if runs { try await handle.startRunning() }
        self.client = client
        events = handle.events.makeAsyncIterator()
        self.handle = handle
    }

    init(
        at transport: any Transport, camera: String = "front",
        _ asked: [ConfigurationKey: ConfigurationValue] = [:], runs: Bool = false
    ) async throws {
        try await self.init(of: CameraClient(over: transport), camera: camera, asked, runs: runs)
    }

    /// At the first of several brokers, which come one after the other.
    init(
        at brokers: [MemoryTransport], camera: String = "front",
        _ asked: [ConfigurationKey: ConfigurationValue] = [:], runs: Bool = false
    ) async throws {
        try await self.init(at: try Brokers(brokers).transport(), camera: camera, asked, runs: runs)
    }

    mutating func hears(_ expected: SessionEvent..., at place: SourceLocation = #_sourceLocation) async {
        for event in expected {
            let heard = await events.next()
            #expect(heard == event, sourceLocation: place)
        }
    }

    /// A broker tells it something, and it hears just that.
    mutating func hears(
        _ event: SessionEvent, from broker: MemoryTransport, at place: SourceLocation = #_sourceLocation
    ) async {
        broker.tell(event)
        await hears(event, at: place)
    }
}

extension BrokerError {
    static let gone = BrokerError(.disconnected, "The broker ended.")
}

extension SessionEvent {
    /// An interruption that says the least.
    static func interrupted(
        _ id: InterruptionID = 1, for cause: Cause = .videoDeviceInUseByAnotherClient, by app: String? = nil,
        cutting recording: RecordingID? = nil
    ) -> SessionEvent {
        .wasInterrupted(
            Interruption(
                id: id, causes: CauseSet([cause]), interrupter: app.map { Interrupter.app($0) }, recording: recording,
                rule: "r"))
    }

    static func uninterrupted(_ id: InterruptionID = 1, for cause: Cause = .videoDeviceInUseByAnotherClient) -> Self {
        .interruptionEnded(InterruptionEnd(id: id, causes: CauseSet([cause]), duration: .zero, willResume: true))
    }

    static func warning(_ id: InterruptionID) -> SessionEvent {
        .willBeInterrupted(
            InterruptionWarning(
                id: id, cause: .videoDeviceInUseByAnotherClient, deadline: Moment(nanoseconds: 1), rule: "r"))
    }

    /// Something to wait for.
    static let marker = SessionEvent.runtimeError(code: "marker", message: "")

    /// What an event carries.
    var interruption: Interruption? { if case .wasInterrupted(let told) = self { told } else { nil } }
    var interruptionEnd: InterruptionEnd? { if case .interruptionEnded(let told) = self { told } else { nil } }
    var finished: RecordingFinished? { if case .recordingFinished(let told) = self { told } else { nil } }
    var end: BrokerError? { if case .ended(let told) = self { told } else { nil } }
}
