import ArbiterProtocol
import FrameStream
import PolicyFile
import RecorderCore
import Testing

/// Frames come when they are due, whatever is set between two of them, and however often.
@Suite(.timeLimit(.minutes(10))) struct PaceTests {
    private static let changes = 20

    /// Two batches for a key: another value, and the one before again.
    private struct Change {
        var there: Configuration
        var back: Configuration

        /// - Returns: nil where the key never reaches a recorder core, or this camera lacks it.
        init?(of key: ConfigurationKey, on camera: CameraCapabilities, _ format: CameraFormat, rate: Double) {
            let other = camera.formats.first { $0.pixelFormat == format.pixelFormat && $0.width > format.width }
            let home = Configuration([.activeFormat: .text(format.name), .frameRate: .number(rate)])
            (there, back) = (Configuration(), Configuration())
            switch key {
            case .camera: return nil
            case _ where key.isReadOnly: return nil
            case .sessionPreset: (there[key], back) = (.text("medium"), home)
            case .activeFormat: (there[key], back) = (.text(other?.name ?? ""), home)
            case .frameRate: (there[key], back[key]) = (.number(2 * rate), .number(rate))
            case .activeVideoMinFrameDuration: (there[key], back[.frameRate]) = (.number(0.5 / rate), .number(rate))
            case .activeVideoMaxFrameDuration: (there[key], back[.frameRate]) = (.number(2 / rate), .number(rate))
            case .videoZoomFactor: (there[key], back[key]) = (.number(2), .number(1))
            case .videoZoomRampRate, .cancelVideoZoomRamp:
                there = Configuration([.videoZoomFactor: .number(2), .videoZoomRampRate: .number(1)])
                if key == .cancelVideoZoomRamp { back[key] = .flag(true) } else { back[.videoZoomFactor] = .number(1) }
            case .usesAudio: (there[key], back[key]) = (.flag(true), .flag(false))
            case .whenBusy, .formatMatch, .sharingMode, .captureMode:
                guard let words = key.allowedWords, words.count == 2 else { return nil }
                (there[key], back[key]) = (.text(words[1]), .text(words[0]))
            default:
                guard let control = camera.control(key) else { return nil }
                // A value that a mode overrules counts while the mode does not.
                let mode = key.modes.first { camera.control($0.key) != nil }
                back[mode?.key ?? key] = camera.control(mode?.key ?? key)?.usual
                let check = ConfigurationCheck(capabilities: camera)
                for value in control.others {
                    there[key] = value
                    if let mode { there[mode.key] = mode.manual[0] }
                    if check.problem(there, over: home) == nil { return }
                }
                return nil
            }
        }
    }

    private func keepsItsPace(
        _ test: CaptureUnderTest, _ clock: VirtualClock, _ format: CameraFormat, rate: Double
    ) async throws -> Set<ConfigurationKey> {
        let camera = try await test.describe()
        let interval = Int64(1e9 / rate)
        try await test.open(1, Configuration([.activeFormat: .text(format.name), .frameRate: .number(rate)]))
        let stream = try await test.stream(1)
        var tried: Set<ConfigurationKey> = []
        var sequence: UInt64 = 1
        var due = clock.now
        var rebuilt = 0.0
        for key in ConfigurationKey.allCases {
            guard let change = Change(of: key, on: camera, format, rate: rate) else { continue }
            tried.insert(key)
            // Before a frame of any format's own rate would be due.
            clock.advance(by: interval / 100)
            var inForce = Configuration()
            for index in 1...Self.changes {
                inForce = try await test.configure(1, index.isMultiple(of: 2) ? change.back : change.there)
            }
            #expect(inForce[.frameRate] == .number(rate), "\(key)")
            clock.advance(by: interval - interval / 100)
            due += interval
            // Only a camera that is put together anew leaves frames out, as often as that was.
            let rebuilds = inForce[.pipelineRebuilds]?.number ?? 0
            let isRebuilt = rebuilds != rebuilt
            rebuilt = rebuilds
            for _ in 0..<(isRebuilt ? FramePipeline.rebuildFrames : 0) {
                for _ in 0..<2 { _ = try await test.describe() }
                #expect(try stream.next(within: .zero) == .timedOut, "\(key)")
                clock.advance(by: interval)
                due += interval
            }
            sequence += 1
            let record = try #require(try stream.mark()).record
            #expect(record.sequence == sequence && record.timestamp == due, "\(key)")
            // And from here on.
            clock.advance(by: interval)
            (sequence, due) = (sequence + 1, due + interval)
            let next = try #require(try stream.mark()).record
            #expect(next.sequence == sequence && next.timestamp == due, "\(key)")
        }
        return tried
    }

    @Test(
        "Twenty changes of any key cost a simulated camera no frame", arguments: ["iphone6s-back", "iphone6plus-back"])
    func everyKeyOfASimulatedCamera(name: String) async throws {
        let clock = VirtualClock(beginningAt: 1_000_000_000)
        let model = try CameraFile.named(name)
        let test = CaptureUnderTest(simulating: model, by: clock)
        // The smallest that has all there is.
        let whole = model.capabilities.formats.filter {
            $0.optics.isVideoHDRSupported && !$0.optics.videoStabilizationModes.isEmpty
        }
        let format = whole.min { $0.width < $1.width }
        let tried = try await keepsItsPace(test, clock, try #require(format), rate: 10)
        let own = ConfigurationKey.allCases.filter {
            $0 != .camera && !$0.isReadOnly && (!$0.isControl || model.capabilities.control($0) != nil)
        }
        #expect(tried == Set(own))
        #expect(tried.isSuperset(of: [.videoZoomFactor, .frameRate, .videoHDREnabled, .focusMode, .exposureDuration]))
    }

    @Test("Twenty changes of any key cost a file camera no frame")
    func everyKeyOfAFileCamera() async throws {
        let clock = VirtualClock(beginningAt: 1_000_000_000)
        let file = try FileCameraTests.footage()
        let camera = try FileCamera(path: file.path)
        let format = try #require(camera.capabilities.formats.last)
        let test = CaptureUnderTest(by: clock) { () throws(BrokerError) in try FileCamera(path: file.path) }
        let tried = try await keepsItsPace(test, clock, format, rate: 5)
        #expect(tried.isSuperset(of: [.videoZoomFactor, .frameRate, .activeFormat, .videoZoomRampRate]))
        withExtendedLifetime(file) {}
    }

    @Test("A frame that would be past by the rate in force comes at once, and only one")
    func late() async throws {
        let clock = VirtualClock(beginningAt: 1_000_000_000)
        let test = CaptureUnderTest(simulating: try CameraFile.named("iphone5-back"), by: clock)
        try await test.open(1, Configuration([.activeFormat: .text("420v 192x144"), .frameRate: .number(10)]))
        let stream = try await test.stream(1)
        clock.advance(by: 100_000_000)
        _ = try stream.mark()
        clock.advance(by: 50_000_000)
        try await test.configure(1, Configuration([.frameRate: .number(25)]))
        let late = try #require(try stream.mark()).record
        #expect(late.sequence == 3 && late.timestamp == clock.now)
        for _ in 0..<2 { _ = try await test.describe() }
        #expect(try stream.next(within: .zero) == .timedOut)
    }
}

extension CameraControl {
    /// Values that it takes and that are not its usual one.
    fileprivate var others: [ConfigurationValue] {
        let values: [ConfigurationValue] =
            switch takes {
            case .flag: [.flag(true), .flag(false)]
            case .words(let words): words.map { .text($0) }
            case .range(let least, let most, _): [.number(least), .number(most)]
            case .point: [.point(x: 0.25, y: 0.25)]
            case .gains(let most): [.gains(red: most, green: 1, blue: 1)]
            }
        return values.filter { $0 != usual }
    }
}
