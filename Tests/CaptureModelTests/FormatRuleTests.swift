import ArbiterProtocol
import CameraFile
import CaptureModel
import Testing

/// Rules that hang on the format, camera by camera, as literals.
@Suite("What hangs on the format")
struct FormatRuleTests {
    private func check(_ camera: String) throws -> ConfigurationCheck {
        try ConfigurationCheck(capabilities: CameraFile.named(camera).capabilities)
    }

    private func names(_ camera: String, _ isMeant: (CameraFormat) -> Bool) throws -> Set<String> {
        Set(
            try CameraFile.named(camera).formats.map(\.format).filter { isMeant($0) && $0.pixelFormat == "420v" }.map {
                String($0.name.dropFirst("420v ".count))
            })
    }

    static let phones = [
        "iphone5-back", "iphone6-back", "iphone6plus-back", "iphone6-front", "iphone6plus-front", "iphone6s-back",
        "iphone6splus-back", "iphone6s-front", "iphone6splus-front",
    ]

    // MARK: Frames

    @Test("A named format runs at its highest rate", arguments: phones)
    func highestRate(_ camera: String) throws {
        let check = try check(camera)
        for format in check.capabilities.formats {
            let settings = check.settings(Configuration([.activeFormat: .text(format.name)]))
            #expect(settings?.frameRate == format.maxFrameRate)
            #expect(settings?.minFrameDuration == settings?.maxFrameDuration)
        }
    }

    @Test("120 frames a second is the 240 format with 1/120", arguments: ["iphone6-back", "iphone6s-back"])
    func slowed(_ camera: String) throws {
        let check = try check(camera)
        let batch = Configuration([
            .activeFormat: .text("420v 1280x720@240 binned"), .activeVideoMinFrameDuration: .number(1.0 / 120),
        ])
        #expect(check.problem(batch, over: Configuration()) == nil)
        #expect(check.settings(batch)?.frameRate == 120)
        #expect(check.settings(batch)?.maxFrameDuration == 1.0 / 120)
    }

    @Test("frameRate sets both frame durations, and either may be set alone")
    func durations() throws {
        let check = try check("iphone6s-back")
        let rate = Configuration([.frameRate: .number(24)])
        let both = check.settings(rate)
        #expect(both?.minFrameDuration == 1.0 / 24 && both?.maxFrameDuration == 1.0 / 24)
        let longer = check.merged(Configuration([.activeVideoMaxFrameDuration: .number(0.1)]), into: rate)
        #expect(check.settings(longer)?.minFrameDuration == 1.0 / 24)
        #expect(check.settings(longer)?.maxFrameDuration == 0.1)
        #expect(
            check.problem(Configuration([.activeVideoMinFrameDuration: .number(0.2)]), over: longer)
                == "activeVideoMinFrameDuration 1/5 is above activeVideoMaxFrameDuration 1/10; give both with the least first."
        )
        #expect(
            check.problem(Configuration([.activeVideoMinFrameDuration: .number(1.0 / 31)]), over: Configuration())
                == "activeVideoMinFrameDuration 1/31 is outside 1/30–1/3 s, the range of 420v 1280x720@30.")
    }

    // MARK: Focus

    @Test(
        "The 6's and the 6s's backs see where the focus lies, but for 720p240, which looks for it",
        arguments: ["iphone6-back", "iphone6plus-back", "iphone6s-back", "iphone6splus-back"])
    func phase(_ camera: String) throws {
        #expect(try names(camera) { $0.optics.autoFocusSystem == .contrast } == ["1280x720@240 binned"])
        #expect(try names(camera) { $0.optics.autoFocusSystem == .none } == [])
    }

    @Test("The 5 looks for its focus in every format, and fronts have none", arguments: phones)
    func otherFocus(_ camera: String) throws {
        let all = try names(camera) { _ in true }
        if camera == "iphone5-back" { #expect(try names(camera) { $0.optics.autoFocusSystem == .contrast } == all) }
        guard camera.hasSuffix("-front") else { return }
        #expect(try names(camera) { $0.optics.autoFocusSystem == .none } == all)
        #expect(
            try check(camera).problem(Configuration([.focusMode: .text("locked")]), over: Configuration())?.hasPrefix(
                "focusMode is locked; ") == true)
    }

    // MARK: Stabilization

    @Test("Only 16:9 stabilizes; cinematic is for 720p and 1080p, 30 and 60", arguments: phones)
    func stabilization(_ camera: String) throws {
        let cinematic: Set =
            camera.hasPrefix("iphone5") || camera.hasSuffix("front")
            ? [] : ["1280x720@30", "1280x720@60", "1920x1080@30", "1920x1080@60"]
        let listed = try names(camera) { $0.optics.videoStabilizationModes.contains(.cinematic) }
        // The iPhone 6 had no 720p60 of its own (720p240 is its fast one).
        #expect(listed == (camera.hasPrefix("iphone6s") ? cinematic : cinematic.subtracting(["1280x720@60"])))
        #expect(try names(camera) { !$0.optics.videoStabilizationModes.isEmpty } == names(camera) { $0.isWidescreen })
    }

    @Test("activeVideoStabilizationMode says what is in force")
    func active() throws {
        let check = try check("iphone6s-back")
        func active(_ format: String, _ mode: String) -> ConfigurationValue? {
            let first = check.merged(
                Configuration([.preferredVideoStabilizationMode: .text(mode)]), into: Configuration())
            let wanted = check.merged(Configuration([.activeFormat: .text(format)]), into: first)
            return check.settings(wanted)?.configuration[.activeVideoStabilizationMode]
        }
        #expect(active("420v 1920x1080@60", "auto") == .text("cinematic"))
        #expect(active("420v 1920x1080@120 binned", "auto") == .text("standard"))
        #expect(active("420v 1920x1080@120 binned", "cinematic") == .text("off"))
        #expect(active("420v 640x480@30", "auto") == .text("off"))
        #expect(active("420v 1280x720@30", "standard") == .text("standard"))
        #expect(active("420v 1280x720@30", "off") == .text("off"))
        #expect(
            check.problem(
                Configuration([
                    .activeFormat: .text("420f 4032x3024"), .preferredVideoStabilizationMode: .text("cinematic"),
                ]), over: Configuration())
                == "preferredVideoStabilizationMode is cinematic; activeFormat 420f 4032x3024@30 takes off, auto.")
        #expect(
            check.problem(Configuration([.activeVideoStabilizationMode: .text("standard")]), over: Configuration())
                == "activeVideoStabilizationMode is said by the camera; it cannot be set.")
    }

    // MARK: Video HDR

    @Test(
        "Video HDR: on the 6 at 540p30, 720p30, 1080p30 and 1080p60, and in all formats of its front", arguments: phones
    )
    func hdr(_ camera: String) throws {
        let has = try names(camera) { $0.optics.isVideoHDRSupported }
        switch camera {
        case "iphone6-back", "iphone6plus-back":
            #expect(has == ["960x540@30", "1280x720@30", "1920x1080@30", "1920x1080@60"])
        case "iphone6-front", "iphone6plus-front": #expect(try has == names(camera) { _ in true })
        case "iphone5-back", "iphone6s-front", "iphone6splus-front": #expect(has == [])
        default: #expect(has.isSuperset(of: ["1280x720@30", "1920x1080@30"]))
        }
    }

    @Test("While the camera chooses, a preset turns video HDR on where it has it, and a named format turns it off")
    func automaticHDR() throws {
        let check = try check("iphone6-back")
        func isOn(_ batches: Configuration...) -> Bool? {
            var wanted = Configuration()
            for batch in batches { wanted = check.merged(batch, into: wanted) }
            return check.settings(wanted)?.isVideoHDREnabled
        }
        let high = Configuration([.sessionPreset: .text("high")])
        let named = Configuration([.activeFormat: .text("420v 1920x1080@60")])
        #expect(isOn(high) == true)
        #expect(isOn(Configuration([.sessionPreset: .text("photo")])) == false)
        #expect(isOn(high, named) == false)
        #expect(isOn(named, high) == true)
        #expect(
            check.problem(Configuration([.videoHDREnabled: .flag(true)]), over: high)
                == "videoHDREnabled is true while automaticallyAdjustsVideoHDREnabled is true; "
                + "set automaticallyAdjustsVideoHDREnabled to false with it.")
    }

    @Test("Video HDR that was asked for stays over a change of formats, where the next one has it")
    func keptHDR() throws {
        let check = try check("iphone6-back")
        let own = Configuration([.automaticallyAdjustsVideoHDREnabled: .flag(false), .videoHDREnabled: .flag(true)])
        var wanted = check.merged(Configuration([.activeFormat: .text("420v 1920x1080@60")]), into: own)
        #expect(check.settings(wanted)?.isVideoHDREnabled == true)
        wanted = check.merged(Configuration([.activeFormat: .text("420v 640x480@30")]), into: wanted)
        #expect(check.settings(wanted)?.isVideoHDREnabled == false)
        #expect(
            check.problem(Configuration([.videoHDREnabled: .flag(true)]), over: wanted)
                == "videoHDREnabled is true; activeFormat 420v 640x480@30 has no video HDR.")
        wanted = check.merged(Configuration([.automaticallyAdjustsVideoHDREnabled: .flag(true)]), into: wanted)
        #expect(wanted[.videoHDREnabled] == nil)
    }

    // MARK: Exposure and lamps

    @Test("Exposure is inside the format's ranges, and no longer than a frame lasts")
    func exposure() throws {
        let check = try check("iphone6s-back")
        func problem(_ seconds: Double, _ iso: Double, _ more: Configuration = Configuration()) -> String? {
            var batch = Configuration([
                .exposureMode: .text("custom"), .exposureDuration: .number(seconds), .iso: .number(iso),
            ])
            batch.merge(more)
            return check.problem(batch, over: Configuration())
        }
        #expect(problem(1.0 / 60, 1472) == nil)
        #expect(problem(1.0 / 60, 22) == "iso is 22; iPhone 6s back camera takes 23 to 1472.")
        #expect(
            problem(0.25, 100)
                == "exposureDuration is 1/4 while activeVideoMaxFrameDuration is 1/30; a frame cannot be exposed for longer than it lasts."
        )
        #expect(problem(0.25, 100, Configuration([.activeVideoMaxFrameDuration: .number(0.25)])) == nil)
        let fast = Configuration([
            .activeFormat: .text("420v 1280x720@240 binned"), .activeVideoMaxFrameDuration: .number(1.0 / 6),
        ])
        #expect(problem(0.16, 100, fast) == nil)
        #expect(
            problem(0.3, 100, fast)
                == "exposureDuration is 0.3; activeFormat 420v 1280x720@240 binned takes 0.000013 to 0.166666 s.")
    }

    @Test("What is in force is exposed inside its frame, also where nobody said for how long")
    func usualExposure() throws {
        let check = try check("iphone6-back")
        let wanted = Configuration([
            .activeFormat: .text("420v 1280x720@240 binned"), .exposureMode: .text("custom"),
        ])
        #expect(check.problem(wanted, over: Configuration()) == nil)
        #expect(check.settings(wanted)?.value(.exposureDuration) == .number(1.0 / 240))
    }

    @Test("Torch and flash are never on together, and fronts have no torch")
    func lamps() throws {
        let back = try check("iphone6s-back")
        let torch = Configuration([.torchMode: .text("on"), .torchLevel: .number(0.5)])
        #expect(back.problem(torch, over: Configuration()) == nil)
        #expect(
            back.problem(Configuration([.flashMode: .text("auto")]), over: torch)
                == "torchMode is on and flashMode is auto; only one of them can be other than off.")
        #expect(back.problem(Configuration([.flashMode: .text("off")]), over: torch) == nil)
        #expect(
            back.problem(Configuration([.torchLevel: .number(0.5)]), over: Configuration())
                == "torchLevel is 0.5 while torchMode is off; set torchMode to on with it.")
        for front in Self.phones where front.hasSuffix("front") {
            let problem = try check(front).problem(torch, over: Configuration())
            #expect(problem?.hasPrefix("torchLevel is 0.5; iPhone 6") == true, "\(problem ?? "taken")")
            let isLit = front.hasPrefix("iphone6s")
            let flash = try check(front).problem(Configuration([.flashMode: .text("on")]), over: Configuration())
            #expect((flash == nil) == isLit)
        }
    }
    // MARK: The wire

    @Test("What is in force goes over the wire and back", arguments: phones + ["uvc-webcam"])
    func wire(_ camera: String) throws {
        let check = try check(camera)
        for preset in check.sessionPresets {
            let settings = try #require(check.settings(Configuration([.sessionPreset: .text(preset.rawValue)])))
            #expect(try Configuration(wire: settings.configuration.wire) == settings.configuration)
        }
    }
}
