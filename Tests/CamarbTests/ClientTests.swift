import ArbiterProtocol
import Camarb
import Glibc
import Testing

@Suite("The client library", .timeLimit(.minutes(10)))
struct ClientTests {
    @Test("Calls carry what the interface table says they take")
    func callsMatchTheTable() async throws {
        let broker = FalseBroker()
        let client = try Brokers.client([broker], reconnects: false)
        try await client.declare(ClientDeclaration(app: "photos", kind: .picker, multitasking: true))
        try await client.declarePresence(.foreground(.split), focused: true)
        try await client.lowerPriority(to: "attract")
        try await client.lower("duty", to: "off")
        try await client.subscribeToDecisions()
        try await client.attach(as: .shell)
        try await client.attach(
            as: .agent, placing: [AppPlacement(app: "photos", presence: .background, isFocused: false)])
        try await client.describeSource("sway 1.7")
        try await client.detach(as: .agent)
        try await client.reportMicrophones(true)
        let listed = try await client.listClients()
        #expect(listed.map(\.app) == ["photos"] && listed.map(\.process) == [12])
        try await client.place(app: "photos", .background)
        try await client.takeMicrophone(app: "call")
        try await client.releaseMicrophone(app: "call")
        try await client.setPrivacy(true)
        try await client.setPressure(.serious)
        try await client.raiseSensitiveContent(app: "photos")
        try await client.setLoginSession("c1", active: true, locked: false)
        try await client.setSleep(true)
        try await client.setOverride(app: nil)
        try await client.setAttribute(app: "photos", "duty", to: nil)
        try await client.setMode(nil)
        try await client.plug(camera: "front", present: false)
        try await callAboutAnswers(client)
        try await client.withSession { session in
            try await session.startRunning()
            try await session.stopRunning()
            try await session.beginConfiguration()
            try await session.configure(Configuration([.frameRate: .number(30)]))
            try await session.commitConfiguration()
            try await session.checkConfiguration(Configuration([.frameRate: .number(30)]))
            Glibc.close(try await session.openStream())
            #expect(try await session.capturePhoto(to: 1) == 5)
            let bracket = try PhotoBracket(exposureTargetBiases: [-1, 1])
            #expect(try await session.capturePhotos(to: [1, 2], bracket: bracket) == [6, 7])
            try await session.attachMicrophone(1, format: MicrophoneFormat(sampleRate: 48_000, channels: 1))
            #expect(try await session.startRecording(to: 1) == 5)
            try await session.pauseRecording()
            try await session.resumeRecording()
            try await session.appendMetadata(kind: "note", time: 1, items: ["x"])
            try await session.stopRecording()
            try await session.ready(for: 1)
            try await session.continue()
        }
        let called = broker.callsSoFar
        for call in called {
            let interface = try #require(Interface.publicInterfaces.first { $0.name == call.interface })
            let method = try #require(interface.method(call.member))
            #expect(call.arguments.map(\.signature).joined() == method.signatureTaken, "\(call.member)")
        }
        let session = Set(called.filter { $0.interface == InterfaceName.session }.map(\.member))
        // Where a broker's end is survived, the broker calls these by itself.
        #expect(session.union(["GetReclaimSecret", "Reclaim"]) == Set(Interface.session.methods.map(\.name)))
        let shell = Set(called.filter { $0.interface == InterfaceName.shell }.map(\.member))
        #expect(shell == Set(Interface.shell.methods.map(\.name)))
    }

    private func callAboutAnswers(_ client: CameraClient) async throws {
        try await client.answerQuestions()
        try await client.answer(3, .allow)
        #expect(try await client.storedAnswers().isEmpty)
        try await client.setAnswer(app: "photos", isVouched: false, .deny)
        try await client.setDenied(apps: ["photos"])
        try await client.stop(app: "photos")
        try await client.setOwnPrivacy(true)
        #expect(try await client.cameraUse().isEmpty)
    }

    @Test("The scoped form closes its session when the body throws, and throws the body's error")
    func scopedFormCloses() async throws {
        let broker = FalseBroker()
        let client = try Brokers.client([broker], reconnects: false)
        let error = await #expect(throws: BrokerError.self) {
            try await client.withSession { (_) in throw BrokerError(.notRunning, "of the body") }
        }
        #expect(error?.message == "of the body")
        #expect(broker.members == ["CreateSession", "Close"])
    }

    @Test("The session of the scoped form may be used by several tasks, and is over with it")
    func concurrentUse() async throws {
        let broker = FalseBroker()
        let client = try Brokers.client([broker])
        async let other: Void = client.withSession { session in try await session.startRunning() }
        let kept = try await client.withSession { session in
            async let starts: Void = session.startRunning()
            async let photo = session.capturePhoto(to: 1)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...3 { group.addTask { try await session.checkConfiguration(Configuration()) } }
                try await group.waitForAll()
            }
            try await starts
            #expect(try await photo == 5)
            return session
        }
        try await other
        let error = await #expect(throws: BrokerError.self) { try await kept.startRunning() }
        #expect(error?.kind == .unknownSession)
    }

    @Test("A lease that is dropped posts one Close, and a closed one posts none")
    func handlesPostOneClose() async throws {
        let broker = FalseBroker()
        let client = try Brokers.client([broker], reconnects: false)
        do {
            let session = try await client.makeSession()
            #expect(session.handle.id == SessionID(7))
        }
        #expect(await broker.waitForCall("Close") != nil)
        let session = try await client.makeSession()
        try await session.close()
        try await client.subscribeToDecisions()
        #expect(broker.members == ["CreateSession", "Close", "CreateSession", "Close", "Watch"])
    }

    @Test("Signals that come before the session's path is known are not lost")
    func earlySignals() async throws {
        let broker = FalseBroker { broker, call throws(BrokerError) in
            if call.member == "CreateSession" {
                // They go out right behind the answer.
                broker.tell(.didStartRunning(GrantID(1)))
                broker.tell(.didStopRunning, session: SessionID(99))
            }
            return try FalseBroker.standardAnswer(call)
        }
        var session = try await OpenSession(at: [broker])
        broker.tell(.didStopRunning)
        await session.hears(.didStartRunning(GrantID(1)), .didStopRunning)
        try await session.close()
    }

    @Test("A missing event ends the session: its state would not be known", arguments: [UInt64(1), 3, 0])
    func gapsEndTheSession(second: UInt64) async throws {
        let broker = FalseBroker()
        var session = try await OpenSession(at: [broker])
        await session.hears(.didStartRunning(GrantID(1)), from: broker)
        broker.send(.didStopRunning, sequence: second)
        let error = try #require(await session.events.next()?.end, "The gap went unnoticed.")
        #expect(error.message.contains("event \(second) of the session where 2 was due"))
        #expect(await session.events.next() == nil)
        #expect(await broker.waitForCall("Close") != nil)
        _ = session.handle.id
    }

    @Test("A malformed signal ends its session with what is wrong, and no other session")
    func malformedSignals() async throws {
        let broker = FalseBroker()
        var session = try await OpenSession(at: [broker])
        broker.send(
            WireSignal(
                path: "/org/camarb/session/7", interface: InterfaceName.session, member: "DidStartRunning",
                arguments: [.string("x")]))
        #expect(await session.events.next()?.end?.kind == .invalidArguments)
        try await session.client.subscribeToDecisions()
    }

    @Test("Events left unread end the session instead of growing without bound or getting lost")
    func boundedQueue() async throws {
        let broker = FalseBroker()
        let session = try await OpenSession(at: [broker])
        for _ in 1...3 {
            for _ in 1...500 { broker.tell(.didStopRunning) }
            // Its answer comes behind them.
            try await session.client.subscribeToDecisions()
        }
        var seen: [SessionEvent] = []
        for await event in session.handle.events { seen.append(event) }
        #expect(seen.count == 1024 + 1 && seen.last?.end?.kind == .outOfResources)
        #expect(await broker.waitForCall("Close") != nil)
        _ = session.handle.id
    }

    @Test("A cancelled reader is told so, and another may go on")
    func cancelledReaders() async throws {
        let broker = FalseBroker()
        var session = try await OpenSession(at: [broker])
        let events = session.handle.events
        let reader = Task {
            var iterator = events.makeAsyncIterator()
            return await iterator.next()
        }
        reader.cancel()
        #expect(await reader.value?.end?.kind == .failed)
        await session.hears(.didStopRunning, from: broker)
    }

    @Test("After the connection's end every call throws why, and the broker is not asked")
    func callsAfterTheEnd() async throws {
        let broker = FalseBroker()
        let client = try Brokers.client([broker], reconnects: false)
        var notices = client.brokerNotices.makeAsyncIterator()
        broker.end()
        #expect(await notices.next() == .ended(.gone))
        client.disconnect()
        let error = await #expect(throws: BrokerError.self) { try await client.subscribeToDecisions() }
        #expect(error == .gone)
        await #expect(throws: BrokerError.self) { try await client.withSession { _ in } }
        #expect(broker.callsSoFar.isEmpty)
        var again = client.brokerNotices.makeAsyncIterator()
        #expect(await again.next() == .ended(.gone))
    }

    @Test("What the broker tells everybody is read in full, and what a newer one adds is passed over")
    func brokerNotices() async throws {
        let broker = FalseBroker()
        let client = try Brokers.client([broker], reconnects: false)
        var notices = client.brokerNotices.makeAsyncIterator()
        func send(_ member: String, _ arguments: [WireValue] = []) {
            broker.send(
                WireSignal(
                    path: ObjectPath.broker, interface: InterfaceName.broker, member: member, arguments: arguments))
        }
        send("CamerasChanged")
        send("MoonChanged")
        send("HolderChanged", [.string("front"), .string("another user's app")])
        send("HolderChanged", [.string("front"), .string("")])
        send("PrioritiesChanged")
        send(
            "Decided",
            [
                .uint64(4), .int64(9), .string("0s start photos"),
                .dictionaries([
                    ["event": .string("startRunning"), "name": .string("photos"), "session": .uint64(2)],
                    [
                        "effect": .string("notify"), "name": .string("photos"), "client": .uint64(1),
                        "session": .uint64(2), "sequence": .uint64(3), "notice": .string("DidStartRunning"),
                        "grant": .uint64(8),
                    ],
                ]),
            ])
        #expect(await notices.next() == .camerasChanged)
        #expect(await notices.next() == .holderChanged(camera: CameraID("front"), holder: .anotherUsersApp))
        #expect(await notices.next() == .holderChanged(camera: CameraID("front"), holder: nil))
        #expect(await notices.next() == .prioritiesChanged)
        let started = SessionSignal(sequence: 3, decision: 4, event: .didStartRunning(GrantID(8)))
        #expect(
            await notices.next()
                == .decided(
                    4, at: Moment(nanoseconds: 9), trace: "0s start photos",
                    parts: [
                        .event("startRunning", about: "photos", note: nil, ["session": .uint64(2)]),
                        .notice(app: "photos", SessionID(2), started),
                    ]))
    }

    @Test("The connection closes when its last user lets go")
    func theConnectionCloses() async throws {
        let broker = FalseBroker()
        var client: CameraClient? = try Brokers.client([broker])
        try await client?.subscribeToDecisions()
        #expect(!broker.isClosed)
        client = nil
        while !broker.isClosed { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test("An answer that is not the promised one is an error, not a trap")
    func badAnswers() async throws {
        let broker = FalseBroker { _, call throws(BrokerError) in
            call.member == "CreateSession" ? [.objectPath("/org/camarb/camera/front")] : [.boolean(true)]
        }
        let client = try Brokers.client([broker], reconnects: false)
        let error = await #expect(throws: BrokerError.self) { try await client.makeSession().close() }
        #expect(error?.message == "CreateSession gave no session's path.")
        await #expect(throws: BrokerError.self) { try await client.status() }
        await #expect(throws: BrokerError.self) { try await client.explain() }
        await #expect(throws: BrokerError.self) { try await client.plan("0s start photos") }
    }
}
