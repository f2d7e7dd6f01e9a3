import ArbiterProtocol
import FrameStream
import RecorderCore
import Testing

/// The automatic controls of a simulated camera, in a time that the test gives.
@Suite struct SimulatedControlsTests {
    /// 30 frames a second, as many as asked for, from a time on.
    private static func frames(_ count: Int, from begin: Int64 = 0) -> [Int64] {
        (0..<count).map { begin + Int64($0) * interval }
    }
    private static let interval: Int64 = 33_333_333

    // MARK: Focus

    private func settings(
        _ system: CameraFormat.AutoFocusSystem, _ mode: String = "continuousAuto", at lensPosition: Double? = nil
    ) -> FocusSettings {
        var settings = FocusSettings()
        (settings.system, settings.mode, settings.lensPosition) = (system, mode, lensPosition)
        return settings
    }

    @Test func aFocusByContrastScansToAndFroForHalfASecondAndEndsLockedAtTheSharpPlace() {
        var focus = Automatic<FocusSettings>()
        let locked = settings(.contrast, "locked", at: 0.25)
        #expect(!focus.advance(to: 0, locked) && focus.lensPosition == 0.25 && !focus.isScanning)
        let auto = settings(.contrast, "auto")
        var places: [Double] = []
        let ended = Self.frames(30, from: 1_000_000_000).first { now in
            if focus.advance(to: now, auto) { return true }
            #expect(focus.isScanning)
            places.append(focus.lensPosition)
            return false
        }
        #expect(ended == 1_000_000_000 + 15 * 33_333_333 || ended == 1_000_000_000 + 16 * 33_333_333)
        #expect(!focus.isScanning && abs(focus.lensPosition - auto.target) < 0.001)
        #expect(places.contains { $0 > auto.target + 0.1 } && places.contains { $0 < auto.target })
        // It has locked, and follows nothing any more.
        var other = settings(.contrast, "locked")
        other.pointY = 1
        #expect(!focus.advance(to: 3_000_000_000, other) && !focus.isScanning)
        #expect(abs(focus.lensPosition - auto.target) < 0.001)
    }

    @Test func aFocusByPhaseGoesThereOverSomeFramesAndIsNeverAdjusting() {
        var focus = Automatic<FocusSettings>()
        _ = focus.advance(to: 0, settings(.phase))
        let begin = focus.lensPosition
        var there = settings(.phase)
        there.pointY = 1
        var places: Set<Double> = []
        for now in Self.frames(12, from: 1) {
            #expect(!focus.advance(to: now, there) && !focus.isScanning)
            places.insert(focus.lensPosition)
        }
        #expect(places.count > 3 && places.allSatisfy { $0 <= begin && $0 >= there.target - 0.001 })
        #expect(abs(focus.lensPosition - there.target) < 0.001)
    }

    @Test func aContinuousFocusFollowsPointZoomAndFormatAndBeginsSettled() {
        var focus = Automatic<FocusSettings>()
        var now = settings(.contrast)
        var time: Int64 = 0
        let changes: [(scans: Bool, change: (inout FocusSettings) -> Void)] = [
            (false, { _ in }), (true, { $0.zoom = 2 }), (true, { $0.pointX = 0.1 }),
            (true, { $0.format = "420v 640x480@30" }), (false, { _ in }), (false, { $0.isSmooth = true }),
        ]
        for (scans, change) in changes {
            change(&now)
            time += 1_000_000
            _ = focus.advance(to: time, now)
            #expect(focus.isScanning == scans)
            time += 2_000_000_000
            _ = focus.advance(to: time, now)
            #expect(!focus.isScanning)
        }
    }

    @Test func aSmoothFocusTakesLonger() {
        for system in [CameraFormat.AutoFocusSystem.contrast, .phase] {
            var times: [Int64] = []
            for isSmooth in [false, true] {
                var focus = Automatic<FocusSettings>()
                var auto = settings(system, "auto")
                auto.isSmooth = isSmooth
                times.append(Self.frames(60).first { focus.advance(to: $0, auto) } ?? 0)
            }
            #expect(times[0] > 0 && times[1] >= times[0] + 300_000_000)
        }
    }

    @Test func aLockedLensGoesWhereItIsToldAndOtherwiseStays() {
        var focus = Automatic<FocusSettings>()
        _ = focus.advance(to: 0, settings(.phase))
        let sharp = focus.lensPosition
        _ = focus.advance(to: 1, settings(.phase, "locked"))
        #expect(focus.lensPosition == sharp)
        _ = focus.advance(to: 2, settings(.phase, "locked", at: 0.5))
        #expect(focus.lensPosition == 0.5)
        focus.begin()
        _ = focus.advance(to: 3, settings(.phase))
        #expect(focus.lensPosition == sharp)
    }

    // MARK: Exposure and white balance

    private static let isos = CameraFormat.Optics.Range(least: 29, most: 1856)
    private static let durations = CameraFormat.Optics.Range(least: 0.000013, most: 0.5)

    private func settings(_ mode: String, bias: Double = 0) -> ExposureSettings {
        var settings = ExposureSettings()
        (settings.mode, settings.bias) = (mode, bias)
        (settings.durations, settings.isos) = (Self.durations, Self.isos)
        return settings
    }

    @Test func anExposureThatIsAutomaticOnceAdjustsForAShortTimeAndEndsLocked() {
        var program = Automatic<ExposureSettings>()
        _ = program.advance(to: 0, settings("continuousAuto"))
        #expect(!program.isAdjusting && abs(program.gain - 1) < 1e-9)
        let ended = Self.frames(30).first { program.advance(to: $0, settings("auto", bias: 1)) }
        #expect(ended == 8 * Self.interval)
        #expect(!program.isAdjusting && abs(program.gain - 2) < 1e-6)
        #expect(!program.advance(to: 2_000_000_000, settings("locked", bias: -1)) && abs(program.gain - 2) < 1e-6)
    }

    @Test func aContinuousExposureFollowsBiasPointAndTorch() {
        var program = Automatic<ExposureSettings>()
        var now = settings("continuousAuto")
        _ = program.advance(to: 0, now)
        let changes: [(inout ExposureSettings) -> Void] = [
            { $0.bias = -1 }, { $0.pointX = 0.2 }, { $0.light = 1.5 },
        ]
        var time: Int64 = 1
        for change in changes {
            change(&now)
            _ = program.advance(to: time, now)
            #expect(program.isAdjusting)
            time += 1_000_000_000
            _ = program.advance(to: time, now)
            #expect(!program.isAdjusting && abs(program.gain - 0.5) < 1e-6)
        }
    }

    @Test func anExposureByHandCountsAtOnceAndALockedOneShowsTheTorch() {
        var program = Automatic<ExposureSettings>()
        var custom = settings("custom")
        (custom.duration, custom.iso) = (1.0 / 30, 200)
        #expect(!program.advance(to: 0, custom) && !program.isAdjusting && abs(program.gain - 4) < 1e-9)
        var locked = settings("locked")
        locked.light = 1.5
        #expect(!program.advance(to: 1, locked) && abs(program.gain - 6) < 1e-9)
    }

    @Test func anAutomaticExposureKeepsToTheFrameAndToTheFormat() {
        var fast = settings("continuousAuto")
        fast.frameDuration = 1.0 / 240
        let right = fast.target
        #expect(right.duration == 1.0 / 240 && abs(right.iso - 400) < 1e-6)
        let bright = settings("continuousAuto", bias: -4).target
        #expect(bright.iso == Self.isos.least && bright.duration < ExposureSettings.ordinary.duration)
        let dark = settings("continuousAuto", bias: 8).target
        #expect(dark.iso == Self.isos.most && dark.duration == 1.0 / 30)
    }

    @Test func aWhiteBalanceThatIsAutomaticOnceEndsLockedAndNeutral() {
        var balance = Automatic<WhiteBalanceSettings>()
        let warm = SIMD3(2.0, 1, 1)
        #expect(!balance.advance(to: 0, WhiteBalanceSettings(mode: "locked", gains: warm)) && balance.value == warm)
        let ended = Self.frames(30).first { balance.advance(to: $0, WhiteBalanceSettings(mode: "auto")) }
        #expect(ended == 8 * Self.interval && balance.value == .one && !balance.isAdjusting)
    }

    // MARK: Pictures

    private static let layout = PictureLayout(width: 4, height: 2, pixelFormat: "420v")
    private static var ramp: [UInt8] { picture([16, 90, 160, 235], layout) }

    /// Four levels from left to right.
    private static func picture(_ levels: [UInt8], _ layout: PictureLayout) -> [UInt8] {
        var picture = [UInt8](repeating: 128, count: layout.bytes)
        for row in 0..<2 { for (x, level) in levels.enumerated() { picture[row * layout.stride + x] = level } }
        return picture
    }

    private func luma(_ change: (inout PictureLook) -> Void) -> [UInt8] {
        var look = PictureLook()
        change(&look)
        return Array(look.applied(to: Self.ramp, Self.layout)[..<4])
    }

    @Test func moreLightBrightensThePictureAndIsClamped() {
        #expect(PictureLook().isPlain)
        let bright = luma { $0.gain = 2 }
        #expect(bright[0] == 16 && bright[1] > 100 && bright[2] > 180 && bright[3] == 235)
        let dark = luma { $0.gain = 0.5 }
        #expect(dark[0] == 16 && dark[1] < 90 && dark[3] < 200)
    }

    @Test func videoHDRShowsLessContrastAndMirroringExchangesLeftAndRight() {
        let flat = luma { $0.isHDR = true }
        #expect(flat[0] > 16 && flat[3] < 235 && flat == flat.sorted())
        #expect(luma { $0.isMirrored = true } == [235, 160, 90, 16])
    }

    @Test func whiteBalanceGainsTintThePictureAsFarAsItsRangeGoes() {
        var look = PictureLook()
        look.gains = SIMD3(2.0, 1, 1)
        let seen = look.applied(to: Self.ramp, Self.layout)
        let (blue, red) = (seen[Self.layout.lumaBytes + 2], seen[Self.layout.lumaBytes + 3])
        #expect(red > 150 && blue < 120 && Array(seen[..<4]) == Array(Self.ramp[..<4]))
        // Blue goes beyond video's range, and red nearly as far.
        let full = PictureLayout(width: 4, height: 2, pixelFormat: "420f")
        (look.gain, look.gains) = (2, SIMD3(4, 1, 0.1))
        let strong = look.applied(to: Self.picture([0, 86, 168, 255], full), full)
        #expect(strong[full.lumaBytes + 2] < 16 && strong[full.lumaBytes + 3] > 240)
        #expect(look.applied(to: Self.ramp, Self.layout)[Self.layout.lumaBytes + 2] >= 16)
    }

    @Test func cinematicStabilizationDelaysPicturesByFifteenFramesWithTheirOwnTimes() {
        var pipeline = FramePipeline()
        pipeline.delay = FramePipeline.delay(of: .cinematic)
        let times = Self.frames(20)
        let delivered = times.map { pipeline.take(at: $0, interval: Self.interval) }
        #expect(delivered[..<15].allSatisfy { $0 == nil } && delivered[15...].map { $0 } == times[..<5].map { $0 })
        // Off again: what nobody will see in time is passed over.
        pipeline.delay = FramePipeline.delay(of: nil)
        #expect(pipeline.take(at: 1_000_000_000, interval: Self.interval) == 1_000_000_000)
        #expect(FramePipeline.delay(of: .standard) == 1)
        #expect(FramePipeline.viewLeft(by: .cinematic) == 0.9 && FramePipeline.viewLeft(by: .standard) == 0.95)
    }

    @Test func aStabilizationLooksHalfASecondAheadAtMost() {
        var pipeline = FramePipeline()
        pipeline.delay = FramePipeline.delay(of: .cinematic)
        let delivered = (1...3).map { pipeline.take(at: $0 * 500_000_000, interval: 500_000_000) }
        #expect(delivered == [nil, 500_000_000, 1_000_000_000])
    }

    // MARK: Telling

    @Test func aStateIsToldTenTimesASecondAtMostAndTheLastOneAlways() {
        func place(_ lens: Double) -> Configuration { Configuration([.lensPosition: .number(lens)]) }
        var telling = StateTelling()
        telling.answered(Configuration([.lensPosition: .number(0), .frameRate: .number(30)]))
        telling.note(place(0))
        #expect(telling.take(at: 0) == nil)
        var told: [Configuration] = []
        for frame in 1...240 {
            telling.note(place(min(1, Double(frame) / 200)))
            if let change = telling.take(at: Int64(frame) * 4_166_667) { told.append(change) }
        }
        #expect(told.count >= 8 && told.count <= 10 && told.last == place(1))
        telling.note(place(1))
        #expect(telling.take(at: 10_000_000_000) == nil)
    }
}
