/// What counts as where one user's apps are.
public struct PlacementStatus: Hashable, Sendable {
    public var user: UInt32
    public var standing: PresenceStanding

    public init(user: UInt32, standing: PresenceStanding) {
        self.user = user
        self.standing = standing
    }
}

/// One login session, as systemd-logind has it and `BrokerStatus` tells it.
public struct LoginSessionStatus: Hashable, Sendable {
    public var id: String
    public var user: UInt32
    /// Empty for sessions without one, such as those over ssh.
    public var seat: String
    public var isRemote: Bool
    /// Of the sessions of a seat one at most; those without a seat always are.
    public var isActive: Bool
    /// Its screen locker says so.
    public var isLocked: Bool

    public init(id: String, user: UInt32, seat: String, isRemote: Bool, isActive: Bool, isLocked: Bool) {
        self.id = id
        self.user = user
        self.seat = seat
        self.isRemote = isRemote
        self.isActive = isActive
        self.isLocked = isLocked
    }
}

extension LoginSessionStatus: WireRecord {
    package func addEntries(to entries: inout some WireEntries) {
        entries.add("id", id)
        entries.add("user", user)
        entries.add("seat", seat)
        entries.add("remote", isRemote)
        entries.add("active", isActive)
        entries.add("locked", isLocked)
    }

    init(_ fields: WireFields) throws(BrokerError) {
        self.init(
            id: try fields.string("id"), user: UInt32(clamping: try fields.uint64("user")),
            seat: try fields.string("seat"), isRemote: try fields.boolean("remote"),
            isActive: try fields.boolean("active"), isLocked: try fields.boolean("locked"))
    }
}

/// How hard the machine is pressed, and which source says so.
public struct PressureStatus: Hashable, Sendable {
    /// A shell, until it says otherwise.
    public var said: SystemPressure
    /// The machine's own figures; nil while nobody looks at them, as nobody asks for a camera or no rule reads them.
    public var measured: SystemPressure?
    /// The reading behind `measured`, in words; empty at `nominal`.
    public var why: String
    /// Why the figures are not known although they are wanted; empty when they are.
    public var trouble: String

    public init(
        said: SystemPressure = .nominal, measured: SystemPressure? = nil, why: String = "", trouble: String = ""
    ) {
        self.said = said
        self.measured = measured
        self.why = why
        self.trouble = trouble
    }

    init(_ fields: WireFields) throws(BrokerError) {
        self.init(
            said: SystemPressure(wireName: try fields.string("pressureSaid")) ?? .nominal,
            measured: SystemPressure(wireName: try fields.string("pressureMeasured")),
            why: try fields.string("pressureWhy"), trouble: try fields.string("pressureTrouble"))
    }
}

/// A client that tells the broker of a user's desktop.
public struct SpeakerStatus: Hashable, Sendable {
    /// `shell` and `agent` place apps, `microphones` says which apps have one.
    public var role: String
    /// Whose desktop; nil: everybody's.
    public var user: UInt32?
    /// As far as the asker may know it.
    public var app: Interrupter
    /// 0 where the asker may not know it.
    public var process: Int32
    /// The systemd unit it is; empty when it is in none, or the asker may not know it.
    public var unit: String
    /// The kernel names it by the number of its process only.
    public var isWeak: Bool
    /// What it knows the windows from, in its own words; empty when it has not said, or the asker may not know it.
    public var source: String

    public init(
        role: String, user: UInt32?, app: Interrupter, process: Int32, unit: String, isWeak: Bool, source: String = ""
    ) {
        self.source = source
        self.role = role
        self.user = user
        self.app = app
        self.process = process
        self.unit = unit
        self.isWeak = isWeak
    }
}

extension SpeakerStatus: WireRecord {
    package func addEntries(to entries: inout some WireEntries) {
        entries.add("role", role)
        entries.add("everybody", user == nil)
        entries.add("user", user ?? 0)
        entries.add("app", app.wireName)
        entries.add("process", UInt32(clamping: process))
        entries.add("unit", unit)
        entries.add("weak", isWeak)
        entries.add("source", source)
    }

    init(_ fields: WireFields) throws(BrokerError) {
        let user = UInt32(clamping: try fields.uint64("user"))
        self.init(
            role: try fields.string("role"), user: try fields.boolean("everybody") ? nil : user,
            app: Interrupter(wireName: try fields.string("app")) ?? .app(""),
            process: Int32(clamping: try fields.uint64("process")), unit: try fields.string("unit"),
            isWeak: try fields.boolean("weak"), source: try fields.string("source"))
    }
}

/// A part of a user's desktop that the broker decides without, until a shell or the user's camagent tells it.
public enum UnknownFact: String, Hashable, Sendable, CaseIterable {
    /// Where apps are: the next source that the policy believes is asked instead.
    case windows
    /// Which apps have a microphone: none counts as having one.
    case microphones
}

extension PlacementStatus: WireRecord {
    package func addEntries(to entries: inout some WireEntries) {
        entries.add("user", user)
        entries.add("standing", standing.rawValue)
    }

    init(_ fields: WireFields) throws(BrokerError) {
        self.init(user: UInt32(clamping: try fields.uint64("user")), standing: try fields.word("standing"))
    }
}
