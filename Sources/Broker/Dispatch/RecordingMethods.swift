import Arbiter
import ArbiterProtocol
import Bus

/// What a session says of its recording, and of what goes into it beside the pictures.
extension MethodTables {
    static let recordingMethods: [String: Handler] = [
        "AttachMicrophone": { (broker, request, reader) throws(BrokerError) in
            let session = try request.session
            request.microphone = try ClientMicrophone(
                adopting: try reader.fileDescriptor("microphone"), of: request.message)
            let format = try MicrophoneFormat(wire: try reader.dictionary("options"))
            // Once it is decided it is attached: a call that cannot be made is refused before.
            if let camera = broker.arbiter.status(of: session)?.camera {
                try broker.cameras[camera]?.outputs.requireRoom(for: session)
            }
            broker.decide(.attachMicrophone(session, format), request)
        },
        "StartRecording": { (broker, request, reader) throws(BrokerError) in
            request.file = try broker.cameras.outputFile(&reader, request.message)
            request.options = try reader.dictionary("options")
            let options = try RecordingOptions(wire: request.options)
            broker.decide(.startRecording(try request.session, options), request)
        },
        "StopRecording": { (broker, request, reader) throws(BrokerError) in
            broker.decide(.stopRecording(try request.session), request)
        },
        "PauseRecording": { (broker, request, reader) throws(BrokerError) in
            broker.decide(.pauseRecording(try request.session), request)
        },
        "ResumeRecording": { (broker, request, reader) throws(BrokerError) in
            broker.decide(.resumeRecording(try request.session), request)
        },
        "AppendMetadata": { (broker, request, reader) throws(BrokerError) in
            let session = try request.session
            request.group = try MetadataGroup(reading: &reader)
            request.owner = session
            broker.decide(.appendMetadata(session), request)
        },
    ]
}
