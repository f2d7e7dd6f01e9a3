import ArbiterProtocol
import CLinux
import FrameStream
import Glibc
import PolicyFile
import RecorderCore
import Synchronization
import Testing

/// A file that is gone with the test.
final class TemporaryFile: Sendable {
    let path: String

    init(_ suffix: String = "") throws {
        var template = Array("/tmp/camarb-test-XXXXXX\(suffix)".utf8CString)
        let descriptor = mkstemps(&template, Int32(suffix.utf8.count))
        try #require(descriptor >= 0)
        close(descriptor)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { unlink(path) }

    func open(_ flags: Int32 = O_RDWR) throws -> Int32 {
        let descriptor = Glibc.open(path, flags | O_CLOEXEC)
        try #require(descriptor >= 0)
        return descriptor
    }

    func bytes() throws -> [UInt8] {
        let descriptor = try open(O_RDONLY)
        defer { close(descriptor) }
        var status = stat()
        fstat(descriptor, &status)
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        #expect(pread(descriptor, &bytes, bytes.count, 0) == bytes.count)
        return bytes
    }

    func write(_ bytes: some Collection<UInt8>) throws {
        let descriptor = try open(O_RDWR | O_TRUNC)
        defer { close(descriptor) }
        let all = Array(bytes)
        #expect(pwrite(descriptor, all, all.count, 0) == all.count)
    }
}

func temporaryFolder() throws -> String {
    var template = Array("/tmp/camarb-test-XXXXXX".utf8CString)
    return try #require(
        template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!).map { String(cString: $0) } })
}

/// An envelope with this file in it, as a broker passes it on; the descriptor is closed.
func envelope(_ file: Int32) throws -> Int32 {
    defer { close(file) }
    let envelope = camarb_new_envelope(file)
    try #require(envelope >= 0)
    return envelope
}

extension FileWriters {
    static var patient: FileWriters { FileWriters(patience: 60) }
}

extension RecordingFile {
    convenience init(_ file: TemporaryFile, _ plan: Plan, bytesMax: Int64? = nil) throws {
        try self.init(file: OutputFile(try envelope(file.open()), in: .patient, bytesMax: bytesMax), plan)
    }

    /// A picture for which there is room.
    func append(_ picture: [UInt8], at time: Int64, interval: Int64) throws {
        let fits = try picture.withUnsafeBytes { try appendPicture($0, at: time, interval: interval) }
        #expect(fits)
    }
}

extension PictureLayout {
    func marked(_ mark: BurntInMark, luma: UInt8 = 128) -> [UInt8] {
        var picture = [UInt8](repeating: luma, count: bytes)
        picture.withUnsafeMutableBytes { mark.draw(into: $0, layout: self) }
        return picture
    }
}

extension VideoReader {
    /// The last frame's luma, and the bytes of a row of it.
    func luma<R>(_ body: (_ luma: UnsafeRawBufferPointer, _ stride: Int) -> R) throws -> R {
        let planes = try picture().planes
        let stride = Int(planes.strides[0])
        return body(UnsafeRawBufferPointer(start: planes.data[0], count: stride * height), stride)
    }

    func mark() throws -> BurntInMark? {
        try luma { BurntInMark.read(luma: $0, width: width, height: height, stride: $1) }
    }
}

/// The frames of a file, decoded by libav: their marks and sizes, until the end or the first that is broken.
struct DecodedVideo {
    let width: Int
    let height: Int
    private(set) var marks: [BurntInMark?] = []
    var numbers: [UInt32?] { marks.map { $0?.frameNumber } }

    init(_ path: String, atMost limit: Int = .max) throws {
        let reader = try VideoReader(path: path, loops: false)
        width = reader.width
        height = reader.height
        while marks.count < limit, (try? reader.next()) != nil { marks.append(try reader.mark()) }
    }
}

/// A capture with its events, in a form that tests can await.
final class CaptureUnderTest: Sendable {
    let capture: Capture
    private let events: AsyncStream<RecorderEvent>
    private let feeder: Feeder?

    /// So patient with files that a busy machine is none that hangs.
    private static let patience: Int64 = 60

    private init(feeder: Feeder?, making capture: (@escaping @Sendable (RecorderEvent) -> Void) -> Capture) {
        let (events, continuation) = AsyncStream.makeStream(of: RecorderEvent.self)
        self.events = events
        self.feeder = feeder
        self.capture = capture { continuation.yield($0) }
    }

    /// - Parameter patience: how many times as long as usual a file is waited for.
    convenience init(
        _ camera: String = "simulated:iphone5-back", patience: Int64 = patience, faults: Set<Capture.Fault> = []
    ) throws {
        let spec = try CameraSpec(parsing: camera)
        self.init(feeder: nil, making: { Capture(spec, patience: patience, faults: faults, onEvent: $0) })
    }

    /// A camera of the test's own. It goes on for a grant that is to follow for as long as `passingLimit` says.
    convenience init(
        feeder: Feeder? = nil, passingLimit: Duration = .seconds(600), by clock: VirtualClock? = nil,
        _ makingSource: @escaping @Sendable () throws(BrokerError) -> any CameraSource
    ) {
        let clock = clock.map { CaptureClock.virtual($0) } ?? .real
        self.init(
            feeder: feeder,
            making: {
                Capture(
                    passingLimit: passingLimit, patience: CaptureUnderTest.patience, clock: clock, onEvent: $0,
                    makingSource: makingSource)
            })
    }

    convenience init(simulating model: CameraModel, by clock: VirtualClock) {
        self.init(by: clock) { () throws(BrokerError) in SimulatedCamera(model) }
    }

    /// A scripted camera behind the Video4Linux adapter.
    /// - Parameter feeding: it gives frames all the time.
    convenience init(_ camera: ScriptedCamera, feeding: Bool = true, passingLimit: Duration = .seconds(600)) {
        self.init(feeder: feeding ? Feeder(camera) : nil, passingLimit: passingLimit) { () throws(BrokerError) in
            // A machine that is busy with other tests is no device that stalls.
            try V4L2Camera(FakeVideoDevice(camera), identity: "usb-cafe:0001-1", stallTime: 600_000_000_000)
        }
    }

    static func running(_ camera: ScriptedCamera) async throws -> CaptureUnderTest {
        let test = CaptureUnderTest(camera)
        try await test.open(1, Configuration())
        return test
    }

    /// The first grant of a camera that nobody feeds, with one frame.
    static func opened(_ camera: ScriptedCamera, time: Int64? = nil) async throws -> CaptureUnderTest {
        let test = CaptureUnderTest(camera, feeding: false)
        async let first = test.open(1, Configuration())
        try await camera.until { $0.isStreaming }
        camera.push(time: time)
        _ = try await first
        return test
    }

    deinit { capture.shutDown() }

    /// The next event that `pick` wants; the others are passed over. A test's time limit bounds the wait.
    func event<T>(_ pick: (RecorderEvent) -> T?) async throws -> T {
        for await event in events {
            if let picked = pick(event) { return picked }
        }
        throw BrokerError(.failed, "No such event came.")
    }

    func deviceChanged() async throws -> (String, String) {
        try await event { if case .deviceChanged(let state, let message) = $0 { (state, message) } else { nil } }
    }

    func recordingFinished() async throws -> RecorderEvent.Recording {
        try await event { if case .recordingFinished(let recording) = $0 { recording } else { nil } }
    }

    private func wait<T: Sendable>(_ begin: (@escaping Capture.Reply<T>) -> Void) async throws -> T {
        try await withCheckedContinuation { continuation in begin { continuation.resume(returning: $0) } }.get()
    }

    func order<Value: Sendable, each Argument: Sendable>(
        _ method: @escaping @Sendable (CaptureLoop) -> (repeat each Argument) throws(BrokerError) -> Value,
        _ argument: repeat each Argument
    ) async throws -> Value {
        try await wait { capture.order(method, repeat each argument, reply: $0) }
    }

    static let small = Configuration([.activeFormat: .text("420v 640x480")])

    @discardableResult
    func open(_ grant: UInt64, _ configuration: Configuration = small) async throws -> Configuration {
        try await wait { reply in capture.post { $0.open(GrantID(grant), configuration, reply) } }
    }
    @discardableResult
    func configure(_ grant: UInt64, _ batch: Configuration) async throws -> Configuration {
        try await order(CaptureLoop.configure, GrantID(grant), batch)
    }
    func describe() async throws -> CameraCapabilities {
        try await order(CaptureLoop.describe)
    }
    func look() async throws -> String { try await order(CaptureLoop.lookNow) }
    func stream(_ grant: UInt64, session: UInt64 = 1) async throws -> FrameReceiver {
        FrameReceiver(
            adopting: try await order(CaptureLoop.openStream, GrantID(grant), SessionID(session)))
    }
    func closeStreams(_ grant: UInt64, session: UInt64) async throws {
        try await order(CaptureLoop.closeStreams, GrantID(grant), SessionID(session))
    }
    func photo(_ grant: UInt64, _ id: UInt64, _ file: Int32, session: UInt64 = 1) async throws {
        let file = try envelope(file)
        try await order(CaptureLoop.takePhotos, GrantID(grant), SessionID(session), [id], [file], nil)
    }
    func bracket(
        _ grant: UInt64, _ ids: [UInt64], _ files: [Int32], _ bracket: PhotoBracket, session: UInt64 = 1
    ) async throws {
        let files = try files.map { try envelope($0) }
        try await order(CaptureLoop.takePhotos, GrantID(grant), SessionID(session), ids, files, bracket)
    }
    func photoCaptured() async throws -> PhotoCaptured {
        try await event { if case .photoCaptured(let photo) = $0 { photo } else { nil } }
    }
    func record(
        _ grant: UInt64, _ id: UInt64, _ file: Int32, _ limits: RecordingOptions = RecordingOptions()
    ) async throws {
        let file = try envelope(file)
        try await order(CaptureLoop.startRecording, GrantID(grant), id, file, limits)
    }
    /// Opens the first grant, and records into a file until so many frames were seen on its stream.
    func recording(
        _ id: UInt64 = 1, _ options: RecordingOptions = RecordingOptions(), frames: Int
    ) async throws -> (file: TemporaryFile, stream: FrameReceiver) {
        let file = try TemporaryFile(".mkv")
        try await open(1)
        let stream = try await self.stream(1)
        try await record(1, id, try file.open(), options)
        for _ in 0..<frames { _ = try #require(try stream.mark()) }
        return (file, stream)
    }
    func stopRecording(_ id: UInt64) async throws {
        try await order(CaptureLoop.stopRecording, id, .stopped, .none)
    }
    func pause(_ id: UInt64) async throws {
        try await order(CaptureLoop.setPaused, id, true)
    }
    func resume(_ id: UInt64) async throws {
        try await order(CaptureLoop.setPaused, id, false)
    }
    func append(_ id: UInt64, _ kind: String, at time: Int64, _ items: [String]) async throws {
        try await wait { reply in
            capture.post { $0.appendMetadata(id, kind: kind, time: time, items: items, reply) }
        }
    }
    func setSlate(_ grant: UInt64, _ isOn: Bool, session: UInt64 = 1) async throws {
        try await order(CaptureLoop.setSlate, GrantID(grant), SessionID(session), isOn)
    }
    func attachMicrophone(_ grant: UInt64, _ socket: Int32) async throws {
        let socket = try envelope(socket)
        let format = MicrophoneFormat(sampleRate: 48_000, channels: 1)
        try await order(CaptureLoop.attachMicrophone, GrantID(grant), socket, format)
    }
    func cut(
        _ grant: UInt64, _ why: RecordingEnd = .interrupted, _ reason: RecordingReason = .none
    ) async throws -> Int64 {
        try await order(CaptureLoop.cut, GrantID(grant), why, reason, false)
    }
    @discardableResult
    func passOn(_ grant: UInt64) async throws -> Int64 {
        try await order(CaptureLoop.cut, GrantID(grant), .interrupted, .none, true)
    }
}

extension FrameReceiver {
    /// The next frame that is here, or comes.
    func frame(within limit: Duration = .seconds(30)) throws -> Frame { try Self.frame(try next(within: limit)) }
    /// The newest of those that are here.
    func newestFrame(within limit: Duration = .seconds(30)) throws -> Frame {
        try Self.frame(try newest(within: limit))
    }

    private static func frame(_ next: Next) throws -> Frame {
        guard case .frame(let frame) = next else { throw FrameStreamFault("no frame came: \(next)", code: 0) }
        return frame
    }

    /// Takes frames to the end of the stream, and looks at none: they may be blank by then.
    func drain() throws {
        while true {
            switch try next(within: .seconds(30)) {
            case .ended: return
            case .timedOut: throw FrameStreamFault("the stream did not end in 30 s", code: 0)
            case .frame(let frame): release(frame)
            }
        }
    }

    /// The next frame's record and mark, released again; nil at the end.
    func mark() throws -> (record: FrameRecord.Frame, mark: BurntInMark)? {
        let next = try next(within: .seconds(30))
        if next == .ended { return nil }
        let frame = try Self.frame(next)
        defer { release(frame) }
        let mark = withBytes(of: frame) { BurntInMark.read(from: $0, layout: frame.layout) }
        return (frame.record, try #require(mark))
    }
}

/// The refusal that a body ends with; nil when it works.
func refusal(_ body: () async throws -> some Any) async -> BrokerError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? BrokerError
    }
}
