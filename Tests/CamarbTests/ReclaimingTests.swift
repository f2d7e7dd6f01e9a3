import ArbiterProtocol
import Camarb
import Synchronization
import Testing

/// A client that shows the next broker the secret that it was given by the one before.
@Suite("A client that reclaims its camera", .timeLimit(.minutes(10)))
struct ReclaimingTests {
    private static let gone = BrokerError(.disconnected, "The broker ended.")
    private static let secret = "00112233445566778899aabbccddeeff"
    private static let front = Configuration([.frameRate: .number(15)])

    /// Gives secrets, and takes the one above.
    private static func broker(takes: Bool = true) -> MemoryTransport {
        MemoryTransport { _, call throws(BrokerError) in
            switch call.member {
            case "CreateSession": return [.objectPath("/org/camarb/session/7")]
            case "StartRecording", "CapturePhoto": return [.uint64(5)]
            case "GetReclaimSecret": return [.string(secret)]
            case "Reclaim":
                if takes, call.arguments == [.string(secret)] { return [] }
                throw BrokerError(.staleGrant, "There is nothing to reclaim.")
            case "StopRecording": throw BrokerError(.notRecording, "Nothing is recorded.")
            default: return []
            }
        }
    }

    /// A session that runs at the first broker, and could be given back.
    private struct Running: ~Copyable {
        let transport: ReconnectingTransport
        let client: CameraClient
        let session: SessionHandle
        var events: Notices<ClientEvent>.AsyncIterator

        init(_ brokers: [MemoryTransport], holdMax: Duration = .seconds(600)) async throws {
            let transport = try Brokers(brokers).transport(holdMax: holdMax)
            let client = CameraClient(over: transport)
            let session = try await client.makeSession(camera: "front", configuration: front)
            try await session.startRunning()
            var events = session.events.makeAsyncIterator()
            brokers[0].send(.configurationApplied(asked: front, inForce: front, by: .client), sequence: 1)
            brokers[0].send(.didStartRunning(grant: GrantID(4)), sequence: 2)
            _ = await events.next()
            #expect(await events.next() == .didStartRunning(GrantID(4)))
            // The secret comes in the background.
            while transport.reclaimableCount == 0 { await Task.yield() }
            self.transport = transport
            self.client = client
            self.session = session
            self.events = events
        }
    }

    @Test("A session that is given back hears nothing: not of the end, not what it knows, and its recording goes on")
    func hearsNothing() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        var running = try await Running([first, second])
        _ = try await running.session.startRecording(to: 1)
        first.send(.recordingStarted(5), sequence: 3)
        #expect(await running.events.next() == .recordingStarted(5))
        first.end(Self.gone)
        _ = await second.waitForCall("Reclaim")
        second.send(.accessChanged(.all, causes: CauseSet(), rule: "r"), sequence: 1)
        second.send(.configurationApplied(asked: Configuration(), inForce: Self.front, by: .client), sequence: 2)
        second.send(.runtimeError(code: "marker", message: ""), sequence: 3)
        #expect(await running.events.next() == .runtimeError(code: "marker", message: ""))
        // For the broker after this one.
        _ = await second.waitForCall("GetReclaimSecret")
        #expect(second.callsSoFar.map(\.member) == ["CreateSession", "Reclaim", "GetReclaimSecret"])
        // A later change is one.
        let pressed = CauseSet([.videoDeviceNotAvailableDueToSystemPressure])
        second.send(.accessChanged(.all, causes: pressed, rule: "r"), sequence: 4)
        guard case .accessChanged? = await running.events.next() else {
            Issue.record("a change was not told")
            return
        }
        let finished = RecordingFinished(
            recording: 5, why: .stopped, frames: 90, duration: .seconds(3), bytes: 1, nextChance: .now)
        second.send(.recordingFinished(finished), sequence: 5)
        #expect(await running.events.next() == .recordingFinished(finished))
        try await running.session.close()
    }

    @Test("A recording that is paused stays so over a restart, and is told to be so once")
    func paused() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        var running = try await Running([first, second])
        _ = try await running.session.startRecording(to: 1)
        first.send(.recordingStarted(5), sequence: 3)
        #expect(await running.events.next() == .recordingStarted(5))
        first.send(.recordingPaused(5), sequence: 4)
        #expect(await running.events.next() == .recordingPaused(5))
        first.end(Self.gone)
        _ = await second.waitForCall("Reclaim")
        second.send(.accessChanged(.all, causes: CauseSet(), rule: "r"), sequence: 1)
        second.send(.recordingPaused(5), sequence: 2)
        second.send(.recordingResumed(5), sequence: 3)
        #expect(await running.events.next() == .recordingResumed(5))
        second.send(.recordingPaused(5), sequence: 4)
        #expect(await running.events.next() == .recordingPaused(5))
        try await running.session.close()
    }

    @Test(
        "A secret that the next broker does not take costs nothing but itself: all is told, and the session starts anew"
    )
    func isRefused() async throws {
        let (first, second) = (Self.broker(), Self.broker(takes: false))
        var running = try await Running([first, second])
        first.send(.recordingStarted(5), sequence: 3)
        #expect(await running.events.next() == .recordingStarted(5))
        first.end(Self.gone)
        guard case .wasInterrupted(let interruption)? = await running.events.next() else {
            Issue.record("the session was not interrupted")
            return
        }
        #expect(interruption.causes == CauseSet([.brokerRestarted]) && interruption.recording == 5)
        #expect(await running.events.next() == .didStopRunning)
        guard case .recordingFinished? = await running.events.next() else {
            Issue.record("the recording did not end")
            return
        }
        _ = await second.waitForCall("StartRunning")
        #expect(second.callsSoFar[0].arguments[1].dictionary?["reestablished"] == .boolean(true))
        try await running.session.close()
    }

    @Test("Where no broker comes the client is told when its time is over, and no sooner than the time is over")
    func timeIsOver() async throws {
        let first = Self.broker()
        var running = try await Running([first], holdMax: .zero)
        first.end(Self.gone)
        guard case .wasInterrupted(let interruption)? = await running.events.next() else {
            Issue.record("the session was not interrupted")
            return
        }
        #expect(interruption.causes == CauseSet([.brokerRestarted]))
        #expect(await running.events.next() == .didStopRunning)
    }

    @Test("A recording whose beginning was under way at the end, and which the client was told has failed, is stopped")
    func unknownRecording() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        let running = try await Running([first, second])
        first.end(Self.gone)
        _ = await second.waitForCall("StopRecording")
        #expect(second.callsSoFar.contains { $0.member == "Reclaim" })
        try await running.session.close()
    }

    @Test("Photos under way fail at once, and an announced interruption is withdrawn once the session is given back")
    func photosAndWarnings() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        var running = try await Running([first, second])
        _ = try await running.session.capturePhoto(to: 1)
        first.send(
            .willBeInterrupted(
                id: 1, cause: .videoDeviceInUseByAnotherClient, deadline: Moment(nanoseconds: 1), rule: "r"),
            sequence: 3)
        _ = await running.events.next()
        first.end(Self.gone)
        guard case .photoCaptured(let photo)? = await running.events.next() else {
            Issue.record("the photo did not fail")
            return
        }
        #expect(photo.photo == 5 && photo.error != nil)
        #expect(await running.events.next() == .interruptionWithdrawn(1))
        // Interruptions count on.
        _ = await second.waitForCall("Reclaim")
        second.send(
            .wasInterrupted(
                id: 1, causes: CauseSet([.systemSleep]), interrupter: nil, cutting: nil, rule: "r"), sequence: 1)
        guard case .wasInterrupted(let later)? = await running.events.next() else {
            Issue.record("no later interruption")
            return
        }
        #expect(later.id == 2)
        try await running.session.close()
    }

    @Test("A session that is given back and taken at once, by a lock, hears of the lock and of nothing else")
    func locked() async throws {
        let first = Self.broker()
        let second = MemoryTransport { transport, call throws(BrokerError) in
            switch call.member {
            case "CreateSession": return [.objectPath("/org/camarb/session/7")]
            case "Reclaim":
                // In the same step, and so before the answer.
                transport.send(
                    .wasInterrupted(
                        id: 1, causes: CauseSet([.loginSessionInactive]), interrupter: nil, cutting: nil, rule: "r"),
                    sequence: 1)
                transport.send(.didStopRunning, sequence: 2)
                return []
            default: return []
            }
        }
        var running = try await Running([first, second])
        first.end(Self.gone)
        guard case .wasInterrupted(let interruption)? = await running.events.next() else {
            Issue.record("the session was not interrupted")
            return
        }
        #expect(interruption.id == 1 && interruption.causes == CauseSet([.loginSessionInactive]))
        #expect(await running.events.next() == .didStopRunning)
        try await running.session.close()
    }

    @Test("A broker that ends while it gives a session back is followed by the next, with the same secret")
    func endsMeanwhile() async throws {
        let (first, third) = (Self.broker(), Self.broker())
        let second = MemoryTransport { transport, call throws(BrokerError) in
            guard call.member == "Reclaim" else { return [.objectPath("/org/camarb/session/9")] }
            transport.end(Self.gone)
            throw Self.gone
        }
        var running = try await Running([first, second, third])
        first.end(Self.gone)
        #expect(await third.waitForCall("Reclaim")?.arguments == [.string(Self.secret)])
        third.send(.runtimeError(code: "marker", message: ""), sequence: 1)
        #expect(await running.events.next() == .runtimeError(code: "marker", message: ""))
        try await running.session.close()
    }
}
