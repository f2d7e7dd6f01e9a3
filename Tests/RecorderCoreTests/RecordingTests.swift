import ArbiterProtocol
import FrameStream
import Glibc
import RecorderCore
import Testing

@Suite(.timeLimit(.minutes(10))) struct RecordingTests {
    @Test func anInterruptedRecordingHasExactlyTheFramesCapturedBeforeTheCut() async throws {
        let test = try CaptureUnderTest()
        let (file, _) = try await test.recording(9, frames: 12)
        let lastCapture = try await test.cut(1)
        let finished = try await test.recordingFinished()
        #expect(finished.id == 9 && finished.why == .interrupted)
        // All of them bear their marks.
        let marks = try DecodedVideo(file.path).marks.map { try #require($0) }
        let frames = marks.map(\.frameNumber)
        #expect(UInt64(frames.count) == finished.frames)
        #expect(try UInt64(file.bytes().count) == finished.bytes)
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $0 < $1 })
        let (first, last) = (try #require(marks.first), try #require(marks.last))
        // The encoder leaves frames out on a machine that is too busy for it, and says how many.
        let missing = UInt64(last.frameNumber - first.frameNumber) + 1 - finished.frames
        #expect(missing <= finished.framesLeftOut, "no other frame is missing")
        let lastKept = last.captureTime
        #expect(lastKept == lastCapture || lastKept < lastCapture && missing < finished.framesLeftOut)
        #expect(finished.duration == lastKept - first.captureTime + 33_333_333)
    }

    @Test func twoRecordingsNeverShareAFrame() async throws {
        let test = try CaptureUnderTest()
        let files = [try TemporaryFile(".mkv"), try TemporaryFile(".mkv")]
        try await test.open(1)
        let stream = try await test.stream(1)
        for (index, file) in files.enumerated() {
            try await test.record(1, UInt64(index + 1), try file.open())
            for _ in 0..<6 { _ = try stream.mark() }
            try await test.stopRecording(UInt64(index + 1))
        }
        #expect(try await test.recordingFinished().why == .stopped)
        #expect(try await test.recordingFinished().id == 2)
        let numbers = try files.map { file in
            try DecodedVideo(file.path).marks.map { try #require($0).frameNumber }
        }
        #expect(!numbers.contains([]) && Set(numbers[0]).isDisjoint(with: numbers[1]))
        // The files go with their last use, and asking for a path is one in an optimized build.
        withExtendedLifetime(files) {}
    }

    @Test(
        "A recording ends with the last frame that its duration or its size holds, and plays",
        arguments: [
            (RecordingOptions { $0.maxDuration = 0.5 }, "420v 640x480", .durationLimit),
            (RecordingOptions { $0.maxBytes = RecordingOptions.bytesLeast }, "420v 1920x1080", .sizeLimit),
        ] as [(RecordingOptions, String, RecordingEnd)])
    func limits(_ limits: RecordingOptions, _ format: String, _ why: RecordingEnd) async throws {
        let test = try CaptureUnderTest()
        let file = try TemporaryFile(".mkv")
        try await test.open(1, Configuration([.activeFormat: .text(format)]))
        try await test.record(1, 1, try file.open(), limits)
        let finished = try await test.recordingFinished()
        #expect(finished.why == why)
        if limits.maxDuration != nil { #expect(finished.duration <= 500_001_000 && finished.frames > 0) }
        if let most = limits.maxBytes { #expect(finished.bytes <= most) }
        #expect(try UInt64(file.bytes().count) == finished.bytes)
        #expect(try UInt64(DecodedVideo(file.path).marks.count) == finished.frames)
        // The session may record again at once.
        try await test.record(1, 2, try file.open())
    }

    @Test(
        "A recording with a gap, and with a picture that comes early, has packet times equal to its capture times",
        arguments: RecordingFileType.allCases)
    func timesOfPackets(_ fileType: RecordingFileType) throws {
        let made = try TrackedRecording(fileType: fileType, hasSound: false, metadata: [])
        // In milliseconds, which is Matroska's own unit.
        let captures: [Int64] = [0, 33, 67, 500, 510, 543, 2000, 2030, 2060]
        for milliseconds in captures {
            let fits = try made.picture(at: milliseconds * 1_000_000)
            #expect(fits)
        }
        made.recording.finish()
        let reader = try VideoReader(path: made.file.path, loops: false)
        let times = try captures.map { _ in try reader.next() }
        // A tick of an MP4 file is a microsecond.
        #expect(zip(times, captures).allSatisfy { abs($0 - $1 * 1_000_000) <= 1_000 }, "\(times)")
    }
}
