import ArbiterProtocol
import CLinux
import FrameStream
import Glibc
import PolicyFile
import RecorderCore
import Testing

/// Streams, configuration, photos and cuts, with the simulated camera.
@Suite(.timeLimit(.minutes(10))) struct CaptureTests {
    @Test func aGrantThatIsOverIsRefusedEverything() async throws {
        let test = try CaptureUnderTest()
        try await test.open(5)
        #expect(await refusal { try await test.open(6) }?.kind == .staleGrant)
        _ = try await test.cut(5)
        #expect(await refusal { try await test.open(5) }?.kind == .staleGrant)
        #expect(await refusal { _ = try await test.cut(5) }?.kind == .staleGrant)
        #expect(await refusal { _ = try await test.stream(5) }?.kind == .staleGrant)
        #expect(await refusal { try await test.configure(5, Configuration()) }?.kind == .staleGrant)
        var (client, recorder): (Int32, Int32) = (-1, -1)
        try #require(camarb_packet_pair(&client, &recorder) == 0)
        defer { close(client) }
        #expect(await refusal { try await test.attachMicrophone(5, recorder) }?.kind == .staleGrant)
        try await test.open(6)
    }

    @Test func closingASessionsStreamsBlanksThemAndLeavesTheOthers() async throws {
        let test = try CaptureUnderTest()
        try await test.open(1)
        let first = try await test.stream(1, session: 1)
        let second = try await test.stream(1, session: 2)
        _ = try first.mark()
        _ = try second.mark()
        try await test.closeStreams(1, session: 1)
        first.withEveryBuffer { _, bytes in #expect(bytes.allSatisfy { $0 == 0 }) }
        for _ in 0..<5 { _ = try #require(try second.mark()) }
        first.withEveryBuffer { _, bytes in #expect(bytes.allSatisfy { $0 == 0 }) }
    }

    @Test(
        "A stream that a session opens anew has the buffers of the one it closed, of no other session, and only in that grant"
    )
    func buffersOfStreamsOpenedAnew() throws {
        let layout = PictureLayout(width: 640, height: 480, pixelFormat: "420v")
        let memory = StreamMemory()
        let pool = try memory.pool(layout, for: SessionID(1))
        for _ in 1..<4 {
            memory.giveBack(pool, of: SessionID(1))
            #expect(try memory.pool(layout, for: SessionID(1)) === pool)
        }
        memory.giveBack(pool, of: SessionID(1))
        #expect(try memory.pool(layout, for: SessionID(2)) !== pool)
        memory.end()
        #expect(pool.isBlank)
    }

    @Test("A session opens eight streams at once and then one a second, and has a bounded share of buffers")
    func budgetOfStreams() throws {
        let memory = StreamMemory()
        let session = SessionID(1)
        let second = StreamMemory.openEvery
        for _ in 0..<StreamMemory.opensMax { try memory.countOpening(of: session, at: second) }
        #expect(throws: BrokerError.self) { try memory.countOpening(of: session, at: 2 * second - 1) }
        try memory.countOpening(of: session, at: 2 * second)
        #expect(throws: BrokerError.self) { try memory.countOpening(of: session, at: 2 * second) }
        try memory.countOpening(of: SessionID(2), at: 2 * second)
        // At most eight are earned again.
        for _ in 0..<StreamMemory.opensMax { try memory.countOpening(of: session, at: 1000 * second) }
        #expect(throws: BrokerError.self) { try memory.countOpening(of: session, at: 1000 * second) }
        let large = PictureLayout(width: 3840, height: 2160, pixelFormat: "420v")
        let bytes = large.bytes * BufferPool.buffersUsual
        var pools: [BufferPool] = []
        for _ in 0..<StreamMemory.sessionBytesMax / bytes { pools.append(try memory.pool(large, for: session)) }
        let refused = #expect(throws: BrokerError.self) { try memory.pool(large, for: session) }
        #expect(refused?.kind == .limitExceeded)
        let last = pools.popLast()
        let again = try #require(last)
        memory.giveBack(again, of: session)
        #expect(try memory.pool(large, for: session) === again)
        memory.giveBack(again, of: session)
        memory.end()
        #expect(again.isBlank)
    }

    @Test("A session's stream has the memory of its largest picture so far, whatever formats it has in turn")
    func memoryOfFormatsInTurn() throws {
        let layouts = [(1280, 720), (4032, 3024), (1920, 1080), (3840, 2160), (3264, 2448)].map {
            PictureLayout(width: $0.0, height: $0.1, pixelFormat: "420v")
        }
        let largest = try #require(layouts.map(\.bytes).max())
        let memory = StreamMemory(pictureBytesMax: largest)
        let session = SessionID(1)
        let pool = try memory.pool(layouts[0], for: session)
        var most = layouts[0].bytes
        for layout in layouts + layouts + layouts {
            #expect(try memory.pool(layout, for: session, own: pool) === pool)
            #expect(pool.layout == layout && pool.memory(0).count == layout.bytes)
            most = max(most, layout.bytes)
            #expect(pool.memoryBytes == most * BufferPool.buffersUsual && memory.bytesMade == pool.memoryBytes)
        }
        // For one that is opened anew it is blank.
        pool.memory(3).copyBytes(from: [UInt8](repeating: 7, count: layouts[4].bytes))
        memory.giveBack(pool, of: session)
        let again = try memory.pool(layouts[1], for: session)
        #expect(again === pool && memory.bytesMade == largest * BufferPool.buffersUsual)
        #expect(again.memory(3).allSatisfy { $0 == 0 })
    }

    @Test(
        "A frame is captured when its interval is over, to the nanosecond, and none before; four seconds of 720p240 are 960",
        arguments: [
            (5, "420v 192x144", 10), (8, "420v 192x144", 10), (25, "420v 192x144", 10),
            (240, "420v 1280x720@240 binned", 960),
        ] as [(Int64, String, Int)])
    func framesAreSpacedByTheirRate(rate: Int64, format: String, count: Int) async throws {
        // Faster than a machine may be that tests run on: by a virtual clock none is late.
        let clock = VirtualClock(beginningAt: 1_000_000_000)
        let test = CaptureUnderTest(simulating: try CameraFile.named("iphone6s-back"), by: clock)
        let batch = Configuration([.activeFormat: .text(format), .frameRate: .number(Double(rate))])
        #expect(try await test.open(1, batch)[.frameRate] == .number(Double(rate)))
        let stream = try await test.stream(1)
        let interval = 1_000_000_000 / rate
        for index in 1...count {
            clock.advance(by: interval - 1)
            // The capture thread has seen that: it answers before it looks for frames that are due, so twice.
            for _ in 0..<2 { _ = try await test.describe() }
            try #require(try stream.next(within: .zero) == .timedOut)
            clock.advance(by: 1)
            let (record, mark) = try #require(try stream.mark())
            // The first frame of the grant was captured when it was opened, before the stream.
            try #require(record.sequence == UInt64(index + 1))
            try #require(record.timestamp == 1_000_000_000 + Int64(index) * interval)
            try #require(mark.captureTime == record.timestamp && UInt64(mark.frameNumber) == record.sequence)
        }
    }

    @Test func aSessionWhoseStreamsAreClosedGetsNoPhotoAnyMoreNorOneThatACutOvertakes() async throws {
        // A device in error captures nothing more, so both photos surely still wait.
        let test = try CaptureUnderTest(faults: [.deviceFails])
        let (lost, kept) = (try TemporaryFile(".jpg"), try TemporaryFile(".jpg"))
        try await test.open(1)
        #expect(try await test.deviceChanged() == ("error", "The device failed, as it was told to."))
        try await test.photo(1, 1, try lost.open())
        try await test.photo(1, 2, try kept.open(), session: 2)
        try await test.closeStreams(1, session: 1)
        let photo = try await test.photoCaptured()
        #expect(photo.photo == 1)
        #expect(photo.error == "The session lost the picture before a frame was captured for the photo.")
        #expect(try await test.cut(1) > 0)
        let other = try await test.photoCaptured()
        #expect(other.photo == 2 && other.error == "The grant ended before a frame was captured for the photo.")
        #expect(try kept.bytes().isEmpty)
    }

    @Test func formatAndVideoHDRInOneBatchRebuildThePipelineOnceAndInTwoTwice() async throws {
        let test = try CaptureUnderTest("simulated:iphone6-back")
        try await test.open(1, Configuration([.activeFormat: .text("420v 1280x720@30")]))
        let before = try await test.configure(1, Configuration([.videoZoomFactor: .number(2)]))
        #expect(before[.pipelineRebuilds] == nil)
        for (batch, rebuilds) in [
            (
                [
                    .activeFormat: .text("420v 960x540@30"), .automaticallyAdjustsVideoHDREnabled: .flag(false),
                    .videoHDREnabled: .flag(true),
                ], 1
            ), ([.videoHDREnabled: .flag(false)], 2), ([.activeFormat: .text("420v 1280x720@30")], 3),
        ] as [([ConfigurationKey: ConfigurationValue], Double)] {
            #expect(try await test.configure(1, Configuration(batch))[.pipelineRebuilds] == .number(rebuilds))
        }
        // The next grant counts anew.
        _ = try await test.cut(1)
        #expect(try await test.open(2)[.pipelineRebuilds] == nil)
    }

    @Test func aRampThatIsCancelledStaysWhereItIsAndDoesNotArriveAndOneThatIsNotDoes() async throws {
        let test = try CaptureUnderTest()
        try await test.open(1, Configuration([.activeFormat: .text("420v 192x144@30 binned")]))
        try await test.configure(1, Configuration([.videoZoomFactor: .number(14), .videoZoomRampRate: .number(0.01)]))
        let stopped = try await test.configure(1, Configuration([.cancelVideoZoomRamp: .flag(true)]))
        let zoom = try #require(stopped[.videoZoomFactor]?.number)
        #expect(zoom >= 1 && zoom < 14)
        // The next ramp's arrival is the first that is told.
        let ramp = Configuration([.videoZoomFactor: .number(3), .videoZoomRampRate: .number(50)])
        #expect(try await test.configure(1, ramp)[.videoZoomFactor] == .number(3))
        let arrived: (GrantID, Double) = try await test.event {
            if case .rampFinished(let grant, let factor) = $0 { (grant, factor) } else { nil }
        }
        #expect(arrived == (GrantID(1), 3))
    }

    @Test func anUnknownCameraIsRefusedWithTheKnownOnes() async throws {
        #expect(throws: BrokerError.self) { try CameraSpec(parsing: "simulated:../../etc/passwd") }
        let nokia = await refusal { _ = try await CaptureUnderTest("simulated:nokia").describe() }
        #expect(nokia?.kind == .unknownCamera && nokia?.message.contains("iphone6s-back") == true)
        #expect(throws: BrokerError.self) { try CameraSpec(parsing: "/dev/video0") }
        let missing = try CaptureUnderTest("file:/nonexistent.mkv")
        let refused = await refusal { _ = try await missing.describe() }
        #expect(refused?.kind == .deviceFault && refused?.message.contains("No such file") == true)
    }

    @Test("A capture says again that it has nothing to do: its owner may have had a question just then")
    func idleAgain() async throws {
        let (events, continuation) = AsyncStream.makeStream(of: RecorderEvent.self)
        let began = ContinuousClock.now
        let capture = Capture(try CameraSpec(parsing: "simulated:iphone5-back"), idleLimit: .milliseconds(20)) {
            continuation.yield($0)
        }
        defer { capture.shutDown() }
        var count = 0
        for await event in events {
            #expect(event == .idle)
            count += 1
            // Each after as long as the first.
            #expect(ContinuousClock.now - began >= .milliseconds(20) * count)
            if count == 3 { break }
        }
    }
}
