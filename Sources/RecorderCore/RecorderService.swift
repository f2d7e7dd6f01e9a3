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
            let reason = try reader.reason()
            capture.cut(grant, why: why, reason: reason, passesOn: member == "PassOn") { result in
                answer(result.map { [.int64($0)] })
            }
        case "WatchNode":
            let queue = try reader.fileDescriptor("queue")
            capture.watchNode(queue) { result in answer(result.map { [] }) }
        case "Beat": capture.beat { result in answer(result.map { [] }) }
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
        case "Complete":
            _ = try reader.uint64("recording")
            capture.complete(file: try reader.fileDescriptor("file")) { result in
                answer(
                    result.map {
                        [.uint64($0.frames), .int64($0.duration), .uint64($0.bytes), .int64($0.lastCapture)]
                    })
            }
        case "SetSlate":
            let grant = GrantID(try reader.uint64("grant"))
            let session = SessionID(try reader.uint64("session"))
            capture.setSlate(grant, session: session, try reader.boolean("slate")) { result in
                answer(result.map { [] })
            }
        default: try dispatchRecording(member, &reader, answer)
        }
    }

    /// A recording, and what goes into it beside the picture.
    private func dispatchRecording(
        _ member: String, _ reader: inout WireReader, _ answer: @escaping Answer
    ) throws(BrokerError) {
        let done: Capture.Reply<Void> = { result in answer(result.map { [] }) }
        switch member {
        case "StartRecording":
            let grant = GrantID(try reader.uint64("grant"))
            let recording = try reader.uint64("recording")
            let file = try reader.fileDescriptor("file")
            let options = try RecordingOptions(wire: try reader.dictionary("options"))
            capture.startRecording(grant, recording, file: file, options: options, done)
        case "StopRecording":
            let recording = try reader.uint64("recording")
            let why: RecordingEnd = try reader.word("why")
            capture.stopRecording(recording, why: why, reason: try reader.reason(), done)
        case "PauseRecording": capture.pauseRecording(try reader.uint64("recording"), done)
        case "ResumeRecording": capture.resumeRecording(try reader.uint64("recording"), done)
        case "AppendMetadata":
            let recording = try reader.uint64("recording")
            let kind = try reader.string("kind")
            let time = try reader.int64("time")
            capture.appendMetadata(recording, kind: kind, time: time, items: try reader.strings("items"), done)
        case "AttachMicrophone":
            let grant = GrantID(try reader.uint64("grant"))
            let socket = try reader.fileDescriptor("microphone")
            let format = try MicrophoneFormat(wire: try reader.dictionary("options"))
            capture.attachMicrophone(grant, socket: socket, format, done)
        case "DetachMicrophone": capture.detachMicrophone(GrantID(try reader.uint64("grant")), done)
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
                    .int64(recording.duration), .uint64(recording.bytes), .int64(recording.lastCapture),
                    .uint64(recording.framesLeftOut),
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
        case .deviceStarts: ("Starting", [])
        case .idle, .spent: nil
        }
    }
}

extension WireReader {
    /// Why a recording is taken from its session; a broker of an earlier version does not say.
    fileprivate mutating func reason() throws(BrokerError) -> RecordingReason {
        isAtEnd ? .none : try RecordingReason(wire: try dictionary("reason"))
    }
}
