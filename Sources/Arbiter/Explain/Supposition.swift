import Vocabulary

/// One fact, supposed to be otherwise: what `explain` tries.
///
/// Only facts that could have been otherwise are supposed: what a source may say of an app, what a client may say of
/// itself, what an operator, a switch or the machine may do. Never who an app is.
struct Supposition: Hashable {
    /// As an explanation shows it.
    var turn: Explanation.Turn
    var change: Change

    enum Change: Hashable {
        /// Where the app is: in front, and how; nil: in the background.
        case layout(AppID, Presence.Layout?)
        case focused(AppID, Bool)
        case kind(ClientID, ClientKind)
        case multitasking(ClientID, Bool)
        case rankAsGiven(ClientID)
        case usesAudio(SessionID, Bool)
        case notRecording(SessionID)
        case operatorChose(AppID?)
        case attribute(AppID, name: String, value: String)
        case loginSession(LoginSessionID, active: Bool)
        case microphone([AppID], taken: Bool)
        case pressure(SystemPressure)
        case privacyOff(CameraID)
        case awake
        case present(CameraID)
        case notHeldOutside(CameraID)
        case notSensitive(SessionID)
    }

    /// What it says something about: two that speak of the same contradict each other.
    var about: About {
        switch change {
        case .layout(let app, _): .place(app)
        case .focused(let app, _): .focus(app.user)
        case .kind(let client, _): .kind(client)
        case .multitasking(let client, _): .multitasking(client)
        case .rankAsGiven(let client): .rank(client)
        case .usesAudio(let session, _): .audio(session)
        case .notRecording(let session): .recording(session)
        case .operatorChose: .operatorChoice
        case .attribute(let app, let name, _): .attribute(app, name)
        case .loginSession(let login, _): .login(login)
        case .microphone: .microphone
        case .pressure: .pressure
        case .privacyOff: .privacy
        case .awake: .sleep
        case .present(let camera): .plug(camera)
        case .notHeldOutside(let camera): .outside(camera)
        case .notSensitive(let session): .sensitive(session)
        }
    }

    enum About: Hashable {
        case place(AppID)
        /// Of a user's apps, one has it.
        case focus(UInt32)
        case kind(ClientID)
        case multitasking(ClientID)
        case rank(ClientID)
        case audio(SessionID)
        case recording(SessionID)
        case sensitive(SessionID)
        case attribute(AppID, String)
        case login(LoginSessionID)
        case plug(CameraID)
        case outside(CameraID)
        case operatorChoice, microphone, pressure, privacy, sleep
    }

    /// Whether all of these can hold at once.
    static func agree(_ set: [Supposition]) -> Bool {
        for (index, one) in set.enumerated() {
            for other in set[(index + 1)...] where one.about == other.about { return false }
        }
        return true
    }
}

extension Event {
    /// What the event itself says something about, where a supposition can say otherwise.
    var about: Supposition.About? {
        switch self {
        case .microphone: .microphone
        case .pressure: .pressure
        case .operatorChose: .operatorChoice
        case .attribute(let app, let name, _): .attribute(app, name)
        case .privacy: .privacy
        case .sleep: .sleep
        case .loginSession(let login, _, _), .loginSessionEnded(let login): .login(login)
        case .cameraDisappeared(let camera), .cameraAppeared(let camera, _): .plug(camera)
        case .heldOutside(let camera, _): .outside(camera)
        default: nil
        }
    }
}
