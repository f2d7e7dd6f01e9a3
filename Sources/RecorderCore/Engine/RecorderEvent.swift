public import ArbiterProtocol

/// What a capture says by itself. Given on one of its own threads; the receiver must not block.
public enum RecorderEvent: Hashable, Sendable {
    case recordingFinished(Recording)
    case photoCaptured(PhotoCaptured)
    case rampFinished(grant: GrantID, videoZoomFactor: Double)
    /// What of the camera's state is not as it was told last.
    case cameraStateChanged(grant: GrantID, Configuration)
    /// `ok`, `error`: as `DeviceChanged` of `Recorder1`.
    case deviceChanged(state: String, message: String)
    case runtimeError(code: String, message: String)
    /// The capture thread begins what may take as long as to open the device, and answers no `beat` before it is done. Once
    /// until it has answered the next.
    case deviceStarts
    /// Nothing was open and nothing was being written for as long as the capture was told. Given again after as long.
    case idle
    /// Clients keep more memory of earlier grants than another one may be opened beside: an order to open was not carried
    /// out, nor answered, and another process is to be asked.
    case spent

    public struct Recording: Hashable, Sendable {
        public var id: RecordingID
        public var why: RecordingEnd
        public var frames: UInt64
        /// Nanoseconds, from the first frame's capture to the end of the last one's display.
        public var duration: Int64
        public var bytes: UInt64
        /// When the last frame was captured, in nanoseconds of CLOCK_MONOTONIC; 0: there is none.
        public var lastCapture: Int64
        /// Captured while it ran, and not in the file, because encoder or disk could not keep up.
        public var framesLeftOut: UInt64
    }
}
