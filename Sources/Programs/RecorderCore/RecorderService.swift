public import ArbiterProtocol
import Glibc

/// `org.camarb.Recorder1` over a capture, without sockets: its owner calls `handle` for each call, which reads the arguments and
/// gives the values of the answer, and `signal` for each event.
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
        let done: Capture.Reply<Void> = { answer($0.map { [] }) }
        let inForce: Capture.Reply<Configuration> = { answer($0.map { [.dictionary($0.wire)] }) }
        switch member {
        case "Describe": capture.order(CaptureLoop.describe) { answer($0.map { [.dictionary($0.wire)] }) }
        case "Open":
            let grant = try reader.grant()
            let configuration = try Configuration(wire: try reader.dictionary("configuration"))
            capture.post { $0.open(grant, configuration, inForce) }
        case "Configure":
            let grant = try reader.grant()
            let batch = try Configuration(wire: try reader.dictionary("batch"))
            capture.order(CaptureLoop.configure, grant, batch, reply: inForce)
        case "Cut", "PassOn":
            capture.order(
                CaptureLoop.cut, try reader.grant(), try reader.word("why") as RecordingEnd, try reader.reason(),
                member == "PassOn"
            ) { answer($0.map { [.int64($0)] }) }
        case "WatchNode": capture.order(CaptureLoop.watchNode, try reader.fileDescriptor("queue"), reply: done)
        case "Beat": capture.order(CaptureLoop.beat, reply: done)
        case "Look": capture.order(CaptureLoop.lookNow) { answer($0.map { [.string($0)] }) }
        case "Resume":
            capture.order(
                CaptureLoop.resume, try reader.grant(), SessionID(try reader.uint64("sessionBefore")),
                try reader.session(), reply: inForce)
        case "Complete":
            _ = try reader.uint64("recording")
            capture.complete(file: try reader.fileDescriptor("file")) {
                answer(
                    $0.map {
                        [
                            .uint64($0.frames), .int64($0.duration), .uint64(UInt64($0.bytes)),
                            .int64($0.lastCapture ?? 0),
                        ]
                    })
            }
        case "StopRecording":
            capture.order(
                CaptureLoop.stopRecording, try reader.uint64("recording"), try reader.word("why") as RecordingEnd,
                try reader.reason(), reply: done)
        case "PauseRecording", "ResumeRecording":
            capture.order(
                CaptureLoop.setPaused, try reader.uint64("recording"), member == "PauseRecording", reply: done)
        case "AppendMetadata":
            let recording = try reader.uint64("recording")
            let (kind, time) = (try reader.string("kind"), try reader.int64("time"))
            let items = try reader.strings("items")
            capture.post { $0.appendMetadata(recording, kind: kind, time: time, items: items, done) }
        case "AttachMicrophone":
            capture.order(
                CaptureLoop.attachMicrophone, try reader.grant(), try reader.fileDescriptor("microphone"),
                try MicrophoneFormat(wire: try reader.dictionary("options")), reply: done)
        case "DetachMicrophone": capture.order(CaptureLoop.detachMicrophone, try reader.grant(), reply: done)
        default: try dispatchOutput(member, &reader, done, answer)
        }
    }

    private func dispatchOutput(
        _ member: String, _ reader: inout WireReader, _ done: @escaping Capture.Reply<Void>, _ answer: @escaping Answer
    ) throws(BrokerError) {
        switch member {
        case "OpenStream":
            capture.order(CaptureLoop.openStream, try reader.grant(), try reader.session()) {
                answer($0.map { [.fileDescriptor($0)] })
            }
        case "CloseStreams":
            capture.order(CaptureLoop.closeStreams, try reader.grant(), try reader.session(), reply: done)
        case "CapturePhoto":
            let (grant, session) = (try reader.grant(), try reader.session())
            let (photo, file) = (try reader.uint64("photo"), try reader.fileDescriptor("file"))
            try PhotoOptions.check(try reader.dictionary("options"))
            capture.order(CaptureLoop.takePhotos, grant, session, [photo], [file], nil, reply: done)
        case "CapturePhotoBracket":
            let (grant, session) = (try reader.grant(), try reader.session())
            let (photos, files) = (try reader.numbers("photos"), try reader.fileDescriptors("files"))
            let bracket = try PhotoBracket(wire: try reader.dictionary("options"), files: files.count)
            guard photos.count == files.count else {
                throw BrokerError(
                    .invalidArguments, "\(member): there are \(photos.count) photos and \(files.count) files.")
            }
            capture.order(CaptureLoop.takePhotos, grant, session, photos, files, bracket, reply: done)
        case "SetSlate":
            capture.order(
                CaptureLoop.setSlate, try reader.grant(), try reader.session(), try reader.boolean("slate"), reply: done
            )
        case "SetPicture":
            capture.order(
                CaptureLoop.setPicture, try reader.grant(), try reader.session(),
                try Configuration(wire: try reader.dictionary("picture")), reply: done)
        case "ActFor": capture.order(CaptureLoop.actFor, try reader.grant(), try reader.session(), reply: done)
        case "StartRecording":
            capture.order(
                CaptureLoop.startRecording, try reader.grant(), try reader.uint64("recording"),
                try reader.fileDescriptor("file"), try RecordingOptions(wire: try reader.dictionary("options")),
                reply: done)
        default: throw BrokerError(.unknownMethod, "\(InterfaceName.recorder) has no method \(member.quotedShort).")
        }
    }

    /// The signal for an event; `nil` for events of this process alone.
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
        case .runtimeError(let code, let message, let recording, let session):
            (
                "RuntimeError",
                [.string(code), .string(message), .uint64(recording), .uint64(session.rawValue)]
            )
        case .deviceStarts: ("Starting", [])
        case .idle, .spent: nil
        }
    }
}

extension WireReader {
    fileprivate mutating func grant() throws(BrokerError) -> GrantID { GrantID(try uint64("grant")) }
    fileprivate mutating func session() throws(BrokerError) -> SessionID { SessionID(try uint64("session")) }

    /// Why a recording is taken from its session; a broker of an earlier version sends no reason.
    fileprivate mutating func reason() throws(BrokerError) -> RecordingReason {
        isAtEnd ? .none : try RecordingReason(wire: try dictionary("reason"))
    }
}
