import Arbiter
import Vocabulary

/// One fact, supposed to be otherwise: what `explain` tries. Only facts that could have been otherwise are supposed:
/// what a source may say of an app, what a client may say of itself, what an operator, a switch or the machine may do.
/// Never an app's identity.
struct Supposition {
    let alteration: Explanation.Alteration
    let about: About
    let change: Change

    enum Change {
        /// Where the app is: in front, and how; nil: in the background.
        case layout(NamedApp, Speaker, Presence.Layout?)
        case focused(NamedApp, Speaker, Bool)
        case assumed([Assumption])
    }

    /// What it says something about: two that speak of the same contradict each other.
    enum About: Hashable {
        case place(NamedApp)
        /// Of a user's apps, one has it.
        case focus(UInt32)
        case kind(ClientID)
        case multitasking(ClientID)
        case rank(ClientID)
        case audio(SessionID)
        case recording(SessionID)
        case sensitive(AppID)
        case attribute(AppID, String)
        case login(LoginSessionID)
        case plug(CameraID)
        case outside(CameraID)
        case answer(AppID)
        case ownPrivacy(UInt32)
        case operatorChoice, microphone, pressure, mode, privacy, sleep, rights
    }

    init(_ alteration: Explanation.Alteration, _ about: About, _ change: Change) {
        (self.alteration, self.about, self.change) = (alteration, about, change)
    }

    init(_ alteration: Explanation.Alteration, _ about: About, by events: Event...) {
        self.init(alteration, about, .assumed(events.map { .event($0) }))
    }
}

extension Event {
    /// What the event itself says something about, where a supposition can say otherwise.
    var about: Supposition.About? {
        switch self {
        case .microphone: .microphone
        case .pressure: .pressure
        case .modeSet, .calendar: .mode
        case .operatorChose: .operatorChoice
        case .attribute(let app, let name, _): .attribute(app, name)
        case .privacy: .privacy
        case .sleep: .sleep
        case .answered(let app, _, _, _): .answer(app)
        case .ownPrivacy(let user, _): .ownPrivacy(user)
        case .sensitiveContent(let app): .sensitive(app)
        case .loweredPriority(let client, _): .rank(client)
        case .loginSession(let login, _), .loginSessionEnded(let login): .login(login)
        case .cameraDisappeared(let camera), .cameraAppeared(let camera, _, _): .plug(camera)
        case .heldOutside(let camera, _): .outside(camera)
        default: nil
        }
    }
}
