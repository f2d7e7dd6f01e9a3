/// Everything that a policy rule may read about one session at the moment of a decision.
///
/// Each member has a closed set of values (names apart), so that a policy can be walked whole. Built only by `Arbiter`;
/// kept with each decision, so that `explain` can read it later.
public struct Facts: Hashable, Sendable {
    /// The app's name as the kernel vouches for it (a systemd unit); `nil` when only a claim names it.
    public var app: String?
    /// The client's own claim; `nil` without one.
    public var claimedApp: String?
    public var user: UInt32
    public var loginSession: LoginState
    public var presence: Presence
    public var isFocused: Bool
    /// Apps in front of this user, by the trusted presence source; `one` without a source.
    public var foregroundApps: ForegroundApps
    public var client: ClientKind
    /// The app opted in to run the camera beside others.
    public var multitasking: Bool
    public var camera: CameraID
    public var position: CameraPosition
    public var usesAudio: Bool
    /// Another app has the microphone.
    public var microphoneTaken: Bool
    public var pressure: SystemPressure
    public var isRecording: Bool
    /// The session has not held the camera since its start request.
    public var bidIsNew: Bool
    public var operatorChosen: Bool
    /// The app's value of each attribute that the policy declares, in the policy's order.
    public var attributes: [AttributeValue]
    /// The machine's mode, by its name; `nil`: none is in force.
    public var mode: String?

    /// One attribute's value, and how strong it is: 0 is the strongest.
    public struct AttributeValue: Hashable, Sendable {
        public var name: String
        public var value: String
        public var place: Int

        package init(name: String, value: String, place: Int) {
            (self.name, self.value, self.place) = (name, value, place)
        }
    }

    /// `nil`: the policy declares no such attribute.
    public func attribute(_ name: String) -> AttributeValue? { attributes.first { $0.name == name } }

    public enum LoginState: String, Hashable, Sendable, CaseIterable { case none, active, inactive }

    public enum ForegroundApps: String, Hashable, Sendable, CaseIterable { case none, one, several }

    /// The facts of an app in front without any other.
    public init(camera: CameraID) { self.init(app: nil, camera: camera) }

    package init(
        app: String? = nil, claimedApp: String? = nil, user: UInt32 = 0, loginSession: LoginState = .none,
        presence: Presence = .foreground(.fullscreen), isFocused: Bool = false, foregroundApps: ForegroundApps = .one,
        client: ClientKind = .app, multitasking: Bool = false, camera: CameraID, position: CameraPosition = .external,
        usesAudio: Bool = false, microphoneTaken: Bool = false, pressure: SystemPressure = .nominal,
        isRecording: Bool = false, bidIsNew: Bool = true, operatorChosen: Bool = false,
        attributes: [AttributeValue] = [], mode: String? = nil
    ) {
        (self.app, self.claimedApp, self.user) = (app, claimedApp, user)
        (self.loginSession, self.presence, self.isFocused) = (loginSession, presence, isFocused)
        (self.foregroundApps, self.client, self.multitasking) = (foregroundApps, client, multitasking)
        (self.camera, self.position, self.usesAudio) = (camera, position, usesAudio)
        (self.microphoneTaken, self.pressure, self.isRecording) = (microphoneTaken, pressure, isRecording)
        (self.bidIsNew, self.operatorChosen, self.attributes) = (bidIsNew, operatorChosen, attributes)
        self.mode = mode
    }
}

/// One condition of a rule's `when`. A rule's conditions all have to hold; "or" is a second rule.
public enum FactTest: Hashable, Sendable {
    case app(String)
    case claimedApp(String)
    case user(UInt32)
    case loginSession(Facts.LoginState)
    /// In front in any layout, or in the background.
    case foreground(Bool)
    case layout(Presence.Layout)
    case focused(Bool)
    case foregroundApps(Facts.ForegroundApps)
    case client(ClientKind)
    case multitasking(Bool)
    case camera(CameraID)
    case position(CameraPosition)
    case usesAudio(Bool)
    case microphoneTaken(Bool)
    /// At least this level.
    case pressure(atLeast: SystemPressure)
    case recording(Bool)
    case bidIsNew(Bool)
    case operatorChosen(Bool)
    /// An attribute that the policy declares, with one of its values.
    case attribute(String, String)
    /// A mode that the policy declares; `nil`: none is in force.
    case mode(String?)

    public func holds(for facts: Facts) -> Bool {
        switch self {
        case .app(let name): facts.app == name
        case .claimedApp(let name): facts.claimedApp == name
        case .user(let user): facts.user == user
        case .loginSession(let state): facts.loginSession == state
        case .foreground(let inFront): facts.presence.isForeground == inFront
        case .layout(let layout): facts.presence.layout == layout
        case .focused(let focused): facts.isFocused == focused
        case .foregroundApps(let count): facts.foregroundApps == count
        case .client(let kind): facts.client == kind
        case .multitasking(let optedIn): facts.multitasking == optedIn
        case .camera(let camera): facts.camera == camera
        case .position(let position): facts.position == position
        case .usesAudio(let usesAudio): facts.usesAudio == usesAudio
        case .microphoneTaken(let taken): facts.microphoneTaken == taken
        case .pressure(let level): facts.pressure >= level
        case .recording(let recording): facts.isRecording == recording
        case .bidIsNew(let isNew): facts.bidIsNew == isNew
        case .operatorChosen(let chosen): facts.operatorChosen == chosen
        case .attribute(let name, let value): facts.attribute(name)?.value == value
        case .mode(let name): facts.mode == name
        }
    }

    /// The fact's key in a policy file, and the value of the test.
    public var written: (key: String, value: String) {
        switch self {
        case .app(let name): ("app", "\"\(name)\"")
        case .claimedApp(let name): ("claimed-app", "\"\(name)\"")
        case .user(let user): ("user", "\(user)")
        case .loginSession(let state): ("login-session", "\"\(state.rawValue)\"")
        case .foreground(let inFront): ("presence", inFront ? "\"foreground\"" : "\"background\"")
        case .layout(let layout): ("layout", "\"\(layout.rawValue)\"")
        case .focused(let focused): ("focused", "\(focused)")
        case .foregroundApps(let count): ("foreground-apps", "\"\(count.rawValue)\"")
        case .client(let kind): ("client", "\"\(kind.rawValue)\"")
        case .multitasking(let optedIn): ("multitasking", "\(optedIn)")
        case .camera(let camera): ("camera", "\"\(camera.name)\"")
        case .position(let position): ("position", "\"\(position.rawValue)\"")
        case .usesAudio(let usesAudio): ("uses-audio", "\(usesAudio)")
        case .microphoneTaken(let taken): ("microphone", taken ? "\"taken\"" : "\"free\"")
        case .pressure(let level): ("pressure", "\"\(level.wireName)\"")
        case .recording(let recording): ("recording", "\(recording)")
        case .bidIsNew(let isNew): ("bid", isNew ? "\"new\"" : "\"standing\"")
        case .operatorChosen(let chosen): ("operator", chosen ? "\"chosen\"" : "\"none\"")
        case .attribute(let name, let value): (name, "\"\(value)\"")
        case .mode(let name): ("mode", "\"\(name ?? Mode.none)\"")
        }
    }
}
