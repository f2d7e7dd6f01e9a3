import ArbiterProtocol
import Camarb
import Testing

/// A client that shows the next broker the secret that it was given by the one before.
@Suite("A client that reclaims its camera", .timeLimit(.minutes(10)))
struct ReclaimingTests {
    private static let secret = "00112233445566778899aabbccddeeff"
    private static let front = Configuration([.frameRate: .number(15)])

    /// Gives secrets, and takes the one above.
    private static func broker(takes: Bool = true) -> FalseBroker {
        FalseBroker { _, call throws(BrokerError) in
            switch call.member {
            case "GetReclaimSecret": return [.string(secret)]
            case "Reclaim":
                if takes, call.arguments == [.string(secret)] { return [] }
                throw BrokerError(.staleGrant, "There is nothing to reclaim.")
            case "StopRecording": throw BrokerError(.notRecording, "Nothing is recorded.")
            default: return try FalseBroker.standardAnswer(call)
            }
        }
    }

    private static let everything = SessionEvent.accessChanged(AccessChange(.all, causes: CauseSet(), rule: "r"))

    /// A session that runs at the first broker, and could be given back.
    /// - Parameter records: it records 5.
    private static func running(_ brokers: [FalseBroker], records: Bool = false) async throws -> OpenSession {
        var session = try await OpenSession(at: brokers, [.frameRate: .number(15)], runs: true)
        await session.hears(
            .configurationApplied(ConfigurationChange(asked: front, inForce: front, by: .client)), from: brokers[0])
        await session.hears(.didStartRunning(GrantID(4)), from: brokers[0])
        // The secret comes in the background, before a later answer.
        _ = await brokers[0].waitForCall("GetReclaimSecret")
        _ = try await session.client.call(ObjectPath.broker, InterfaceName.broker, "Ping")
        if records {
            _ = try await session.handle.startRecording(to: 1)
            await session.hears(.recordingStarted(5), from: brokers[0])
        }
        return session
    }

    @Test("A session that is given back hears nothing: not of the end, not what it knows, and its recording goes on")
    func hearsNothing() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        var session = try await Self.running([first, second], records: true)
        first.end()
        _ = await second.waitForCall("Reclaim")
        second.tell(
            Self.everything,
            .configurationApplied(ConfigurationChange(asked: Configuration(), inForce: Self.front, by: .client)))
        await session.hears(.marker, from: second)
        // For the broker after this one.
        _ = await second.waitForCall("GetReclaimSecret")
        #expect(second.callsSoFar.map(\.member) == ["CreateSession", "Reclaim", "GetReclaimSecret"])
        // A later change is one.
        await session.hears(
            .accessChanged(
                AccessChange(.all, causes: CauseSet([.videoDeviceNotAvailableDueToSystemPressure]), rule: "r")),
            from: second)
        let finished = RecordingFinished(
            recording: 5, why: .stopped, frames: 90, duration: .seconds(3), bytes: 1, nextChance: .now)
        await session.hears(.recordingFinished(finished), from: second)
        try await session.close()
    }

    @Test("A recording that is paused stays so over a restart, and is told to be so once")
    func paused() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        var session = try await Self.running([first, second], records: true)
        await session.hears(.recordingPaused(5), from: first)
        first.end()
        _ = await second.waitForCall("Reclaim")
        second.tell(Self.everything, .recordingPaused(5))
        await session.hears(.recordingResumed(5), from: second)
        await session.hears(.recordingPaused(5), from: second)
        try await session.close()
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
        await session.hears(.didStopRunning)
        #expect(await session.events.next()?.finished != nil)
        _ = await second.waitForCall("StartRunning")
        #expect(second.callsSoFar[0].arguments[1].dictionary?["reestablished"] == .boolean(true))
        try await session.close()
    }

    @Test("A recording whose beginning was under way at the end, and which the client was told has failed, is stopped")
    func unknownRecording() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        let session = try await Self.running([first, second])
        first.end()
        _ = await second.waitForCall("StopRecording")
        #expect(second.callsSoFar.contains { $0.member == "Reclaim" })
        try await session.close()
    }

    @Test("Photos under way fail at once, and an announced interruption is withdrawn once the session is given back")
    func photosAndWarnings() async throws {
        let (first, second) = (Self.broker(), Self.broker())
        var session = try await Self.running([first, second])
        _ = try await session.handle.capturePhoto(to: 1)
        await session.hears(.warning(1), from: first)
        first.end()
        guard case .photoCaptured(let photo)? = await session.events.next() else {
            Issue.record("the photo did not fail")
            return
        }
        #expect(photo.photo == 5 && photo.error != nil)
        await session.hears(.interruptionWithdrawn(1))
        // Interruptions count on.
        _ = await second.waitForCall("Reclaim")
        second.tell(.interrupted(1, for: .systemSleep))
        #expect(await session.events.next()?.interruption?.id == 2)
        try await session.close()
    }

    @Test("A session that is given back and taken at once, by a lock, hears of the lock and of nothing else")
    func locked() async throws {
        let first = Self.broker()
        let second = FalseBroker { broker, call throws(BrokerError) in
            // In the same step, and so before the answer.
            if call.member == "Reclaim" { broker.tell(.interrupted(for: .loginSessionInactive), .didStopRunning) }
            return try FalseBroker.standardAnswer(call)
        }
        var session = try await Self.running([first, second])
        first.end()
        await session.hears(.interrupted(for: .loginSessionInactive), .didStopRunning)
        try await session.close()
    }

    @Test("A broker that ends while it gives a session back is followed by the next, with the same secret")
    func endsMeanwhile() async throws {
        let (first, third) = (Self.broker(), Self.broker())
        let second = FalseBroker { broker, call throws(BrokerError) in
            guard call.member == "Reclaim" else { return [.objectPath("/org/camarb/session/9")] }
            broker.end()
            throw BrokerError.gone
        }
        var session = try await Self.running([first, second, third])
        first.end()
        #expect(await third.waitForCall("Reclaim")?.arguments == [.string(Self.secret)])
        await session.hears(.marker, from: third)
        try await session.close()
    }
}
