import ArbiterProtocol
import FrameStream
import Glibc

/// What a grant has while it is open. The capture thread's alone.
struct OpenGrant {
    let id: GrantID
    var settings: CaptureSettings
    /// What the camera says of itself, on its way out.
    var telling = StateTelling()
    /// That the source is too slow, on its way out.
    var slowness = SlownessTelling()
    var pipelineRebuilds = 0
    var layout: PictureLayout
    var ramp: ZoomRamp?
    /// The zoom the last frame was taken at: on a ramp it is not yet the one in the settings.
    var zoom: Double
    var framesCaptured: UInt64 = 0
    /// Nanoseconds of CLOCK_MONOTONIC; 0 before the first frame.
    var lastCapture: Int64 = 0
    /// When the next frame is due, or, of a device that says itself when, too late; nil while the device is in fault.
    var due: Int64?
    var previousDue: Int64?
    var restartAt: Int64?
    var failure: BrokerError?
    var opening: Capture.Reply<Configuration>?
    var streams: [Stream] = []
    let memory: StreamMemory
    /// The session that got the device's own buffers, and which these were.
    var lent: Lent?
    var slated: Set<SessionID> = []
    var photos: [PendingPhoto] = []
    var recording: RecordingUnderWay?
    var microphone: Microphone?
    var configurationChanged = false
    var restarts = 0

    struct Stream {
        var session: SessionID
        var sender: FrameSender
    }

    struct Lent {
        var session: SessionID
        var begun: Int
    }

    struct PendingPhoto {
        var id: PhotoID
        var session: SessionID
        var file: Int32
        /// Of a bracket; nil: a photo of its own.
        var shot: PhotoBracket.Shot?
    }

    init(id: GrantID, settings: CaptureSettings, memory: StreamMemory) {
        (self.id, self.settings, self.memory) = (id, settings, memory)
        layout = Self.layout(settings.format)
        zoom = settings.videoZoomFactor
    }

    static func layout(_ format: CameraFormat) -> PictureLayout {
        PictureLayout(width: format.width, height: format.height, pixelFormat: format.pixelFormat)
    }
}

/// A zoom on its way: it grows or shrinks exponentially, so that every moment looks equally fast.
package struct ZoomRamp: Hashable {
    var from, to: Double
    /// Doublings a second, above 0.
    var rate: Double
    /// Nanoseconds of CLOCK_MONOTONIC.
    var began: Int64

    package init(from: Double, to: Double, rate: Double, began: Int64) {
        (self.from, self.to, self.rate, self.began) = (from, to, rate, began)
    }

    package func factor(at now: Int64) -> (factor: Double, hasArrived: Bool) {
        let seconds = Double(max(0, now - began)) / 1e9
        let grown = from * exp2((to >= from ? rate : -rate) * seconds)
        let hasArrived = to >= from ? grown >= to : grown <= to
        return (hasArrived ? to : grown, hasArrived)
    }
}
