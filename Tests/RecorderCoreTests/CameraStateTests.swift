import ArbiterProtocol
import RecorderCore
import Testing

/// What a recorder core says of its camera's state, while it runs.
@Suite struct CameraStateTests {
    /// All that is told from now on, up to a state that is waited for.
    private func told(_ test: CaptureUnderTest, until isLast: (Configuration) -> Bool) async throws -> [Configuration] {
        var all: [Configuration] = []
        let _: Bool = try await test.event {
            guard case .cameraStateChanged(GrantID(1), let state) = $0 else { return nil }
            all.append(state)
            return isLast(state) ? true : nil
        }
        return all
    }

    private func format(_ name: String) -> Configuration { Configuration([.activeFormat: .text(name)]) }

    @Test func aFocusByContrastIsSeenToAdjustAndEndsLocked() async throws {
        let test = try CaptureUnderTest()
        let opened = try await test.open(1, format("420v 192x144@30 binned"))
        #expect(opened[.adjustingFocus] == .flag(false) && opened[.focusMode] == .text("continuousAuto"))
        let asked = try await test.configure(1, Configuration([.focusMode: .text("auto")]))
        #expect(asked[.focusMode] == .text("auto"))
        let all = try await told(test) { $0[.focusMode] != nil }
        #expect(all.first?[.adjustingFocus] == .flag(true))
        #expect(all.last?[.adjustingFocus] == .flag(false) && all.last?[.focusMode] == .text("locked"))
        // It is in force, and asked for again it is done again.
        #expect(try await test.configure(1, Configuration([.torchMode: .text("on")]))[.focusMode] == .text("locked"))
        try await test.configure(1, Configuration([.focusMode: .text("auto")]))
        #expect(try await told(test) { $0[.focusMode] != nil }.contains { $0[.adjustingFocus] == .flag(true) })
    }

    @Test func aFocusByPhaseIsSeenToMoveAndNeverToAdjust() async throws {
        let test = try CaptureUnderTest("simulated:iphone6-back")
        try await test.open(1, format("420v 192x144@30"))
        try await test.configure(
            1, Configuration([.focusMode: .text("auto"), .focusPointOfInterest: .point(x: 0.5, y: 1)]))
        let all = try await told(test) { $0[.focusMode] == .text("locked") }
        #expect(all.contains { $0[.lensPosition] != nil } && !all.contains { $0[.adjustingFocus] != nil })
    }

    @Test func formatAndVideoHDRInOneBatchRebuildThePipelineOnceAndInTwoTwice() async throws {
        let test = try CaptureUnderTest("simulated:iphone6-back")
        try await test.open(1, format("420v 1280x720@30"))
        let before = try await test.configure(1, Configuration([.videoZoomFactor: .number(2)]))
        #expect(before[.pipelineRebuilds] == nil)
        var batch = format("420v 960x540@30")
        batch[.automaticallyAdjustsVideoHDREnabled] = .flag(false)
        batch[.videoHDREnabled] = .flag(true)
        #expect(try await test.configure(1, batch)[.pipelineRebuilds] == .number(1))
        try await test.configure(1, Configuration([.videoHDREnabled: .flag(false)]))
        let last = try await test.configure(1, format("420v 1280x720@30"))
        #expect(last[.pipelineRebuilds] == .number(3))
        // The next grant counts anew.
        _ = try await test.cut(1)
        #expect(try await test.open(2, format("420v 192x144@30"))[.pipelineRebuilds] == nil)
    }

    @Test func aRebuildLeavesOutFramesAndTheStreamGoesOn() async throws {
        let test = try CaptureUnderTest("simulated:iphone6-back")
        try await test.open(1, format("420v 192x144@30"))
        let stream = try await test.stream(1)
        let first = try #require(try stream.mark()).record
        try await test.configure(1, Configuration([.highResolutionStillImageOutputEnabled: .flag(true)]))
        var last = first
        var widest: Int64 = 0
        for _ in 0..<6 {
            let next = try #require(try stream.mark()).record
            widest = max(widest, next.timestamp - last.timestamp)
            last = next
        }
        // Four intervals of 33 ms, but for the wake-up's own lateness.
        #expect(widest > 100_000_000)
    }

    @Test func anOpeningWithCinematicStabilizationAnswersWithItsFirstPicture() async throws {
        let test = try CaptureUnderTest("simulated:iphone6-back")
        var wanted = format("420v 1280x720@30")
        wanted[.preferredVideoStabilizationMode] = .text("cinematic")
        let inForce = try await test.open(1, wanted)
        #expect(inForce[.activeVideoStabilizationMode] == .text("cinematic"))
        let stream = try await test.stream(1)
        let (a, b) = (try #require(try stream.mark()), try #require(try stream.mark()))
        #expect(a.record.timestamp < b.record.timestamp)
    }

    @Test func aRampThatIsCancelledStaysWhereItIsAndDoesNotArrive() async throws {
        let test = try CaptureUnderTest()
        try await test.open(1, format("420v 192x144@30 binned"))
        try await test.configure(1, Configuration([.videoZoomFactor: .number(14), .videoZoomRampRate: .number(0.01)]))
        let stopped = try await test.configure(1, Configuration([.cancelVideoZoomRamp: .flag(true)]))
        guard case .number(let zoom)? = stopped[.videoZoomFactor] else { throw BrokerError(.failed, "no zoom") }
        #expect(zoom >= 1 && zoom < 14)
        // The next ramp's arrival is the first that is told.
        try await test.configure(1, Configuration([.videoZoomFactor: .number(3), .videoZoomRampRate: .number(50)]))
        let arrived: Double = try await test.event {
            if case .rampFinished(_, let factor) = $0 { factor } else { nil }
        }
        #expect(arrived == 3)
    }
}
