import Arbiter
import ArbiterProtocol
import Testing

@Suite("A recording that is taken from its session")
struct RecordingReasonTests {
    let newest = Policy(name: "newest", contention: Contention(order: [.newest]))

    private func recording(_ policy: Policy) -> SmallWorld {
        var world = SmallWorld(policy)
        world.app("photos", 1)
        world.step(.startRunning(SessionID(1)))
        world.step(.startRecording(SessionID(1)))
        return world
    }

    private func finished(_ effects: [Effect]) -> RecordingFinished? {
        effects.lazy.compactMap {
            if case .notify(_, _, _, .recordingFinished(let end)) = $0 { end } else { nil }
        }.first
    }

    @Test("is ordered cut with the cause and the app that its client is told, and its end says so again")
    func reasonGoesWithTheOrder() throws {
        var world = recording(newest)
        world.app("call", 2)
        let effects = world.step(.startRunning(SessionID(2)))
        let reasons = effects.compactMap { if case .cut(_, _, _, _, let reason) = $0 { reason } else { nil } }
        #expect(reasons == [RecordingReason(.videoDeviceInUseByAnotherClient, by: .app("call"))])
        var told = 0
        for case .notify(_, SessionID(1), _, .wasInterrupted(let cut)) in effects {
            told += 1
            #expect(
                cut.reason == .videoDeviceInUseByAnotherClient && cut.interrupter == .app("call") && cut.recording == 1)
        }
        #expect(told == 1)
        // The app behind it is gone by the time its file is whole.
        world.step(.disconnected(ClientID(2)))
        let captured = Moment(nanoseconds: 5)
        let end = try #require(
            finished(
                world.step(
                    .recordingFinished(
                        1, why: .interrupted, frames: 9, duration: .seconds(1), bytes: 99, lastCapture: captured,
                        framesLeftOut: 2))))
        #expect(end.cause == .videoDeviceInUseByAnotherClient && end.interrupter == .app("call"))
        #expect(end.lastCapture == captured && end.framesLeftOut == 2)
    }

    @Test("that its client stops, or that ends by itself, has no cause")
    func noReason() throws {
        var world = recording(newest)
        let effects = world.step(.stopRecording(SessionID(1)))
        let reasons = effects.compactMap { if case .stopRecording(_, _, _, let reason) = $0 { reason } else { nil } }
        #expect(reasons == [.none])
        world.step(.startRecording(SessionID(1)))
        let end = try #require(
            finished(
                world.step(.recordingFinished(2, why: .diskFull, frames: 1, duration: .seconds(1), bytes: 9))))
        #expect(end.cause == nil && end.interrupter == nil && end.nextChance == .now)
    }
}
