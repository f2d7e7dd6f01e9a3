/// The notices to a session's client, in order, each with a gap-free sequence number and a decision id.
///
/// The order for one handover is `docs/semantics.md` §4.
public enum SessionEvent: Hashable, Sendable {
    /// The camera goes at the deadline. The client finishes its work and answers `ready`, or lets the time run out.
    case willBeInterrupted(InterruptionWarning)
    case interruptionWithdrawn(InterruptionID)
    case wasInterrupted(Interruption)
    /// Other causes or another interrupter, the same interruption.
    case interruptionChanged(Interruption)
    case interruptionEnded(InterruptionEnd)
    /// Frames flow: open the stream. A stream belongs to one grant, so open it anew each time.
    case didStartRunning(GrantID)
    case didStopRunning
    case accessChanged(AccessChange)
    /// To the holder of a shared camera: the apps that watch it now. Sorted, each app once; may be empty.
    case sharersChanged([Interrupter])
    /// Stopped for good; `startRunning` may ask anew.
    case sessionStopped(SessionStop)
    case recordingStarted(RecordingID)
    /// The client paused it: no frame gets into the file until it is resumed.
    case recordingPaused(RecordingID)
    case recordingResumed(RecordingID)
    /// Indirect, so that the others are not as large.
    indirect case recordingFinished(RecordingFinished)
    case photoCaptured(PhotoCaptured)
    case configurationApplied(ConfigurationChange)
    case rampFinished(videoZoomFactor: Double)
    /// After a switch of cameras, which severs every connection: this camera's connections exist, and these outputs
    /// have to be opened again.
    case connectionsFormed(camera: CameraID, reopen: [SessionOutput])
    /// The part of the camera's state (`ConfigurationKey.isCameraState`) that differs from the last notice.
    case cameraStateChanged(Configuration)
    case runtimeError(code: String, message: String)
    /// The last event, always, with the error that ended the session. Its client library makes it; no broker sends it.
    case ended(BrokerError)

    /// The signal's name on the wire.
    public var wireName: String {
        switch self {
        case .willBeInterrupted: "WillBeInterrupted"
        case .interruptionWithdrawn: "InterruptionWithdrawn"
        case .wasInterrupted: "WasInterrupted"
        case .interruptionChanged: "InterruptionChanged"
        case .interruptionEnded: "InterruptionEnded"
        case .didStartRunning: "DidStartRunning"
        case .didStopRunning: "DidStopRunning"
        case .accessChanged: "AccessChanged"
        case .sharersChanged: "SharersChanged"
        case .sessionStopped: "SessionStopped"
        case .recordingStarted: "RecordingStarted"
        case .recordingPaused: "RecordingPaused"
        case .recordingResumed: "RecordingResumed"
        case .recordingFinished: "RecordingFinished"
        case .photoCaptured: "PhotoCaptured"
        case .configurationApplied: "ConfigurationApplied"
        case .rampFinished: "RampFinished"
        case .connectionsFormed: "ConnectionsFormed"
        case .cameraStateChanged: "CameraStateChanged"
        case .runtimeError: "RuntimeError"
        case .ended: "Ended"
        }
    }
}
