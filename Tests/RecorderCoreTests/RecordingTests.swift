import ArbiterProtocol
import FrameStream
import Glibc
import RecorderCore
import Testing

@Suite(.timeLimit(.minutes(10))) struct RecordingTests {
    /// The numbers of a recording's frames, which all bear their marks.
    private func numbers(_ video: DecodedVideo) throws -> [UInt32] {
        try video.marks.map { try #require($0).frameNumber }
    }

    @Test func anInterruptedRecordingHasExactlyTheFramesCapturedBeforeTheCut() async throws {
        let test = try CaptureUnderTest()
        let file = try TemporaryFile(".mkv")
        try await test.open(1)
        let stream = try await test.stream(1)
        try await test.record(1, 9, try file.open())
        for _ in 0..<12 { _ = try stream.mark() }
        let lastCapture = try await test.cut(1)
        let finished = try await test.recordingFinished()
        #expect(finished.id == 9 && finished.why == .interrupted)
        let video = try DecodedVideo(file.path)
        let frames = try numbers(video)
        #expect(UInt64(frames.count) == finished.frames)
        #expect(try UInt64(file.bytes().count) == finished.bytes)
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $0 < $1 })
        let (first, last) = (try #require(frames.first), try #require(frames.last))
        // The encoder leaves frames out on a machine that is too busy for it, and says how many.
        let missing = UInt64(last - first) + 1 - finished.frames
        #expect(missing <= finished.framesLeftOut, "no other frame is missing")
        let (firstKept, lastKept) = (video.marks.first??.captureTime ?? 0, video.marks.last??.captureTime ?? 0)
        #expect(lastKept == lastCapture || lastKept < lastCapture && missing < finished.framesLeftOut)
        #expect(finished.duration == lastKept - firstKept + 33_333_333)
    }

    @Test func aRecordingNeverGoesOnInALaterGrant() async throws {
        let test = try CaptureUnderTest()
        let file = try TemporaryFile(".mkv")
        try await test.open(1)
        try await test.record(1, 1, try file.open())
        _ = try await test.cut(1)
        let finished = try await test.recordingFinished()
        try await test.open(2)
        let stream = try await test.stream(2)
        for _ in 0..<5 { _ = try stream.mark() }
        #expect(try UInt64(file.bytes().count) == finished.bytes)
    }

    @Test func twoRecordingsNeverShareAFrame() async throws {
        let test = try CaptureUnderTest()
        let files = [try TemporaryFile(".mkv"), try TemporaryFile(".mkv")]
        try await test.open(1)
        let stream = try await test.stream(1)
        for (index, file) in files.enumerated() {
            try await test.record(1, UInt64(index + 1), try file.open())
            let second = await #expect(throws: BrokerError.self) { try await test.record(1, 99, try file.open()) }
            #expect(second?.kind == .alreadyRecording)
            for _ in 0..<6 { _ = try stream.mark() }
            try await test.stopRecording(UInt64(index + 1))
        }
        #expect(try await test.recordingFinished().why == .stopped)
        #expect(try await test.recordingFinished().id == 2)
        let first = try numbers(try DecodedVideo(files[0].path))
        let second = try numbers(try DecodedVideo(files[1].path))
        #expect(!first.isEmpty && !second.isEmpty && Set(first).isDisjoint(with: second))
        // The files go with their last use, and asking for a path is one in an optimized build.
        withExtendedLifetime(files) {}
    }

    @Test func aRecordingEndsWithTheLastFrameThatItsDurationHolds() async throws {
        let test = try CaptureUnderTest()
        let file = try TemporaryFile(".mkv")
        try await test.open(1)
        try await test.record(1, 1, try file.open(), RecordingOptions(maxDuration: 0.5))
        let finished = try await test.recordingFinished()
        #expect(finished.why == .durationLimit && finished.duration <= 500_001_000 && finished.frames > 0)
        #expect(try UInt64(DecodedVideo(file.path).marks.count) == finished.frames)
        // The session may record again at once.
        try await test.record(1, 2, try file.open())
    }

    @Test func aRecordingEndsBeforeItsSizeLimitAndPlays() async throws {
        let test = try CaptureUnderTest()
        let file = try TemporaryFile(".mkv")
        try await test.open(1, Configuration([.activeFormat: .text("420v 1920x1080")]))
        let limit = UInt64(RecordingFile.bytesLeast)
        try await test.record(1, 1, try file.open(), RecordingOptions(maxBytes: limit))
        let finished = try await test.recordingFinished()
        #expect(finished.why == .sizeLimit && finished.bytes <= limit)
        #expect(try UInt64(file.bytes().count) == finished.bytes)
        #expect(try UInt64(DecodedVideo(file.path).marks.count) == finished.frames)
    }

    @Test func whatIsNoWritableRegularFileEndsTheRecordingAndNothingElse() async throws {
        let test = try CaptureUnderTest()
        let file = try TemporaryFile()
        try await test.open(1)
        var pipes: [Int32] = [0, 0]
        #expect(pipe(&pipes) == 0)
        defer { close(pipes[0]) }
        let directory = Glibc.open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        for unsuitable in [
            pipes[1], directory, try file.open(O_RDONLY), try file.open(O_WRONLY | O_APPEND),
        ] {
            try await test.record(1, 1, unsuitable)
            let said: String = try await test.event {
                if case .runtimeError(_, let message) = $0 { message } else { nil }
            }
            #expect(said.contains("no regular file that is open for writing"))
            let finished = try await test.recordingFinished()
            #expect(finished.why == .writeError && finished.frames == 0 && finished.bytes == 0)
        }
        // Nothing changed: a good one is taken.
        try await test.record(1, 2, try file.open())
    }

    /// A picture with a mark and noise, so that every frame has bytes of its own.
    private func picture(_ number: Int, _ layout: PictureLayout) -> [UInt8] {
        var state = UInt32(number + 1)
        var picture = [UInt8](repeating: 128, count: layout.bytes)
        for index in stride(from: 0, to: layout.lumaBytes, by: 7) {
            state = state &* 1_664_525 &+ 1_013_904_223
            picture[index] = UInt8(state >> 24)
        }
        let mark = BurntInMark(captureTime: Int64(number) * 33_333_333, frameNumber: UInt32(number))
        picture.withUnsafeMutableBytes { mark.draw(into: $0, layout: layout) }
        return picture
    }

    @Test func aFileKilledAtAnyByteAfterItsHeaderPlaysWithEveryFlushedFrame() throws {
        let layout = PictureLayout(width: 192, height: 144, pixelFormat: "420v")
        let file = try TemporaryFile(".mkv")
        let recording = try RecordingFile(
            file: OutputFile(try envelope(file.open()), in: .patient, bytesMax: nil),
            RecordingFile.Plan(layout: layout, frameRate: 30))
        var flushed: [Int] = []
        for number in 1...40 {
            let picture = picture(number, layout)
            let fits = try picture.withUnsafeBytes {
                try recording.appendPicture($0, at: Int64(number - 1) * 33_333_333, interval: 33_333_333)
            }
            #expect(fits)
            flushed.append(Int(recording.file.committed))
        }
        // Never finished: as it is when the process is killed.
        let all = try file.bytes()
        #expect(all.count == flushed.last)
        let cut = try TemporaryFile(".mkv")
        var lengths = flushed.flatMap { [$0, $0 + 1, $0 - 1] }
        lengths += stride(from: flushed[0], to: all.count, by: 997)
        for length in lengths where length >= flushed[0] && length <= all.count {
            try cut.write(all.prefix(length))
            let whole = flushed.count { $0 <= length }
            let played = try DecodedVideo(cut.path, atMost: whole)
            #expect(
                played.marks.map { $0?.frameNumber } == (1...whole).map { UInt32($0) },
                "a file of \(length) bytes has \(whole) whole frames")
        }
    }

    @Test func aFullDiskLeavesAPlayableFileThatEndsWithTheLastWholeFrame() throws {
        let layout = PictureLayout(width: 192, height: 144, pixelFormat: "420v")
        let file = try TemporaryFile(".mkv")
        let recording = try RecordingFile(
            file: OutputFile(try envelope(file.open()), in: .patient, bytesMax: 300_000),
            RecordingFile.Plan(layout: layout, frameRate: 30))
        var number = 0
        while true {
            number += 1
            let picture = picture(number, layout)
            let fits = try picture.withUnsafeBytes {
                try recording.appendPicture($0, at: Int64(number - 1) * 33_333_333, interval: 33_333_333)
            }
            if !fits { break }
        }
        recording.finish()
        #expect(recording.frames == UInt64(number - 1) && recording.file.failure == .sizeLimit)
        #expect(try file.bytes().count == Int(recording.file.committed))
        #expect(try DecodedVideo(file.path).marks.map { $0?.frameNumber } == (1..<number).map { UInt32($0) })
    }

    @Test(
        "A recording with a gap, and with a picture that comes early, has packet times equal to its capture times",
        arguments: RecordingFileType.allCases)
    func timesOfPackets(_ fileType: RecordingFileType) throws {
        let layout = PictureLayout(width: 192, height: 144, pixelFormat: "420v")
        let file = try TemporaryFile(".mkv")
        let recording = try RecordingFile(
            file: OutputFile(try envelope(file.open()), in: .patient, bytesMax: nil),
            RecordingFile.Plan(layout: layout, frameRate: 30, fileType: fileType))
        // In milliseconds, which is Matroska's own unit.
        let captures: [Int64] = [1000, 1033, 1067, 1500, 1510, 1543, 3000, 3030, 3060]
        for (number, milliseconds) in captures.enumerated() {
            let fits = try picture(number, layout).withUnsafeBytes {
                try recording.appendPicture($0, at: (milliseconds - captures[0]) * 1_000_000, interval: 33_333_333)
            }
            #expect(fits)
        }
        recording.finish()
        let reader = try VideoReader(path: file.path, loops: false)
        let times = try captures.map { _ in try reader.next() }
        // A tick of an MP4 file is a microsecond.
        let isInPlace = zip(times, captures).allSatisfy { abs($0 - ($1 - captures[0]) * 1_000_000) <= 1_000 }
        #expect(isInPlace, "\(times)")
    }

    @Test func theDefaultBitRateFollowsThePublishedSizes() {
        #expect(VideoEncoder.bitRate(width: 1280, height: 720, frameRate: 30) == 10_506_240)
        #expect(VideoEncoder.bitRate(width: 192, height: 144, frameRate: 30) == 111_974)
        #expect(VideoEncoder.bitRate(width: 1920, height: 1080, frameRate: 30) == 17_333_333)
        #expect(VideoEncoder.bitRate(width: 1920, height: 1080, frameRate: 60) == 34_666_666)
        #expect(VideoEncoder.bitRate(width: 3840, height: 2160, frameRate: 30) == 50_000_000)
    }

    @Test func whatOneCoreCannotEncodeAsH264IsRecordedAsJPEGs() throws {
        let layout = PictureLayout(width: 3840, height: 2160, pixelFormat: "420v")
        let file = try TemporaryFile(".mkv")
        let recording = try RecordingFile(
            file: OutputFile(try envelope(file.open()), in: .patient, bytesMax: nil),
            RecordingFile.Plan(layout: layout, frameRate: 30))
        for number in 1...3 {
            var picture = [UInt8](repeating: 128, count: layout.bytes)
            let time = Int64(number) * 33_333_333
            let mark = BurntInMark(captureTime: time, frameNumber: UInt32(number))
            picture.withUnsafeMutableBytes { mark.draw(into: $0, layout: layout) }
            let fits = try picture.withUnsafeBytes {
                try recording.appendPicture($0, at: time - 33_333_333, interval: 33_333_333)
            }
            #expect(fits)
        }
        recording.finish()
        #expect(try DecodedVideo(file.path).marks.map { $0?.frameNumber } == [1, 2, 3])
    }
}
