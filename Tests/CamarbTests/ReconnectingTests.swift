import ArbiterProtocol
import Camarb
import Synchronization
import Testing

@Suite("A client whose broker is restarted", .timeLimit(.minutes(10)))
struct ReconnectingTests {
    /// Sessions are numbered from `first`.
    private static func broker(firstSession first: UInt64 = 7, id: String? = nil) -> MemoryTransport {
        let next = Counter(first)
        return MemoryTransport(brokerID: id) { _, call throws(BrokerError) in
            guard call.member == "CreateSession" else { return try MemoryTransport.standardAnswer(call) }
            return [.objectPath("/org/camarb/session/\(next.take())")]
        }
    }

    private final class Counter: Sendable {
        private let value: Mutex<UInt64>
        init(_ first: UInt64) { value = Mutex(first) }
        func take() -> UInt64 {
            value.withLock { value in
                defer { value += 1 }
                return value
            }
        }
    }

    @Test("A session that ran is told at once, and runs again at the next broker under the same handle")
    func runsAgain() async throws {
        let (first, second) = (Self.broker(), Self.broker(firstSession: 1))
        let client = CameraClient(over: try Brokers([first, second]).transport())
        try await client.declare(ClientDeclaration(app: "photos"))
        var session = try await OpenSession(of: client, [.frameRate: .number(15)], runs: true)
        try await session.handle.configure(Configuration([.videoZoomFactor: .number(2)]))
        for (sequence, event) in [
            (1, .didStartRunning(grant: GrantID(4))), (2, .recordingStarted(5)), (3, .sharersChanged([.app("mirror")])),
        ] as [(UInt64, SessionEvent)] {
            first.send(event, sequence: sequence)
            #expect(await session.events.next() == ClientEvent(event))
        }
        #expect(try await session.handle.startRecording(to: 1) == 5)

        first.end()
        let interruption = try #require(await session.events.next()?.interruption)
        #expect(interruption.id == 1)
        #expect(interruption.causes == CauseSet([.brokerRestarted]))
        #expect(interruption.recording == 5)
        // The next broker begins without watchers.
        #expect(await session.events.next() == .sharersChanged([]))
        #expect(await session.events.next() == .didStopRunning)
        let finished = try #require(await session.events.next()?.finished)
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

        for (sequence, event) in [
            (1, .interrupted(for: .brokerRestarted)), (2, .uninterrupted(for: .brokerRestarted)),
            (3, .didStartRunning(grant: GrantID(1))),
        ] as [(UInt64, SessionEvent)] { second.send(event, sequence: sequence, session: SessionID(1)) }
        let end = try #require(
            await session.events.next()?.interruptionEnd, "The interruption did not end, or was told twice.")
        #expect(end.id == 1 && end.willResume && end.causes == CauseSet([.brokerRestarted]))
        #expect(end.duration > .zero)
        #expect(await session.events.next() == .didStartRunning(GrantID(1)))
        #expect(!second.callsSoFar.contains { $0.member == "StartRecording" })

        // The handle goes on, and interruptions count on.
        try await session.handle.stopRunning()
        #expect(second.callsSoFar.last?.path == "/org/camarb/session/1")
        second.send(.interrupted(2, for: .systemSleep), sequence: 4, session: SessionID(1))
        #expect(await session.events.next()?.interruption?.id == 2)
        try await session.handle.close()
    }

    @Test(
        "An interruption that was open stays the same one, and ends when the next broker says nothing against the session"
    )
    func carried() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        var session = try await OpenSession(at: try Brokers([first, second]).transport(), runs: true)
        let busy = CauseSet([.videoDeviceInUseByAnotherClient])
        first.send(.interrupted(by: "notes"), sequence: 1)
        _ = await session.events.next()
        first.end()
        // It did not run under the broker that ended, and so the next one is not told that it did.
        _ = await second.waitForCall("StartRunning")
        #expect(second.callsSoFar[0].arguments[1].dictionary?["reestablished"] == nil)
        // While others come back, this changes by the moment, and is not told unless it lasts.
        second.send(.interrupted(), sequence: 1)
        second.send(
            .interruptionChanged(id: 1, causes: busy, interrupter: .app("notes"), rule: "r"), sequence: 2)
        second.send(.uninterrupted(), sequence: 3)
        second.send(.didStartRunning(grant: GrantID(1)), sequence: 4)
        let end = try #require(await session.events.next()?.interruptionEnd, "Something was told that had not changed.")
        #expect(end.id == 1 && end.causes == busy && end.willResume)
        #expect(await session.events.next() == .didStartRunning(GrantID(1)))
        // It is the first one at either, and so the next is the second.
        let warning = SessionEvent.willBeInterrupted(
            id: 2, cause: .videoDeviceInUseByAnotherClient, deadline: Moment(nanoseconds: 1), rule: "r")
        second.send(warning, sequence: 5)
        #expect(await session.events.next() == ClientEvent(warning))
        try await session.handle.ready(for: 2)
        #expect(second.callsSoFar.last { $0.member == "Ready" }?.arguments == [.uint64(2)])
        try await session.handle.close()
    }

    @Test("A recording that was cut, and whose end was not said, has ended with the broker that cut it")
    func cutRecording() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        var session = try await OpenSession(at: try Brokers([first, second]).transport(), runs: true)
        first.send(.didStartRunning(grant: GrantID(4)), sequence: 1)
        first.send(.recordingStarted(5), sequence: 2)
        first.send(.interrupted(by: "notes", cutting: 5), sequence: 3)
        first.send(.didStopRunning, sequence: 4)
        for _ in 0..<4 { _ = await session.events.next() }
        first.end()
        let finished = try #require(await session.events.next()?.finished)
        #expect(finished.recording == 5 && finished.why == .interrupted && finished.cause == .brokerRestarted)
        #expect(finished.nextChance == .whenInterruptionEnds)
        #expect(finished.frames == nil && finished.duration == nil && finished.bytes == nil)
        // The interruption goes on, and the next broker's recordings have numbers of its own.
        _ = await second.waitForCall("StartRunning")
        second.send(.uninterrupted(), sequence: 1)
        second.send(.didStartRunning(grant: GrantID(1)), sequence: 2)
        second.send(.recordingStarted(1), sequence: 3)
        let end = try #require(await session.events.next()?.interruptionEnd)
        #expect(end.id == 1 && end.recording == 5)
        #expect(await session.events.next() == .didStartRunning(GrantID(1)))
        #expect(await session.events.next() == .recordingStarted(1))
        try await session.handle.close()
    }

    @Test("A stop that closed an interruption leaves none open: the broker's end then is one of its own")
    func stopCloses() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        var session = try await OpenSession(at: try Brokers([first, second]).transport(), runs: true)
        let stopped = SessionEvent.sessionStopped(.evicted, rule: "r")
        first.send(.interrupted(by: "notes"), sequence: 1)
        first.send(stopped, sequence: 2)
        _ = await session.events.next()
        #expect(await session.events.next() == ClientEvent(stopped))
        try await session.handle.startRunning()
        first.send(.didStartRunning(grant: GrantID(4)), sequence: 3)
        #expect(await session.events.next() == .didStartRunning(GrantID(4)))
        first.end()
        let interruption = try #require(
            await session.events.next()?.interruption, "An interruption changed that was closed long ago.")
        #expect(interruption.id == 2 && interruption.causes == CauseSet([.brokerRestarted]))
        #expect(await session.events.next() == .didStopRunning)
        _ = await second.waitForCall("StartRunning")
        try await session.handle.close()
    }

    @Test("A stopped session is told nothing, and is there again; a batch that was open is open again")
    func stopped() async throws {
        let (first, second) = (Self.broker(), Self.broker(firstSession: 9))
        var session = try await OpenSession(at: try Brokers([first, second]).transport())
        try await session.handle.beginConfiguration()
        try await session.handle.configure(Configuration([.videoZoomFactor: .number(2)]))
        first.end()
        #expect(await second.waitForCall("Configure")?.path == "/org/camarb/session/9")
        #expect(second.callsSoFar.map(\.member) == ["CreateSession", "BeginConfiguration", "Configure"])
        #expect(second.callsSoFar[0].arguments[1].dictionary?["reestablished"] == nil)
        try await session.handle.commitConfiguration()
        second.send(.marker, sequence: 1, session: SessionID(9))
        #expect(await session.events.next() == .marker)
        try await session.handle.close()
    }

    @Test(
        "A session that runs or is interrupted has asked to run, also where the broker ends before it has answered the start",
        arguments: [SessionEvent.didStartRunning(grant: GrantID(4)), .interrupted(by: "booth")])
    func startedWithoutAnAnswer(event: SessionEvent) async throws {
        let first = MemoryTransport { transport, call throws(BrokerError) in
            guard call.member == "StartRunning" else { return try MemoryTransport.standardAnswer(call) }
            transport.send(event, sequence: 1)
            transport.end()
            throw BrokerError.gone
        }
        let second = Self.broker()
        let session = try await OpenSession(at: try Brokers([first, second]).transport())
        await #expect(throws: BrokerError.self) { try await session.handle.startRunning() }
        #expect(await second.waitForCall("StartRunning") != nil)
    }

    @Test("A call that is made while there is no broker waits for the next one")
    func callsWait() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        let client = CameraClient(over: try Brokers([first, second]).transport())
        _ = try await client.call(ObjectPath.broker, InterfaceName.broker, "Ping")
        first.end()
        _ = try await client.call(ObjectPath.broker, InterfaceName.broker, "Pong")
        #expect(!first.callsSoFar.contains { $0.member == "Pong" })
        #expect(second.callsSoFar.contains { $0.member == "Pong" })
    }

    @Test("A session that the next broker refuses has stopped, with the broker's words, and the others go on")
    func refused() async throws {
        let first = Self.broker()
        let second = MemoryTransport { _, call throws(BrokerError) in
            guard call.member == "CreateSession" else { return [] }
            if call.arguments.first == .string("back") {
                throw BrokerError(.unknownCamera, "There is no camera “back”.")
            }
            return [.objectPath("/org/camarb/session/1")]
        }
        let client = CameraClient(over: try Brokers([first, second]).transport())
        let back = try await OpenSession(of: client, camera: "back", runs: true)
        let front = try await OpenSession(of: client, runs: true)
        first.end()
        var told: [String] = []
        for await event in back.handle.events {
            switch event {
            case .wasInterrupted: told.append("interrupted")
            case .interruptionEnded(let end): told.append("ended, resuming: \(end.willResume)")
            case .runtimeError(_, let message): told.append(message)
            default: break
            }
            if case .sessionStopped = event { break }
        }
        #expect(told == ["interrupted", "ended, resuming: false", "There is no camera “back”."])
        await #expect(throws: BrokerError.self) { try await back.handle.startRunning() }
        _ = await second.waitForCall("StartRunning")
        try await front.handle.stopRunning()
        #expect(second.callsSoFar.last?.path == "/org/camarb/session/1")
    }

    @Test("A broker that ends the connection again and again is left")
    func leaves() async throws {
        let brokers = (0...ReconnectingTransport.endsPerMinuteMax).map { _ in Self.broker(id: "one") }
        let session = try await OpenSession(at: try Brokers(brokers).transport())
        for broker in brokers { try await Self.end(broker, isFirst: broker === brokers[0], session.client) }
        var last: ClientEvent?
        for await event in session.handle.events { last = event }
        #expect(last == .ended(.gone))
        await #expect(throws: BrokerError.gone) { try await session.client.declarePresence(.background) }
    }

    @Test("Brokers that die one after the other, however often, are no reason to leave the next one")
    func stays() async throws {
        let brokers = (0...2 * ReconnectingTransport.endsPerMinuteMax).map { Self.broker(id: "broker \($0)") }
        // A session that nobody has any more is closed, and no next broker hears of it.
        let session = try await OpenSession(at: try Brokers(brokers).transport())
        for broker in brokers.dropLast() {
            try await Self.end(broker, isFirst: broker === brokers[0], session.client)
        }
        _ = await brokers[brokers.count - 1].waitForCall("CreateSession")
        try await session.client.declarePresence(.background)
        _ = session.handle.id
    }

    private static func end(_ broker: MemoryTransport, isFirst: Bool, _ client: CameraClient) async throws {
        if !isFirst { _ = await broker.waitForCall("CreateSession") }
        // It counts once it is the one in use.
        _ = try await client.call(ObjectPath.broker, InterfaceName.broker, "Ping")
        broker.end()
    }

    @Test("Closing while there is no broker ends it, also for calls that wait")
    func closing() async throws {
        let first = Self.broker()
        let client = CameraClient(over: try Brokers([first]).transport())
        _ = try await client.call(ObjectPath.broker, InterfaceName.broker, "Ping")
        first.end()
        let waits = Task { try await client.declarePresence(.background) }
        client.disconnect()
        await #expect(throws: BrokerError.self) { try await waits.value }
    }

    // MARK: A client that stands for another process

    private static func standing(knows process: Bool = true) -> MemoryTransport {
        MemoryTransport { _, call throws(BrokerError) in
            guard call.member == "StandFor" else { return try MemoryTransport.standardAnswer(call) }
            if process { return [.string("mirror")] }
            throw BrokerError(.invalidValue, "There is no process 12.")
        }
    }

    @Test("Who stands for a process says so first at the next broker that knows it; elsewhere nothing is put back")
    func standsFor() async throws {
        let (first, second, third) = (Self.standing(), Self.standing(knows: false), Self.standing())
        let client = CameraClient(over: try Brokers([first, second, third]).transport())
        #expect(try await client.standFor(process: 12, began: 34) == "mirror")
        let session = try await OpenSession(of: client, runs: true)
        first.end()
        _ = await third.waitForCall("StartRunning")
        #expect(second.callsSoFar.map(\.member) == ["StandFor"])
        let said = third.callsSoFar
        #expect(said.map(\.member) == ["StandFor", "CreateSession", "StartRunning"])
        #expect(said[0].arguments == [.uint32(12), .uint64(34)])
        session.client.disconnect()
    }
}
