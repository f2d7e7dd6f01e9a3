import ArbiterProtocol
import Camarb
import Testing

@Suite("The client library", .timeLimit(.minutes(10)))
struct ClientTests {
    @Test("Calls carry what the interface table says they take")
    func callsMatchTheTable() async throws {
        let transport = MemoryTransport()
        let client = CameraClient(over: transport)
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
            #expect(try await session.openStream() == 9)
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
        let called = transport.callsSoFar
        for call in called {
            let interface = try #require(Interface.publicInterfaces.first { $0.name == call.interface })
            let method = try #require(interface.method(call.member))
            #expect(call.arguments.map(\.signature).joined() == method.signatureTaken, "\(call.member)")
        }
        let session = Set(called.filter { $0.interface == InterfaceName.session }.map(\.member))
        // Where a broker's end is survived, the transport calls these by itself.
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
        let transport = MemoryTransport()
        let client = CameraClient(over: transport)
        let error = await #expect(throws: BrokerError.self) {
            try await client.withSession { (_) in throw BrokerError(.notRunning, "of the body") }
        }
        #expect(error?.message == "of the body")
        #expect(transport.callsSoFar.map(\.member) == ["CreateSession", "Close"])
    }

    @Test("A handle that is dropped posts one Close, and a closed one posts none")
    func handlesPostOneClose() async throws {
        let transport = MemoryTransport()
        let client = CameraClient(over: transport)
        do {
            let session = try await client.makeSession()
            #expect(session.id == SessionID(7))
        }
        #expect(await transport.waitForCall("Close") != nil)
        let session = try await client.makeSession()
        try await session.close()
        try await client.subscribeToDecisions()
        #expect(transport.callsSoFar.map(\.member) == ["CreateSession", "Close", "CreateSession", "Close", "Watch"])
    }

    @Test("Signals that come before the session's path is known are not lost")
    func earlySignals() async throws {
        let transport = MemoryTransport { transport, call throws(BrokerError) in
            if call.member == "CreateSession" {
                transport.tell(.didStartRunning(GrantID(1)))
                transport.tell(.didStopRunning, session: SessionID(99))
            }
            return try MemoryTransport.standardAnswer(call)
        }
        var session = try await OpenSession(at: transport)
        transport.tell(.didStopRunning)
        await session.hears(.didStartRunning(GrantID(1)), .didStopRunning)
        try await session.handle.close()
    }

    @Test("A missing event ends the session: its state would not be known", arguments: [UInt64(1), 3, 0])
    func gapsEndTheSession(second: UInt64) async throws {
        let transport = MemoryTransport()
        var session = try await OpenSession(at: transport)
        await session.hears(.didStartRunning(GrantID(1)), from: transport)
        transport.send(.didStopRunning, sequence: second)
        let error = try #require(await session.events.next()?.end, "The gap went unnoticed.")
        #expect(error.message.contains("event \(second) of session 7 where 2 was due"))
        #expect(await session.events.next() == nil)
        #expect(await transport.waitForCall("Close") != nil)
        _ = session.handle.id
    }

    @Test("A malformed signal ends its session with what is wrong, and no other session")
    func malformedSignals() async throws {
        let transport = MemoryTransport()
        var session = try await OpenSession(at: transport)
        transport.send(
            WireSignal(
                path: "/org/camarb/session/7", interface: InterfaceName.session, member: "DidStartRunning",
                arguments: [.string("x")]))
        #expect(await session.events.next()?.end?.kind == .invalidArguments)
        try await session.client.subscribeToDecisions()
    }

    @Test("Events left unread end the session instead of growing without bound or getting lost")
    func boundedQueue() async throws {
        let transport = MemoryTransport()
        let session = try await OpenSession(at: transport)
        for _ in 1...1500 { transport.tell(.didStopRunning) }
        var seen: [SessionEvent] = []
        for await event in session.handle.events { seen.append(event) }
        #expect(seen.count == 1024 + 1 && seen.last?.end?.kind == .outOfResources)
        #expect(await transport.waitForCall("Close") != nil)
        _ = session.handle.id
    }

    @Test("A cancelled reader is told so, and another may go on")
    func cancelledReaders() async throws {
        let transport = MemoryTransport()
        var session = try await OpenSession(at: transport)
        let events = session.handle.events
        let reader = Task {
            var iterator = events.makeAsyncIterator()
            return await iterator.next()
        }
        reader.cancel()
        #expect(await reader.value?.end?.kind == .failed)
        await session.hears(.didStopRunning, from: transport)
    }

    @Test("After the connection's end every call throws why, and the transport is not asked")
    func callsAfterTheEnd() async throws {
        let transport = MemoryTransport()
        let client = CameraClient(over: transport)
        transport.end()
        transport.end(BrokerError(.failed, "Only the first reason counts."))
        let error = await #expect(throws: BrokerError.self) { try await client.subscribeToDecisions() }
        #expect(error == .gone)
        await #expect(throws: BrokerError.self) { try await client.withSession { _ in } }
        #expect(transport.callsSoFar.isEmpty)
        var notices = client.brokerNotices.makeAsyncIterator()
        #expect(await notices.next() == .ended(.gone))
    }

    @Test("What the broker tells everybody is read in full, and what a newer one adds is passed over")
    func brokerNotices() async throws {
        let transport = MemoryTransport()
        let client = CameraClient(over: transport)
        var notices = client.brokerNotices.makeAsyncIterator()
        func send(_ member: String, _ arguments: [WireValue] = []) {
            transport.send(
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
        let transport = MemoryTransport()
        var client: CameraClient? = CameraClient(over: transport)
        try await client?.subscribeToDecisions()
        #expect(!transport.isClosed)
        client = nil
        #expect(transport.isClosed)
    }

    @Test("An answer that is not the promised one is an error, not a trap")
    func badAnswers() async {
        let transport = MemoryTransport { _, call throws(BrokerError) in
            call.member == "CreateSession" ? [.objectPath("/org/camarb/camera/front")] : [.boolean(true)]
        }
        let client = CameraClient(over: transport)
        let error = await #expect(throws: BrokerError.self) { try await client.makeSession().close() }
        #expect(error?.message.contains("“/org/camarb/camera/front”") == true)
        await #expect(throws: BrokerError.self) { try await client.status() }
        await #expect(throws: BrokerError.self) { try await client.explain() }
        await #expect(throws: BrokerError.self) { try await client.plan("0s start photos") }
    }
}
