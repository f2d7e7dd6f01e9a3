import ArbiterProtocol
import CMedia
import FrameStream
import Glibc
import RecorderCore
import Synchronization
import Testing

/// The Video4Linux adapter against a scripted device: what real ones do wrong, each by itself.
@Suite(.timeLimit(.minutes(10)))
struct V4L2CameraTests {
    @Test("A grant's first frame answers its opening, and its cut leaves the device closed")
    func opensAndCloses() async throws {
        let camera = ScriptedCamera()
        let test = CaptureUnderTest(camera)
        #expect(!camera.look(\.isOpen))
        let inForce = try await test.open(1)
        #expect(inForce[.activeFormat] == .text("420v 640x480@30"))
        let stream = try await test.stream(1)
        let frame = try stream.frame()
        stream.withBytes(of: frame) {
            #expect($0[0] == 100 && $0[640 * 479] == 100, "the picture is the camera's, unmarked")
        }
        #expect(try await test.cut(1) >= frame.record.timestamp)
        #expect(!camera.look(\.isStreaming), "it streams beyond the answer")
        _ = try await test.describe()
        #expect(!camera.look(\.isOpen))
        stream.withEveryBuffer { _, bytes in #expect(bytes.allSatisfy { $0 == 0 }) }
    }

    @Test("Sizes, ranges and steps that no camera has are left out, and the rest of what a driver names is used")
    func namesWhatCannotBe() throws {
        let huge: Int64 = 1 << 60
        let camera = ScriptedCamera(
            formats: [camarb_fourcc_nv12: [(640, 480, 30), (100_000, 100_000, 30)]],
            controls: [
                ScriptedCamera.control(camarb_cid_brightness, camarb_control_integer, 0, 100, usual: 500, step: 0),
                ScriptedCamera.control(camarb_cid_gain, camarb_control_integer, 5, 15, usual: 5, step: .max),
                ScriptedCamera.control(camarb_cid_contrast, camarb_control_integer, .min, .max, usual: 0),
                ScriptedCamera.control(camarb_cid_hue, camarb_control_integer_menu, 0, 1, usual: 0),
            ], menus: [camarb_cid_hue: [(0, -huge), (1, huge)]])
        let found = try V4L2Camera(FakeVideoDevice(camera), identity: "usb-1").capabilities
        #expect(found.formats.map(\.name) == ["420v 640x480@30"])
        #expect(found.controls.map(\.key) == [.gain, .brightness])
        #expect(
            found.controls.map(\.takes) == [.range(least: 5, most: 15, step: 10), .range(least: 0, most: 100, step: 1)])
        #expect(found.controls.map(\.usual) == [.number(5), .number(100)])
        #expect(try CameraCapabilities(wire: found.wire) == found)
    }

    @Test("A program that has the camera is named, what it set stays as it is, and that it let go is told")
    func heldOutside() async throws {
        let camera = ScriptedCamera(controls: [ScriptedCamera.brightness, ScriptedCamera.zoom])
        let test = CaptureUnderTest(camera)
        _ = try await test.describe()
        camera.change {
            $0.holder = "PID 77 (cheese)"
            $0.values[camarb_cid_brightness] = 80
            $0.values[camarb_cid_zoom_absolute] = 30
        }
        let refused = await refusal { try await test.open(1, Configuration([.brightness: .number(20)])) }
        #expect(refused?.message == "Webcam is held outside the broker by PID 77 (cheese).")
        #expect(try await test.deviceChanged() == ("held-outside", "PID 77 (cheese)"))
        #expect(!camera.look(\.isOpen), "nobody waits with the device open")
        // Two looks whether it is free.
        camera.change { $0.looksLeft = 2 }
        try await camera.until { $0.looksLeft <= 0 && !$0.isOpen }
        #expect(camera.look(\.controlsSet) == [])
        camera.change { $0.holder = nil }
        #expect(try await test.deviceChanged().0 == "ok")
    }

    @Test(
        "A look says that a program streams before it says which has the node open, and takes no buffers where none need be"
    )
    func looks() async throws {
        let camera = ScriptedCamera()
        camera.change {
            $0.saysWhoHasBuffers = true
            $0.holder = "PID 77 (cheese)"
        }
        let test = CaptureUnderTest(camera)
        #expect(try await test.look() == "PID 77 (cheese)")
        #expect(try await test.deviceChanged() == ("held-outside", "PID 77 (cheese)"))
        camera.change { $0.holderStreams = false }
        #expect(try await test.look() == "PID 77 (cheese)", "it has the node open, and no buffers")
        #expect(try await test.deviceChanged().0 == "ok")
        camera.change { $0.holder = nil }
        #expect(try await test.look() == "")
        #expect(camera.look(\.buffersAsked) == 0)
        #expect(!camera.look(\.isOpen))
    }

    @Test("A look while a session has the camera leaves the device alone")
    func looksAtOwn() async throws {
        let camera = ScriptedCamera()
        let test = try await CaptureUnderTest.running(camera)
        camera.change { $0.holder = "PID 77 (cheese)" }
        let asked = camera.look(\.buffersAsked)
        #expect(try await test.look() == "PID 77 (cheese)")
        #expect(camera.look(\.buffersAsked) == asked && camera.look(\.isStreaming) && camera.look(\.starts) == 1)
        #expect(try await test.cut(1) > 0)
    }

    @Test("A client that goes while a frame is handed out costs the others nothing")
    func clientGoesMeanwhile() async throws {
        // So fast that no frame comes too early to be shown.
        let camera = ScriptedCamera(formats: [camarb_fourcc_nv12: [(640, 480, 1000)]])
        let test = try await CaptureUnderTest.opened(camera)
        let leaving = Mutex<FrameReceiver?>(try await test.stream(1, session: 1))
        let staying = try await test.stream(1, session: 2)
        // After the capture has taken in its clients, and before it sends the first frame that both want.
        camera.change { $0.whenTaken = { leaving.withLock { $0 = nil } } }
        let feeder = Feeder(camera)
        defer { feeder.stop() }
        for _ in 0..<5 {
            let frame = try staying.frame()
            staying.withBytes(of: frame) { #expect($0[0] == 100 && $0[640 * 479] == 100) }
            staying.release(frame)
        }
        #expect(camera.look(\.starts) == 1, "the device went on")
    }

    @Test("A device that is unplugged while it streams says so at once, and is closed")
    func unplugged() async throws {
        let camera = ScriptedCamera()
        let test = try await CaptureUnderTest.running(camera)
        camera.change { $0.isPluggedIn = false }
        #expect(try await test.deviceChanged() == ("disconnected", "Webcam is not plugged in any more."))
        #expect(!camera.look(\.isOpen))
        _ = try await test.cut(1)
        camera.change { $0.isPluggedIn = true }
        #expect(try await test.deviceChanged().0 == "ok")
        try await test.open(2)
    }

    @Test(
        "An error of the device is survived by starting it again, and nobody is told",
        arguments: ["dequeue", "queue"])
    func restarts(_ what: String) async throws {
        let camera = ScriptedCamera()
        let test = try await CaptureUnderTest.running(camera)
        let stream = try await test.stream(1)
        // Twice: a single slip of QBUF is only repeated.
        camera.fail(what, EIO, EIO)
        try await camera.until { $0.starts >= 2 }
        for _ in 0..<5 { stream.release(try stream.frame()) }
        _ = try await test.cut(1)
    }

    @Test("Errors at the start are survived as well", arguments: ["request", "stream", "set format", "queue"])
    func startsAgain(_ what: String) async throws {
        let camera = ScriptedCamera()
        let test = CaptureUnderTest(camera)
        camera.fail(what, EINVAL, EINVAL)
        try await test.open(1)
    }

    @Test(
        "A device that cannot be started says what it cannot, after a bounded number of tries",
        arguments: [EIO, ENOSPC])
    func givesUp(_ code: Int32) async throws {
        let camera = ScriptedCamera()
        let test = CaptureUnderTest(camera, feeding: false)
        camera.fail("stream", code, code, code, code, code, code)
        let refused = await refusal { try await test.open(1) }
        #expect(refused?.kind == .deviceFault)
        #expect(camera.look { $0.faults["stream"]?.count } == 2, "four tries, one and three more")
        #expect(!camera.look(\.isOpen))
        let said = refused?.message ?? ""
        if code == EIO {
            #expect(said == "Webcam: cannot stream: Input/output error.")
            return
        }
        // The message names the bus that is full, and a way out.
        #expect(
            said.hasPrefix("Webcam: cannot stream: the USB bus has no room for its pictures beside other cameras'"),
            "\(said)")
        #expect(said.contains("a smaller format or a lower frame rate"), "\(said)")
        #expect(DeviceFault(message: said) == .noRoom)
        // A broker cuts what is longer, and would not know it any more.
        #expect(said.utf8.count <= 256)
    }

    @Test("A driver whose rows are shorter than its pictures is refused, and nothing is read beyond a buffer's end")
    func overlappingRows() async throws {
        let camera = ScriptedCamera()
        camera.change { $0.stride = 100 }
        let test = CaptureUnderTest(camera)
        let refused = await refusal { try await test.open(1) }
        #expect(refused?.kind == .deviceFault)
        #expect(refused?.message == "Webcam: cannot use its rows of 100 bytes for 640 pixels: Invalid argument.")
        #expect(!camera.look(\.isOpen))
    }

    @Test("Damaged and short frames are left out, and a number that is no buffer's is never used")
    func badFrames() async throws {
        let camera = ScriptedCamera()
        let test = CaptureUnderTest(camera, feeding: false)
        async let opened = test.open(1)
        try await camera.until { $0.isStreaming }
        camera.push(10, damaged: true)
        camera.push(20, bytes: 0)
        camera.push(30, bytes: 1000)
        camera.push(40, bytes: 640 * 480 * 3)
        camera.push(100)
        _ = try await opened
        #expect(camera.look { $0.queued.count } == 6, "every buffer is with the driver again")
        camera.push(index: 4_000_000_000)
        try await camera.until { $0.starts >= 2 }
        #expect(try await test.cut(1) > 0)
    }

    @Test("The privacy switch is told when it is switched, when it is switched back, and where it is on from the first")
    func privacy() async throws {
        let hidden = CaptureUnderTest(ScriptedCamera(controls: [ScriptedCamera.privacy(1)]))
        _ = try await hidden.describe()
        #expect(try await hidden.deviceChanged().0 == "privacy-on")
        let camera = ScriptedCamera(controls: [ScriptedCamera.privacy()])
        let test = try await CaptureUnderTest.running(camera)
        camera.change {
            $0.values[camarb_cid_privacy] = 1
            $0.news = [(camarb_cid_privacy, 1)]
        }
        #expect(try await test.deviceChanged().0 == "privacy-on")
        _ = try await test.cut(1)
        camera.change { $0.values[camarb_cid_privacy] = 0 }
        #expect(try await test.deviceChanged().0 == "privacy-off")
    }

    @Test("The default is the largest up to HD that moves like film, and compression only pays where it is faster")
    func formats() async throws {
        let camera = ScriptedCamera(formats: [
            camarb_fourcc_yuyv: [(1920, 1080, 5), (1280, 720, 10), (640, 480, 30)],
            camarb_fourcc_mjpg: [(1920, 1080, 30), (1280, 720, 30), (640, 480, 30), (641, 481, 30)],
        ])
        let found = try await CaptureUnderTest(camera).describe()
        #expect(
            found.formats.map(\.name) == [
                "420v 1280x720@30", "420v 1920x1080@5", "420v 1920x1080@30", "420v 1280x720@10", "420v 640x480@30",
            ])
        #expect(found.name == "Webcam" && found.position == .external && found.controls.isEmpty)
        let refused = await refusal { _ = try await CaptureUnderTest(ScriptedCamera(formats: [:])).describe() }
        #expect(refused?.kind == .unknownCamera)
        #expect(refused?.message == "usb-cafe:0001-1 gives pictures in no format that can be read.")
    }

    @Test("A camera that the firmware places is at the front or at the back", arguments: [0, 1, 2])
    func position(_ orientation: Int64) async throws {
        let camera = ScriptedCamera(controls: [
            ScriptedCamera.control(camarb_cid_camera_orientation, camarb_control_menu, 0, 2, usual: orientation)
        ])
        let found = try await CaptureUnderTest(camera).describe()
        #expect(found.position == [.front, .back, .external][Int(orientation)])
    }

    @Test("A batch that comes while the device is started again is in force when it runs")
    func configuredInBetween() async throws {
        let camera = ScriptedCamera(controls: [
            ScriptedCamera.control(camarb_cid_hue, camarb_control_integer, -10, 10, usual: 0)
        ])
        let test = try await CaptureUnderTest.running(camera)
        // The batch is there before the next try, so it meets the device closed.
        let (answers, continuation) = AsyncStream.makeStream(of: Result<Configuration, BrokerError>.self)
        camera.change {
            $0.whenOpeningFails = {
                let batch = Configuration([.hue: .number(7)])
                test.capture.order(CaptureLoop.configure, GrantID(1), batch) { continuation.yield($0) }
            }
        }
        camera.fail("open", EIO)
        camera.fail("dequeue", EIO)
        for await answer in answers {
            #expect(try answer.get()[.hue] == .number(7))
            break
        }
        try await camera.until { $0.starts >= 2 }
        #expect(camera.look { $0.values[camarb_cid_hue] } == 7)
    }
}
