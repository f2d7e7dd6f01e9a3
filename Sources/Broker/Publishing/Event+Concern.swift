import Arbiter
import ArbiterProtocol

/// Whom an event is about, so that nobody hears of what is not for it.
extension Event {
    /// Comes by itself, and means nothing where nothing follows from it.
    var isRoutine: Bool {
        switch self {
        case .timePassed, .recorderStreaming, .recorderCut, .recorderConfigured, .recorderClosedStreams, .recorderGone,
            .recordingFinished,
            .photoCaptured, .rampFinished, .heldOutside, .openStream:
            true
        default: false
        }
    }

    /// The camera whose recorder core may have ended a cut.
    var recorderNewsOf: CameraID? {
        switch self {
        case .recorderCut(let camera, _), .recorderGone(let camera): camera
        default: nil
        }
    }

    var clients: [ClientID] {
        switch self {
        case .connected(let client, _, _), .declared(let client, _), .declaredPresence(let client, _, _),
            .loweredPriority(let client, _), .loweredAttribute(let client, _, _), .disconnected(let client),
            .created(_, let client, _, _, _):
            [client]
        default: []
        }
    }

    var sessions: [SessionID] {
        switch self {
        case .created(let session, _, _, _, _), .startRunning(let session), .reclaimed(let session, _),
            .stopRunning(let session),
            .beginConfiguration(let session), .commitConfiguration(let session), .configure(let session, _),
            .openStream(let session), .capturePhoto(let session), .startRecording(let session),
            .stopRecording(let session), .ready(let session, _), .continueAfterSensitiveContent(let session),
            .closed(let session):
            [session]
        default: []
        }
    }

    enum Concern {
        /// A fact of the machine, with nobody's name in it.
        case everybody
        /// It speaks of certain users' clients, apps or login sessions; of those alone who are trusted where it speaks of none.
        case users
        /// It is about a camera, and so about who holds it: about those whose sessions it was told to.
        case whoeverIsTold
    }

    /// Whom it concerns, beside those who are trusted with everything.
    var concern: Concern {
        switch self {
        case .cameraAppeared, .cameraDisappeared, .privacy, .heldOutside, .pressure, .sleep, .policyLoaded,
            .sourceAttached(_, user: nil), .sourceGone(_, user: nil):
            .everybody
        case .recorderStreaming, .recorderCut, .recorderClosedStreams, .recorderConfigured,
            .recorderRefusedConfiguration, .recorderGone, .deviceFailed, .recordingFinished, .photoCaptured,
            .rampFinished, .recorderTrouble, .timePassed:
            .whoeverIsTold
        case .connected, .declared, .declaredPresence, .loweredPriority, .loweredAttribute, .disconnected, .created,
            .startRunning, .reclaimed, .stopRunning, .beginConfiguration, .commitConfiguration, .configure, .openStream,
            .capturePhoto, .startRecording, .stopRecording, .ready, .continueAfterSensitiveContent, .closed,
            .sourceAttached, .sourceGone, .placed, .unplaced, .microphone, .sensitiveContent, .operatorChose,
            .attribute, .loginSession, .loginSessionEnded, .reserved, .answered, .questionAnswered, .questionsWatched,
            .stoppedByUser, .ownPrivacy:
            .users
        }
    }

    /// Whose apps and login sessions the event speaks of.
    func users(
        sessions of: (SessionID) -> UInt32?, clients: (ClientID) -> UInt32?, logins: (LoginSessionID) -> [UInt32]
    ) -> [UInt32] {
        var users = self.clients.compactMap(clients) + sessions.compactMap(of)
        switch self {
        case .placed(let app, _, _, _), .unplaced(let app, _), .microphone(let app, _), .sensitiveContent(let app),
            .operatorChose(let app?), .attribute(let app, _, _),
            .reserved(_, let app, _), .answered(let app, _, _, _), .stoppedByUser(let app):
            users.append(app.user)
        case .sourceAttached(_, let user?), .sourceGone(_, let user?), .questionsWatched(let user, _),
            .ownPrivacy(let user, _):
            users.append(user)
        case .loginSession(let session, _), .loginSessionEnded(let session): users += logins(session)
        default: break
        }
        return users
    }
}
