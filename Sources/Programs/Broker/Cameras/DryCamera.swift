import Arbiter
import ArbiterProtocol
import System

/// A camera without pictures, and without a recorder core: `--camera ID=none`.
///
/// Sessions run on it and are interrupted like on any other, and every order of the core is carried out at once: for trying a
/// policy by its notices, and for measuring the broker by itself. Streams, photos and recordings fail with a sentence.
final class DryCamera: CameraLink {
    static let spec = "none"
    static let sentence =
        "This camera has no pictures (--camera \(spec)); start camarbd with a simulated or a file camera for them."

    /// A telephone's usual format, so that policies and configurations can be tried.
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

    override func cut(_ granted: GrantID, _ why: RecordingEnd, _ reason: RecordingReason, passesOn: Bool) {
        broker.stepLater(.recorderCut(camera, granted))
    }

    override func kill() { broker.stepLater(.recorderGone(camera)) }

    override func configure(_ granted: GrantID, _ batch: Configuration) {
        broker.stepLater(.recorderConfigured(camera, granted, asked: batch, inForce: batch))
    }

    override func describe() { broker.loop.defer { [self] in became(Self.described) } }
}
