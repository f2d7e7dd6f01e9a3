import ArbiterProtocol
import Camarb
import Testing

@Suite("A client whose broker is restarted", .timeLimit(.minutes(10)))
struct ReconnectingTests {
    /// Sessions are numbered from `first`.
    private static func broker(firstSession first: Int = 7) -> FalseBroker {
        FalseBroker { broker, call throws(BrokerError) in
            guard call.member == "CreateSession" else { return try FalseBroker.standardAnswer(call) }
            // This call is counted already.
            let created = broker.callsSoFar.count { $0.member == "CreateSession" }
            return [.objectPath("/org/camarb/session/\(first + created - 1)")]
        }
    }

    @Test("A session that ran is told at once, and runs again at the next broker under the same handle")
    func runsAgain() async throws {
        let (first, second) = (Self.broker(), Self.broker(firstSession: 1))
        let client = try Brokers.client([first, second])
        try await client.declare(ClientDeclaration(app: "photos"))
        var session = try await OpenSession(of: client, [.frameRate: .number(15)], runs: true)
        try await session.handle.configure(Configuration([.videoZoomFactor: .number(2)]))
        first.tell(.didStartRunning(GrantID(4)), .recordingStarted(5), .sharersChanged([.app("mirror")]))
        await session.hears(
            .didStartRunning(GrantID(4)), .recordingStarted(5), .sharersChanged([.app("mirror")]))
        #expect(try await session.handle.startRecording(to: 1) == 5)

        first.end()
        let interruption = try #require(await session.events.next()?.interruption)
        #expect(interruption.id == 1 && interruption.recording == 5)
        #expect(interruption.causes == CauseSet([.brokerRestarted]))
        // The next broker begins without watchers.
        await session.hears(.sharersChanged([]), .didStopRunning)
        let finished = try #require(await session.events.next()?.finished)
        #expect(finished.recording == 5 && finished.why == .interrupted)

        #expect(await second.waitForCall("StartRunning")?.path == "/org/camarb/session/1")
        let said = second.callsSoFar
        #expect(said.map(\.member) == ["DeclareClient", "CreateSession", "StartRunning"])
        #expect(said[0].arguments == first.callsSoFar[0].arguments)
        #expect(said[1].arguments[0] == .string("front"))
        let settings = try #require(said[1].arguments[1].dictionary)
        #expect(settings["reestablished"] == .boolean(true))
        #expect(settings["frameRate"] == .double(15) && settings["videoZoomFactor"] == .double(2))

        second.tell(
            .interrupted(for: .brokerRestarted), .uninterrupted(for: .brokerRestarted),
            .didStartRunning(GrantID(1)), session: SessionID(1))
        let end = try #require(
            await session.events.next()?.interruptionEnd, "The interruption did not end, or was told twice.")
        #expect(end.id == 1 && end.willResume && end.causes == CauseSet([.brokerRestarted]))
        #expect(end.duration > .zero)
        await session.hears(.didStartRunning(GrantID(1)))
        #expect(!second.callsSoFar.contains { $0.member == "StartRecording" })

        // The handle goes on, and interruptions count on.
        try await session.handle.stopRunning()
        #expect(second.callsSoFar.last?.path == "/org/camarb/session/1")
        second.tell(.interrupted(2, for: .systemSleep), session: SessionID(1))
        #expect(await session.events.next()?.interruption?.id == 2)
        try await session.close()
    }

    @Test(
        "An interruption that was open stays the same one, and ends when the next broker says nothing against the session"
    )
    func carried() async throws {
        let busy = CauseSet([.videoDeviceInUseByAnotherClient])
        let (first, second) = (
            Self.broker(),
            FalseBroker { broker, call throws(BrokerError) in
                guard call.member == "StartRunning" else { return try FalseBroker.standardAnswer(call) }
                // While others come back, the interruption changes by the moment, and a change is not told unless it
                // lasts. The broker says all of it before its answer: a busy machine puts no time between.
                broker.tell(
                    .interrupted(),
                    .interruptionChanged(Interruption(id: 1, causes: busy, interrupter: .app("notes"), rule: "r")),
                    .uninterrupted(), .didStartRunning(GrantID(1)))
                return []
            }
        )
        var session = try await OpenSession(at: [first, second], runs: true)
        await session.hears(.interrupted(by: "notes"), from: first)
        first.end()
        let end = try #require(await session.events.next()?.interruptionEnd, "Something was told that had not changed.")
        #expect(end.id == 1 && end.causes == busy && end.willResume)
        await session.hears(.didStartRunning(GrantID(1)))
        // It did not run under the broker that ended, and so the next one is not told that it did.
        #expect(second.callsSoFar[0].arguments[1].dictionary?["reestablished"] == nil)
        // It is the first one at either, and so the next is the second.
        await session.hears(.warning(2), from: second)
        try await session.handle.ready(for: 2)
        #expect(second.callsSoFar.last { $0.member == "Ready" }?.arguments == [.uint64(2)])
        try await session.close()
    }

    @Test("A recording that was cut, and whose end was not said, has ended with the broker that cut it")
    func cutRecording() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        var session = try await OpenSession(at: [first, second], runs: true)
        first.tell(
            .didStartRunning(GrantID(4)), .recordingStarted(5), .interrupted(by: "notes", cutting: 5),
            .didStopRunning)
        for _ in 0..<4 { _ = await session.events.next() }
        first.end()
        let finished = try #require(await session.events.next()?.finished)
        #expect(finished.recording == 5 && finished.why == .interrupted && finished.cause == .brokerRestarted)
        #expect(finished.nextChance == .whenInterruptionEnds)
        #expect(finished.frames == nil && finished.duration == nil && finished.bytes == nil)
        // The interruption goes on, and the next broker's recordings have numbers of its own.
        _ = await second.waitForCall("StartRunning")
        second.tell(.uninterrupted(), .didStartRunning(GrantID(1)), .recordingStarted(1))
        let end = try #require(await session.events.next()?.interruptionEnd)
        #expect(end.id == 1 && end.recording == 5)
        await session.hears(.didStartRunning(GrantID(1)), .recordingStarted(1))
        try await session.close()
    }

    @Test("A stop that closed an interruption leaves none open: the broker's end then is one of its own")
    func stopCloses() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        var session = try await OpenSession(at: [first, second], runs: true)
        await session.hears(.interrupted(by: "notes"), from: first)
        await session.hears(.sessionStopped(SessionStop(.evicted, rule: "r")), from: first)
        try await session.handle.startRunning()
        await session.hears(.didStartRunning(GrantID(4)), from: first)
        first.end()
        let interruption = try #require(
            await session.events.next()?.interruption, "An interruption changed that was closed long ago.")
        #expect(interruption.id == 2 && interruption.causes == CauseSet([.brokerRestarted]))
        await session.hears(.didStopRunning)
        _ = await second.waitForCall("StartRunning")
        try await session.close()
    }

    @Test("A stopped session is told nothing, and is there again; a batch that was open is open again")
    func stopped() async throws {
        let (first, second) = (Self.broker(), Self.broker(firstSession: 9))
        var session = try await OpenSession(at: [first, second])
        try await session.handle.beginConfiguration()
        try await session.handle.configure(Configuration([.videoZoomFactor: .number(2)]))
        first.end()
        #expect(await second.waitForCall("Configure")?.path == "/org/camarb/session/9")
        #expect(second.members == ["CreateSession", "BeginConfiguration", "Configure"])
        #expect(second.callsSoFar[0].arguments[1].dictionary?["reestablished"] == nil)
        try await session.handle.commitConfiguration()
        second.tell(.marker, session: SessionID(9))
        await session.hears(.marker)
        try await session.close()
    }

    @Test(
        "A session that runs or is interrupted has asked to run, also where the broker ends before it has answered the start",
        arguments: [SessionEvent.didStartRunning(GrantID(4)), .interrupted(by: "booth")])
    func startedWithoutAnAnswer(event: SessionEvent) async throws {
        let first = FalseBroker { broker, call throws(BrokerError) in
            guard call.member == "StartRunning" else { return try FalseBroker.standardAnswer(call) }
            broker.tell(event)
            broker.end()
            throw BrokerError.gone
        }
        let second = Self.broker()
        let session = try await OpenSession(at: [first, second])
        try await session.handle.startRunning()
        #expect(await second.waitForCall("StartRunning") != nil)
    }

    @Test("A call that is made while there is no broker waits for the next one")
    func callsWait() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        var session = try await OpenSession(at: [first, second], runs: true)
        await session.hears(.didStartRunning(GrantID(4)), from: first)
        first.end()
        #expect(await session.events.next()?.interruption != nil)
        _ = try await session.client.call(ObjectPath.broker, InterfaceName.broker, "Pong")
        #expect(!first.callsSoFar.contains { $0.member == "Pong" })
        #expect(second.callsSoFar.contains { $0.member == "Pong" })
    }

    @Test("A session that the next broker refuses has stopped, with the broker's words, and the others go on")
    func refused() async throws {
        let first = Self.broker()
        let second = FalseBroker { _, call throws(BrokerError) in
            guard call.member == "CreateSession" else { return [] }
            if call.arguments.first == .string("back") {
                throw BrokerError(.unknownCamera, "There is no camera “back”.")
            }
            return [.objectPath("/org/camarb/session/1")]
        }
        let client = try Brokers.client([first, second])
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
        let brokers = (0...6).map { _ in Self.broker() }
        let session = try await OpenSession(at: brokers)
        for broker in brokers { try await Self.end(broker, isFirst: broker === brokers[0], session.client) }
        var last: SessionEvent?
        for await event in session.handle.events { last = event }
        #expect(last == .ended(.gone))
        await #expect(throws: BrokerError.gone) { try await session.client.declarePresence(.background) }
    }

    private static func end(_ broker: FalseBroker, isFirst: Bool, _ client: CameraClient) async throws {
        if !isFirst { _ = await broker.waitForCall("CreateSession") }
        // It counts once it is the one in use.
        _ = try await client.call(ObjectPath.broker, InterfaceName.broker, "Ping")
        broker.end()
    }

    @Test("Closing while there is no broker ends it, also for calls that wait")
    func closing() async throws {
        let first = Self.broker()
        let client = try Brokers.client([first])
        _ = try await client.call(ObjectPath.broker, InterfaceName.broker, "Ping")
        first.end()
        let waits = Task { try await client.declarePresence(.background) }
        client.disconnect()
        await #expect(throws: BrokerError.self) { try await waits.value }
    }

    // MARK: A client that stands for another process

    private static func standing(knows process: Bool = true) -> FalseBroker {
        FalseBroker { _, call throws(BrokerError) in
            guard call.member == "StandFor" else { return try FalseBroker.standardAnswer(call) }
            if process { return [.string("mirror")] }
            throw BrokerError(.invalidValue, "There is no process 12.")
        }
    }

    @Test("Who stands for a process says so first at the next broker that knows it; elsewhere nothing is put back")
    func standsFor() async throws {
        let (first, second, third) = (Self.standing(), Self.standing(knows: false), Self.standing())
        let client = try Brokers.client([first, second, third])
        #expect(try await client.standFor(process: 12, began: 34) == "mirror")
        let session = try await OpenSession(of: client, runs: true)
        first.end()
        _ = await third.waitForCall("StartRunning")
        #expect(second.members == ["StandFor"])
        let said = third.callsSoFar
        #expect(said.map(\.member) == ["StandFor", "CreateSession", "StartRunning"])
        #expect(said[0].arguments == [.uint32(12), .uint64(34)])
        session.client.disconnect()
    }
}
