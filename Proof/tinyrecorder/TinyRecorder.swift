import ArbiterProtocol
import Bus
import CLinux
import FrameStream
import Glibc
import System

/// `tinyrecorder`: a minimal recorder core, which shows that any program that speaks `Recorder1` can take camrecorder's place. One
/// thread, one format, flat grey frames; a recording is a line of text a frame.
@main enum TinyRecorder {
    static func main() {
        camarb_ignore_write_signals()
        do throws(SystemFault) {
            let loop = try EventLoop()
            let recorder = try Recorder(loop)
            exit(try withExtendedLifetime(recorder) { () throws(SystemFault) in try loop.run() })
        } catch {
            let line = "tinyrecorder: \(error)\n"
            _ = line.utf8.withContiguousStorageIfAvailable { write(2, $0.baseAddress, $0.count) }
            exit(1)
        }
    }
}

/// On the loop's thread alone, so that every order is carried out between two frames.
final class Recorder: BusConnectionDelegate {
    private let loop: EventLoop
    private var connection: BusConnection?
    private var timer: Timer?
    private let format = CameraFormat(pixelFormat: "420v", width: 128, height: 96, minFrameRate: 30, maxFrameRate: 30)
    private var newestGrant: UInt64 = 0
    private var grant: UInt64?
    private var streams: [(session: UInt64, sender: FrameSender, source: IOSource)] = []
    private var frames: UInt64 = 0
    private var lastCapture: Int64 = 0
    private var recording: (id: UInt64, file: Int32, frames: UInt64, bytes: Int, isPaused: Bool)?
    /// A grey JPEG of one block, eight by eight pixels.
    private static let photo: [UInt8] =
        [0xff, 0xd8, 0xff, 0xdb, 0, 67, 0] + Array(repeating: 16, count: 64) + [
            0xff, 0xc0, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0, 0xff, 0xc4, 0, 20, 0, 1,
        ] + Array(repeating: 0, count: 15) + [0, 0xff, 0xc4, 0, 20, 0x10, 1] + Array(repeating: 0, count: 15) + [
            0, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x3f, 0xff, 0xd9,
        ]
    private static let interval: Int64 = 33_333_333

    init(_ loop: EventLoop) throws(SystemFault) {
        self.loop = loop
        timer = try loop.addTimer { [unowned self] in self.tick() }
        connection = try BusConnection(adopting: 3, as: .server, on: loop, delegate: self, anonymous: true)
    }

    func connectionReady(_ connection: BusConnection) {}
    func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) { loop.exit(0) }

    func connection(_ connection: BusConnection, received message: BusMessage) {
        guard message.kind == .call else { return }
        do throws(BrokerError) { message.answer(try answer(message.member, try message.arguments())) } catch {
            message.answer(error)
        }
        // The message has a duplicate of a stream's descriptor.
        if passed >= 0 { close(passed) }
        passed = -1
    }
    private var passed: Int32 = -1

    private func answer(_ member: String, _ arguments: [WireValue]) throws(BrokerError) -> [WireValue] {
        var reader = WireReader(member, arguments)
        switch member {
        case "Describe":
            let capabilities = CameraCapabilities(
                name: "Tiny camera", position: .external, sensorWidth: 128, sensorHeight: 96, formats: [format])
            return [.dictionary(capabilities.wire)]
        case "Open":
            let id = try reader.uint64("grant")
            guard grant == nil, id > newestGrant else { throw BrokerError(.staleGrant, "Grant \(id) is not new.") }
            let inForce = try inForce(try reader.dictionary("configuration"))
            (grant, newestGrant, frames) = (id, id, 0)
            tick()
            return inForce
        case "Configure":
            try check(try reader.uint64("grant"))
            return try inForce(try reader.dictionary("batch"))
        case "OpenStream":
            try check(try reader.uint64("grant"))
            return [.fileDescriptor(try openStream(try reader.uint64("session")))]
        case "CloseStreams":
            try check(try reader.uint64("grant"))
            let session = try reader.uint64("session")
            closeStreams { $0 == session }
        case "CapturePhoto":
            try check(try reader.uint64("grant"))
            _ = try reader.uint64("session")
            let photo = try reader.uint64("photo")
            write(photo, into: try openEnvelope(try reader.fileDescriptor("file")))
        case "StartRecording":
            try check(try reader.uint64("grant"))
            guard recording == nil else { throw BrokerError(.alreadyRecording, "A recording runs.") }
            let id = try reader.uint64("recording")
            recording = (id, try openEnvelope(try reader.fileDescriptor("file")), 0, 0, false)
        case "PauseRecording": if try reader.uint64("recording") == recording?.id { recording?.isPaused = true }
        case "ResumeRecording": if try reader.uint64("recording") == recording?.id { recording?.isPaused = false }
        case "AttachMicrophone":
            try check(try reader.uint64("grant"))
            try giveUp(try reader.fileDescriptor("microphone"))
        case "DetachMicrophone", "SetSlate": try check(try reader.uint64("grant"))
        case "StopRecording":
            if try reader.uint64("recording") == recording?.id { finishRecording(try reader.string("why")) }
        case "Cut":
            try check(try reader.uint64("grant"))
            let why = try reader.string("why")
            grant = nil
            timer?.arm(at: nil)
            closeStreams { _ in true }
            // After the answer, as the contract has it.
            loop.defer { [self] in finishRecording(why) }
            return [.int64(lastCapture)]
        default: throw BrokerError(.unknownMethod, "A tiny recorder has no \(member).")
        }
        return []
    }

    private func write(_ photo: PhotoID, into file: Int32) {
        let count = Self.photo.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
        close(file)
        let bytes = UInt64(max(0, count))
        signal(
            "PhotoCaptured", [.uint64(photo), .uint32(8), .uint32(8), .uint64(bytes), .string(""), .dictionary([:])])
    }

    /// The file in an envelope, which is closed.
    private func openEnvelope(_ envelope: Int32) throws(BrokerError) -> Int32 {
        defer { close(envelope) }
        var mark: Int32 = -1
        let file = camarb_open_envelope(envelope, &mark)
        // Nobody completes a file of lines.
        if mark >= 0 { close(mark) }
        guard file >= 0 else { throw BrokerError(.unsuitableFile, "There is no file in the envelope.") }
        return file
    }

    /// Lines of text have no sound: the client sees at once that its microphone is closed.
    private func giveUp(_ envelope: Int32) throws(BrokerError) {
        let microphone = try openEnvelope(envelope)
        // The broker's keeper closes the last descriptor.
        _ = camarb_microphone_end(microphone)
        close(microphone)
    }

    private func check(_ id: UInt64) throws(BrokerError) {
        guard grant == id else { throw BrokerError(.staleGrant, "Grant \(id) is not open.") }
    }

    private func inForce(_ batch: WireDictionary) throws(BrokerError) -> [WireValue] {
        let only = Configuration([
            .activeFormat: .text(format.name), .frameRate: .number(30), .videoZoomFactor: .number(1),
        ])
        for (key, value) in try Configuration(wire: batch).ordered {
            guard let has = only[key], has != value else { continue }
            throw BrokerError(
                .unsupportedConfiguration,
                "\(key.rawValue) is \(value.description); it takes \(has.description). Nothing changed.")
        }
        return [.dictionary(only.wire)]
    }

    private func openStream(_ session: UInt64) throws(BrokerError) -> Int32 {
        let layout = PictureLayout(width: format.width, height: format.height, pixelFormat: format.pixelFormat)
        guard let (sender, theirs) = try? FrameSender.open(layout: layout),
            let source = try? loop.addIO(
                sender.descriptor, .readable,
                { [unowned self, unowned sender] _ in if !sender.takeReleases() { forget(sender) } })
        else { throw BrokerError(.outOfResources, "There is no room for another stream.") }
        streams.append((session, sender, source))
        passed = theirs
        return theirs
    }

    private func forget(_ sender: FrameSender) {
        for stream in streams where stream.sender === sender { stream.source.cancel() }
        streams.removeAll { $0.sender === sender }
    }

    private func closeStreams(where matches: (UInt64) -> Bool) {
        for stream in streams where matches(stream.session) {
            stream.source.cancel()
            stream.sender.close()
        }
        streams.removeAll { matches($0.session) }
    }

    private func tick() {
        lastCapture = EventLoop.now
        frames += 1
        timer?.arm(at: lastCapture + Self.interval)
        let mark = BurntInMark(captureTime: lastCapture, frameNumber: UInt32(truncatingIfNeeded: frames))
        for (_, sender, _) in streams {
            guard let index = sender.writable() else { continue }
            let memory = sender.memory(index)
            if let start = memory.baseAddress { memset(start, 128, memory.count) }
            mark.draw(into: memory, layout: sender.layout)
            sender.deliver(index, sequence: frames, timestamp: lastCapture, flags: [])
        }
        if var running = recording, !running.isPaused {
            let line = Array("frame \(frames) captured \(lastCapture)\n".utf8)
            running.bytes += line.withUnsafeBytes {
                max(0, pwrite(running.file, $0.baseAddress, $0.count, running.bytes))
            }
            running.frames += 1
            recording = running
        }
    }

    private func finishRecording(_ why: String) {
        guard let ended = recording else { return }
        recording = nil
        close(ended.file)
        let duration = Int64(ended.frames) * Self.interval
        signal(
            "RecordingFinished",
            [
                .uint64(ended.id), .string(why), .uint64(ended.frames), .int64(duration), .uint64(UInt64(ended.bytes)),
                .int64(ended.frames == 0 ? 0 : lastCapture), .uint64(0),
            ])
    }

    private func signal(_ member: String, _ arguments: [WireValue]) {
        guard let connection else { return }
        connection.signal(path: ObjectPath.recorder, interface: InterfaceName.recorder, member: member, arguments)
    }
}
