import ArbiterProtocol
import CLinux
import FrameStream
import RecorderCore
import Testing

/// What a client may do with a recording while it runs, and what ends it.
@Suite(.timeLimit(.minutes(10))) struct RecordingControlTests {
    @Test func aPausedRecordingHasNoFrameNorMetadataOfThePauseAndItsTimesRunOn() async throws {
        let test = try CaptureUnderTest()
        let note = RecordingOptions(metadata: [MetadataTrack(kind: "note", type: .text)])
        let (file, stream) = try await test.recording(1, note, frames: 6)
        try await test.append(1, "note", at: camarb_monotonic_ns(), ["x"])
        try await test.pause(1)
        // Frames of before the order may still be in the stream's buffers.
        var passed: [UInt32] = []
        for _ in 0..<10 { passed.append(try #require(try stream.mark()).mark.frameNumber) }
        let inPause = camarb_monotonic_ns()
        try await test.resume(1)
        for _ in 0..<6 { _ = try stream.mark() }
        let refused = await refusal { try await test.append(1, "note", at: inPause, ["y"]) }
        #expect(refused?.message.contains("paused") == true)
        try await test.stopRecording(1)
        let finished = try await test.recordingFinished()
        let marks = try DecodedVideo(file.path).marks.map { try #require($0) }
        #expect(UInt64(marks.count) == finished.frames && finished.lastCapture == marks.last?.captureTime)
        let holes = zip(marks, marks.dropFirst()).filter { $1.frameNumber != $0.frameNumber + 1 }
        let pauses = holes.filter { hole in passed.contains { $0 > hole.0.frameNumber && $0 < hole.1.frameNumber } }
        #expect(pauses.count == 1, "there is one pause")
        let (before, after) = try #require(pauses.first)
        let missing = holes.reduce(0) { $0 + UInt64($1.1.frameNumber - $1.0.frameNumber - 1) }
        let paused = UInt64(after.frameNumber - before.frameNumber - 1)
        #expect(missing - paused <= finished.framesLeftOut, "no other frame is missing")
        let tags = try ReadRecording(file.path).tags
        #expect(tags["FIRST_CAPTURE"] == String(marks[0].captureTime) && tags["ENDED"] == "stopped")
        #expect(tags["LAST_CAPTURE"] == String(finished.lastCapture))
        // A busy machine's encoder leaves frames out, also beside the pause.
        guard finished.framesLeftOut == 0 else { return }
        // To a tick of the file, a millisecond.
        let reader = try VideoReader(path: file.path, loops: false)
        let times = try marks.map { _ in try reader.next() }
        let place = try #require(marks.firstIndex { $0.frameNumber == after.frameNumber })
        #expect(abs(times[place] - times[place - 1] - 33_333_333) <= 1_000_000, "the file has no hole")
        let length = after.captureTime - before.captureTime - 33_333_333
        let at = before.captureTime - marks[0].captureTime + 33_333_333
        #expect(tags["PAUSES"] == "[[\(at),\(length)]]")
        #expect(finished.duration == marks[marks.count - 1].captureTime - marks[0].captureTime + 33_333_333 - length)
    }

    @Test func aCutEndsAPausedRecordingWhereItWasPausedAndSaysWhyInTheFile() async throws {
        let test = try CaptureUnderTest()
        let (file, stream) = try await test.recording(frames: 6)
        try await test.pause(1)
        for _ in 0..<6 { _ = try stream.mark() }
        let lastOfGrant = try await test.cut(
            1, .interrupted, RecordingReason(cause: "audio-device-in-use-by-another-client", interrupter: "phone"))
        let finished = try await test.recordingFinished()
        #expect(finished.lastCapture < lastOfGrant)
        #expect(try DecodedVideo(file.path).marks.last??.captureTime == finished.lastCapture)
        let tags = try ReadRecording(file.path).tags
        #expect(tags["CAUSE"] == "audio-device-in-use-by-another-client" && tags["INTERRUPTER"] == "phone")
        #expect(tags["ENDED"] == "interrupted")
        #expect(tags["PAUSES"] == nil, "nothing follows it")
    }

    @Test func aRecordingThatWouldLeaveLessRoomThanAskedForEndsAsAFullDisk() async throws {
        let test = try CaptureUnderTest()
        let file = try TemporaryFile(".mkv")
        try await test.open(1)
        try await test.record(1, 1, try file.open(), RecordingOptions(minFreeBytes: UInt64(Int64.max)))
        let finished = try await test.recordingFinished()
        #expect(finished.why == .diskFull && finished.frames == 0 && finished.lastCapture == 0)
        try await test.record(1, 2, try file.open(), RecordingOptions(minFreeBytes: 1))
        let stream = try await test.stream(1)
        for _ in 0..<3 { _ = try stream.mark() }
        try await test.stopRecording(2)
        #expect(try await test.recordingFinished().why == .stopped)
    }

    @Test func framesLeftOutAreCountedAndToldAtMostOnceASecond() {
        let ticket = RecordingTicket(1, wantsObjects: false)
        #expect(ticket.reserve(RecordingTicket.queuedBytesMax) && !ticket.reserve(1) && !ticket.reserve(1))
        #expect(ticket.framesLeftOut == 2)
        var telling = OverrunTelling()
        let second: Int64 = 1_000_000_000
        // A hundred frames in 3.3 seconds, all of them left out.
        let told = (0..<100).compactMap { telling.note(at: 5 * second + Int64($0) * second / 30) }
        #expect(told == [1, 30, 30, 30])
    }

    @Test func aSlateIsBlackAndCountedOnAndAPictureFollowsIt() async throws {
        let test = try CaptureUnderTest()
        try await test.open(1)
        let stream = try await test.stream(1)
        let other = try await test.stream(1, session: 2)
        var last = try #require(try stream.mark()).record.sequence
        /// Whether the next frame is a slate, all black, or a picture with its mark.
        func isSlate() throws -> Bool {
            let frame = try stream.frame()
            defer { stream.release(frame) }
            #expect(frame.record.sequence > last)
            last = frame.record.sequence
            let isSlate = frame.record.flags.contains(.slate)
            let (mark, isBlack) = stream.withBytes(of: frame) { bytes in
                (
                    BurntInMark.read(from: bytes, layout: frame.layout),
                    bytes.prefix(frame.layout.lumaBytes).allSatisfy { $0 == 16 }
                        && bytes[frame.layout.lumaBytes..<frame.layout.bytes].allSatisfy { $0 == 128 }
                )
            }
            #expect(isSlate ? isBlack : mark?.captureTime == frame.record.timestamp)
            return isSlate
        }
        try await test.setSlate(1, true)
        while try !isSlate() {}
        for _ in 0..<4 { #expect(try isSlate(), "a picture comes after a slate") }
        let seen = try #require(try other.mark())
        #expect(!seen.record.flags.contains(.slate), "another session sees the camera")
        try await test.setSlate(1, false)
        while try isSlate() {}
    }
}
