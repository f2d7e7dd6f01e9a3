public import Vocabulary

/// The source that counts for where one user's apps are.
public struct PlacementStatus: Hashable, Sendable, Described {
    public var user: UInt32 = 0
    public var standing = PresenceStanding.told

    package init() {}

    package static let fields: [Field<Self>] = [
        Field("user", \.user, "Its number."),
        Field(
            "standing", \.standing,
            """
            `told` by a source, `kept` for some seconds after that source left, `lost` (all in the background), \
            `login-session` (those of an active one in front), `nobody` (all in front).
            """),
    ]
}

/// A login session of systemd-logind.
public struct LoginSessionStatus: Hashable, Sendable, Described {
    public var id = ""
    public var user: UInt32 = 0
    public var seat = ""
    public var isRemote = false
    public var isActive = false
    public var isLocked = false

    package init() {}

    package static let fields: [Field<Self>] = [
        Field("id", \.id, "logind's."), Field("user", \.user, "Its number."),
        Field("seat", \.seat, "\"\": none, as over ssh."), Field("remote", \.isRemote, "It is over a network."),
        Field("active", \.isActive, "Of the sessions of a seat one at most; those without a seat always are."),
        Field("locked", \.isLocked, "Its screen locker says so."),
    ]
}

/// A client that reports on a user's desktop.
public struct SpeakerStatus: Hashable, Sendable, Described {
    public var role = ""
    /// `nil` for everybody's desktop.
    public var user: UInt32?
    public var app = Interrupter.anotherUsersApp
    public var process: Int32 = 0
    public var unit = ""
    public var isWeak = false
    public var source = ""

    package init() {}

    package static let fields: [Field<Self>] = [
        Field("role", \.role, "`shell` and `agent` place apps, `microphones` says which apps have one."),
        Field("everybody", \.isEverybodys, json: "", "It speaks for every user's desktop."),
        Field("user", \.userNumber, json: "", "Whose desktop, else; 0 where it is everybody's."),
        .inJSON("user") { $0.user.map { .count(UInt64($0)) } ?? .null },
        Field("app", \.app, "As far as the asker may know it."),
        Field("process", \.process, "0 where the asker may not know it."),
        Field("unit", \.unit, "Its systemd unit; \"\": none, or the asker may not know it."),
        Field("weak", \.isWeak, "The kernel names it by the number of its process only."),
        Field("source", \.source, "How it knows the windows, in its own words (`DescribeSource`)."),
    ]

    private var isEverybodys: Bool {
        get { user == nil }
        set { user = newValue ? nil : 0 }
    }

    private var userNumber: UInt32 {
        get { user ?? 0 }
        set { if user != nil { user = newValue } }
    }
}

/// A part of a user's desktop that the broker decides without, until a shell or the user's camagent reports it.
public enum UnknownFact: String, Hashable, Sendable, CaseIterable, WireWord {
    /// Where apps are: meanwhile the next source of the policy counts.
    case windows
    /// Which apps have a microphone: meanwhile none counts as having one.
    case microphones
}

/// A client of the broker's, as far as its user's agent may know it.
public struct ConnectedClient: Hashable, Sendable, Described {
    public var app = ""
    public var process: Int32 = 0

    package init() {}

    package static let fields: [Field<Self>] = [
        Field("app", \.app, "As the broker calls it."), Field("process", \.process, "Its number."),
    ]
}

/// An app's place, from a presence source.
public struct AppPlacement: Hashable, Sendable, Described {
    public var app = ""
    public var presence = Presence.background
    public var isFocused = false

    package init() {}

    public init(app: String, presence: Presence, isFocused: Bool) {
        (self.app, self.presence, self.isFocused) = (app, presence, isFocused)
    }

    package static let fields: [Field<Self>] = [
        Field("app", \.app, "Its name."),
        Field("presence", \.presence, "`background`, `fullscreen`, `split`, `slide-over` or `picture-in-picture`."),
        Field("focused", \.isFocused, "It has the focus."),
    ]
}
