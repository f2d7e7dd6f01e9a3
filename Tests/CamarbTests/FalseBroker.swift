import ArbiterProtocol
import Bus
import BusTesting
import CLinux
import Camarb
import Dispatch
import Foundation
import Synchronization
import System
import Testing

/// A method call as a broker takes it.
struct WireCall: Hashable {
    var path: String
    var interface: String
    var member: String
    var arguments: [WireValue]
}

/// A broker of a test's own: answers calls from a closure, and sends what the test tells it to.
final class FalseBroker: Sendable {
    typealias Answer = @Sendable (FalseBroker, WireCall) throws(BrokerError) -> [WireValue]

    private enum Order: Sendable {
        case send(WireSignal)
        case end
    }

    private struct State {
        var calls: [WireCall] = []
        var isClosed = false
        /// How much each session was told.
        var told: [SessionID: UInt64] = [:]
        var orders: [Order] = []
        var wakeup: Wakeup?
    }

    private let state = Mutex(State())
    private let answer: Answer
    private let callsSeen: AsyncStream<WireCall>.Continuation
    /// Every call, as it comes.
    let calls: AsyncStream<WireCall>

    init(answer: @escaping Answer = { _, call throws(BrokerError) in try FalseBroker.standardAnswer(call) }) {
        self.answer = answer
        (calls, callsSeen) = AsyncStream.makeStream()
    }

    /// Session 7 is created, and process 12 is a client; everything else gives nothing.
    static func standardAnswer(_ call: WireCall) throws(BrokerError) -> [WireValue] {
        switch call.member {
        case "CreateSession": [.objectPath("/org/camarb/session/7")]
        case "StartRecording", "CapturePhoto": [.uint64(5)]
        case "CapturePhotoBracket": [.array(type: "t", [.uint64(6), .uint64(7)])]
        case "OpenStream": [.fileDescriptor(camarb_duplicate(0))]
        case "ListClients": [.dictionaries([["app": .string("photos"), "process": .uint32(12)]])]
        case "ListAnswers", "ListUse": [.dictionaries([])]
        case "GetReclaimSecret": throw BrokerError(.unknownMethod, "There are no secrets.")
        default: []
        }
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }
    var callsSoFar: [WireCall] { state.withLock { $0.calls } }
    /// Without what the library asks by itself of every session.
    var members: [String] { callsSoFar.map(\.member).filter { $0 != "GetReclaimSecret" } }

    func send(_ signal: WireSignal) { order(.send(signal)) }

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

    func end() { order(.end) }

    /// The next call of `member`; the suites' time limit bounds the wait.
    func waitForCall(_ member: String) async -> WireCall? {
        for await call in calls where call.member == member { return call }
        return nil
    }

    private func order(_ order: Order) {
        state.withLock { state in
            state.orders.append(order)
            state.wakeup?.signal()
        }
    }

    // MARK: On the thread of `Brokers`

    fileprivate func serves(on wakeup: Wakeup) { state.withLock { $0.wakeup = wakeup } }

    fileprivate func carryOut(on connection: BusConnection) {
        let orders = state.withLock { state in
            defer { state.orders = [] }
            return state.orders
        }
        for order in orders {
            switch order {
            case .send(let signal):
                connection.signal(
                    path: signal.path, interface: signal.interface, member: signal.member, signal.arguments)
            case .end:
                connection.close()
                return hasClosed()
            }
        }
    }

    fileprivate func hasClosed() { state.withLock { $0.isClosed = true } }

    fileprivate func take(_ message: BusMessage) {
        guard let arguments = try? message.arguments(descriptorsInLists: true) else { return }
        defer { for descriptor in arguments.flatMap(\.fileDescriptors) { close(descriptor) } }
        // A session's properties, which the library reads of each.
        guard message.interface.hasPrefix("org.camarb.") else { return message.answer([.dictionary([:])]) }
        let call = WireCall(
            path: message.path, interface: message.interface, member: message.member, arguments: arguments)
        state.withLock { $0.calls.append(call) }
        callsSeen.yield(call)
        let result = Result { () throws(BrokerError) in try answer(self, call) }
        // A session's signals come behind the answer that names it, and all others before.
        if call.member != "CreateSession" { carryOut(on: message.connection) }
        switch result {
        case .success(let values):
            message.answer(values)
            for descriptor in values.flatMap(\.fileDescriptors) { close(descriptor) }
        case .failure(let error): message.answer(error)
        }
        if call.member == "CreateSession" { carryOut(on: message.connection) }
    }
}

/// Brokers on a socket, one after the other: the n-th connection reaches the n-th, and every later one is closed at once. Their
/// thread ends some seconds after the last connection.
final class Brokers: BusConnectionDelegate {
    private var left: [FalseBroker]
    private var served: [(broker: FalseBroker, connection: BusConnection, wakeup: Wakeup)] = []
    private let loop: EventLoop
    private var idle: System.Timer?

    /// Longer than a client waits before it tries again.
    private static let idleTime: Int64 = 5_000_000_000

    static func client(_ all: [FalseBroker], reconnects: Bool = true) throws -> CameraClient {
        let folder = try Scratch()
        let path = folder.path + "/socket"
        let isServing = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do {
                let brokers = try Brokers(all)
                let listener = try UnixListener(
                    path: path, on: brokers.loop, onRefused: { _ in }, onConnection: { brokers.connected($0) })
                isServing.signal()
                _ = try brokers.loop.run()
                withExtendedLifetime((listener, folder)) {}
            } catch {
                Issue.record(error)
                isServing.signal()
            }
        }
        isServing.wait()
        return try CameraClient.connect(address: path, reconnects: reconnects)
    }

    private init(_ all: [FalseBroker]) throws {
        left = all
        loop = try EventLoop()
        idle = try loop.addTimer { [unowned self] in loop.exit() }
    }

    private func connected(_ descriptor: Int32) {
        guard let broker = left.first,
            // It trusts its client, whose descriptors it takes.
            let connection = try? BusConnection(
                adopting: descriptor, as: .server, on: loop, delegate: self, anonymous: true),
            let wakeup = try? loop.addWakeup({ if connection.isReady { broker.carryOut(on: connection) } })
        else {
            if left.isEmpty { close(descriptor) }
            return
        }
        left.removeFirst()
        idle?.arm(at: nil)
        served.append((broker, connection, wakeup))
        broker.serves(on: wakeup)
    }

    private func broker(of connection: BusConnection) -> FalseBroker? {
        served.first { $0.connection === connection }?.broker
    }

    func connectionReady(_ connection: BusConnection) { broker(of: connection)?.carryOut(on: connection) }

    func connection(_ connection: BusConnection, received message: BusMessage) {
        guard let broker = broker(of: connection) else { return }
        broker.take(message)
        if broker.isClosed { rest() }
    }

    func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) {
        broker(of: connection)?.hasClosed()
        rest()
    }

    private func rest() { if served.allSatisfy(\.broker.isClosed) { idle?.arm(at: EventLoop.now + Self.idleTime) } }
}

/// A session at a broker of the test's own, and what it is told.
struct OpenSession: ~Copyable {
    let client: CameraClient
    let lease: SessionLease
    var events: Notices<SessionEvent>.AsyncIterator

    /// - Parameter runs: it asks to run.
    init(
        of client: CameraClient, camera: String = "front",
        _ asked: [ConfigurationKey: ConfigurationValue] = [:], runs: Bool = false
    ) async throws {
        let lease = try await client.makeSession(camera: camera, configuration: Configuration(asked))
        if runs { try await lease.handle.startRunning() }
        self.client = client
        events = lease.handle.events.makeAsyncIterator()
        self.lease = lease
    }

    var handle: SessionHandle { lease.handle }
    consuming func close() async throws { try await lease.close() }

    /// With one broker, whose end is the client's; or with several, which come one after the other.
    init(
        at brokers: [FalseBroker], camera: String = "front",
        _ asked: [ConfigurationKey: ConfigurationValue] = [:], runs: Bool = false
    ) async throws {
        let client = try Brokers.client(brokers, reconnects: brokers.count > 1)
        try await self.init(of: client, camera: camera, asked, runs: runs)
    }

    mutating func hears(_ expected: SessionEvent..., at place: SourceLocation = #_sourceLocation) async {
        for event in expected {
            let heard = await events.next()
            #expect(heard == event, sourceLocation: place)
        }
    }

    /// A broker tells it something, and it hears just that.
    mutating func hears(
        _ event: SessionEvent, from broker: FalseBroker, at place: SourceLocation = #_sourceLocation
    ) async {
        broker.tell(event)
        await hears(event, at: place)
    }
}
extension BrokerError {
    static let gone = BrokerError(.disconnected, "The broker closed the connection, or ended.")
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

    /// The value of an event.
    var interruption: Interruption? { if case .wasInterrupted(let told) = self { told } else { nil } }
    var interruptionEnd: InterruptionEnd? { if case .interruptionEnded(let told) = self { told } else { nil } }
    var finished: RecordingFinished? { if case .recordingFinished(let told) = self { told } else { nil } }
    var end: BrokerError? { if case .ended(let told) = self { told } else { nil } }
}
