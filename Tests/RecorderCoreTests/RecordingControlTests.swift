import ArbiterProtocol
import CLinux
import FrameStream
import Glibc
import RecorderCore
import Testing

/// What a client may do with a recording while it runs, what ends it, and what its microphone finds.
@Suite(.timeLimit(.minutes(10))) struct RecordingControlTests {
    private func tag(_ name: String, in file: TemporaryFile) throws -> String? {
        // Values lie behind their names, as TagString (0x4487) with a size of one or two bytes.
        let bytes = try file.bytes()
        let name = Array(name.utf8)
        for place in 0..<max(0, bytes.count - name.count - 4) where bytes[place] == name[0] {
            guard bytes[place..<place + name.count].elementsEqual(name) else { continue }
            var next = place + name.count
            guard bytes[next] == 0x44, bytes[next + 1] == 0x87 else { continue }
            next += 2
            let isLong = bytes[next] & 0x80 == 0
            let size = isLong ? Int(bytes[next] & 0x3f) << 8 | Int(bytes[next + 1]) : Int(bytes[next] & 0x7f)
            next += isLong ? 2 : 1
            return String(decoding: bytes[next..<next + size], as: UTF8.self)
        }
        return nil
    }

    @Test func aPausedRecordingHasNoFrameOfThePauseAndItsTimesRunOn() async throws {
        let test = try CaptureUnderTest()
        let file = try TemporaryFile(".mkv")
        try await test.open(1)
        let stream = try await test.stream(1)
        try await test.record(1, 1, try file.open())
        for _ in 0..<6 { _ = try stream.mark() }
        try await test.pause(1)
        // Frames of before the order may still be in the stream's buffers.
        var passed: [UInt32] = []
        for _ in 0..<10 { passed.append(try #require(try stream.mark()).mark.frameNumber) }
        try await test.resume(1)
        for _ in 0..<6 { _ = try stream.mark() }
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
        #expect(try tag("FIRST_CAPTURE", in: file) == String(marks[0].captureTime))
        #expect(try tag("LAST_CAPTURE", in: file) == String(finished.lastCapture))
        #expect(try tag("ENDED", in: file) == "stopped")
        // A busy machine's encoder leaves frames out, also beside the pause.
        guard finished.framesLeftOut == 0 else { return }
        // To a tick of the file, a millisecond.
        let reader = try VideoReader(path: file.path, loops: false)
        let times = try marks.map { _ in try reader.next() }
        let place = try #require(marks.firstIndex { $0.frameNumber == after.frameNumber })
        #expect(abs(times[place] - times[place - 1] - 33_333_333) <= 1_000_000, "the file has no hole")
        let length = after.captureTime - before.captureTime - 33_333_333
        let at = before.captureTime - marks[0].captureTime + 33_333_333
        #expect(try tag("PAUSES", in: file) == "[[\(at),\(length)]]")
        #expect(finished.duration == marks[marks.count - 1].captureTime - marks[0].captureTime + 33_333_333 - length)
    }

    @Test func aCutEndsAPausedRecordingWhereItWasPausedAndSaysWhyInTheFile() async throws {
        let test = try CaptureUnderTest()
        let file = try TemporaryFile(".mkv")
        try await test.open(1)
        let stream = try await test.stream(1)
        try await test.record(1, 1, try file.open())
        for _ in 0..<6 { _ = try stream.mark() }
        try await test.pause(1)
        for _ in 0..<6 { _ = try stream.mark() }
        let lastOfGrant = try await test.cut(
            1, .interrupted, RecordingReason(cause: "audio-device-in-use-by-another-client", interrupter: "phone"))
        let finished = try await test.recordingFinished()
        #expect(finished.lastCapture < lastOfGrant)
        #expect(try DecodedVideo(file.path).marks.last??.captureTime == finished.lastCapture)
        #expect(try tag("CAUSE", in: file) == "audio-device-in-use-by-another-client")
        #expect(try tag("INTERRUPTER", in: file) == "phone" && tag("ENDED", in: file) == "interrupted")
        #expect(try tag("PAUSES", in: file) == nil, "nothing follows it")
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
        var told: [Int] = []
        // A hundred frames in 3.3 seconds, all of them left out.
        for frame in 0..<100 {
            if let count = telling.note(at: 5 * second + Int64(frame) * second / 30) { told.append(count) }
        }
        #expect(told == [1, 30, 30, 30])
    }

    @Test func aSlateIsBlackAndCountedOnAndAPictureFollowsIt() async throws {
        let test = try CaptureUnderTest()
        try await test.open(1)
        let stream = try await test.stream(1)
        let other = try await test.stream(1, session: 2)
        var last = try #require(try stream.mark()).record.sequence
        try await test.setSlate(1, true)
        var slates = 0
        while slates < 5 {
            guard case .frame(let frame) = try stream.next(within: .seconds(30)) else { break }
            #expect(frame.record.sequence > last)
            last = frame.record.sequence
            if frame.record.flags.contains(.slate) {
                slates += 1
                let isBlack = stream.withBytes(of: frame) { bytes in
                    bytes.prefix(frame.layout.lumaBytes).allSatisfy { $0 == 16 }
                        && bytes[frame.layout.lumaBytes..<frame.layout.bytes].allSatisfy { $0 == 128 }
                }
                #expect(isBlack)
            } else {
                #expect(slates == 0, "a picture comes after a slate")
            }
            stream.release(frame)
        }
        let seen = try #require(try other.mark())
        #expect(!seen.record.flags.contains(.slate), "another session sees the camera")
        try await test.setSlate(1, false)
        while true {
            guard case .frame(let frame) = try stream.next(within: .seconds(30)) else { break }
            defer { stream.release(frame) }
            #expect(frame.record.sequence > last)
            last = frame.record.sequence
            guard !frame.record.flags.contains(.slate) else { continue }
            let mark = stream.withBytes(of: frame) { BurntInMark.read(from: $0, layout: frame.layout) }
            #expect(mark?.captureTime == frame.record.timestamp)
            break
        }
    }

    @Test func theMicrophonesSocketIsClosedAtTheCutWhenAnotherComesAndWhenItIsDetached() async throws {
        func isClosed(_ end: Int32) -> Bool {
            var polled = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
            return camarb_poll(&polled, 1, 30_000_000_000) == 1 && polled.revents & Int16(POLLHUP) != 0
        }
        let test = try CaptureUnderTest()
        try await test.open(1)
        let first = try await test.attachMicrophone(1)
        let second = try await test.attachMicrophone(1)
        defer { for end in [first, second] { close(end) } }
        #expect(isClosed(first))
        var polled = pollfd(fd: second, events: Int16(POLLIN), revents: 0)
        #expect(camarb_poll(&polled, 1, 0) == 0, "the other one is open")
        _ = try await test.cut(1)
        #expect(isClosed(second))
        let stale = await #expect(throws: BrokerError.self) { close(try await test.attachMicrophone(1)) }
        #expect(stale?.kind == .staleGrant)
    }

    @Test func metadataIsRefusedWhereItIsNotInTheFile() async throws {
        let test = try CaptureUnderTest()
        let file = try TemporaryFile(".mkv")
        try await test.open(1)
        let stream = try await test.stream(1)
        let nothing = await #expect(throws: BrokerError.self) { try await test.append(1, "note", at: 1, ["x"]) }
        #expect(nothing?.kind == .notRecording)
        let before = camarb_monotonic_ns() - 2_000_000_000
        try await test.record(
            1, 1, try file.open(),
            RecordingOptions(metadata: [
                MetadataTrack(kind: "note", type: .text), MetadataTrack(kind: "location", type: .iso6709),
            ]))
        try await test.append(1, "location", at: camarb_monotonic_ns(), ["+48.2082+016.3738/"])
        for _ in 0..<6 { _ = try stream.mark() }
        for (kind, time, items) in [
            ("note", before, ["x"]), ("note", Int64.max, ["x"]), ("other", camarb_monotonic_ns(), ["x"]),
            ("location", camarb_monotonic_ns(), ["Vienna"]),
        ] {
            let refused = await #expect(throws: BrokerError.self) { try await test.append(1, kind, at: time, items) }
            #expect(refused?.kind == .invalidValue, "\(kind) \(time) \(items)")
        }
        try await test.append(1, "note", at: camarb_monotonic_ns(), ["x"])
        try await test.pause(1)
        for _ in 0..<6 { _ = try stream.mark() }
        let inPause = camarb_monotonic_ns()
        try await test.resume(1)
        for _ in 0..<6 { _ = try stream.mark() }
        let refused = await #expect(throws: BrokerError.self) { try await test.append(1, "note", at: inPause, ["y"]) }
        #expect(refused?.message.contains("paused") == true)
        try await test.stopRecording(1)
        _ = try await test.recordingFinished()
        #expect(try tag("LOCATION", in: file) == "+48.2082+016.3738/")
    }
}
