/// A session by its notices: the one reduction of them.
///
///     stopped, starting ──DidStartRunning──▶ running ──DidStopRunning──▶ stopped
///     any ──WasInterrupted──▶ interrupted ──InterruptionEnded──▶ starting where it resumes, else stopped
///     any ──SessionStopped──▶ stopped
///
/// Its users keep beside it only their own: clocks, wishes, drawings. `ContractMonitor` is no user: it holds notices to
/// the events and orders they came with, and a wrong notice must not change its state.
public struct SessionView: Hashable, Sendable {
    /// From `DidStartRunning` to `DidStopRunning`.
    public private(set) var grant: GrantID?
    /// From `DidStartRunning` until a notice ends it.
    public private(set) var isRunning = false
    /// The present interruption, with the recording that it cut when it began.
    public private(set) var interruption: Interruption?
    /// An interruption is over, and the first frame is still to come.
    public private(set) var isStarting = false
    /// The standing warning.
    public private(set) var warning: InterruptionWarning?
    /// The access while it runs: the whole, until a notice changes it.
    public private(set) var access = SessionView.wholeAccess
    public private(set) var sharers: [Interrupter] = []
    /// The stop for good; `nil` once it has run or waited again.
    public private(set) var stop: SessionStop?
    /// The latest, until its file is whole.
    public private(set) var recording: Recording?
    /// Without the camera, which only the notice of a switch has.
    public private(set) var inForce: Configuration?

    public struct Recording: Hashable, Sendable {
        public var id: RecordingID
        public var isPaused = false
        /// The recording takes no more frames.
        public var isOver = false
    }

    private static let wholeAccess = AccessChange(.all, rule: "")

    public init() {}

    public func may(_ right: Access) -> Bool { isRunning && access.access.isSuperset(of: right) }
    /// The recording that takes frames, or is paused.
    public var recordingUnderWay: RecordingID? { recording.flatMap { $0.isOver ? nil : $0.id } }

    public mutating func take(_ event: SessionEvent) {
        switch event {
        case .willBeInterrupted(let told): warning = told
        case .interruptionWithdrawn: warning = nil
        case .wasInterrupted(let told):
            interruption = told
            (warning, stop, isStarting, isRunning) = (nil, nil, false, false)
            if told.recording != nil { recording?.isOver = true }
        case .interruptionChanged(var told):
            told.recording = interruption?.recording
            interruption = told
        case .interruptionEnded(let told): (interruption, isStarting) = (nil, told.willResume)
        case .didStartRunning(let now):
            (grant, isRunning, interruption, isStarting, stop) = (now, true, nil, false, nil)
            // A lesser access follows in a notice of its own.
            access = Self.wholeAccess
        case .didStopRunning: stopped()
        case .accessChanged(let told):
            access = told
            if !told.access.contains(.record) { recording?.isOver = true }
        case .sharersChanged(let now): sharers = now
        case .sessionStopped(let told):
            stopped()
            (interruption, stop) = (nil, told)
            recording?.isOver = true
        case .recordingStarted(let id): recording = Recording(id: id)
        case .recordingPaused: recording?.isPaused = true
        case .recordingResumed: recording?.isPaused = false
        case .recordingFinished(let end): if recording?.id == end.recording { recording = nil }
        case .configurationApplied(let told):
            inForce = told.inForce
            inForce?[.camera] = nil
        case .cameraStateChanged(let changed): inForce?.merge(changed)
        case .ended:
            stopped()
            interruption = nil
        case .photoCaptured, .rampFinished, .connectionsFormed, .runtimeError: break
        }
    }

    private mutating func stopped() { (grant, isRunning, warning, isStarting) = (nil, false, nil, false) }
}
