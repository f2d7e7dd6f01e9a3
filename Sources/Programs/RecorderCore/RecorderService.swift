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
    /// - Parameter arguments: descriptors among them are the service's from here on.
    /// - Parameter answer: a descriptor among its values is the receiver's to close once it is sent.
    public func handle(_ member: String, _ arguments: [WireValue], _ answer: @escaping Answer) {
        do throws(BrokerError) { try dispatch(member, arguments, answer) } catch {
            for descriptor in arguments.flatMap(\.fileDescriptors) { close(descriptor) }
            answer(.failure(error))
        }
    }

    private func dispatch(_ member: String, _ arguments: [WireValue], _ answer: @escaping Answer) throws(BrokerError) {
        var reader = WireReader(member, arguments)
        let done: Capture.Reply<Void> = { result in answer(result.map { [] }) }
        let inForce: Capture.Reply<Configuration> = { result in answer(result.map { [.dictionary($0.wire)] }) }
        switch member {
        case "Describe": capture.describe { result in answer(result.map { [.dictionary($0.wire)] }) }
        case "Open":
            capture.open(
                try reader.grant(), try Configuration(wire: try reader.dictionary("configuration")), inForce)
        case "Configure":
            capture.configure(try reader.grant(), try Configuration(wire: try reader.dictionary("batch")), inForce)
        case "Cut", "PassOn":
            capture.cut(
                try reader.grant(), why: try reader.word("why"), reason: try reader.reason(),
                passesOn: member == "PassOn"
            ) { result in answer(result.map { [.int64($0)] }) }
        case "WatchNode": capture.watchNode(try reader.fileDescriptor("queue"), done)
        case "Beat": capture.beat(done)
        case "Look": capture.look { result in answer(result.map { [.string($0)] }) }
        case "Resume":
            capture.resume(
                try reader.grant(), from: SessionID(try reader.uint64("sessionBefore")), to: try reader.session(),
                inForce)
        case "Complete":
            _ = try reader.uint64("recording")
            capture.complete(file: try reader.fileDescriptor("file")) { result in
                answer(
                    result.map { [.uint64($0.frames), .int64($0.duration), .uint64($0.bytes), .int64($0.lastCapture)] })
            }
        case "StopRecording":
            capture.stopRecording(
                try reader.uint64("recording"), why: try reader.word("why"), reason: try reader.reason(), done)
        case "PauseRecording": capture.pauseRecording(try reader.uint64("recording"), done)
        case "ResumeRecording": capture.resumeRecording(try reader.uint64("recording"), done)
        case "AppendMetadata":
            capture.appendMetadata(
                try reader.uint64("recording"), kind: try reader.string("kind"), time: try reader.int64("time"),
                items: try reader.strings("items"), done)
        case "AttachMicrophone":
            capture.attachMicrophone(
                try reader.grant(), socket: try reader.fileDescriptor("microphone"),
                try MicrophoneFormat(wire: try reader.dictionary("options")), done)
        case "DetachMicrophone": capture.detachMicrophone(try reader.grant(), done)
        default: try dispatchOutput(member, &reader, done, answer)
        }
    }

    /// Streams, photos, and the beginning of recordings.
    private func dispatchOutput(
        _ member: String, _ reader: inout WireReader, _ done: @escaping Capture.Reply<Void>, _ answer: @escaping Answer
    ) throws(BrokerError) {
        switch member {
        case "OpenStream":
            capture.openStream(try reader.grant(), session: try reader.session()) { result in
                answer(result.map { [.fileDescriptor($0)] })
            }
        case "CloseStreams": capture.closeStreams(try reader.grant(), session: try reader.session(), done)
        case "CapturePhoto":
            let grant = try reader.grant()
            let session = try reader.session()
            let photo = try reader.uint64("photo")
            let file = try reader.fileDescriptor("file")
            try PhotoOptions.check(try reader.dictionary("options"))
            capture.capturePhoto(grant, session: session, photo, file: file, done)
        case "CapturePhotoBracket":
            let grant = try reader.grant()
            let session = try reader.session()
            let photos = try reader.numbers("photos")
            let files = try reader.fileDescriptors("files")
            let bracket = try PhotoBracket(wire: try reader.dictionary("options"), files: files.count)
            guard photos.count == files.count else {
                throw BrokerError(
                    .invalidArguments, "\(member): there are \(photos.count) photos and \(files.count) files.")
            }
            capture.capturePhotoBracket(grant, session: session, photos, files: files, bracket, done)
        case "SetSlate":
            capture.setSlate(
                try reader.grant(), session: try reader.session(), try reader.boolean("slate"), done)
        case "StartRecording":
            capture.startRecording(
                try reader.grant(), try reader.uint64("recording"), file: try reader.fileDescriptor("file"),
                options: try RecordingOptions(wire: try reader.dictionary("options")), done)
        default: throw BrokerError(.unknownMethod, "\(InterfaceName.recorder) has no method \(member.quotedShort).")
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
    fileprivate mutating func grant() throws(BrokerError) -> GrantID { GrantID(try uint64("grant")) }
    fileprivate mutating func session() throws(BrokerError) -> SessionID { SessionID(try uint64("session")) }

    /// Why a recording is taken from its session; a broker of an earlier version does not say.
    fileprivate mutating func reason() throws(BrokerError) -> RecordingReason {
        isAtEnd ? .none : try RecordingReason(wire: try dictionary("reason"))
    }
}
