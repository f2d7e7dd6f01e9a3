import ArbiterProtocol
import CLinux
import CMedia
import FrameStream
import Glibc
import RecorderCore
import System

/// Cameras whose drivers or firmware give any answer.
extension FuzzTarget {
    /// The broker takes the description of the camera; the camera is used as described, or refused; every buffer is given back.
    static func videoDevice(_ input: [UInt8]) {
        let device = StrangeDevice(input)
        do throws(BrokerError) {
            let camera = try V4L2Camera(device, identity: "usb-1", stallTime: .max / 4)
            let found = camera.capabilities
            checkReadsBack(found, "A camera") { try CameraCapabilities(wire: found.wire) }
            for format in found.formats.prefix(formatsTried) {
                grant(camera, device, format)
                precondition(device.descriptor < 0, "A camera that was let go is open.")
                precondition(device.buffersMapped == 0, "\(device.buffersMapped) buffers stay mapped.")
                camera.look()
            }
        } catch { precondition(device.descriptor < 0, "A camera that was refused is open.") }
        precondition(!device.isOverlooked, "A camera was asked without end.")
    }

    private static let formatsTried = 3
    private static let framesTried = 4
    private static let pixelsMax = 320 * 240

    /// Two apps have it, one after the other, as far as the device lets them.
    private static func grant(_ camera: V4L2Camera, _ device: StrangeDevice, _ format: CameraFormat) {
        defer { camera.stop() }
        do throws(BrokerError) {
            try camera.start()
            for isNext in [false, true] {
                let wanted = device.wanted(format, camera.capabilities)
                let check = ConfigurationCheck(capabilities: camera.capabilities)
                guard let settings = check.settings(wanted) else { return }
                if isNext {
                    guard try camera.goOn(settings, zoom: settings.videoZoomFactor) else { return }
                } else {
                    try camera.set(settings)
                    try camera.select(
                        format: settings.format, zoom: settings.videoZoomFactor, frameRate: settings.frameRate)
                }
                _ = camera.controls
                let interval = settings.frameInterval
                let canBeDrawn = format.width * format.height <= pixelsMax
                let layout = PictureLayout(width: format.width, height: format.height, pixelFormat: format.pixelFormat)
                for descriptor in camera.lendBuffers(layout) ?? [] { close(descriptor) }
                var picture = [UInt8](repeating: 0, count: canBeDrawn ? layout.bytes : 0)
                for _ in 0..<framesTried {
                    _ = try camera.nextDue(after: nil, interval: interval, now: StrangeDevice.now)
                    guard try camera.takeFrame(interval: interval, now: StrangeDevice.now) != nil else { continue }
                    camera.photoIsNext()
                    if canBeDrawn {
                        let drawn = picture.withUnsafeMutableBytes { bytes in
                            Result { () throws(BrokerError) in try camera.render(into: bytes, layout: layout) }
                        }
                        try drawn.get()
                    }
                    try camera.frameIsDone()
                    while camera.takeNews() != nil {}
                }
            }
        } catch { precondition(!error.message.isEmpty, "A camera was refused without a word.") }
    }
}

private final class StrangeDevice: VideoDevice {
    /// Nanoseconds.
    static let now: Int64 = 1_000_000_000_000

    private var answers: Answers
    private var questions = 0
    /// More questions than a run has; the controls are read at each change.
    private static let questionsMax = 200_000
    private let readiness = camarb_eventfd()
    private var isOpen = false
    private var controls: [UInt32: camarb_video_control] = [:]
    private var missing: Set<UInt32> = []
    private var mapped: Set<UnsafeMutableRawPointer> = []

    /// Rows of four bytes a pixel.
    private static let usualBufferBytes = 320 * 240 * 4
    private static let bufferBytesMax = 1 << 20
    private static let buffersMax = 32
    private static let codes = [ENODEV, EBUSY, EINVAL, ENOTTY, EIO, ENOSPC, ENOMEM, EAGAIN, ERANGE]
    private static let fourccs: [StaticString] = [
        "NV12", "YU12", "YV12", "NV21", "YUYV", "UYVY", "YVYU", "BGR3", "RGB3", "MJPG", "JPEG", "BA81", "GREY", "H264",
    ]

    init(_ bytes: [UInt8]) { answers = Answers(bytes) }

    deinit {
        Glibc.close(readiness)
        for memory in mapped { memory.deallocate() }
    }

    var descriptor: Int32 { isOpen ? readiness : -1 }
    var buffersMapped: Int { mapped.count }
    var isOverlooked: Bool { questions > Self.questionsMax }

    private func ask(_ doing: String) throws(VideoFault) {
        questions += 1
        guard answers.isOnce(in: 24) else { return }
        throw VideoFault(doing, Self.codes[Int(answers.byte()) % Self.codes.count])
    }

    /// Controls inside their ranges and outside.
    func wanted(_ format: CameraFormat, _ capabilities: CameraCapabilities) -> Configuration {
        var wanted = Configuration([.activeFormat: .text(format.name)])
        if answers.isOnce(in: 2) { wanted[.videoZoomFactor] = .number(abs(Double(answers.number())) / 16) }
        if answers.isOnce(in: 4) { wanted[.frameRate] = .number(abs(Double(answers.number()))) }
        for control in capabilities.controls where answers.isOnce(in: 2) {
            switch control.takes {
            case .flag: wanted[control.key] = .flag(answers.isOnce(in: 2))
            case .words(let words): wanted[control.key] = .text(words[Int(answers.byte()) % max(1, words.count)])
            case .range: wanted[control.key] = .number(Double(answers.number()))
            // No kernel device has these.
            case .point, .gains: break
            }
        }
        return wanted
    }

    func open() throws(VideoFault) {
        try ask("open it")
        isOpen = true
    }

    func close() { isOpen = false }

    func identify() throws(VideoFault) -> (card: String, canStream: Bool) {
        try ask("ask what it is")
        let name =
            answers.isOnce(in: 4) ? String(decoding: answers.part(31).prefix { $0 != 0 }, as: UTF8.self) : "Webcam"
        return (name, !answers.isOnce(in: 32))
    }

    func fourccs() -> [UInt32] {
        questions += 1
        return (0..<Int(answers.byte() % 8)).map { _ in
            let kind = Int(answers.byte())
            guard kind < Self.fourccs.count else { return answers.word() }
            return Self.fourccs[kind].withUTF8Buffer { $0.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) } }
        }
    }

    private func side() -> UInt32 {
        let byte = answers.byte()
        return byte < 192 ? UInt32(byte) * 2 + 16 : answers.word()
    }

    func sizes(of fourcc: UInt32) -> [camarb_video_range] {
        questions += 1
        return (0..<Int(answers.byte() % 8)).map { _ in
            camarb_video_range(
                is_stepwise: answers.isOnce(in: 4) ? 1 : 0, least_width: side(), most_width: side(),
                step_width: answers.word(), least_height: side(), most_height: side(), step_height: answers.word())
        }
    }

    func intervals(of fourcc: UInt32, width: Int, height: Int) -> [camarb_video_interval] {
        questions += 1
        return (0..<Int(answers.byte() % 4)).map { _ in
            camarb_video_interval(
                is_stepwise: answers.isOnce(in: 4) ? 1 : 0, shortest_numerator: answers.word(),
                shortest_denominator: answers.word(), longest_numerator: answers.word(),
                longest_denominator: answers.word())
        }
    }

    func set(_ format: camarb_video_format, onlyTry: Bool) throws(VideoFault) -> camarb_video_format {
        try ask("set its format")
        var real = format
        real.stride = answers.isOnce(in: 8) ? answers.word() : format.width &* (answers.isOnce(in: 2) ? 4 : 1)
        real.bytes = answers.isOnce(in: 8) ? answers.word() : real.stride &* format.height &* 2
        real.full_range = answers.isOnce(in: 4) ? 1 : 0
        if answers.isOnce(in: 32) { real.width = answers.word() }
        if answers.isOnce(in: 32) { real.height = answers.word() }
        return real
    }

    func set(frameRate: Double) throws(VideoFault) -> Double {
        try ask("set its frame rate")
        return frameRate
    }

    func request(buffers: Int) throws(VideoFault) -> Int {
        try ask("get buffers")
        return answers.isOnce(in: 16) ? Int(answers.word()) : buffers
    }

    func hasBuffers() -> Bool? { answers.isOnce(in: 4) ? nil : answers.isOnce(in: 4) }

    func map(_ index: Int) throws(VideoFault) -> UnsafeMutableRawBufferPointer {
        try ask("map a buffer")
        guard index < Self.buffersMax else { throw VideoFault("look at a buffer", EINVAL) }
        // No mapping of the kernel is empty.
        let bytes = answers.isOnce(in: 8) ? max(1, Int(answers.word()) % Self.bufferBytesMax) : Self.usualBufferBytes
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 64)
        memory.initializeMemory(as: UInt8.self, repeating: answers.byte())
        if let base = memory.baseAddress { mapped.insert(base) }
        return memory
    }

    func unmap(_ memory: UnsafeMutableRawBufferPointer) {
        guard let base = memory.baseAddress else { return }
        precondition(mapped.remove(base) != nil, "A buffer was given back that was not there.")
        memory.deallocate()
    }

    func queue(_ index: Int) throws(VideoFault) { try ask("hand a buffer over") }

    func dequeue() throws(VideoFault) -> camarb_video_frame? {
        try ask("take a frame")
        guard !answers.isEmpty, !answers.isOnce(in: 3) else { return nil }
        let strange = answers.isOnce(in: 8)
        return camarb_video_frame(
            index: strange ? answers.word() : UInt32(answers.byte() % 6),
            bytes: answers.isOnce(in: 4) ? answers.word() : UInt32(Self.usualBufferBytes), sequence: answers.word(),
            is_damaged: answers.isOnce(in: 8) ? 1 : 0,
            time: answers.isOnce(in: 4) ? answers.number() : Self.now - Int64(answers.byte()) * 1_000_000)
    }

    let buffersCanOutliveTheirQueue = true
    func export(_ index: Int) throws(VideoFault) -> Int32 {
        try ask("share a buffer")
        return camarb_memfd("device", 4096)
    }
    func stream(_ on: Bool) throws(VideoFault) { try ask(on ? "start streaming" : "stop streaming") }

    func control(_ id: UInt32) -> camarb_video_control? {
        questions += 1
        if let known = controls[id] { return known }
        guard !missing.contains(id), answers.isOnce(in: 2) else {
            missing.insert(id)
            return nil
        }
        let kinds = [
            camarb_control_integer, camarb_control_boolean, camarb_control_menu, camarb_control_integer_menu,
            camarb_control_button, camarb_control_bitmask, camarb_control_other,
        ]
        let (one, other) = (answers.number(), answers.number())
        let control = camarb_video_control(
            id: id, kind: kinds[Int(answers.byte()) % kinds.count],
            least: answers.isOnce(in: 8) ? one : min(one, other), most: max(one, other),
            step: answers.isOnce(in: 4) ? answers.number() : 1, usual: answers.number(),
            is_read_only: answers.isOnce(in: 16) ? 1 : 0, is_disabled: 0, is_volatile: answers.isOnce(in: 8) ? 1 : 0)
        controls[id] = control
        return control
    }

    func menu(_ control: camarb_video_control) -> [(index: Int64, value: Int64)] {
        questions += 1
        return (0..<Int64(answers.byte() % 8)).map { ($0, answers.number()) }
    }

    /// V4L2's calls for one value have 32 bits for it.
    private func controlValue() -> Int64 { Int64(Int32(truncatingIfNeeded: answers.number())) }

    func value(of id: UInt32) throws(VideoFault) -> Int64 {
        try ask("read a control")
        return controlValue()
    }

    func set(_ id: UInt32, to value: Int64) throws(VideoFault) {
        try ask("set a control")
        // Buttons have no value.
        guard let control = controls[id], id != camarb_cid_flash_strobe, id != camarb_cid_auto_focus_start else {
            return
        }
        precondition(
            value >= control.least && value <= control.most || control.kind != camarb_control_integer,
            "A control from \(control.least) to \(control.most) was set to \(value).")
    }

    func subscribe(to id: UInt32) {}

    func news() -> (id: UInt32, value: Int64)? {
        guard !answers.isEmpty, answers.isOnce(in: 8) else { return nil }
        let known = controls.keys.sorted()
        guard !known.isEmpty else { return (answers.word(), controlValue()) }
        return (known[Int(answers.byte()) % known.count], controlValue())
    }

    private func rectangle() -> camarb_video_rectangle {
        camarb_video_rectangle(
            x: Int32(truncatingIfNeeded: answers.number()), y: Int32(truncatingIfNeeded: answers.number()),
            width: side(), height: side())
    }

    func usualCrop() -> camarb_video_rectangle? { answers.isOnce(in: 2) ? rectangle() : nil }

    func set(crop: camarb_video_rectangle) throws(VideoFault) -> camarb_video_rectangle {
        try ask("crop")
        return answers.isOnce(in: 4) ? rectangle() : crop
    }

    /// libv4lconvert is not tested here.
    func convert(
        _ bytes: UnsafeRawBufferPointer, _ format: camarb_video_format, into target: UnsafeMutableRawBufferPointer
    ) throws(VideoFault) { try ask("convert a picture") }

    func watch(in queue: Int32) throws(VideoFault) { try ask("watch it") }
    func otherHolder() -> String? { nil }
}
