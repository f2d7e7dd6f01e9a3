import ArbiterProtocol
import Camarb
import Testing

/// A client that shows the next broker the secret that it was given by the one before.
@Suite("A client that reclaims its camera", .timeLimit(.minutes(10)))
struct ReclaimingTests {
    private static let secret = "00112233445566778899aabbccddeeff"
    private static let front = Configuration([.frameRate: .number(15)])

    /// Gives secrets, and takes the one above.
    private static func broker(takes: Bool = true) -> MemoryTransport {
        MemoryTransport { _, call throws(BrokerError) in
            switch call.member {
            case "GetReclaimSecret": return [.string(secret)]
            case "Reclaim":
                if takes, call.arguments == [.string(secret)] { return [] }
                throw BrokerError(.staleGrant, "There is nothing to reclaim.")
            case "StopRecording": throw BrokerError(.notRecording, "Nothing is recorded.")
            default: return try MemoryTransport.standardAnswer(call)
            }
        }
    }

    /// A session that runs at the first broker, and could be given back.
    /// - Parameter records: it records 5.
    private static func running(_ brokers: [MemoryTransport], records: Bool = false) async throws -> OpenSession {
        let transport = try Brokers(brokers).transport()
        var session = try await OpenSession(at: transport, [.frameRate: .number(15)], runs: true)
        brokers[0].send(.configurationApplied(asked: front, inForce: front, by: .client), sequence: 1)
        brokers[0].send(.didStartRunning(grant: GrantID(4)), sequence: 2)
        _ = await session.events.next()
        #expect(await session.events.next() == .didStartRunning(GrantID(4)))
        // The secret comes in the background.
        while transport.reclaimableCount == 0 { await Task.yield() }
        if records {
            _ = try await session.handle.startRecording(to: 1)
            brokers[0].send(.recordingStarted(5), sequence: 3)
            #expect(await session.events.next() == .recordingStarted(5))
        }
        return session
    }

    @Test("A session that is given back hears nothing: not of the end, not what it knows, and its recording goes on")
    func hearsNothing() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        var session = try await Self.running([first, second], records: true)
        first.end()
        _ = await second.waitForCall("Reclaim")
        second.send(.accessChanged(.all, causes: CauseSet(), rule: "r"), sequence: 1)
        second.send(.configurationApplied(asked: Configuration(), inForce: Self.front, by: .client), sequence: 2)
        second.send(.marker, sequence: 3)
        #expect(await session.events.next() == .marker)
        // For the broker after this one.
        _ = await second.waitForCall("GetReclaimSecret")
        #expect(second.callsSoFar.map(\.member) == ["CreateSession", "Reclaim", "GetReclaimSecret"])
        // A later change is one.
        let pressed = SessionEvent.accessChanged(
            .all, causes: CauseSet([.videoDeviceNotAvailableDueToSystemPressure]), rule: "r")
        let finished = SessionEvent.recordingFinished(
            RecordingFinished(
                recording: 5, why: .stopped, frames: 90, duration: .seconds(3), bytes: 1, nextChance: .now))
        for (sequence, event) in [(4, pressed), (5, finished)] as [(UInt64, SessionEvent)] {
            second.send(event, sequence: sequence)
            #expect(await session.events.next() == ClientEvent(event))
        }
        try await session.handle.close()
    }

    @Test("A recording that is paused stays so over a restart, and is told to be so once")
    func paused() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        var session = try await Self.running([first, second], records: true)
        first.send(.recordingPaused(5), sequence: 4)
        #expect(await session.events.next() == .recordingPaused(5))
        first.end()
        _ = await second.waitForCall("Reclaim")
        second.send(.accessChanged(.all, causes: CauseSet(), rule: "r"), sequence: 1)
        second.send(.recordingPaused(5), sequence: 2)
        second.send(.recordingResumed(5), sequence: 3)
        #expect(await session.events.next() == .recordingResumed(5))
        second.send(.recordingPaused(5), sequence: 4)
        #expect(await session.events.next() == .recordingPaused(5))
        try await session.handle.close()
    }

    @Test(
        "A secret that the next broker does not take costs nothing but itself: all is told, and the session starts anew"
    )
    func isRefused() async throws {
        let (first, second) = (Self.broker(), Self.broker(takes: false))
        var session = try await Self.running([first, second], records: true)
        first.end()
        let interruption = try #require(await session.events.next()?.interruption)
        #expect(interruption.causes == CauseSet([.brokerRestarted]) && interruption.recording == 5)
        #expect(await session.events.next() == .didStopRunning)
        #expect(await session.events.next()?.finished != nil)
        _ = await second.waitForCall("StartRunning")
        #expect(second.callsSoFar[0].arguments[1].dictionary?["reestablished"] == .boolean(true))
        try await session.handle.close()
    }

    @Test("A recording whose beginning was under way at the end, and which the client was told has failed, is stopped")
    func unknownRecording() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        let session = try await Self.running([first, second])
        first.end()
        _ = await second.waitForCall("StopRecording")
        #expect(second.callsSoFar.contains { $0.member == "Reclaim" })
        try await session.handle.close()
    }

    @Test("Photos under way fail at once, and an announced interruption is withdrawn once the session is given back")
    func photosAndWarnings() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        var session = try await Self.running([first, second])
        _ = try await session.handle.capturePhoto(to: 1)
        first.send(
            .willBeInterrupted(
                id: 1, cause: .videoDeviceInUseByAnotherClient, deadline: Moment(nanoseconds: 1), rule: "r"),
            sequence: 3)
        _ = await session.events.next()
        first.end()
        guard case .photoCaptured(let photo)? = await session.events.next() else {
            Issue.record("the photo did not fail")
            return
        }
        #expect(photo.photo == 5 && photo.error != nil)
        #expect(await session.events.next() == .interruptionWithdrawn(1))
        // Interruptions count on.
        _ = await second.waitForCall("Reclaim")
        second.send(.interrupted(1, for: .systemSleep), sequence: 1)
        #expect(await session.events.next()?.interruption?.id == 2)
        try await session.handle.close()
    }

    @Test("A session that is given back and taken at once, by a lock, hears of the lock and of nothing else")
    func locked() async throws {
        let first = Self.broker()
        let second = MemoryTransport { transport, call throws(BrokerError) in
            if call.member == "Reclaim" {
                // In the same step, and so before the answer.
                transport.send(.interrupted(1, for: .loginSessionInactive), sequence: 1)
                transport.send(.didStopRunning, sequence: 2)
            }
            return try MemoryTransport.standardAnswer(call)
        }
        var session = try await Self.running([first, second])
        first.end()
        let interruption = try #require(await session.events.next()?.interruption)
        #expect(interruption.id == 1 && interruption.causes == CauseSet([.loginSessionInactive]))
        #expect(await session.events.next() == .didStopRunning)
        try await session.handle.close()
    }

    @Test("A broker that ends while it gives a session back is followed by the next, with the same secret")
    func endsMeanwhile() async throws {
        let (first, third) = (Self.broker(), Self.broker())
        let second = MemoryTransport { transport, call throws(BrokerError) in
            guard call.member == "Reclaim" else { return [.objectPath("/org/camarb/session/9")] }
            transport.end()
            throw BrokerError.gone
        }
        var session = try await Self.running([first, second, third])
        first.end()
        #expect(await third.waitForCall("Reclaim")?.arguments == [.string(Self.secret)])
        third.send(.marker, sequence: 1)
        #expect(await session.events.next() == .marker)
        try await session.handle.close()
    }
}
