import ArbiterProtocol
import CameraFile
import FrameStream
import Glibc
import RecorderCore
import Testing

/// Streams, configuration, photos and cuts, with the simulated camera.
@Suite(.timeLimit(.minutes(10))) struct CaptureTests {
    private func error(_ body: () async throws -> Void) async -> BrokerError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? BrokerError
        }
    }

    @Test func framesComeInOrderWithTheirTimesBurntIn() async throws {
        let test = try CaptureUnderTest()
        try await test.open(1)
        let stream = try await test.stream(1)
        var last: (sequence: UInt64, time: Int64) = (0, 0)
        for _ in 0..<10 {
            let (record, mark) = try #require(try stream.mark())
            #expect(record.sequence > last.sequence && record.timestamp > last.time)
            #expect(mark.captureTime == record.timestamp && UInt64(mark.frameNumber) == record.sequence)
            last = (record.sequence, record.timestamp)
        }
    }

    @Test func noFrameIsCapturedAfterACutAndEveryBufferIsBlankForEver() async throws {
        let test = try CaptureUnderTest()
        try await test.open(1)
        let loser = try await test.stream(1)
        for _ in 0..<4 { _ = try loser.mark() }
        let lastCapture = try await test.cut(1)
        // Blank when the answer is there, before the client has even read the end.
        loser.withEveryBuffer { _, bytes in #expect(bytes.allSatisfy { $0 == 0 }) }
        try await test.open(2)
        let winner = try await test.stream(2)
        for _ in 0..<10 {
            let (record, _) = try #require(try winner.mark())
            #expect(record.timestamp > lastCapture)
        }
        loser.withEveryBuffer { _, bytes in #expect(bytes.allSatisfy { $0 == 0 }) }
        while case .frame(let frame) = try loser.next(within: .seconds(30)) {
            #expect(frame.record.timestamp <= lastCapture)
        }
        #expect(loser.hasEnded)
    }

    @Test func aGrantThatIsOverIsRefusedEverything() async throws {
        let test = try CaptureUnderTest()
        try await test.open(5)
        #expect(await error { try await test.open(6) }?.kind == .staleGrant)
        _ = try await test.cut(5)
        #expect(await error { try await test.open(5) }?.kind == .staleGrant)
        #expect(await error { _ = try await test.cut(5) }?.kind == .staleGrant)
        #expect(await error { _ = try await test.stream(5) }?.kind == .staleGrant)
        #expect(await error { try await test.configure(5, Configuration()) }?.kind == .staleGrant)
        try await test.open(6)
    }

    @Test func aRefusedBatchChangesNothingAndAnAcceptedOneIsSeenInOneFrame() async throws {
        let test = try CaptureUnderTest()
        let before = try await test.open(1)
        let stream = try await test.stream(1)
        _ = try stream.mark()
        let refused = await error {
            try await test.configure(
                1, Configuration([.activeFormat: .text("420v 1920x1080"), .videoZoomFactor: .number(1000)]))
        }
        #expect(refused?.message.contains("videoZoomFactor 1000 is outside 1–108") == true)
        let same = try await test.configure(1, Configuration())
        #expect(same == before)
        try await test.configure(1, Configuration([.activeFormat: .text("420v 192x144")]))
        while true {
            guard case .frame(let frame) = try stream.next(within: .seconds(30)) else { break }
            defer { stream.release(frame) }
            guard frame.layout.width == 192 else { continue }
            // The first of the new size says that the configuration changed.
            #expect(frame.record.flags.contains(.configurationChanged))
            break
        }
        #expect(!stream.hasEnded)
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
    func buffersOfStreamsOpenedAnew() async throws {
        let test = try CaptureUnderTest()
        try await test.open(1)
        let first = try await test.buffers(1, session: 1)
        #expect(first.count == BufferPool.buffersUsual)
        for _ in 1..<4 {
            let again = try await test.buffers(1, session: 1)
            #expect(again == first)
        }
        let other = try await test.buffers(1, session: 2)
        #expect(other.isDisjoint(with: first))
        _ = try await test.cut(1)
        try await test.open(2)
        #expect(try await test.buffers(2, session: 1).isDisjoint(with: first))
    }

    @Test("A recorder core that so many buffers of earlier grants may be kept of opens no other grant")
    func buffersKeptOverGrants() async throws {
        let test = try CaptureUnderTest("simulated:iphone6s-back")
        let large = Configuration([.activeFormat: .text("420v 3840x2160")])
        var kept: [FrameReceiver] = []
        for grant in 1...6 as ClosedRange<UInt64> {
            try await test.open(grant, large)
            let stream = try await test.stream(grant)
            _ = try #require(try stream.mark())
            kept.append(stream)
            _ = try await test.cut(grant)
        }
        test.capture.open(GrantID(7), large) { _ in Issue.record("it was answered") }
        let _: Bool = try await test.event { if case .spent = $0 { true } else { nil } }
        withExtendedLifetime(kept) {}
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
        // What is earned is at most eight again.
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
        // One that is opened anew has the same, blank.
        pool.memory(3).copyBytes(from: [UInt8](repeating: 7, count: layouts[4].bytes))
        memory.giveBack(pool, of: session)
        let again = try memory.pool(layouts[1], for: session)
        #expect(again === pool && memory.bytesMade == largest * BufferPool.buffersUsual)
        #expect(again.memory(3).allSatisfy { $0 == 0 })
    }

    @Test(
        "A stream that finds no room for a change of format says what is asked for, has and helps, and comes back by itself"
    )
    func streamsWithoutRoom() async throws {
        let test = try CaptureUnderTest("simulated:iphone6s-back")
        try await test.open(1, Configuration([.activeFormat: .text("420v 1280x720"), .frameRate: .number(10)]))
        func sizes(_ stream: FrameReceiver, until width: Int) throws {
            while case .frame(let frame) = try stream.next(within: .seconds(60)) {
                stream.release(frame)
                // Those of before may still lie in the socket.
                if frame.layout.width == width, frame.record.flags == .configurationChanged { return }
            }
            throw FrameStreamFault("no frame of \(width) columns came", code: 0)
        }
        var first: FrameReceiver? = try await test.stream(1)
        let second = try await test.stream(1)
        for _ in 0..<2 {
            try await test.configure(1, Configuration([.activeFormat: .text("420v 4032x3024")]))
            let (code, message): (String, String) = try await test.event {
                if case .runtimeError(let code, let message) = $0 { (code, message) } else { nil }
            }
            #expect(code == "stream-memory")
            #expect(
                message == """
                    A stream of session 1 has no pictures until there is room. Pictures of 4032x3024 take 70 MiB of buffers, \
                    65 more than there are. The session has 76 MiB of at most 128, all together have 76 of 512. A smaller \
                    format or fewer streams need less.
                    """)
            if let first { try sizes(first, until: 4032) }
            // A smaller format has room for both again.
            try await test.configure(
                1, Configuration([.activeFormat: .text("420v 1280x720"), .frameRate: .number(10)]))
            if let first { try sizes(first, until: 1280) }
            try sizes(second, until: 1280)
        }
        try await test.configure(1, Configuration([.activeFormat: .text("420v 4032x3024")]))
        first = nil
        // What the other one had is for this one.
        try sizes(second, until: 4032)
        #expect(!second.hasEnded)
    }

    @Test func aClientThatStandsStillDelaysNobody() async throws {
        let test = try CaptureUnderTest()
        try await test.open(1)
        let idle = try await test.stream(1, session: 1)
        let busy = try await test.stream(1, session: 2)
        for _ in 0..<20 { _ = try #require(try busy.mark()) }
        #expect(!idle.hasEnded)
    }

    @Test func aRampArrivesAndSaysSo() async throws {
        let test = try CaptureUnderTest()
        try await test.open(3, Configuration([.activeFormat: .text("420v 192x144")]))
        let inForce = try await test.configure(
            3, Configuration([.videoZoomFactor: .number(4), .videoZoomRampRate: .number(20)]))
        #expect(inForce[.videoZoomFactor] == .number(4))
        let arrived: (GrantID, Double) = try await test.event {
            if case .rampFinished(let grant, let zoom) = $0 { (grant, zoom) } else { nil }
        }
        #expect(arrived == (GrantID(3), 4))
    }

    @Test("A frame is captured when its interval is over, to the nanosecond, and none before", arguments: [5, 8, 25])
    func framesAreSpacedByTheirRate(rate: Int64) async throws {
        let clock = VirtualClock(beginningAt: 1_000_000_000)
        let test = CaptureUnderTest(simulating: try CameraFile.named("iphone5-back"), by: clock)
        let batch = Configuration([.activeFormat: .text("420v 192x144"), .frameRate: .number(Double(rate))])
        #expect(try await test.open(1, batch)[.frameRate] == .number(Double(rate)))
        let stream = try await test.stream(1)
        let interval = 1_000_000_000 / rate
        for index in 1...10 as ClosedRange<Int64> {
            clock.advance(by: interval - 1)
            // The capture thread has seen that: it answers before it looks for frames that are due, so twice.
            for _ in 0..<2 { _ = try await test.describe() }
            #expect(try stream.next(within: .zero) == .timedOut)
            clock.advance(by: 1)
            let record = try #require(try stream.mark()).record
            // The first frame of the grant was captured when it was opened, before the stream.
            #expect(record.sequence == UInt64(index + 1) && record.timestamp == 1_000_000_000 + index * interval)
        }
    }

    @Test func aPhotoIsAWholeJPEGWithItsExif() async throws {
        let test = try CaptureUnderTest()
        let file = try TemporaryFile(".jpg")
        try await test.open(1)
        try await test.photo(1, 7, try file.open())
        let photo: PhotoCaptured = try await test.event {
            if case .photoCaptured(let photo) = $0 { photo } else { nil }
        }
        let bytes = try file.bytes()
        #expect(photo.photo == 7 && photo.error == nil && photo.bytes == UInt64(bytes.count))
        #expect(bytes.starts(with: [0xff, 0xd8, 0xff, 0xe1]) && bytes.suffix(2) == [0xff, 0xd9])
        #expect(Array(bytes[6..<12]) == Array("Exif".utf8) + [0, 0])
        let decoded = try DecodedVideo(file.path)
        #expect(decoded.width == 640 && decoded.height == 480 && decoded.marks.first.flatMap { $0 } != nil)
    }

    @Test func aPhotoThatACutOvertakesSaysWhyItIsNone() async throws {
        // A device in error captures nothing more, so the photo surely still waits when the cut comes.
        let test = try CaptureUnderTest(faults: [.deviceFails])
        let file = try TemporaryFile(".jpg")
        try await test.open(1)
        let _: Bool = try await test.event { if case .deviceChanged = $0 { true } else { nil } }
        try await test.photo(1, 1, try file.open())
        _ = try await test.cut(1)
        let photo: PhotoCaptured = try await test.event {
            if case .photoCaptured(let photo) = $0 { photo } else { nil }
        }
        #expect(photo.error == "The grant ended before a frame was captured for the photo.")
        #expect(try file.bytes().isEmpty)
    }

    @Test func aSessionWhoseStreamsAreClosedGetsNoPhotoAnyMore() async throws {
        // A device in error captures nothing more, so both photos surely still wait.
        let test = try CaptureUnderTest(faults: [.deviceFails])
        let (lost, kept) = (try TemporaryFile(".jpg"), try TemporaryFile(".jpg"))
        try await test.open(1)
        let _: Bool = try await test.event { if case .deviceChanged = $0 { true } else { nil } }
        try await test.photo(1, 1, try lost.open())
        try await test.photo(1, 2, try kept.open(), session: 2)
        try await test.closeStreams(1, session: 1)
        let photo: PhotoCaptured = try await test.event {
            if case .photoCaptured(let photo) = $0 { photo } else { nil }
        }
        #expect(photo.photo == 1)
        #expect(photo.error == "The session lost the picture before a frame was captured for the photo.")
        _ = try await test.cut(1)
        let other: PhotoCaptured = try await test.event {
            if case .photoCaptured(let photo) = $0 { photo } else { nil }
        }
        #expect(other.photo == 2 && other.error == "The grant ended before a frame was captured for the photo.")
    }

    @Test func aDeviceThatKeepsFailingIsSaidToBeInError() async throws {
        let test = try CaptureUnderTest(faults: [.deviceFails])
        try await test.open(1)
        let (state, message): (String, String) = try await test.event {
            if case .deviceChanged(let state, let message) = $0 { (state, message) } else { nil }
        }
        #expect(state == "error" && message == "The device failed, as it was told to.")
        #expect(try await test.cut(1) > 0)
    }

    @Test func anUnknownCameraIsRefusedWithTheKnownOnes() async throws {
        #expect(throws: BrokerError.self) { try CameraSpec(parsing: "simulated:../../etc/passwd") }
        let nokia = await error { _ = try await CaptureUnderTest("simulated:nokia").describe() }
        #expect(nokia?.kind == .unknownCamera && nokia?.message.contains("iphone6s-back") == true)
        #expect(throws: BrokerError.self) { try CameraSpec(parsing: "/dev/video0") }
        let missing = try CaptureUnderTest("file:/nonexistent.mkv")
        let refused = await error { _ = try await missing.describe() }
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
