import ArbiterProtocol
import CMedia
import Glibc
import RecorderCore
import Testing

/// Keys of the configuration against the kernel's controls.
@Suite(.timeLimit(.minutes(10)))
struct V4L2ControlTests {
    /// Every control that a key stands for, with limits that tell the mappings apart.
    private static func everything() -> ScriptedCamera {
        func number(_ id: UInt32, _ least: Int64, _ most: Int64, _ usual: Int64, step: Int64 = 1)
            -> camarb_video_control
        {
            ScriptedCamera.control(id, camarb_control_integer, least, most, usual: usual, step: step)
        }
        func flag(_ id: UInt32, _ usual: Int64 = 0) -> camarb_video_control {
            ScriptedCamera.control(id, camarb_control_boolean, 0, 1, usual: usual)
        }
        return ScriptedCamera(
            controls: [
                flag(camarb_cid_focus_auto, 1), number(camarb_cid_focus_absolute, 0, 250, 0, step: 5),
                ScriptedCamera.control(camarb_cid_exposure_auto, camarb_control_menu, 0, 3, usual: 3),
                number(camarb_cid_exposure_absolute, 3, 2047, 250),
                ScriptedCamera.control(camarb_cid_auto_exposure_bias, camarb_control_integer_menu, 0, 4, usual: 2),
                flag(camarb_cid_iso_sensitivity_auto, 1),
                ScriptedCamera.control(camarb_cid_iso_sensitivity, camarb_control_integer_menu, 0, 2, usual: 0),
                flag(camarb_cid_autogain, 1), number(camarb_cid_gain, 0, 255, 100),
                flag(camarb_cid_auto_white_balance, 1),
                number(camarb_cid_white_balance_temperature, 2000, 6500, 4000, step: 10),
                flag(camarb_cid_wide_dynamic_range), flag(camarb_cid_image_stabilization),
                ScriptedCamera.control(camarb_cid_flash_led_mode, camarb_control_menu, 0, 2, usual: 0),
                number(camarb_cid_flash_torch_intensity, 0, 20, 10), flag(camarb_cid_hflip), flag(camarb_cid_vflip),
                number(camarb_cid_brightness, -64, 64, 0), number(camarb_cid_sharpness, 0, 7, 3),
            ],
            menus: [
                camarb_cid_exposure_auto: [(1, 0), (3, 0)],
                camarb_cid_auto_exposure_bias: [(0, -2000), (1, -1000), (2, 0), (3, 1000), (4, 2000)],
                camarb_cid_iso_sensitivity: [(0, 100_000), (1, 200_000), (2, 400_000)],
                camarb_cid_flash_led_mode: [(0, 0), (1, 0), (2, 0)],
            ])
    }

    /// A batch, the control it sets, and the control's value then.
    private static let batches: [([ConfigurationKey: ConfigurationValue], UInt32, Int64)] = [
        ([.focusMode: .text("locked"), .lensPosition: .number(0.2)], camarb_cid_focus_absolute, 200),
        ([.exposureMode: .text("custom"), .exposureDuration: .number(0.01)], camarb_cid_exposure_absolute, 100),
        ([.exposureMode: .text("custom")], camarb_cid_exposure_auto, 1),
        ([.exposureMode: .text("continuousAuto")], camarb_cid_exposure_auto, 3),
        ([.exposureTargetBias: .number(-1)], camarb_cid_auto_exposure_bias, 1),
        ([.isoMode: .text("custom"), .iso: .number(390)], camarb_cid_iso_sensitivity, 2),
        ([.gainMode: .text("locked"), .gain: .number(7)], camarb_cid_gain, 7),
        (
            [.whiteBalanceMode: .text("locked"), .whiteBalanceTemperature: .number(5004)],
            camarb_cid_white_balance_temperature, 5000
        ),
        ([.videoHDREnabled: .flag(true)], camarb_cid_wide_dynamic_range, 1),
        ([.preferredVideoStabilizationMode: .text("standard")], camarb_cid_image_stabilization, 1),
        ([.torchMode: .text("on"), .torchLevel: .number(0.5)], camarb_cid_flash_led_mode, 2),
        ([.flashMode: .text("on")], camarb_cid_flash_led_mode, 1),
        ([.videoMirrored: .flag(true)], camarb_cid_hflip, 1),
        ([.brightness: .number(-64)], camarb_cid_brightness, -64),
    ]

    @Test("Each key reaches its control, in the control's own unit", arguments: batches.indices)
    func reaches(_ index: Int) async throws {
        let (keys, id, value) = Self.batches[index]
        let batch = Configuration(keys)
        let camera = Self.everything()
        let test = try await CaptureUnderTest.running(camera)
        let inForce = try await test.configure(1, batch)
        #expect(camera.look { $0.values[id] } == value)
        for (key, asked) in batch.ordered where key.kind == .text { #expect(inForce[key] == asked, "\(key)") }
    }

    @Test("What is in force is read back from the device, in the key's unit")
    func readsBack() async throws {
        let camera = Self.everything()
        let test = try await CaptureUnderTest.running(camera)
        let inForce = try await test.configure(
            1, Configuration([.exposureMode: .text("custom"), .exposureDuration: .number(0.02)]))
        #expect(inForce[.exposureDuration] == .number(0.02))
        #expect(inForce[.focusMode] == .text("continuousAuto"))
        #expect(inForce[.lensPosition] == .number(1), "the kernel's 0 is the farthest")
        #expect(inForce[.iso] == .number(100))
        #expect(inForce[.torchMode] == .text("off") && inForce[.flashMode] == .text("off"))
    }

    @Test("Every grant begins with the usual values, whatever was set before")
    func beginsAnew() async throws {
        let camera = Self.everything()
        let test = try await CaptureUnderTest.running(camera)
        try await test.configure(1, Configuration([.brightness: .number(50), .torchMode: .text("on")]))
        _ = try await test.cut(1)
        _ = try await test.describe()
        #expect(camera.look { $0.values[camarb_cid_brightness] } == 0)
        #expect(camera.look { $0.values[camarb_cid_flash_led_mode] } == 0, "a torch goes out with its session")
    }

    @Test("A control that the device refuses refuses the batch, and the others are as they were")
    func refusedByTheDevice() async throws {
        let camera = Self.everything()
        let test = try await CaptureUnderTest.running(camera)
        camera.fail("set control \(camarb_cid_sharpness)", EACCES)
        let refused = await refusal {
            try await test.configure(1, Configuration([.brightness: .number(9), .sharpness: .number(1)]))
        }
        #expect(refused?.kind == .unsupportedConfiguration)
        #expect(refused?.message == "Webcam refused: cannot set sharpness to 1: Permission denied. Nothing changed.")
        #expect(camera.look { $0.values[camarb_cid_brightness] } == 0)
    }

    @Test("A batch whose format the device refuses leaves the controls as they were")
    func formatRefusedByTheDevice() async throws {
        let camera = Self.everything()
        let test = try await CaptureUnderTest.running(camera)
        camera.fail("set format", EINVAL)
        let batch = Configuration([.activeFormat: .text("420v 320x240"), .brightness: .number(9)])
        // Looked at on the capture's thread: the device is started anew behind that, and its controls with it.
        let (isRefused, brightness) = await withCheckedContinuation { answered in
            test.capture.order(CaptureLoop.configure, GrantID(1), batch) { result in
                answered.resume(
                    returning: ((try? result.get()) == nil, camera.look { $0.values[camarb_cid_brightness] }))
            }
        }
        #expect(isRefused && brightness == 0)
    }

    @Test("What somebody else changes on the device is told")
    func changedOutside() async throws {
        let camera = Self.everything()
        let test = try await CaptureUnderTest.running(camera)
        camera.change {
            $0.values[camarb_cid_brightness] = 12
            $0.news = [(camarb_cid_brightness, 12)]
        }
        let message: String = try await test.event {
            if case .runtimeError("control-changed", let message, _, _) = $0 { message } else { nil }
        }
        #expect(message == "brightness was set to 12 outside the broker.")
    }
}
