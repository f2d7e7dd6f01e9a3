import ArbiterProtocol
import FrameStream
import Glibc
import PolicyFile
import RecorderCore
import Synchronization
import Testing

/// Photos as files, and that nobody waits for one.
@Suite("A photo", .timeLimit(.minutes(10)))
struct PhotoTests {
    private static let high = Configuration([
        .activeFormat: .text("420v 1280x720@30"), .highResolutionStillImageOutputEnabled: .flag(true),
    ])

    /// A camera whose photos are not drawn before the test says so.
    private final class SlowlyDrawn: WrappedCamera {
        let camera: SimulatedCamera
        let gate: PhotoGate

        init(_ model: CameraModel, _ gate: PhotoGate) {
            camera = SimulatedCamera(model)
            self.gate = gate
        }

        func photo(_ plan: PhotoPlan, zoom: Double) -> DrawnPhoto? {
            camera.photo(plan, zoom: zoom).map { photo in
                DrawnPhoto(photo.layout) { [gate] (memory) throws(MediaFault) in
                    gate.wait()
                    try photo.draw(memory)
                }
            }
        }
    }

    /// Shut until it is opened, once.
    private final class PhotoGate: Sendable {
        private let isOpen = Mutex(false)
        func open() { isOpen.withLock { $0 = true } }
        func wait() { while !isOpen.withLock({ $0 }) { usleep(1000) } }
    }

    @Test("of the format's high-resolution size, while it is being drawn, holds up neither frames nor a recording")
    func nobodyWaits() async throws {
        let gate = PhotoGate()
        defer { gate.open() }
        let model = try CameraFile.named("iphone6s-back")
        let test = CaptureUnderTest { SlowlyDrawn(model, gate) }
        try await test.open(1, Self.high)
        let stream = try await test.stream(1)
        let (film, picture) = (try TemporaryFile(".mkv"), try TemporaryFile(".jpg"))
        try await test.photo(1, 1, try picture.open())
        let first = try #require(try stream.mark()).record
        try await test.record(1, 1, try film.open())
        // All of this is while the photo is drawn: nothing else opens the gate.
        var seen: [UInt64] = [first.sequence]
        for _ in 0..<15 { seen.append(try #require(try stream.mark()).record.sequence) }
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 < $1 }, "\(seen)")
        try await test.stopRecording(1)
        let recording = try await test.recordingFinished()
        #expect(recording.why == .stopped && recording.frames >= 10)
        gate.open()
        let photo = try await test.photoCaptured()
        #expect(photo.error == nil && photo.width == 4032 && photo.height == 2268)
    }

    @Test("is a tenth smaller along each side while video is stabilized, which opens with its first picture")
    func stabilized() async throws {
        let test = try CaptureUnderTest("simulated:iphone6s-back")
        var wanted = Self.high
        wanted[.preferredVideoStabilizationMode] = .text("cinematic")
        #expect(try await test.open(1, wanted)[.activeVideoStabilizationMode] == .text("cinematic"))
        let stream = try await test.stream(1)
        let (one, next) = (try #require(try stream.mark()), try #require(try stream.mark()))
        #expect(one.record.timestamp < next.record.timestamp)
        let file = try TemporaryFile(".jpg")
        try await test.photo(1, 1, try file.open())
        let photo = try await test.photoCaptured()
        #expect(photo.width == 3628 && photo.height == 2040)
    }

    @Test("of a bracket is of a frame of its own, darker or brighter, and says its exposure")
    func bracket() async throws {
        let test = try CaptureUnderTest("simulated:iphone6splus-back")
        try await test.open(1, Configuration([.activeFormat: .text("420v 1280x720@30")]))
        let files = try (0..<3).map { _ in try TemporaryFile(".jpg") }
        try await test.bracket(
            1, [5, 6, 7], try files.map { try $0.open() }, try PhotoBracket(exposureTargetBiases: [-2, 0, 2]))
        var taken: [UInt64: PhotoMetadata] = [:]
        for _ in files {
            let photo = try await test.photoCaptured()
            taken[photo.photo] = photo.metadata
        }
        #expect((5...7).map { taken[$0]?.exposureTargetBias } == [-2, 0, 2])
        let durations = (5...7).compactMap { taken[$0]?.exposureDuration }
        #expect(durations.count == 3 && abs(durations[1] / durations[0] - 4) < 1e-6)
        let numbers = try files.map { try #require(try DecodedVideo($0.path).numbers.first.flatMap { $0 }) }
        #expect(numbers[1] == numbers[0] + 1 && numbers[2] == numbers[1] + 1, "\(numbers)")
        #expect(try brightness(files[0]) < brightness(files[1]))
        #expect(try brightness(files[1]) < brightness(files[2]))
    }

    /// Mean luma of a JPEG.
    private func brightness(_ file: TemporaryFile) throws -> Int {
        let reader = try VideoReader(path: file.path, loops: false)
        _ = try reader.next()
        let (width, height) = (reader.width, reader.height)
        return try reader.luma { luma, stride in
            var sum = 0
            for row in 0..<height { for byte in luma[row * stride..<row * stride + width] { sum += Int(byte) } }
            return sum / (width * height)
        }
    }
}

/// The plan of a photo, without taking one.
@Suite("A photo's plan")
struct PhotoPlanTests {
    /// At ISO 100.
    static func plan(
        _ camera: String, _ keys: [ConfigurationKey: ConfigurationValue], zoom: Double = 1, duration: Double = 1.0 / 60,
        shot: PhotoBracket.Shot? = nil
    ) throws -> PhotoPlan {
        let capabilities = try CameraFile.named(camera).capabilities
        let check = ConfigurationCheck(capabilities: capabilities)
        let wanted = Configuration(keys)
        #expect(check.problem(wanted, over: Configuration()) == nil)
        return PhotoPlan(
            try #require(check.settings(wanted)), of: capabilities, zoom: zoom,
            exposure: PhotoPlan.Exposure(duration: duration, iso: 100), shot: shot)
    }

    @Test("uses several exposures from 1/30 s on, or the lens on the 6 Plus and 6s Plus, in the format of preset photo")
    func lens() throws {
        let photo: [ConfigurationKey: ConfigurationValue] = [.sessionPreset: .text("photo")]
        for (camera, hasLens) in [
            ("iphone6plus-back", true), ("iphone6splus-back", true), ("iphone6-back", false), ("iphone6s-back", false),
            ("iphone5-back", false),
        ] {
            let long = try Self.plan(camera, photo, duration: 1.0 / 30).metadata
            #expect(long.lensStabilizationUsed == hasLens, "\(camera)")
            let short = try Self.plan(camera, photo, duration: 1.0 / 31).metadata
            #expect(!short.lensStabilizationUsed && !short.stillImageStabilizationUsed, "\(camera)")
            // The stream's own format, for which the other stabilization is used.
            let small = try Self.plan(camera, [.activeFormat: .text("420v 1280x720@30")], duration: 0.1).metadata
            #expect(!small.lensStabilizationUsed && small.stillImageStabilizationUsed == (camera != "iphone5-back"))
        }
    }

    @Test("uses the lens only beside the other stabilization: neither with its key off, nor with the flash")
    func lensAlone() throws {
        for (key, value) in [
            (ConfigurationKey.stillImageStabilization, ConfigurationValue.flag(false)), (.flashMode, .text("on")),
        ] {
            let keys: [ConfigurationKey: ConfigurationValue] = [.sessionPreset: .text("photo"), key: value]
            let taken = try Self.plan("iphone6plus-back", keys, duration: 0.1).metadata
            #expect(!taken.lensStabilizationUsed && !taken.stillImageStabilizationUsed)
        }
    }

    @Test("uses it in a bracket only where that was asked for")
    func lensInABracket() throws {
        let shot = PhotoBracket.Shot.exposure(duration: 0.1, iso: 100)
        #expect(try !Self.plan("iphone6splus-back", [:], shot: shot).metadata.lensStabilizationUsed)
        let asked: [ConfigurationKey: ConfigurationValue] = [.lensStabilizationDuringBracket: .flag(true)]
        #expect(try Self.plan("iphone6splus-back", asked, shot: shot).metadata.lensStabilizationUsed)
    }

    @Test("fires an automatic flash only where it is dark, and another as it is set")
    func flash() throws {
        for (mode, duration, fires) in [
            ("auto", 1.0 / 60, false), ("auto", 0.1, true), ("on", 1.0 / 60, true), ("off", 0.1, false),
        ] {
            let plan = try Self.plan("iphone6s-front", [.flashMode: .text(mode)], duration: duration)
            #expect(plan.metadata.flashFired == fires, "\(mode), \(duration)")
        }
    }

    @Test("says which side is up as Exif counts, by camera and orientation; mirrored pixels turn the other way round")
    func orientation() throws {
        func orientation(_ camera: String, _ word: String?, mirrored: Bool = false) throws -> UInt8 {
            var keys: [ConfigurationKey: ConfigurationValue] = [.videoMirrored: .flag(mirrored)]
            keys[.videoOrientation] = word.map { .text($0) }
            return try Self.plan(camera, keys).metadata.orientation
        }
        for (camera, word, upright, mirrored) in [
            ("iphone6s-back", nil, 1, 1), ("iphone6s-front", nil, 1, 1), ("iphone6s-back", "portrait", 6, 8),
            ("iphone6s-front", "portrait", 6, 8), ("iphone6s-back", "portraitUpsideDown", 8, 6),
            ("iphone6s-front", "portraitUpsideDown", 8, 6), ("iphone6s-back", "landscapeLeft", 3, 3),
            ("iphone6s-front", "landscapeRight", 3, 3),
        ] as [(String, String?, UInt8, UInt8)] {
            #expect(try orientation(camera, word) == upright, "\(camera), \(word ?? "none")")
            #expect(try orientation(camera, word, mirrored: true) == mirrored, "\(camera), \(word ?? "none")")
        }
    }

    @Test("meets a bias that is too long for the format by the sensitivity")
    func longBias() throws {
        let plan = try Self.plan("iphone6s-back", [:], duration: 0.3, shot: .exposureTargetBias(2))
        #expect(try #require(plan.metadata.exposureDuration) < 0.34)
        #expect(abs(plan.light - 4) < 1e-6)
    }
}
