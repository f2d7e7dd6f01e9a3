/// A fact that reached the broker: a client's request, a change in the world, a recorder's report, or that time has
/// passed.
///
/// Ids of clients and sessions are the caller's (fresh, growing); the core gives all other ids.
public enum Event: Hashable, Sendable {
    /// A connection, with the kernel's facts about its process.
    case connected(ClientID, app: AppID, ClientIdentity)
    case declared(ClientID, ClientAttributes)
    case declaredPresence(ClientID, Presence, focused: Bool)
    case loweredPriority(ClientID, rank: String)
    /// A weaker value of an attribute, for the client's whole app and for as long as the client is connected.
    case loweredAttribute(ClientID, attribute: String, to: String)
    /// The socket ended or the process died, whichever was seen first. Repeats are harmless.
    case disconnected(ClientID)

    /// `camera` `nil`: the back one, or without one the first by its id. `reestablished`: by the client's word the
    /// session ran before the broker restarted.
    case created(SessionID, ClientID, camera: CameraID?, Configuration, reestablished: Bool)
    case startRunning(SessionID)
    /// In place of `startRunning`, after a restart of the broker: the session had a grant which a recorder core carried
    /// over. The caller has proved the ownership: the grant's number proves nothing.
    case reclaimed(SessionID, GrantID)
    case stopRunning(SessionID)
    case beginConfiguration(SessionID)
    case commitConfiguration(SessionID)
    case configure(SessionID, Configuration)
    case openStream(SessionID)
    case capturePhoto(SessionID)
    case capturePhotoBracket(SessionID, PhotoBracket)
    /// The client brings its own microphone's sound; the socket itself travels beside.
    case attachMicrophone(SessionID, MicrophoneFormat)
    indirect case startRecording(SessionID, RecordingOptions = RecordingOptions())
    case stopRecording(SessionID)
    case pauseRecording(SessionID)
    case resumeRecording(SessionID)
    /// Items for a kind of timed metadata, which travel beside: the recorder core judges them.
    case appendMetadata(SessionID)
    case ready(SessionID, InterruptionID)
    case continueAfterSensitiveContent(SessionID)
    case closed(SessionID)

    /// `user` `nil`: trusted for every user.
    case sourceAttached(PresenceSource, user: UInt32?)
    case sourceGone(PresenceSource, user: UInt32?)
    case placed(AppID, Presence, focused: Bool, by: PresenceSource)
    /// The source no longer places the app (its window is gone).
    case unplaced(AppID, by: PresenceSource)
    case microphone(AppID, taken: Bool)
    case sensitiveContent(AppID)
    case operatorChose(AppID?)
    /// A trusted source gives an app its value of an attribute. `value` `nil`: it is forgotten, and the default counts.
    case attribute(AppID, name: String, value: String?)
    /// A value for the whole machine, until it is taken back (`nil`) or another is set.
    case modeSet(String?, by: Mode.Setter)
    case loginSession(LoginSessionID, LoginSessionFacts)
    /// An answer about an app by its user, or by its desktop's permission store, which only denies: the app that the
    /// kernel vouches for, or the one that claims the name. `answer` `nil`: it is forgotten.
    case answered(AppID, isClaimed: Bool, AppAnswer?, by: AnswerOrigin)
    /// The reply to a question.
    case questionAnswered(QuestionID, AppAnswer)
    /// A program that shows questions to a user has come, or the last one has gone.
    case questionsWatched(user: UInt32, Bool)
    /// A user stops an app, by name: its sessions that ask to run.
    case stoppedByUser(AppID)
    /// A user's privacy switch for all sessions of its own, on every camera.
    case ownPrivacy(user: UInt32, on: Bool)
    /// The last client of a user has left: answers about its apps, and its own privacy switch, are forgotten here,
    /// without a notice. They are stored elsewhere, and sent again before an app of that user's starts.
    case answersForgotten(user: UInt32)
    /// An absent login session limits nobody, and gives nobody a right.
    case loginSessionEnded(LoginSessionID)

    /// Indirect, like a policy: no other event is nearly as large, and a step hands its event on a dozen times.
    indirect case cameraAppeared(CameraID, CameraCapabilities, seat: SeatID = .usual)
    case cameraDisappeared(CameraID)
    /// `camera` `nil`: the switch of the whole machine.
    case privacy(CameraID?, on: Bool)
    case heldOutside(CameraID, Bool)
    case pressure(SystemPressure)
    case sleep(Bool)
    /// The first mode of the policy whose calendar holds from now on; `nil`: none.
    case calendar(String?)

    case recorderStreaming(CameraID, GrantID, inForce: Configuration)
    /// The cut is done: no frame is captured for the grant any more.
    case recorderCut(CameraID, GrantID)
    /// The session's streams, ordered closed while the camera goes on, are closed and blank.
    case recorderClosedStreams(CameraID, GrantID, SessionID)
    case recorderConfigured(CameraID, GrantID, asked: Configuration, inForce: Configuration)
    case recorderRefusedConfiguration(CameraID, GrantID, asked: Configuration, message: String)
    /// The process ended while the broker needed it: crashed, or killed at a deadline.
    case recorderGone(CameraID)
    /// The device could not be opened, or failed while streaming. The process lives.
    case deviceFailed(CameraID, DeviceFault, message: String)
    /// `lastCapture` `nil`: there is no frame, or its moment is not known. Any other figure that is `nil` is not known.
    /// Indirect: every event would be as large as this one, and a walk copies millions.
    indirect case recordingFinished(
        RecordingID, why: RecordingEnd, frames: UInt64?, duration: Duration?, bytes: UInt64?,
        lastCapture: Moment? = nil, framesLeftOut: UInt64 = 0)
    case photoCaptured(PhotoCaptured)
    case rampFinished(CameraID, GrantID, videoZoomFactor: Double)
    /// The part of its state that differs from the last report.
    case cameraStateChanged(CameraID, GrantID, Configuration)
    /// `recording` or `session`: whose trouble this is; where both are 0, the camera's holder's.
    indirect case recorderTrouble(
        CameraID, code: String, message: String, recording: RecordingID = 0, session: UInt64 = 0)

    indirect case policyLoaded(Policy)
    /// After a restart of the broker: the camera is kept for the app that held it. `survivor`: its recorder core still
    /// captures for its former grant. Once for each camera, before it is granted: after that a survivor is ignored.
    /// Where a cause keeps everybody from the camera, the survivor is cut at once.
    case reserved(CameraID, AppID, survivor: Survivor? = nil)
    case timePassed
}

/// A grant that outlived the broker: its recorder core captures on, until its session reclaims it or it is cut.
public struct Survivor: Hashable, Sendable, Codable, BitwiseCopyable {
    public var grant: GrantID
    /// The recording under way, as far as the former broker knew. If it has ended since, the report follows the
    /// session's `reclaimed`: before, it belongs to no session.
    public var recording: RecordingID?

    public init(grant: GrantID, recording: RecordingID? = nil) {
        self.grant = grant
        self.recording = recording
    }
}

/// A client's claims about itself. They can only narrow a policy's rights.
public struct ClientAttributes: Hashable, Sendable, Codable {
    /// Only where the kernel does not name the app.
    public var claimedApp: String?
    public var kind: ClientKind
    public var multitasking: Bool
    public var requiresFullScreen: Bool

    public init(
        claimedApp: String? = nil, kind: ClientKind = .app, multitasking: Bool = false, requiresFullScreen: Bool = false
    ) {
        (self.claimedApp, self.kind) = (claimedApp, kind)
        (self.multitasking, self.requiresFullScreen) = (multitasking, requiresFullScreen)
    }
}
