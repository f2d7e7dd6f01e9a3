import ArbiterProtocol
import FrameStream
import Glibc
import PolicyFile
import RecorderCore
import Testing

/// The file camera, with footage that the tests make themselves: each frame is one shade of grey.
@Suite(.timeLimit(.minutes(10))) struct FileCameraTests {
    static let shades: [UInt8] = [40, 80, 120, 160, 200]

    /// Five frames, ten a second.
    static func footage() throws -> TemporaryFile {
        let layout = PictureLayout(width: 640, height: 360, pixelFormat: "420v")
        let file = try TemporaryFile(".mkv")
        let recording = try RecordingFile(file, RecordingFile.Plan(layout: layout, frameRate: 10))
        for (index, shade) in shades.enumerated() {
            let picture =
                [UInt8](repeating: shade, count: layout.lumaBytes)
                + [UInt8](repeating: 128, count: layout.bytes - layout.lumaBytes)
            try recording.append(picture, at: Int64(index) * 100_000_000, interval: 100_000_000)
        }
        recording.finish()
        return file
    }

    @Test func itsFormatsAreItsOwnSizeAndSmallerOnesWithTheLosslessZoomTheyLeave() async throws {
        let file = try Self.footage()
        let test = try CaptureUnderTest("file:" + file.path)
        let capabilities = try await test.describe()
        #expect(capabilities.position == .external && capabilities.sensorWidth == 640)
        #expect(capabilities.formats.map(\.name) == ["420v 640x360@10", "420v 320x240@10"])
        #expect(capabilities.formats[0].videoZoomFactorUpscaleThreshold == 1)
        // 320x240 reads the 480 middle columns of 640x360.
        #expect(capabilities.formats[1].videoZoomFactorUpscaleThreshold == 1.5)
    }

    @Test func thePreviewShowsTheFootageLoopedAtItsOwnPace() async throws {
        let file = try Self.footage()
        let test = try CaptureUnderTest("file:" + file.path)
        try await test.open(1, Configuration())
        let stream = try await test.stream(1)
        var (shown, times): ([Int?], [Int64]) = ([], [])
        while shown.count < 2 * Self.shades.count {
            let frame = try stream.frame()
            stream.withBytes(of: frame) { bytes in
                #expect(BurntInMark.read(from: bytes, layout: frame.layout)?.captureTime == frame.record.timestamp)
                let shade = Int(bytes[100 * frame.layout.stride + 100])
                shown.append(Self.shades.firstIndex { abs(Int($0) - shade) < 12 })
            }
            times.append(frame.record.timestamp)
            stream.release(frame)
        }
        #expect(Set(shown) == Set(Self.shades.indices.map { $0 }), "each is the footage's, and it came round: \(shown)")
        // Two rounds of five frames at ten a second. Sleeping never ends early, whatever the machine does.
        #expect(times[times.count - 1] - times[0] > 700_000_000)
    }

    private static func started(_ file: TemporaryFile, zoom: Double) throws -> (FileCamera, CameraFormat) {
        let camera = try FileCamera(path: file.path)
        try camera.start()
        let format = camera.capabilities.formats[0]
        try camera.select(format: format, zoom: zoom, frameRate: format.maxFrameRate)
        return (camera, format)
    }

    @Test func aZoomOfFootageReadsItsMiddle() throws {
        let file = try Self.footage()
        let (camera, format) = try Self.started(file, zoom: 4)
        _ = try camera.nextDue(after: nil, interval: 100_000_000, now: 0)
        let layout = PictureLayout(width: format.width, height: format.height, pixelFormat: "420v")
        var picture = [UInt8](repeating: 0, count: layout.bytes)
        try picture.withUnsafeMutableBytes { try camera.render(into: $0, layout: layout) }
        #expect(abs(Int(picture[0]) - Int(Self.shades[0])) < 8)
        #expect(abs(Int(picture[layout.lumaBytes]) - 128) < 4)
    }

    /// Ten frames a second, of which a machine decodes four: time is the test's own.
    @Test func footageThatIsDecodedTooSlowlySaysHowSlowlyAndHowManyFramesWereMissed() throws {
        let file = try Self.footage()
        let (camera, _) = try Self.started(file, zoom: 1)
        let (interval, decoding): (Int64, Int64) = (100_000_000, 250_000_000)
        var now: Int64 = 5_000_000_000
        var due = try camera.nextDue(after: nil, interval: interval, now: now)
        let first = due
        // In time at first.
        for _ in 0..<10 {
            now = due
            due = try camera.nextDue(after: due, interval: interval, now: now)
            #expect(camera.takeMissed() == nil)
        }
        var (shown, missed) = (10, 0)
        var sentences: [String] = []
        for _ in 0..<40 {
            now = max(now + decoding, due)
            due = try camera.nextDue(after: due, interval: interval, now: now)
            shown += 1
            guard let more = camera.takeMissed() else { continue }
            missed += more.count
            sentences.append(more.sentence)
            #expect(camera.takeMissed() == nil, "it is said once")
        }
        // Each tenth of a second has its frame or a missed one, but for a part of one that is left over.
        let tenths = Double(due - first) / Double(interval)
        #expect(abs(Double(shown + missed) - tenths) <= 1, "\(shown) shown, \(missed) missed, \(tenths)")
        #expect(missed > 50 && now - due <= 250_000_000)
        #expect(
            sentences.first?.hasSuffix(
                " is decoded more slowly than it plays: 4 frames a second of 10. 3 frames were missed.")
                == true, "\(sentences.first ?? "nothing")")
    }

    @Test func aStretchOfMissedFramesIsToldOnceAndAnotherAfterTenSecondsOfNone() {
        var telling = SlownessTelling()
        var told: [Int] = []
        for time in 0..<100 where telling.note(at: Int64(time) * 300_000_000) { told.append(time) }
        #expect(told == [0])
        let last: Int64 = 99 * 300_000_000
        let (again, later) = (
            telling.note(at: last + SlownessTelling.calm - 1), telling.note(at: last + 3 * SlownessTelling.calm)
        )
        #expect(!again && later)
    }

    /// A camera that is too slow for three frames before each second one.
    private final class SlowCamera: WrappedCamera {
        let camera: SimulatedCamera
        private var frames = 0

        init(_ model: CameraModel) { camera = SimulatedCamera(model) }

        func takeMissed() -> MissedFrames? {
            frames += 1
            return frames % 2 == 0 ? MissedFrames(count: 3, sentence: "It was too slow for 3 frames.") : nil
        }
    }

    @Test func missedFramesAreGapsInTheNumbersOfFramesAndLeftOutOfTheRecordingAndTold() async throws {
        let model = try CameraFile.named("iphone6s-front")
        let test = CaptureUnderTest { SlowCamera(model) }
        let (recording, stream) = try await test.recording(frames: 0)
        let seen = try (0..<10).map { _ in try #require(try stream.mark()).record.sequence }
        // One after the other or with three between, which every second one has; of what a busy machine dropped there are more.
        let steps = zip(seen, seen.dropFirst()).map { $1 - $0 }
        #expect(steps.count == 9 && steps.filter { $0 >= 4 }.count >= 4, "\(seen)")
        try await test.stopRecording(1)
        var told: [String: [String]] = [:]
        let finished = try await test.event { event in
            if case .runtimeError(let code, let message, _, _) = event { told[code, default: []].append(message) }
            return if case .recordingFinished(let recording) = event { recording } else { nil }
        }
        #expect(told["camera-slow"]?.first == "It was too slow for 3 frames.")
        let marks = try DecodedVideo(recording.path).numbers.compactMap { $0.map { UInt64($0) } }
        let (begin, end) = (try #require(marks.first), try #require(marks.last))
        #expect(finished.frames == UInt64(marks.count))
        // Frames missing between its first and its last were left out; behind the last there may be more of them.
        let missing = end - begin + 1 - finished.frames
        #expect(missing >= 3 && missing <= finished.framesLeftOut, "\(marks), \(finished.framesLeftOut)")
        // So there may be of what a busy machine's encoder left out, which is told.
        let isBusy = told["recording-overrun"] != nil
        #expect(isBusy || finished.framesLeftOut <= missing + 3, "\(marks), \(finished.framesLeftOut)")
    }

    @Test func whatIsNoVideoIsADeviceFaultThatSaysSo() async throws {
        let file = try TemporaryFile(".mkv")
        try file.write(Array("This is no video.".utf8))
        let test = try CaptureUnderTest("file:" + file.path)
        let refused = await #expect(throws: BrokerError.self) { try await test.open(1, Configuration()) }
        #expect(refused?.kind == .deviceFault && refused?.message.contains(file.path) == true)
    }
}
