import ArbiterProtocol
import FrameStream
import Glibc
import RecorderCore
import Testing

/// The file camera, with footage that the tests make themselves: each frame is one shade of grey.
@Suite(.timeLimit(.minutes(10))) struct FileCameraTests {
    static let shades: [UInt8] = [40, 80, 120, 160, 200]

    private func footage(width: Int = 640, height: Int = 360, frameRate: Double = 10) throws -> TemporaryFile {
        let layout = PictureLayout(width: width, height: height, pixelFormat: "420v")
        let file = try TemporaryFile(".mkv")
        let recording = try RecordingFile(
            file: OutputFile(try envelope(file.open()), in: .patient, bytesMax: nil),
            RecordingFile.Plan(layout: layout, frameRate: frameRate))
        let interval = Int64(1e9 / frameRate)
        for (index, shade) in Self.shades.enumerated() {
            var picture = [UInt8](repeating: shade, count: layout.bytes)
            for chroma in layout.lumaBytes..<layout.bytes { picture[chroma] = 128 }
            let fits = try picture.withUnsafeBytes {
                try recording.appendPicture($0, at: Int64(index) * interval, interval: interval)
            }
            #expect(fits)
        }
        recording.finish()
        return file
    }

    @Test func itsFormatsAreItsOwnSizeAndSmallerOnesWithTheLosslessZoomTheyLeave() async throws {
        let file = try footage()
        let test = try CaptureUnderTest("file:" + file.path)
        let capabilities = try await test.describe()
        #expect(capabilities.position == .external && capabilities.sensorWidth == 640)
        #expect(capabilities.formats.map(\.name) == ["420v 640x360@10", "420v 320x240@10"])
        #expect(capabilities.formats[0].videoZoomFactorUpscaleThreshold == 1)
        // 320x240 reads the 480 middle columns of 640x360.
        #expect(capabilities.formats[1].videoZoomFactorUpscaleThreshold == 1.5)
    }

    @Test func thePreviewShowsTheFootageLoopedAtItsOwnPace() async throws {
        let file = try footage()
        let test = try CaptureUnderTest("file:" + file.path)
        try await test.open(1, Configuration())
        let stream = try await test.stream(1)
        var shades: [UInt8] = []
        var times: [Int64] = []
        while shades.count < 2 * Self.shades.count {
            guard case .frame(let frame) = try stream.next(within: .seconds(30)) else { break }
            stream.withBytes(of: frame) { bytes in
                #expect(BurntInMark.read(from: bytes, layout: frame.layout)?.captureTime == frame.record.timestamp)
                shades.append(bytes[100 * frame.layout.stride + 100])
            }
            times.append(frame.record.timestamp)
            stream.release(frame)
        }
        let nearest = shades.map { shade in Self.shades.firstIndex { abs(Int($0) - Int(shade)) < 12 } }
        #expect(!nearest.contains(nil), "every frame is one of the footage's: \(shades)")
        #expect(Set(nearest) == Set(Self.shades.indices.map { $0 }), "it came round: \(shades)")
        // Two rounds of five frames at ten a second. Sleeping never ends early, whatever the machine does.
        let last = try #require(times.last)
        #expect(last - times[0] > 700_000_000)
    }

    @Test func aRecordingShowsTheFootage() async throws {
        let file = try footage()
        let test = try CaptureUnderTest("file:" + file.path)
        let recording = try TemporaryFile(".mkv")
        try await test.open(1, Configuration())
        try await test.record(1, 1, try recording.open(), RecordingOptions(maxDuration: 1))
        let finished = try await test.recordingFinished()
        #expect(finished.why == .durationLimit)
        let video = try DecodedVideo(recording.path)
        #expect(UInt64(video.luma.count) == finished.frames && finished.frames >= 2)
        #expect(video.luma.allSatisfy { shade in Self.shades.contains { abs(Int($0) - shade) < 16 } })
    }

    @Test func aZoomOfFootageReadsItsMiddle() throws {
        let file = try footage()
        let camera = try FileCamera(path: file.path)
        try camera.start()
        let format = camera.capabilities.formats[0]
        try camera.select(format: format, zoom: 4, frameRate: format.maxFrameRate)
        _ = try camera.nextDue(after: nil, interval: 100_000_000, now: 0)
        let layout = PictureLayout(width: format.width, height: format.height, pixelFormat: "420v")
        var picture = [UInt8](repeating: 0, count: layout.bytes)
        try picture.withUnsafeMutableBytes { try camera.render(into: $0, layout: layout) }
        #expect(abs(Int(picture[0]) - Int(Self.shades[0])) < 8)
        #expect(abs(Int(picture[layout.lumaBytes]) - 128) < 4)
    }

    @Test func whatIsNoVideoIsADeviceFaultThatSaysSo() async throws {
        let file = try TemporaryFile(".mkv")
        try file.write(Array("This is no video.".utf8))
        let test = try CaptureUnderTest("file:" + file.path)
        let refused = await #expect(throws: BrokerError.self) { try await test.open(1, Configuration()) }
        #expect(refused?.kind == .deviceFault && refused?.message.contains(file.path) == true)
    }
}
