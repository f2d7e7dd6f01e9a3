/// An order of the core, to be carried out in sequence and before the next event.
public enum Effect: Hashable, Sendable {
    /// The request of this step's event is refused, and nothing changed.
    case refused(Refusal)
    /// The id in the reply to the request: of a recording, a photo, or the first photo of a bracket.
    case answered(UInt64)

    /// Stop capturing for the grant, end its streams, blank its buffers. Comes before any notice, and before the next
    /// holder's `open`. Answered by `recorderCut` or `recorderGone`.
    ///
    /// `next` is the session that has won the camera and gets it when the cut is confirmed: the device may go on until
    /// then. `nil`: no session has won it, or the device failed, and it stops at once. `reason`: the reason for the
    /// client of a recording that ends by the cut, for the file.
    case cut(CameraID, GrantID, why: RecordingEnd, next: SessionID?, reason: RecordingReason = .none)
    /// The recorder was late: SIGKILL. Answered by `recorderGone`.
    case killRecorder(CameraID)
    /// Start capturing for a session, with fresh buffers. Answered by `recorderStreaming`, `deviceFailed` or `recorderGone`.
    case open(CameraID, GrantID, SessionID, Configuration)
    /// Go on capturing for a grant that outlived the broker: it is this session's from now on, with its streams and its
    /// recording. In place of `open`, and answered like it, with the configuration in force.
    case resume(CameraID, GrantID, SessionID, Configuration)
    /// Answered by `recorderConfigured` or `recorderRefusedConfiguration`.
    case configure(CameraID, GrantID, SessionID, Configuration)
    case openStream(CameraID, GrantID, SessionID)
    /// The session may not preview any more, while the camera goes on: its streams end, their buffers are blanked, and
    /// its photos that wait for a frame are given up; a recording ends by its own order. Comes before its client's
    /// notice. Answered by `recorderClosedStreams` or `recorderGone`.
    case closeStreams(CameraID, GrantID, SessionID)
    case capturePhoto(CameraID, GrantID, SessionID, PhotoID)
    /// Photos of consecutive frames, whose ids follow each other from `first`.
    case capturePhotoBracket(CameraID, GrantID, SessionID, first: PhotoID, PhotoBracket)
    /// The holder's own microphone, until the grant ends or another order.
    case attachMicrophone(CameraID, GrantID, SessionID, MicrophoneFormat)
    /// The grant goes on, and its microphone is to be closed: its session has left the camera, or uses no sound any
    /// more.
    case detachMicrophone(CameraID, GrantID)
    case startRecording(CameraID, GrantID, SessionID, RecordingID)
    case stopRecording(CameraID, RecordingID, why: RecordingEnd, reason: RecordingReason = .none)
    case pauseRecording(CameraID, RecordingID)
    case resumeRecording(CameraID, RecordingID)
    /// The recorder core replies to the request itself.
    case appendMetadata(CameraID, RecordingID)
    /// From now on the session's preview is black, and its frames counted, or the picture again. Comes before its
    /// client's notice.
    case setSlate(CameraID, GrantID, SessionID, Bool)
    /// The picture of a session on a shared camera, as `activeFormat` and `frameRate`: its streams, photos and recordings
    /// are scaled to that format, and frames are left out down to that rate. Empty: the camera's own picture, as each
    /// session has it from the grant on.
    case setPicture(CameraID, GrantID, SessionID, Configuration)

    /// A notice to a session's client. `sequence` counts the session's notices from 1, without gaps.
    case notify(ClientID, SessionID, sequence: UInt64, SessionEvent)
    case announce(Announcement)

    /// Broker-wide news.
    public enum Announcement: Hashable, Sendable {
        case camerasChanged
        /// `nil`: the camera has no holder.
        case holderChanged(CameraID, AppID?)
        /// Another app may win now, for this user's apps; `nil`: for everybody's.
        case prioritiesChanged(user: UInt32?)
        /// A question to the app's user begins.
        case question(Question)
        case questionEnded(QuestionID, user: UInt32, QuestionEnd)
        /// To be stored for the user, also when the broker ends; `nil`: to be forgotten.
        case answerKept(AppID, isClaimed: Bool, AppAnswer?, by: AnswerOrigin)
    }
}

extension Effect {
    /// The addressee of an order: a camera's recorder core, and there a grant and a session, where the order is for one.
    public struct Order: Hashable, Sendable {
        public var camera: CameraID
        public var grant: GrantID?
        public var session: SessionID?
    }

    /// `nil`: no order to a recorder core.
    public var order: Order? {
        switch self {
        case .killRecorder(let camera), .stopRecording(let camera, _, _, _), .pauseRecording(let camera, _),
            .resumeRecording(let camera, _), .appendMetadata(let camera, _):
            Order(camera: camera)
        case .cut(let camera, let grant, _, _, _), .detachMicrophone(let camera, let grant):
            Order(camera: camera, grant: grant)
        case .open(let camera, let grant, let session, _), .resume(let camera, let grant, let session, _),
            .configure(let camera, let grant, let session, _), .openStream(let camera, let grant, let session),
            .closeStreams(let camera, let grant, let session), .capturePhoto(let camera, let grant, let session, _),
            .capturePhotoBracket(let camera, let grant, let session, _, _),
            .attachMicrophone(let camera, let grant, let session, _),
            .startRecording(let camera, let grant, let session, _), .setSlate(let camera, let grant, let session, _),
            .setPicture(let camera, let grant, let session, _):
            Order(camera: camera, grant: grant, session: session)
        case .refused, .answered, .notify, .announce: nil
        }
    }
}
