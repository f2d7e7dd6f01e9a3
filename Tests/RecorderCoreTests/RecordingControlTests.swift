import ArbiterProtocol
import CLinux
import FrameStream
import RecorderCore
import Testing

/// A recording under a client's hands while it runs, and its end.
@Suite(.timeLimit(.minutes(10))) struct RecordingControlTests {
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
            stream.withBytes(of: frame) { bytes in
                let (luma, end) = (frame.layout.lumaBytes, frame.layout.bytes)
                let isBlack = bytes[..<luma].allSatisfy { $0 == 16 } && bytes[luma..<end].allSatisfy { $0 == 128 }
                let mark = BurntInMark.read(from: bytes, layout: frame.layout)
                #expect(isSlate ? isBlack : mark?.captureTime == frame.record.timestamp)
            }
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
