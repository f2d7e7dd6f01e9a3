import Arbiter
package import ArbiterProtocol
import Bus
import Explain

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
            request.file = try broker.cameras.outputFile(
                try reader.fileDescriptor("file"), request.message)
            request.options = try reader.dictionary("options")
            let options = try RecordingOptions(wire: request.options)
            broker.decide(.startRecording(try request.session, options), request)
        },
        "StopRecording": deciding { .stopRecording($0) }, "PauseRecording": deciding { .pauseRecording($0) },
        "ResumeRecording": deciding { .resumeRecording($0) },
        "AppendMetadata": { (broker, request, reader) throws(BrokerError) in
            let session = try request.session
            request.group = try MetadataGroup(reading: &reader)
            request.owner = session
            broker.decide(.appendMetadata(session), request)
        },
    ]
}

/// What is true of a kind of timed metadata from a moment on, as a client said it: the recorder core judges it.
package struct MetadataGroup {
    package let kind: String
    /// Nanoseconds of CLOCK_MONOTONIC.
    package let time: Int64
    package let items: [String]

    package init(reading reader: inout WireReader) throws(BrokerError) {
        kind = try reader.string("kind")
        time = try reader.int64("time")
        items = try reader.strings("items")
        guard kind.utf8.count <= ClientBound.textBytesMax else {
            throw BrokerError(
                .invalidValue, "kind is \(kind.quotedShort); it takes a kind that the recording declared.")
        }
        guard bytes <= ClientBound.metadataBytesMax else {
            throw BrokerError(
                .limitExceeded,
                "The group of \(kind.quotedShort) has \(bytes) bytes; one may have \(ClientBound.metadataBytesMax).")
        }
    }

    var bytes: Int { items.reduce(0) { $0 + $1.utf8.count } }

    /// What they take in a message, at most: each has its length before it, a zero behind it, and begins at a multiple of 4.
    package var messageBytes: Int { bytes + 8 * items.count }
}
