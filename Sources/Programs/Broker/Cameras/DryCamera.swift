import Arbiter
import ArbiterProtocol
import Bus
import System

/// A camera without pictures, and without a recorder core: `--camera ID=none`.
///
/// Sessions run on it and are interrupted like on any other, and every order of the core is carried out at once.
/// For trying a policy where only the notices matter, and for measuring the broker by itself. Streams, photos and
/// recordings are refused or end at once, with a sentence that says why.
final class DryCamera: CameraLink {
    static let spec = "none"
    fileprivate static let sentence =
        "This camera has no pictures (--camera \(spec)); start camarbd with a simulated or a file camera for them."

    /// What a camera of a telephone calls its usual format, so that policies and configurations can be tried.
    private static let described = CameraCapabilities(
        name: "camera without pictures", position: .external, sensorWidth: 1920, sensorHeight: 1080,
        formats: [
            CameraFormat(
                pixelFormat: "420v", width: 1920, height: 1080, minFrameRate: 1, maxFrameRate: 60,
                videoMaxZoomFactor: 4,
                videoZoomFactorUpscaleThreshold: 2)
        ])

    override func open(_ granted: GrantID, _ configuration: Configuration) {
        broker.stepLater(.recorderStreaming(camera, granted, inForce: configuration))
    }

    override func cut(_ granted: GrantID, _ end: GrantEnd, passesOn: Bool) {
        broker.stepLater(.recorderCut(camera, granted))
    }

    override func kill() { broker.stepLater(.recorderGone(camera)) }

    override func configure(_ granted: GrantID, _ batch: Configuration) {
        broker.stepLater(.recorderConfigured(camera, granted, asked: batch, inForce: batch))
    }

    override func describe() { broker.loop.defer { [self] in became(Self.described) } }
    override func makeOutputs() -> CameraOutputs { DryOutputs(self) }
}

private final class DryOutputs: CameraOutputs {
    override func openStream(_ granted: GrantID, _ session: SessionID, for message: BusMessage?) {
        message?.answer(BrokerError(.deviceFault, DryCamera.sentence))
    }

    override func closeStreams(_ granted: GrantID, _ session: SessionID) {
        link.broker.stepLater(.recorderClosedStreams(link.camera, granted, session))
    }

    override func capturePhoto(
        _ granted: GrantID, _ session: SessionID, _ photo: PhotoID, _ file: ClientFile, _ options: WireDictionary
    ) {
        link.broker.stepLater(
            .photoCaptured(PhotoCaptured(photo: photo, width: 0, height: 0, bytes: 0, error: DryCamera.sentence)))
    }

    override func capturePhotoBracket(
        _ granted: GrantID, _ session: SessionID, first: PhotoID, _ files: [ClientFile], _ bracket: PhotoBracket
    ) {
        for (place, file) in files.enumerated() { capturePhoto(granted, session, first + PhotoID(place), file, [:]) }
    }

    override func startRecording(
        _ granted: GrantID, _ recording: RecordingID, _ file: ClientFile, _ options: WireDictionary
    ) {
        link.broker.stepLater(.recorderTrouble(link.camera, code: "recording-failed", message: DryCamera.sentence))
        link.broker.stepLater(.recordingFinished(recording, why: .writeError, frames: 0, duration: .zero, bytes: 0))
    }

    override func stopRecording(_ recording: RecordingID, _ why: RecordingEnd, _ reason: RecordingReason) {}
    override func setPaused(_ recording: RecordingID, _ isPaused: Bool) {}

    override func appendMetadata(
        _ recording: RecordingID, _ group: MetadataGroup, of session: SessionID, for message: BusMessage?
    ) {
        message?.answer(BrokerError(.deviceFault, DryCamera.sentence))
    }

    override func attachMicrophone(
        _ granted: GrantID, _ session: SessionID, _ microphone: ClientMicrophone, _ format: MicrophoneFormat,
        for message: BusMessage?
    ) {
        message?.answer(BrokerError(.deviceFault, DryCamera.sentence))
    }

    override func detachMicrophone(_ granted: GrantID) {}
    override func setSlate(_ granted: GrantID, _ session: SessionID, _ slate: Bool) {}
}
