import ArbiterProtocol
import CameraFile
import CaptureModel
import Testing

/// Literals, and not what the files say of themselves.
@Suite("What a preset picks")
struct PresetTests {
    /// A camera's name, and the format and rate of each preset in the order of their declaration; "" where there is none.
    static let table: [(camera: String, picks: [String])] = [
        (
            "iphone5-back",
            [
                "420f 3264x2448@20 at 20", "420v 1920x1080@30 at 30", "420v 480x360@30 binned at 30",
                "420v 192x144@30 binned at 30", "420v 352x288@30 binned at 30", "420v 640x480@30 binned at 30",
                "420v 1280x720@30 at 30", "420v 1920x1080@30 at 30", "", "420v 960x540@30 at 30",
                "420v 1280x720@30 at 30", "420v 1280x720@30 at 30",
            ]
        ),
        (
            "iphone6-back",
            [
                "420f 3264x2448@30 at 30", "420v 1920x1080@30 at 30", "420v 480x360@30 at 30", "420v 192x144@30 at 30",
                "420v 352x288@30 at 30", "420v 640x480@30 at 30", "420v 1280x720@30 at 30", "420v 1920x1080@30 at 30",
                "", "420v 960x540@30 at 30", "420v 1280x720@30 at 30", "420v 1280x720@30 at 30",
            ]
        ),
        (
            "iphone6-front",
            [
                "420f 1280x960@60 at 30", "420v 1280x720@30 at 30", "420v 480x360@60 at 30", "420v 192x144@60 at 30",
                "420v 352x288@60 at 30", "420v 640x480@60 at 30", "420v 1280x720@30 at 30", "", "",
                "420v 960x540@30 at 30", "420v 1280x720@30 at 30", "420v 1280x720@30 at 30",
            ]
        ),
        (
            "iphone6s-back",
            [
                "420f 4032x3024@30 at 30", "420v 1920x1080@30 at 30", "420v 480x360@30 at 30", "420v 192x144@30 at 30",
                "420v 352x288@30 at 30", "420v 640x480@30 at 30", "420v 1280x720@30 at 30", "420v 1920x1080@30 at 30",
                "420v 3840x2160@30 at 30", "420v 960x540@30 at 30", "420v 1280x720@30 at 30", "420v 1280x720@30 at 30",
            ]
        ),
        (
            "uvc-webcam",
            [
                "420f 640x480@30 at 30", "420v 1920x1080@30 at 30", "420v 480x360@30 at 30", "420v 192x144@30 at 30",
                "420v 352x288@30 at 30", "420v 640x480@30 at 30", "420v 1280x720@30 at 30", "420v 1920x1080@30 at 30",
                "", "", "420v 1280x720@30 at 30", "420v 1280x720@30 at 30",
            ]
        ),
    ]
    static let twins = [
        "iphone6-back": "iphone6plus-back", "iphone6-front": "iphone6plus-front", "iphone6s-back": "iphone6splus-back",
    ]

    private func picks(_ camera: String) throws -> [String] {
        let check = try ConfigurationCheck(capabilities: CameraFile.named(camera).capabilities)
        return SessionPreset.allCases.map { preset in
            let batch = Configuration([.sessionPreset: .text(preset.rawValue)])
            guard check.problem(batch, over: Configuration()) == nil, let settings = check.settings(batch) else {
                return ""
            }
            return "\(settings.format.name) at \(settings.frameRate.shortDescription)"
        }
    }

    @Test("Each of the twelve presets picks its format on each camera, and none reaches 60", arguments: table)
    func formats(_ camera: String, _ picks: [String]) throws {
        #expect(SessionPreset.allCases.count == 12)
        #expect(try self.picks(camera) == picks)
        if let twin = Self.twins[camera] { #expect(try self.picks(twin) == picks) }
    }

    @Test("The 6s's fronts pick what the 6's do")
    func fronts() throws {
        let picks = try #require(Self.table.first { $0.camera == "iphone6-front" }).picks
        for camera in ["iphone6s-front", "iphone6splus-front"] { #expect(try self.picks(camera) == picks) }
    }

    @Test("A preset that the camera has no format for is refused, and hears those that it has")
    func refused() throws {
        let check = try ConfigurationCheck(capabilities: CameraFile.named("uvc-webcam").capabilities)
        #expect(
            check.problem(Configuration([.sessionPreset: .text("3840x2160")]), over: Configuration())
                == "sessionPreset is 3840x2160, for which UVC webcam 1080p has no format; it has photo, high, medium, low, "
                + "352x288, 640x480, 1280x720, 1920x1080, iFrame1280x720, inputPriority.")
        #expect(
            check.problem(Configuration([.sessionPreset: .text("best")]), over: Configuration())?.hasPrefix(
                "sessionPreset \"best\" is not one of \"photo\", \"high\"") == true)
    }

    @Test("A format ends a preset, and a preset a format; the two together are refused")
    func precedence() throws {
        let check = try ConfigurationCheck(capabilities: CameraFile.named("iphone6s-back").capabilities)
        var wanted = check.merged(Configuration([.sessionPreset: .text("high")]), into: Configuration())
        #expect(check.settings(wanted)?.sessionPreset == .high)
        let fast = Configuration([.activeFormat: .text("420v 1920x1080@120 binned")])
        #expect(check.problem(fast, over: wanted) == nil)
        wanted = check.merged(fast, into: wanted)
        #expect(check.settings(wanted)?.sessionPreset == .inputPriority)
        #expect(check.settings(wanted)?.frameRate == 120)
        wanted = check.merged(Configuration([.sessionPreset: .text("photo")]), into: wanted)
        #expect(check.settings(wanted)?.format.name == "420f 4032x3024@30")
        let both = Configuration([.sessionPreset: .text("high"), .activeFormat: .text("420v 1280x720")])
        #expect(
            check.problem(both, over: wanted)
                == "sessionPreset is high beside an activeFormat; a preset chooses the format, so give one of the two.")
        let named = Configuration([.sessionPreset: .text("inputPriority"), .activeFormat: .text("420v 1280x720")])
        #expect(check.problem(named, over: wanted) == nil)
    }

    @Test("inputPriority keeps the format that the preset chose, with its rate and its longest frame")
    func inputPriority() throws {
        let check = try ConfigurationCheck(capabilities: CameraFile.named("iphone6-front").capabilities)
        let photo = Configuration([.sessionPreset: .text("photo")])
        let alone = Configuration([.sessionPreset: .text("inputPriority")])
        var wanted = check.merged(alone, into: photo)
        #expect(check.settings(wanted)?.format.name == "420f 1280x960@60")
        #expect(check.settings(wanted)?.frameRate == 30)
        wanted = check.merged(Configuration([.activeVideoMaxFrameDuration: .number(0.1)]), into: photo)
        wanted = check.merged(alone, into: wanted)
        #expect(check.settings(wanted)?.frameRate == 30)
        #expect(check.settings(wanted)?.maxFrameDuration == 0.1)
        #expect(check.problem(Configuration([.frameRate: .number(60)]), over: wanted) == nil)
        #expect(check.problem(Configuration([.frameRate: .number(60)]), over: photo) != nil)
    }
}
