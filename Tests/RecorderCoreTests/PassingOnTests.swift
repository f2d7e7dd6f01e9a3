import ArbiterProtocol
import CLinux
import CMedia
import FrameStream
import Glibc
import RecorderCore
import Testing

/// A camera that passes from one grant to the next without being stopped in between.
@Suite(.timeLimit(.minutes(10)))
struct PassingOnTests {
    /// So fast that no frame comes too early to be shown.
    private static func camera(_ controls: [camarb_video_control] = []) -> ScriptedCamera {
        ScriptedCamera(
            formats: [camarb_fourcc_nv12: [(640, 480, 1000), (320, 240, 1000)]], controls: controls)
    }

    /// The capture of a camera that gives frames all the time, once it has passed on from its first grant.
    private func passedOn(_ camera: ScriptedCamera) async throws -> CaptureUnderTest {
        let test = try await CaptureUnderTest.running(camera)
        try await test.passOn(1)
        return test
    }

    @Test("The device goes on: what it captures meanwhile nobody gets, and the next grant's frames count from 1")
    func goesOn() async throws {
        let camera = Self.camera()
        let test = try await CaptureUnderTest.opened(camera)
        let loser = try await test.stream(1)
        camera.push(60)
        let seen = try loser.frame()
        let lastCapture = try await test.passOn(1)
        #expect(lastCapture == seen.record.timestamp)
        loser.withEveryBuffer { _, bytes in #expect(bytes.allSatisfy { $0 == 0 }) }
        #expect(try loser.next() == .ended, "the loser's stream goes on")

        for _ in 0..<20 {
            camera.push(33)
            try await camera.untilTaken()
        }
        async let second = test.open(2, Configuration([.frameRate: .number(1000)]))
        // Frames for nobody, until one is for the second grant.
        let feeder = Feeder(camera)
        _ = try await second
        feeder.stop()
        try await camera.untilTaken()
        #expect(camera.look(\.starts) == 1)
        let winner = try await test.stream(2, session: 2)
        camera.push(90)
        let won = try winner.frame()
        winner.withBytes(of: won) { #expect($0[0] == 90) }
        #expect(won.record.timestamp > lastCapture)
        loser.withEveryBuffer { _, bytes in #expect(bytes.allSatisfy { $0 == 0 }, "the loser sees the winner's frames")
        }
        #expect(try await test.cut(2) == won.record.timestamp)
        _ = try await test.describe()
        #expect(!camera.look(\.isOpen), "nobody follows")
    }

    @Test("The next grant begins with the first frame captured after its own controls are set")
    func controlsFirst() async throws {
        let camera = Self.camera([ScriptedCamera.brightness])
        let test = try await CaptureUnderTest.opened(camera)
        try await test.passOn(1)
        let before = camarb_monotonic_ns()
        async let second = test.open(2, Configuration([.brightness: .number(20)]))
        try await camera.until { $0.values[camarb_cid_brightness] == 20 }
        // They waited in the driver's buffers, and are late: captured before the brightness was set.
        for _ in 0..<5 {
            camera.push(33, time: before)
            try await camera.untilTaken()
        }
        camera.push(90)
        #expect(try await second[.brightness] == .number(20))
        let stream = try await test.stream(2)
        camera.push(91)
        let frame = try stream.frame()
        // Where an earlier one counted, either its number or its picture is another.
        #expect(frame.record.sequence == 2, "the first was the one after the brightness was set")
        stream.withBytes(of: frame) { #expect($0[0] == 91) }
        #expect(camera.look(\.starts) == 1)
    }

    @Test("What the last holder had set is set back before the next one's first frame, though the device goes on")
    func defaults() async throws {
        let camera = Self.camera([ScriptedCamera.brightness, ScriptedCamera.zoom])
        let test = CaptureUnderTest(camera)
        try await test.open(1, Configuration([.brightness: .number(20), .videoZoomFactor: .number(3)]))
        #expect(camera.look { $0.values[camarb_cid_zoom_absolute] } == 30)
        try await test.passOn(1)
        let inForce = try await test.open(2, Configuration())
        #expect(inForce[.brightness] == .number(50) && inForce[.videoZoomFactor] == .number(1))
        #expect(camera.look { $0.values } == [camarb_cid_brightness: 50, camarb_cid_zoom_absolute: 10])
        #expect(camera.look(\.starts) == 1)
    }

    @Test("What is done once for a session is done again for the next one")
    func focusesAgain() async throws {
        let focus = ScriptedCamera.control(camarb_cid_focus_auto, camarb_control_boolean, 0, 1, usual: 1)
        let once = ScriptedCamera.control(camarb_cid_auto_focus_start, camarb_control_button, 0, 0, usual: 0)
        let camera = Self.camera([focus, once])
        let test = CaptureUnderTest(camera)
        for grant in UInt64(1)...2 {
            try await test.open(grant, Configuration([.focusMode: .text("auto")]))
            try await test.passOn(grant)
            #expect(camera.look { $0.controlsSet.count { $0 == camarb_cid_auto_focus_start } } == Int(grant))
        }
        #expect(camera.look(\.starts) == 1)
    }

    @Test(
        "For another format or frame rate the device is stopped and started",
        arguments: [("420v 320x240", 1000.0), ("420v 640x480", 500.0)])
    func anotherFormat(_ size: String, _ rate: Double) async throws {
        let camera = Self.camera()
        let test = try await passedOn(camera)
        let inForce = try await test.open(2, Configuration([.activeFormat: .text(size), .frameRate: .number(rate)]))
        #expect(inForce[.activeFormat] == .text("\(size)@1000") && inForce[.frameRate] == .number(rate))
        #expect(camera.look(\.starts) == 2)
        #expect(try await test.cut(2) > 0)
    }

    @Test("Where nobody follows after all, the device stops when the time for it is over, and not before")
    func nobodyFollows() async throws {
        let camera = Self.camera()
        let test = CaptureUnderTest(camera, passingLimit: .milliseconds(500))
        try await test.open(1, Configuration())
        let begun = camarb_monotonic_ns()
        try await test.passOn(1)
        try await camera.until { !$0.isOpen && !$0.isStreaming }
        #expect(camarb_monotonic_ns() - begun >= 500_000_000)
        try await test.open(2, Configuration())
        #expect(camera.look(\.starts) == 2)
    }

    @Test("Buffers that a client has are not captured into for the next one: the device is stopped")
    func lentBuffers() async throws {
        let camera = Self.camera()
        camera.change { $0.lends = true }
        let test = try await CaptureUnderTest.running(camera)
        let lent = try await test.stream(1)
        #expect(camera.look(\.lent) > 0)
        try await test.passOn(1)
        #expect(!camera.look(\.isStreaming))
        try await test.open(2, Configuration())
        #expect(camera.look(\.starts) == 2)
        _ = lent
    }

    @Test("Buffers with the last holder's pictures are not lent to the next one, which gets copies")
    func oldBuffersAreNotLent() async throws {
        let camera = Self.camera()
        camera.change { $0.lends = true }
        let test = try await passedOn(camera)
        try await test.open(2, Configuration())
        let stream = try await test.stream(2)
        stream.withBytes(of: try stream.frame()) { #expect($0[0] == 100) }
        #expect(camera.look { ($0.starts, $0.lent) } == (1, 0))
        // With buffers of its own the device lends again.
        try await test.configure(2, Configuration([.activeFormat: .text("420v 320x240")]))
        try await test.configure(2, Configuration([.activeFormat: .text("420v 640x480")]))
        _ = try await test.stream(2)
        #expect(camera.look(\.lent) > 0)
    }

    @Test("A frame that is timed by another clock says nothing of when it was captured: then the device is stopped")
    func anotherClock() async throws {
        let camera = Self.camera()
        let test = try await CaptureUnderTest.opened(camera, time: 17)
        try await test.passOn(1)
        let feeder = Feeder(camera)
        defer { feeder.stop() }
        try await test.open(2, Configuration())
        #expect(camera.look(\.starts) == 2)
    }

    @Test("A device that fails while nobody has it is stopped, and the next grant starts it")
    func failsBetween() async throws {
        let camera = Self.camera()
        let test = try await passedOn(camera)
        camera.fail("dequeue", EIO)
        try await camera.until { !$0.isOpen }
        try await test.open(2, Configuration())
        #expect(camera.look(\.starts) == 2)
        #expect(try await test.cut(2) > 0)
    }

    @Test("A device that refuses a control while it goes on is stopped and started, and then has it")
    func refusesAControl() async throws {
        let camera = Self.camera([ScriptedCamera.brightness])
        let test = try await passedOn(camera)
        camera.fail("set control \(camarb_cid_brightness)", EBUSY)
        #expect(try await test.open(2, Configuration([.brightness: .number(20)]))[.brightness] == .number(20))
        #expect(camera.look(\.starts) == 2)
    }

    @Test(
        "A device that is unplugged, or whose privacy switch goes on, while nobody has it is stopped, and that is told",
        arguments: [false, true])
    func endsBetween(isPluggedIn: Bool) async throws {
        let camera = Self.camera([ScriptedCamera.privacy()])
        let test = try await passedOn(camera)
        camera.change {
            $0.isPluggedIn = isPluggedIn
            guard isPluggedIn else { return }
            $0.values[camarb_cid_privacy] = 1
            $0.news.append((camarb_cid_privacy, 1))
        }
        #expect(try await test.deviceChanged().0 == (isPluggedIn ? "privacy-on" : "disconnected"))
        #expect(!camera.look(\.isOpen))
        if !isPluggedIn { #expect(await refusal { try await test.open(2, Configuration()) } != nil) }
    }

    @Test("A question about the device between two grants finds it stopped")
    func looksBetween() async throws {
        let camera = Self.camera()
        let test = try await passedOn(camera)
        #expect(try await test.look() == "")
        #expect(!camera.look(\.isOpen))
        try await test.open(2, Configuration())
        try await test.passOn(2)
        #expect(try await test.describe().formats.count == 2)
        #expect(!camera.look(\.isOpen))
    }
}
