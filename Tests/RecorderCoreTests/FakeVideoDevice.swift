import ArbiterProtocol
import CLinux
import CMedia
import Glibc
import RecorderCore
import Synchronization
import System

/// The state of a scripted camera; tests change it while the capture uses it.
final class ScriptedCamera: Sendable {
    struct State {
        var isPluggedIn = true
        /// The other program that has its buffers.
        var holder: String?
        /// It has buffers, and not merely the node open.
        var holderStreams = true
        /// Whoever asks is told whether anybody has buffers, as by vb2; else only asking for some shows it, as with uvcvideo.
        var saysWhoHasBuffers = false
        var buffersAsked = 0
        /// Errors that calls end with, by what they do, each once, oldest first.
        var faults: [String: [Int32]] = [:]
        var frames: [camarb_video_frame] = []
        var news: [(UInt32, Int64)] = []
        var values: [UInt32: Int64] = [:]
        /// Buffers in the driver's hands.
        var queued: Set<Int> = []
        var buffers: [[UInt8]] = []
        /// Bytes of a row, as the device reports them; `nil` for the real number.
        var stride: UInt32?
        var isOpen = false
        var isStreaming = false
        var starts = 0
        var lends = false
        var lent = 0
        /// Called on the capture's thread when opening fails.
        var whenOpeningFails: (@Sendable () -> Void)?
        /// Called on the capture's thread when it takes a frame, once.
        var whenTaken: (@Sendable () -> Void)?
        /// Counts down with each opening.
        var looksLeft = 0
        var controlsSet: [UInt32] = []
    }

    let state = Mutex(State())
    let readiness = camarb_eventfd()

    typealias Formats = [UInt32: [(width: UInt32, height: UInt32, rate: UInt32)]]
    /// Sizes and rates by fourcc.
    let formats: Formats
    let controls: [camarb_video_control]
    let menus: [UInt32: [(index: Int64, value: Int64)]]

    init(
        formats: Formats = [camarb_fourcc_nv12: [(640, 480, 30), (320, 240, 30)]],
        controls: [camarb_video_control] = [], menus: [UInt32: [(index: Int64, value: Int64)]] = [:]
    ) {
        self.formats = formats
        self.controls = controls
        self.menus = menus
        state.withLock { state in
            for control in controls { state.values[control.id] = control.usual }
        }
    }

    deinit { close(readiness) }

    func change(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        _ = camarb_eventfd_signal(readiness)
    }

    /// The next frame, in the buffer that has waited longest, filled with one brightness.
    func push(
        _ luma: UInt8 = 100, damaged: Bool = false, bytes: UInt32? = nil, index: UInt32? = nil, time: Int64? = nil
    ) {
        change { state in
            guard let buffer = state.queued.min() else { return }
            state.queued.remove(buffer)
            for place in state.buffers[buffer].indices { state.buffers[buffer][place] = luma }
            state.frames.append(
                camarb_video_frame(
                    index: index ?? UInt32(buffer), bytes: bytes ?? UInt32(state.buffers[buffer].count), sequence: 0,
                    is_damaged: damaged ? 1 : 0, time: time ?? camarb_monotonic_ns()))
        }
    }

    /// One error for the next call that does this.
    func fail(_ doing: String, _ codes: Int32...) { change { $0.faults[doing, default: []] += codes } }
    func look<R: Sendable>(_ body: (State) -> R) -> R { state.withLock { body($0) } }

    /// A test's time limit bounds the wait.
    func until(_ holds: @Sendable (State) -> Bool) async throws {
        while !look(holds) { try await Task.sleep(for: .milliseconds(5)) }
    }
    /// Every frame was taken, and every buffer is with the driver again.
    func untilTaken() async throws { try await until { $0.frames.isEmpty && $0.queued.count == $0.buffers.count } }

    static let brightness = control(camarb_cid_brightness, camarb_control_integer, 0, 100, usual: 50)
    static let zoom = control(camarb_cid_zoom_absolute, camarb_control_integer, 10, 40, usual: 10)
    static func privacy(_ usual: Int64 = 0) -> camarb_video_control {
        control(camarb_cid_privacy, camarb_control_boolean, 0, 1, usual: usual)
    }

    static func control(
        _ id: UInt32, _ kind: camarb_video_control_kind, _ least: Int64, _ most: Int64, usual: Int64, step: Int64 = 1
    ) -> camarb_video_control {
        camarb_video_control(
            id: id, kind: kind, least: least, most: most, step: step, usual: usual, is_read_only: 0, is_disabled: 0,
            is_volatile: 0)
    }
}

/// The scripted camera as the recorder sees it. Buffers are memory of its own, copied when they are taken.
final class FakeVideoDevice: VideoDevice {
    private static let bufferBytes = 640 * 480 * 3 / 2
    private let camera: ScriptedCamera
    private var mapped: [UnsafeMutableRawBufferPointer] = []

    init(_ camera: ScriptedCamera) { self.camera = camera }

    var descriptor: Int32 { camera.look(\.isOpen) ? camera.readiness : -1 }

    private func ask(_ doing: String) throws(VideoFault) {
        let code = camera.state.withLock { state -> Int32? in
            if !state.isPluggedIn { return ENODEV }
            guard state.faults[doing]?.isEmpty == false else { return nil }
            return state.faults[doing]?.removeFirst()
        }
        if let code { throw VideoFault(doing, code) }
    }

    func open() throws(VideoFault) {
        do throws(VideoFault) { try ask("open") } catch {
            camera.look(\.whenOpeningFails)?()
            throw error
        }
        camera.change {
            $0.isOpen = true
            $0.looksLeft -= 1
        }
    }

    func close() {
        camera.change {
            $0.isOpen = false
            $0.isStreaming = false
            $0.queued = []
        }
    }

    func identify() throws(VideoFault) -> (card: String, canStream: Bool) {
        try ask("identify")
        return ("Webcam", true)
    }

    func fourccs() -> [UInt32] { camera.formats.keys.sorted() }

    func sizes(of fourcc: UInt32) -> [camarb_video_range] {
        (camera.formats[fourcc] ?? []).map {
            camarb_video_range(
                is_stepwise: 0, least_width: $0.width, most_width: $0.width, step_width: 1, least_height: $0.height,
                most_height: $0.height, step_height: 1)
        }
    }

    func intervals(of fourcc: UInt32, width: Int, height: Int) -> [camarb_video_interval] {
        (camera.formats[fourcc] ?? []).filter { ($0.width, $0.height) == (UInt32(width), UInt32(height)) }.map {
            camarb_video_interval(
                is_stepwise: 0, shortest_numerator: 1, shortest_denominator: $0.rate, longest_numerator: 1,
                longest_denominator: $0.rate)
        }
    }

    func set(_ format: camarb_video_format, onlyTry: Bool) throws(VideoFault) -> camarb_video_format {
        if !onlyTry { try ask("set format") }
        var real = format
        real.stride = camera.look(\.stride) ?? (format.fourcc == camarb_fourcc_yuyv ? format.width * 2 : format.width)
        real.bytes = real.stride * format.height * 3 / 2
        return real
    }

    func set(frameRate: Double) throws(VideoFault) -> Double { frameRate }

    func request(buffers: Int) throws(VideoFault) -> Int {
        try ask("request")
        camera.change { $0.buffersAsked += 1 }
        if camera.look({ $0.holder != nil }) { throw VideoFault("get buffers", EBUSY) }
        camera.change {
            $0.buffers = Array(repeating: Array(repeating: 0, count: Self.bufferBytes), count: buffers)
            $0.queued = []
        }
        return buffers
    }

    func map(_ index: Int) throws(VideoFault) -> UnsafeMutableRawBufferPointer {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.bufferBytes, alignment: 64)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        mapped.append(memory)
        return memory
    }

    func unmap(_ memory: UnsafeMutableRawBufferPointer) {
        mapped.removeAll { $0.baseAddress == memory.baseAddress }
        memory.deallocate()
    }

    func queue(_ index: Int) throws(VideoFault) {
        try ask("queue")
        camera.change { $0.queued.insert(index) }
    }

    func dequeue() throws(VideoFault) -> camarb_video_frame? {
        try ask("dequeue")
        _ = camarb_eventfd_drain(camera.readiness)
        let whenTaken = camera.state.withLock { state in
            defer { if !state.frames.isEmpty { state.whenTaken = nil } }
            return state.frames.isEmpty ? nil : state.whenTaken
        }
        whenTaken?()
        let taken = camera.state.withLock { state -> (camarb_video_frame, [UInt8]?)? in
            guard !state.frames.isEmpty else { return nil }
            let frame = state.frames.removeFirst()
            let bytes = state.buffers.indices.contains(Int(frame.index)) ? state.buffers[Int(frame.index)] : nil
            return (frame, bytes)
        }
        guard let (frame, bytes) = taken else { return nil }
        if let bytes, mapped.indices.contains(Int(frame.index)) { mapped[Int(frame.index)].copyBytes(from: bytes) }
        return frame
    }

    let buffersCanOutliveTheirQueue = true
    func export(_ index: Int) throws(VideoFault) -> Int32 {
        guard camera.look(\.lends) else { throw VideoFault("share a buffer", ENOTTY) }
        camera.change { $0.lent += 1 }
        return camarb_memfd("device", UInt64(Self.bufferBytes))
    }

    func stream(_ on: Bool) throws(VideoFault) {
        try ask(on ? "stream" : "stop")
        camera.change {
            $0.isStreaming = on
            if on { $0.starts += 1 } else { $0.frames = [] }
        }
    }

    func control(_ id: UInt32) -> camarb_video_control? { camera.controls.first { $0.id == id } }
    func menu(_ control: camarb_video_control) -> [(index: Int64, value: Int64)] { camera.menus[control.id] ?? [] }

    func value(of id: UInt32) throws(VideoFault) -> Int64 {
        try ask("read control")
        return camera.look { $0.values[id] ?? 0 }
    }

    func set(_ id: UInt32, to value: Int64) throws(VideoFault) {
        try ask("set control \(id)")
        camera.change {
            $0.values[id] = value
            $0.controlsSet.append(id)
        }
    }

    func subscribe(to id: UInt32) {}

    func news() -> (id: UInt32, value: Int64)? {
        camera.state.withLock { $0.news.isEmpty ? nil : $0.news.removeFirst() }
    }

    func usualCrop() -> camarb_video_rectangle? { nil }
    func set(crop: camarb_video_rectangle) throws(VideoFault) -> camarb_video_rectangle { crop }

    func convert(
        _ bytes: UnsafeRawBufferPointer, _ format: camarb_video_format, into target: UnsafeMutableRawBufferPointer
    ) throws(VideoFault) { throw VideoFault("convert a picture", EINVAL) }

    func hasBuffers() -> Bool? { camera.look { $0.saysWhoHasBuffers ? $0.holder != nil && $0.holderStreams : nil } }
    func watch(in queue: Int32) throws(VideoFault) { throw VideoFault("watch it", EACCES) }
    func otherHolder() -> String? { camera.look(\.holder) }
}

/// Frames of a scripted camera, one in 5 ms while buffers come back: from a thread of its own, so that it goes on while
/// tests wait in theirs.
final class Feeder: Sendable {
    private final class Body: Sendable {
        let isOver = Mutex(false)
    }
    private let body = Body()

    init(_ camera: ScriptedCamera) {
        let isRunning = startThread { [body] in
            while true {
                let isOver = body.isOver.withLock { isOver in
                    if !isOver { camera.push() }
                    return isOver
                }
                if isOver { return }
                usleep(5000)
            }
        }
        precondition(isRunning)
    }

    deinit { stop() }

    func stop() { body.isOver.withLock { $0 = true } }
}
