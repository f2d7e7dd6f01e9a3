import ArbiterProtocol
import Camarb
import Synchronization
import Testing

/// Brokers in memory, one after the other: the n-th connection reaches the n-th.
final class Brokers: Sendable {
    let all: [MemoryTransport]
    private let next = Mutex(0)

    init(_ all: [MemoryTransport]) { self.all = all }

    /// What connects to the next, and is refused when there is none.
    func transport(holdMax: Duration = .seconds(600)) throws(BrokerError) -> ReconnectingTransport {
        try ReconnectingTransport(holdMax: holdMax, minute: .seconds(600)) {
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

@Suite("A client whose broker is restarted", .timeLimit(.minutes(10)))
struct ReconnectingTests {
    private static let gone = BrokerError(.disconnected, "The broker ended.")

    /// Sessions are numbered from `first`.
    private static func broker(firstSession first: UInt64, id: String? = nil) -> MemoryTransport {
        let count = Counter(first)
        return MemoryTransport(brokerID: id) { _, call throws(BrokerError) in
            switch call.member {
            case "CreateSession": [.objectPath("/org/camarb/session/\(count.next())")]
            case "StartRecording", "CapturePhoto": [.uint64(5)]
            default: []
            }
        }
    }

    private final class Counter: Sendable {
        private let value: Mutex<UInt64>
        init(_ first: UInt64) { value = Mutex(first) }
        func next() -> UInt64 {
            value.withLock { value in
                value += 1
                return value - 1
            }
        }
    }

    @Test("A session that ran is told at once, and runs again at the next broker under the same handle")
    func runsAgain() async throws {
        let (first, second) = (Self.broker(firstSession: 7), Self.broker(firstSession: 1))
        let client = CameraClient(over: try Brokers([first, second]).transport())
        try await client.declare(ClientDeclaration(app: "photos"))
        let session = try await client.makeSession(
            camera: "front", configuration: Configuration([.frameRate: .number(15)]))
        try await session.startRunning()
        try await session.configure(Configuration([.videoZoomFactor: .number(2)]))
        first.send(.didStartRunning(grant: GrantID(4)), sequence: 1)
        first.send(.recordingStarted(5), sequence: 2)
        first.send(.sharersChanged([.app("mirror")]), sequence: 3)
        var events = session.events.makeAsyncIterator()
        #expect(await events.next() == .didStartRunning(GrantID(4)))
        #expect(await events.next() == .recordingStarted(5))
        #expect(await events.next() == .sharersChanged([.app("mirror")]))
        let recording = try await session.startRecording(to: 1)
        #expect(recording == 5)

        first.end(Self.gone)
        guard case .wasInterrupted(let interruption)? = await events.next() else {
            Issue.record("the session was not interrupted")
            return
        }
        #expect(interruption.id == 1)
        #expect(interruption.causes == CauseSet([.brokerRestarted]))
        #expect(interruption.recording == 5)
        // The next broker begins without watchers.
        #expect(await events.next() == .sharersChanged([]))
        #expect(await events.next() == .didStopRunning)
        guard case .recordingFinished(let finished)? = await events.next() else {
            Issue.record("the recording did not end")
            return
        }
        #expect(finished.recording == 5 && finished.why == .interrupted)

        #expect(await second.waitForCall("StartRunning")?.path == "/org/camarb/session/1")
        let said = second.callsSoFar
        #expect(said.map(\.member) == ["DeclareClient", "CreateSession", "StartRunning"])
        #expect(said[0].arguments == first.callsSoFar[0].arguments)
        #expect(said[1].arguments[0] == .string("front"))
        let settings = try #require(said[1].arguments[1].dictionary)
        #expect(settings["reestablished"] == .boolean(true))
        #expect(settings["frameRate"] == .double(15))
        #expect(settings["videoZoomFactor"] == .double(2))

        second.send(
            .wasInterrupted(
                id: 1, causes: CauseSet([.brokerRestarted]), interrupter: nil, cutting: nil, rule: "r"),
            sequence: 1, session: SessionID(1))
        second.send(
            .interruptionEnded(
                id: 1, causesItHad: CauseSet([.brokerRestarted]), duration: .zero, willResume: true),
            sequence: 2, session: SessionID(1))
        second.send(.didStartRunning(grant: GrantID(1)), sequence: 3, session: SessionID(1))
        guard case .interruptionEnded(let end)? = await events.next() else {
            Issue.record("the interruption did not end, or was told twice")
            return
        }
        #expect(end.id == 1 && end.willResume && end.causes == CauseSet([.brokerRestarted]))
        #expect(end.duration > .zero)
        #expect(await events.next() == .didStartRunning(GrantID(1)))
        #expect(!second.callsSoFar.contains { $0.member == "StartRecording" })

        // The handle goes on, and interruptions count on.
        try await session.stopRunning()
        #expect(second.callsSoFar.last?.path == "/org/camarb/session/1")
        second.send(
            .wasInterrupted(
                id: 2, causes: CauseSet([.systemSleep]), interrupter: nil, cutting: nil, rule: "r"),
            sequence: 4, session: SessionID(1))
        guard case .wasInterrupted(let later)? = await events.next() else {
            Issue.record("no later interruption")
            return
        }
        #expect(later.id == 2)
        try await session.close()
    }

    @Test(
        "An interruption that was open stays the same one, and ends when the next broker says nothing against the session"
    )
    func carried() async throws {
        let (first, second) = (Self.broker(firstSession: 7), Self.broker(firstSession: 7))
        let client = CameraClient(over: try Brokers([first, second]).transport(holdMax: .seconds(600)))
        let session = try await client.makeSession(camera: "front")
        try await session.startRunning()
        var events = session.events.makeAsyncIterator()
        let busy = CauseSet([.videoDeviceInUseByAnotherClient])
        first.send(
            .wasInterrupted(id: 1, causes: busy, interrupter: .app("notes"), cutting: nil, rule: "r"), sequence: 1)
        _ = await events.next()
        first.end(Self.gone)
        // It did not run under the broker that ended, and so the next one is not told that it did.
        _ = await second.waitForCall("StartRunning")
        #expect(second.callsSoFar[0].arguments[1].dictionary?["reestablished"] == nil)
        // While others come back, this changes by the moment, and is not told unless it lasts.
        second.send(
            .wasInterrupted(id: 1, causes: busy, interrupter: nil, cutting: nil, rule: "r"), sequence: 1)
        second.send(
            .interruptionChanged(id: 1, causes: busy, interrupter: .app("notes"), rule: "r"), sequence: 2)
        second.send(.interruptionEnded(id: 1, causesItHad: busy, duration: .zero, willResume: true), sequence: 3)
        second.send(.didStartRunning(grant: GrantID(1)), sequence: 4)
        guard case .interruptionEnded(let end)? = await events.next() else {
            Issue.record("something was told that had not changed, or the interruption did not end")
            return
        }
        #expect(end.id == 1 && end.causes == busy && end.willResume)
        #expect(await events.next() == .didStartRunning(GrantID(1)))
        // It is the first one at either, and so the next is the second.
        second.send(
            .willBeInterrupted(
                id: 2, cause: .videoDeviceInUseByAnotherClient, deadline: Moment(nanoseconds: 1), rule: "r"),
            sequence: 5)
        guard case .willBeInterrupted(let warning)? = await events.next() else {
            Issue.record("no warning")
            return
        }
        #expect(warning.id == 2)
        try await session.ready(for: 2)
        #expect(second.callsSoFar.last { $0.member == "Ready" }?.arguments == [.uint64(2)])
        try await session.close()
    }

    @Test("A recording that was cut, and whose end was not said, has ended with the broker that cut it")
    func cutRecording() async throws {
        let (first, second) = (Self.broker(firstSession: 7), Self.broker(firstSession: 7))
        let client = CameraClient(over: try Brokers([first, second]).transport(holdMax: .seconds(600)))
        let session = try await client.makeSession(camera: "front")
        try await session.startRunning()
        var events = session.events.makeAsyncIterator()
        let busy = CauseSet([.videoDeviceInUseByAnotherClient])
        first.send(.didStartRunning(grant: GrantID(4)), sequence: 1)
        first.send(.recordingStarted(5), sequence: 2)
        first.send(
            .wasInterrupted(id: 1, causes: busy, interrupter: .app("notes"), cutting: 5, rule: "r"), sequence: 3)
        first.send(.didStopRunning, sequence: 4)
        for _ in 0..<4 { _ = await events.next() }
        first.end(Self.gone)
        guard case .recordingFinished(let finished)? = await events.next() else {
            Issue.record("the recording did not end")
            return
        }
        #expect(finished.recording == 5 && finished.why == .interrupted && finished.cause == .brokerRestarted)
        #expect(finished.nextChance == .whenInterruptionEnds)
        #expect(finished.frames == nil && finished.duration == nil && finished.bytes == nil)
        // The interruption goes on, and the next broker's recordings have numbers of its own.
        _ = await second.waitForCall("StartRunning")
        second.send(.interruptionEnded(id: 1, causesItHad: busy, duration: .zero, willResume: true), sequence: 1)
        second.send(.didStartRunning(grant: GrantID(1)), sequence: 2)
        second.send(.recordingStarted(1), sequence: 3)
        guard case .interruptionEnded(let end)? = await events.next() else {
            Issue.record("something else was told, or the interruption did not end")
            return
        }
        #expect(end.id == 1 && end.recording == 5)
        #expect(await events.next() == .didStartRunning(GrantID(1)))
        #expect(await events.next() == .recordingStarted(1))
        try await session.close()
    }

    @Test("A stop that closed an interruption leaves none open: the broker's end then is one of its own")
    func stopCloses() async throws {
        let (first, second) = (Self.broker(firstSession: 7), Self.broker(firstSession: 7))
        let client = CameraClient(over: try Brokers([first, second]).transport())
        let session = try await client.makeSession(camera: "front")
        try await session.startRunning()
        var events = session.events.makeAsyncIterator()
        let busy = CauseSet([.videoDeviceInUseByAnotherClient])
        first.send(
            .wasInterrupted(id: 1, causes: busy, interrupter: .app("notes"), cutting: nil, rule: "r"), sequence: 1)
        first.send(.sessionStopped(.evicted, rule: "r"), sequence: 2)
        _ = await events.next()
        guard case .sessionStopped? = await events.next() else {
            Issue.record("the stop was not told")
            return
        }
        try await session.startRunning()
        first.send(.didStartRunning(grant: GrantID(4)), sequence: 3)
        #expect(await events.next() == .didStartRunning(GrantID(4)))
        first.end(Self.gone)
        guard case .wasInterrupted(let interruption)? = await events.next() else {
            Issue.record("an interruption changed that was closed long ago")
            return
        }
        #expect(interruption.id == 2 && interruption.causes == CauseSet([.brokerRestarted]))
        #expect(await events.next() == .didStopRunning)
        _ = await second.waitForCall("StartRunning")
        try await session.close()
    }

    @Test("A stopped session is told nothing, and is there again; a batch that was open is open again")
    func stopped() async throws {
        let (first, second) = (Self.broker(firstSession: 7), Self.broker(firstSession: 9))
        let client = CameraClient(over: try Brokers([first, second]).transport())
        let session = try await client.makeSession(camera: "front")
        try await session.beginConfiguration()
        try await session.configure(Configuration([.videoZoomFactor: .number(2)]))
        first.end(Self.gone)
        #expect(await second.waitForCall("Configure")?.path == "/org/camarb/session/9")
        #expect(second.callsSoFar.map(\.member) == ["CreateSession", "BeginConfiguration", "Configure"])
        #expect(second.callsSoFar[0].arguments[1].dictionary?["reestablished"] == nil)
        try await session.commitConfiguration()
        second.send(.runtimeError(code: "marker", message: ""), sequence: 1, session: SessionID(9))
        var events = session.events.makeAsyncIterator()
        #expect(await events.next() == .runtimeError(code: "marker", message: ""))
        try await session.close()
    }

    @Test(
        "A session that runs or is interrupted has asked to run, also where the broker ends before it has answered the start",
        arguments: [true, false])
    func startedWithoutAnAnswer(runs: Bool) async throws {
        let first = MemoryTransport { transport, call throws(BrokerError) in
            guard call.member == "StartRunning" else { return [.objectPath("/org/camarb/session/7")] }
            let cause = CauseSet([.videoDeviceInUseByAnotherClient])
            let event: SessionEvent =
                runs
                ? .didStartRunning(grant: GrantID(4))
                : .wasInterrupted(id: 1, causes: cause, interrupter: .app("booth"), cutting: nil, rule: "rank")
            transport.send(event, sequence: 1)
            transport.end(Self.gone)
            throw Self.gone
        }
        let second = Self.broker(firstSession: 7)
        let client = CameraClient(over: try Brokers([first, second]).transport())
        let session = try await client.makeSession(camera: "front")
        await #expect(throws: BrokerError.self) { try await session.startRunning() }
        #expect(await second.waitForCall("StartRunning") != nil)
    }

    @Test("A call that is made while there is no broker waits for the next one")
    func callsWait() async throws {
        let (first, second) = (Self.broker(firstSession: 7), Self.broker(firstSession: 7))
        let client = CameraClient(over: try Brokers([first, second]).transport())
        _ = try await client.call(ObjectPath.broker, InterfaceName.broker, "Ping")
        first.end(Self.gone)
        _ = try await client.call(ObjectPath.broker, InterfaceName.broker, "Pong")
        #expect(!first.callsSoFar.contains { $0.member == "Pong" })
        #expect(second.callsSoFar.contains { $0.member == "Pong" })
    }

    @Test("A session that the next broker refuses has stopped, with the broker's words, and the others go on")
    func refused() async throws {
        let first = Self.broker(firstSession: 7)
        let second = MemoryTransport { _, call throws(BrokerError) in
            guard call.member == "CreateSession" else { return [] }
            if call.arguments.first == .string("back") {
                throw BrokerError(.unknownCamera, "There is no camera “back”.")
            }
            return [.objectPath("/org/camarb/session/1")]
        }
        let client = CameraClient(over: try Brokers([first, second]).transport())
        let back = try await client.makeSession(camera: "back")
        let front = try await client.makeSession(camera: "front")
        try await back.startRunning()
        try await front.startRunning()
        first.end(Self.gone)
        var told: [String] = []
        for await event in back.events {
            switch event {
            case .wasInterrupted: told.append("interrupted")
            case .interruptionEnded(let end): told.append("ended, resuming: \(end.willResume)")
            case .runtimeError(_, let message): told.append(message)
            default: break
            }
            if case .sessionStopped = event { break }
        }
        #expect(told == ["interrupted", "ended, resuming: false", "There is no camera “back”."])
        await #expect(throws: BrokerError.self) { try await back.startRunning() }
        _ = await second.waitForCall("StartRunning")
        try await front.stopRunning()
        #expect(second.callsSoFar.last?.path == "/org/camarb/session/1")
    }

    @Test("A broker that ends the connection again and again is left")
    func leaves() async throws {
        let brokers = (0...ReconnectingTransport.endsPerMinuteMax).map { _ in Self.broker(firstSession: 7, id: "one") }
        let client = CameraClient(over: try Brokers(brokers).transport())
        let session = try await client.makeSession(camera: "front")
        for broker in brokers { try await Self.end(broker, isFirst: broker === brokers[0], client) }
        var last: ClientEvent?
        for await event in session.events { last = event }
        #expect(last == .ended(Self.gone))
        await #expect(throws: Self.gone) { try await client.declarePresence(.background) }
    }

    @Test("Brokers that die one after the other, however often, are no reason to leave the next one")
    func stays() async throws {
        let brokers = (0...2 * ReconnectingTransport.endsPerMinuteMax).map {
            Self.broker(firstSession: 7, id: "broker \($0)")
        }
        let client = CameraClient(over: try Brokers(brokers).transport())
        // A session that nobody has any more is closed, and no next broker hears of it.
        let session = try await client.makeSession(camera: "front")
        for broker in brokers.dropLast() { try await Self.end(broker, isFirst: broker === brokers[0], client) }
        _ = await brokers[brokers.count - 1].waitForCall("CreateSession")
        try await client.declarePresence(.background)
        withExtendedLifetime(session) {}
    }

    private static func end(_ broker: MemoryTransport, isFirst: Bool, _ client: CameraClient) async throws {
        if !isFirst { _ = await broker.waitForCall("CreateSession") }
        // It counts once it is the one in use.
        _ = try await client.call(ObjectPath.broker, InterfaceName.broker, "Ping")
        broker.end(gone)
    }

    @Test("Closing while there is no broker ends it, also for calls that wait")
    func closing() async throws {
        let first = Self.broker(firstSession: 7)
        let client = CameraClient(over: try Brokers([first]).transport())
        _ = try await client.call(ObjectPath.broker, InterfaceName.broker, "Ping")
        first.end(Self.gone)
        let waits = Task { try await client.declarePresence(.background) }
        client.disconnect()
        await #expect(throws: BrokerError.self) { try await waits.value }
    }
}
