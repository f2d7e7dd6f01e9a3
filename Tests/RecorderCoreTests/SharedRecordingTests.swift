import ArbiterProtocol
import CLinux
import FrameStream
import Glibc
import PolicyFile
import RecorderCore
import Testing

/// Several recordings of one camera at once, one of each session.
@Suite(.timeLimit(.minutes(10))) struct SharedRecordingTests {
    /// A file as an app would look at it.
    private func check(
        _ file: TemporaryFile, _ finished: RecorderEvent.Recording, _ size: (Int, Int)
    ) throws -> [BurntInMark] {
        let decoded = try DecodedVideo(file.path)
        #expect((decoded.width, decoded.height) == size)
        let marks = decoded.marks.compactMap(\.self)
        #expect(UInt64(marks.count) == finished.frames && decoded.marks.count == marks.count)
        #expect(try UInt64(file.bytes().count) == finished.bytes)
        #expect(marks.last?.captureTime == finished.lastCapture)
        return marks
    }

    @Test("Each session's recording has its picture's size and rate, its own pause and its own end")
    func ofEachSession() async throws {
        let camera = try await SteppedCamera("iphone6s-back", "420v 1280x720@30")
        let test = camera.test
        let (whole, half) = (try TemporaryFile(".mkv"), try TemporaryFile(".mp4"))
        try await test.setPicture(2, "420v 640x480", 15)
        try await test.record(1, of: 1, try whole.open())
        try await test.record(2, of: 2, try half.open(), RecordingOptions { $0.fileType = .mp4 })
        let third = try TemporaryFile(".mkv")
        let refused = await refusal { try await test.record(3, of: 2, try third.open()) }
        #expect(refused?.kind == .alreadyRecording && refused?.message.contains("Recording 2 runs") == true)
        try await camera.step(6)
        try await test.pause(2)
        try await camera.step(6)
        try await test.resume(2)
        // A picture's other size, or a format, changes no file that is being written.
        try await test.setPicture(2, "420v 192x144", 15)
        let batch = Configuration([.activeFormat: .text("420v 1920x1080@30")])
        #expect(await refusal { try await test.configure(1, batch) }?.kind == .unsupportedConfiguration)
        try await test.configure(1, Configuration([.videoZoomFactor: .number(1.5)]))
        try await camera.step(6)
        try await test.stopRecording(2)
        let two = try await test.recordingFinished()
        #expect(two.id == 2 && two.why == .stopped)
        try await camera.step(2)
        _ = try await test.cut(1)
        let one = try await test.recordingFinished()
        #expect(one.id == 1 && one.why == .interrupted)
        let all = try check(whole, one, (1280, 720)).map(\.frameNumber)
        #expect(UInt64(all.count) + one.framesLeftOut == 20 && all.first == 2)
        let every = try check(half, two, (640, 480)).map(\.frameNumber)
        #expect(two.framesLeftOut == 0 && every == [2, 4, 6, 14, 16, 18])
        // Nine frames of a fifteenth of a second, less what was paused.
        #expect(abs(two.duration - 6 * 66_666_666) < 1_000_000)
    }

    @Test("A recording follows its session's rate, keeps its size, and leaves other recordings as they are")
    func rateOfARunningOne() async throws {
        let camera = try await SteppedCamera("iphone6s-back", "420v 640x480@30")
        let test = camera.test
        let (file, other) = (try TemporaryFile(".mkv"), try TemporaryFile(".mkv"))
        try await test.setPicture(2, "420v 192x144", 15)
        try await test.record(1, of: 1, try file.open())
        try await test.record(2, of: 2, try other.open())
        try await camera.step(3)
        // At a rate that nobody has the first frame is the next one, and at another session's rate the frames are that session's.
        for (rate, frames) in [(10.0, 6), (15, 4), (30, 2)] {
            try await test.setPicture(1, "420v 352x288", rate)
            try await camera.step(frames)
        }
        try await test.setPicture(1, nil)
        try await test.setPicture(2, nil)
        try await camera.step(2)
        try await test.stopRecording(1)
        let one = try await test.recordingFinished()
        try await test.stopRecording(2)
        let two = try await test.recordingFinished()
        #expect(one.id == 1 && one.framesLeftOut == 0 && two.id == 2 && two.framesLeftOut == 0)
        let numbers = try check(file, one, (640, 480)).map(\.frameNumber)
        #expect(numbers == [2, 3, 4, 5, 8, 12, 14, 15, 16, 17, 18])
        #expect(abs(one.duration - 17 * 33_333_333) < 1_000_000)
        // From 15 frames a second to the camera's 30.
        let others = try check(other, two, (192, 144)).map(\.frameNumber)
        #expect(others == [2, 4, 6, 8, 10, 12, 14, 16, 17, 18])
    }

    @Test("Sound is in the recording of the session whose microphone it is, and in no other")
    func sound() async throws {
        let test = try CaptureUnderTest()
        try await test.open(1)
        var (recorder, client): (Int32, Int32) = (-1, -1)
        try #require(camarb_packet_pair(&recorder, &client) == 0)
        defer { close(client) }
        try await test.order(CaptureLoop.actFor, GrantID(1), SessionID(1))
        try await test.attachMicrophone(1, recorder)
        let stream = try await test.stream(1)
        let files = [try TemporaryFile(".mkv"), try TemporaryFile(".mkv")]
        for (session, file) in zip(UInt64(1)..., files) {
            try await test.record(session, of: session, try file.open())
        }
        for _ in 0..<12 { _ = try stream.mark() }
        _ = try await test.cut(1)
        for _ in files { #expect(try await test.recordingFinished().frames > 0) }
        #expect(try ReadRecording(files[0].path).tracks.map(\.sampleRate) == [0, 48_000])
        #expect(try ReadRecording(files[1].path).tracks.map(\.sampleRate) == [0])
        withExtendedLifetime(files) {}
    }

    @Test("Eight recordings run at once, and what may wait for them is shared among them")
    func bound() async throws {
        let test = try CaptureUnderTest()
        try await test.open(1, Configuration([.activeFormat: .text("420v 192x144@30 binned")]))
        let stream = try await test.stream(1)
        let files = try (0..<9).map { _ in try TemporaryFile(".mkv") }
        for place in 0..<8 { try await test.record(UInt64(place + 1), of: UInt64(place + 1), try files[place].open()) }
        let refused = await refusal { try await test.record(9, of: 9, try files[8].open()) }
        #expect(refused?.kind == .limitExceeded)
        for _ in 0..<8 { _ = try stream.mark() }
        try await test.stopRecording(3)
        try await test.record(9, of: 9, try files[8].open())
        for _ in 0..<8 { _ = try stream.mark() }
        _ = try await test.cut(1)
        var ended: Set<UInt64> = []
        for _ in files {
            let finished = try await test.recordingFinished()
            ended.insert(finished.id)
            let decoded = try DecodedVideo(files[Int(finished.id) - 1].path)
            #expect(finished.frames > 0 && UInt64(decoded.marks.count) == finished.frames)
        }
        #expect(ended == Set(1...9))
        withExtendedLifetime(files) {}
        #expect(RecordingTicket.share(of: 1) == RecordingTicket.queuedBytesMax)
        for count in 1...8 { #expect(RecordingTicket.share(of: count) * count <= RecordingTicket.queuedInAllMax) }
        let ticket = RecordingTicket(1, wantsObjects: false)
        let share = RecordingTicket.share(of: 8)
        #expect(ticket.reserve(share, of: share) && !ticket.reserve(1, of: share))
    }

    @Test("A recording without a session's name is the holder's, of the camera's picture")
    func earlierBroker() async throws {
        let test = try CaptureUnderTest()
        let (file, _) = try await test.recording(frames: 12)
        _ = try await test.cut(1)
        let finished = try await test.recordingFinished()
        _ = try check(file, finished, (640, 480))
    }
}
