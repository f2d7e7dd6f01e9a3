public import ArbiterProtocol
import Glibc

/// `org.camarb.Recorder1` over a capture: reads the arguments of calls, gives the values of answers and signals.
///
/// It knows nothing of sockets: its owner calls `handle` for each call, and `signal` for each event.
public final class RecorderService: Sendable {
    private let capture: Capture

    public init(_ capture: Capture) { self.capture = capture }

    public typealias Answer = @Sendable (Result<[WireValue], BrokerError>) -> Void

    /// Carries out one call. The answer comes on a thread of the capture's, or on this one before the return.
    /// - Parameters:
    ///   - arguments: descriptors among them are the service's from here on.
    ///   - answer: a descriptor among its values is the receiver's to close once it is sent.
    public func handle(_ member: String, _ arguments: [WireValue], _ answer: @escaping Answer) {
        do throws(BrokerError) {
            try dispatch(member, arguments, answer)
        } catch {
            for descriptor in arguments.flatMap(\.fileDescriptors) { close(descriptor) }
            answer(.failure(error))
        }
    }

    private func dispatch(_ member: String, _ arguments: [WireValue], _ answer: @escaping Answer) throws(BrokerError) {
        var reader = WireReader(member, arguments)
        switch member {
        case "Describe":
            capture.describe { result in answer(result.map { [.dictionary($0.wire)] }) }
        case "Open":
            let grant = GrantID(try reader.uint64("grant"))
            let configuration = try Configuration(wire: try reader.dictionary("configuration"))
            capture.open(grant, configuration) { result in answer(result.map { [.dictionary($0.wire)] }) }
        case "Configure":
            let grant = GrantID(try reader.uint64("grant"))
            let batch = try Configuration(wire: try reader.dictionary("batch"))
            capture.configure(grant, batch) { result in answer(result.map { [.dictionary($0.wire)] }) }
        case "Cut", "PassOn":
            let grant = GrantID(try reader.uint64("grant"))
            let why: RecordingEnd = try reader.word("why")
            capture.cut(grant, why: why, passesOn: member == "PassOn") { result in
                answer(result.map { [.int64($0)] })
            }
        case "WatchNode":
            let queue = try reader.fileDescriptor("queue")
            capture.watchNode(queue) { result in answer(result.map { [] }) }
        case "Look": capture.look { result in answer(result.map { [.string($0)] }) }
        case "Resume":
            let grant = GrantID(try reader.uint64("grant"))
            let before = SessionID(try reader.uint64("sessionBefore"))
            let session = SessionID(try reader.uint64("session"))
            capture.resume(grant, from: before, to: session) { result in answer(result.map { [.dictionary($0.wire)] }) }
        default: try dispatchOutput(member, &reader, answer)
        }
    }

    /// Streams, photos and recordings.
    private func dispatchOutput(
        _ member: String, _ reader: inout WireReader, _ answer: @escaping Answer
    ) throws(BrokerError) {
        switch member {
        case "OpenStream":
            let grant = GrantID(try reader.uint64("grant"))
            let session = SessionID(try reader.uint64("session"))
            capture.openStream(grant, session: session) { result in answer(result.map { [.fileDescriptor($0)] }) }
        case "CloseStreams":
            let grant = GrantID(try reader.uint64("grant"))
            let session = SessionID(try reader.uint64("session"))
            capture.closeStreams(grant, session: session) { result in answer(result.map { [] }) }
        case "CapturePhoto":
            let grant = GrantID(try reader.uint64("grant"))
            let session = SessionID(try reader.uint64("session"))
            let photo = try reader.uint64("photo")
            let file = try reader.fileDescriptor("file")
            try PhotoOptions.check(try reader.dictionary("options"))
            capture.capturePhoto(grant, session: session, photo, file: file) { result in answer(result.map { [] }) }
        case "CapturePhotoBracket":
            let grant = GrantID(try reader.uint64("grant"))
            let session = SessionID(try reader.uint64("session"))
            let photos = try reader.numbers("photos")
            let files = try reader.fileDescriptors("files")
            let bracket = try PhotoBracket(wire: try reader.dictionary("options"), files: files.count)
            guard photos.count == files.count else {
                throw BrokerError(
                    .invalidArguments, "\(member): there are \(photos.count) photos and \(files.count) files.")
            }
            capture.capturePhotoBracket(grant, session: session, photos, files: files, bracket) { result in
                answer(result.map { [] })
            }
        case "StartRecording":
            let grant = GrantID(try reader.uint64("grant"))
            let recording = try reader.uint64("recording")
            let file = try reader.fileDescriptor("file")
            let limits = try RecordingLimits(wire: try reader.dictionary("options"))
            capture.startRecording(grant, recording, file: file, limits: limits) { result in
                answer(result.map { [] })
            }
        case "StopRecording":
            let recording = try reader.uint64("recording")
            let why: RecordingEnd = try reader.word("why")
            capture.stopRecording(recording, why: why) { result in answer(result.map { [] }) }
        case "Complete":
            _ = try reader.uint64("recording")
            capture.complete(file: try reader.fileDescriptor("file")) { result in
                answer(result.map { [.uint64($0.frames), .int64($0.duration), .uint64($0.bytes)] })
            }
        default:
            throw BrokerError(.unknownMethod, "\(InterfaceName.recorder) has no method \(member.quotedShort).")
        }
    }

    /// The signal that tells an event; nil for one that is this process's own affair.
    public static func signal(_ event: RecorderEvent) -> (member: String, arguments: [WireValue])? {
        switch event {
        case .recordingFinished(let recording):
            (
                "RecordingFinished",
                [
                    .uint64(recording.id), .string(recording.why.rawValue), .uint64(recording.frames),
                    .int64(recording.duration), .uint64(recording.bytes),
                ]
            )
        case .photoCaptured(let photo):
            (
                "PhotoCaptured",
                [
                    .uint64(photo.photo), .uint32(photo.width), .uint32(photo.height), .uint64(photo.bytes),
                    .string(photo.error ?? ""), .dictionary(photo.metadata?.wire ?? WireDictionary()),
                ]
            )
        case .rampFinished(let grant, let zoom): ("RampFinished", [.uint64(grant.rawValue), .double(zoom)])
        case .cameraStateChanged(let grant, let state):
            ("CameraStateChanged", [.uint64(grant.rawValue), .dictionary(state.wire)])
        case .deviceChanged(let state, let message): ("DeviceChanged", [.string(state), .string(message)])
        case .runtimeError(let code, let message): ("RuntimeError", [.string(code), .string(message)])
        case .idle, .spent: nil
        }
    }
}
