public import Vocabulary

/// Each camera's holder, the sessions that wait, and why: the answer of `Broker1.GetStatus`.
public struct BrokerStatus: Hashable, Sendable {
    public var version: String
    /// The policy in force, by name.
    public var policy: String
    /// That policy's hash: 32 hexadecimal digits over all of it that can decide.
    public var policyHash: String
    /// Whence it is, where it was loaded by hand, as a sentence; empty where it was read from the broker's own files.
    public var policyByHand: String
    /// Why the broker runs without what it was told to use; empty when all is well.
    public var degraded: String
    /// False: no presence source, so every client counts as foreground.
    public var presenceKnown: Bool
    /// What counts as where apps are: of the asker's user; for a trusted client, of every user that has apps. By user.
    public var placements: [PlacementStatus]
    /// What nobody tells the broker about the asker's desktop.
    public var unknown: [UnknownFact]
    /// The clients that speak for the asker's desktop, and for everybody's; all there are where the asker is trusted. By role.
    public var speakers: [SpeakerStatus]
    /// The privacy switch of the whole machine is on.
    public var isPrivate: Bool
    /// The asker's user has the privacy switch for its own sessions on.
    public var isOwnPrivate: Bool
    /// The machine sleeps, or is about to.
    public var isAsleep: Bool
    /// Why login sessions are not known, so that nobody is paused for one; empty when they are.
    public var loginSessionsUnknown: String
    /// Those the asker may know, which are its own user's unless it is trusted. Ordered by id.
    public var loginSessions: [LoginSessionStatus]
    /// What rules read: the harder of the two words, and a while longer after it fell.
    public var pressure: SystemPressure
    public var pressureWords: PressureStatus
    public var mode: ModeStatus
    /// The app that the operator has chosen by hand.
    public var override: OverrideStatus
    /// What the asker's user has of what is bounded; for a trusted client, of every user, and of all together.
    public var budgets: [BudgetUse]
    /// When the answer was true, on the broker's clock.
    public var moment: Moment
    /// The latest decision, for `Explain`; 0 before the first.
    public var decision: DecisionID
    /// Ordered by id.
    public var cameras: [CameraStatus]
    /// Ordered by id.
    public var sessions: [SessionStatus]
    /// Sessions with greater ids are there, too: `GetSessions` has them.
    public var hasMoreSessions: Bool

    package init(
        version: String, policy: String, policyHash: String = "", policyByHand: String = "", degraded: String = "",
        presenceKnown: Bool, placements: [PlacementStatus] = [], unknown: [UnknownFact] = [],
        speakers: [SpeakerStatus] = [], isPrivate: Bool = false, isOwnPrivate: Bool = false, isAsleep: Bool = false,
        loginSessionsUnknown: String = "", loginSessions: [LoginSessionStatus] = [],
        pressure: SystemPressure = .nominal, pressureWords: PressureStatus = PressureStatus(),
        mode: ModeStatus = ModeStatus(), override: OverrideStatus = OverrideStatus(), budgets: [BudgetUse] = [],
        moment: Moment, decision: DecisionID, cameras: [CameraStatus], sessions: [SessionStatus],
        hasMoreSessions: Bool = false
    ) {
        self.version = version
        self.policy = policy
        self.policyHash = policyHash
        self.policyByHand = policyByHand
        self.degraded = degraded
        self.presenceKnown = presenceKnown
        self.placements = placements
        self.unknown = unknown
        self.speakers = speakers
        self.isPrivate = isPrivate
        self.isOwnPrivate = isOwnPrivate
        self.isAsleep = isAsleep
        self.loginSessionsUnknown = loginSessionsUnknown
        self.loginSessions = loginSessions
        self.pressure = pressure
        self.pressureWords = pressureWords
        self.mode = mode
        self.override = override
        self.budgets = budgets
        self.moment = moment
        self.decision = decision
        self.cameras = cameras
        self.sessions = sessions
        self.hasMoreSessions = hasMoreSessions
    }
}

extension BrokerStatus: WireRecord {
    /// Of the first of the values that `GetStatus` gives: everything but cameras and sessions.
    package func addEntries(to entries: inout some WireEntries) {
        entries.add("version", version)
        entries.add("policy", policy)
        entries.add("policyHash", policyHash)
        entries.add("policyByHand", policyByHand)
        entries.add("degraded", degraded)
        entries.add("presenceKnown", presenceKnown)
        entries.add("placements", each: placements)
        entries.add("unknown", unknown.map(\.rawValue))
        entries.add("speakers", each: speakers)
        entries.add("privacy", isPrivate)
        entries.add("ownPrivacy", isOwnPrivate)
        entries.add("asleep", isAsleep)
        entries.add("loginSessionsUnknown", loginSessionsUnknown)
        entries.add("loginSessions", each: loginSessions)
        entries.add("pressure", pressure.wireName)
        entries.add("pressureSaid", pressureWords.said.wireName)
        entries.add("pressureMeasured", pressureWords.measured?.wireName ?? "")
        entries.add("pressureWhy", pressureWords.why)
        entries.add("pressureTrouble", pressureWords.trouble)
        mode.addEntries(to: &entries)
        override.addEntries(to: &entries)
        entries.add("budgets", each: budgets)
        entries.add("moment", moment.nanoseconds)
        entries.add("decision", decision)
        entries.add("moreSessions", hasMoreSessions)
    }

    /// More pages of sessions than any broker has: one that always said that there are more would be asked for ever.
    package static let pagesMax = 256

    /// The three values that `GetStatus` gives.
    public var wireArguments: [WireValue] {
        [.dictionary(wire), .dictionaries(cameras.map(\.wire)), .dictionaries(sessions.map(\.wire))]
    }

    /// - Throws: `.invalidArguments` when the answer is not one of `GetStatus`.
    public init(wireArguments: [WireValue]) throws(BrokerError) {
        var reader = WireReader("GetStatus", wireArguments)
        let broker = WireFields("broker", try reader.dictionary("broker"))
        let cameras = try reader.records("cameras", CameraStatus.init(_:))
        let sessions = try reader.records("sessions", SessionStatus.init(_:))
        let logins = try broker.records("loginSessions", LoginSessionStatus.init(_:))
        let speakers = try broker.records("speakers", SpeakerStatus.init(_:))
        let budgets = try broker.records("budgets", BudgetUse.init(_:))
        let places = broker.has("placements") ? try broker.records("placements", PlacementStatus.init(_:)) : []
        self.init(
            version: try broker.string("version"), policy: try broker.string("policy"),
            policyHash: broker.has("policyHash") ? try broker.string("policyHash") : "",
            policyByHand: broker.has("policyByHand") ? try broker.string("policyByHand") : "",
            degraded: try broker.string("degraded"), presenceKnown: try broker.boolean("presenceKnown"),
            placements: places, unknown: try broker.strings("unknown").compactMap(UnknownFact.init(rawValue:)),
            speakers: speakers, isPrivate: try broker.boolean("privacy"),
            isOwnPrivate: broker.has("ownPrivacy") ? try broker.boolean("ownPrivacy") : false,
            isAsleep: try broker.boolean("asleep"), loginSessionsUnknown: try broker.string("loginSessionsUnknown"),
            loginSessions: logins, pressure: SystemPressure(wireName: try broker.string("pressure")) ?? .nominal,
            pressureWords: try PressureStatus(broker), mode: try ModeStatus(broker),
            override: try OverrideStatus(broker), budgets: budgets,
            moment: Moment(nanoseconds: try broker.int64("moment")), decision: try broker.uint64("decision"),
            cameras: cameras, sessions: sessions, hasMoreSessions: try broker.boolean("moreSessions"))
    }

    /// The next page, as `GetSessions` gives it: sessions behind the last one, and whether there are more.
    /// - Throws: `.invalidArguments` when the answer is not one of `GetSessions`.
    public mutating func append(page: [WireValue]) throws(BrokerError) {
        var reader = WireReader("GetSessions", page)
        let behind = try reader.records("sessions", SessionStatus.init(_:))
        hasMoreSessions = try reader.boolean("more")
        // Ids grow from page to page: whatever else came would come again and again.
        let last = sessions.last?.session ?? SessionID(0)
        guard behind.first.map({ $0.session > last }) ?? !hasMoreSessions else {
            throw BrokerError(
                .invalidArguments, "GetSessions gives no session behind \(last.rawValue), and says there are.")
        }
        sessions += behind
    }
}

/// How much of one bounded thing a user has, as `BrokerStatus` tells it.
public struct BudgetUse: Hashable, Sendable {
    /// Nil: all users together.
    public var user: UInt32?
    /// `connections`, `sessions`, `placedApps`, `microphones` or `questions`.
    public var resource: String
    public var used: UInt64
    /// What it may have at the most; less where others have much.
    public var most: UInt64

    public init(user: UInt32?, resource: String, used: UInt64, most: UInt64) {
        self.user = user
        self.resource = resource
        self.used = used
        self.most = most
    }
}

extension BudgetUse: WireRecord {
    package func addEntries(to entries: inout some WireEntries) {
        entries.add("resource", resource)
        entries.add("used", used)
        entries.add("most", most)
        if let user { entries.add("user", user) }
    }

    init(_ fields: WireFields) throws(BrokerError) {
        self.init(
            user: fields.has("user") ? UInt32(clamping: try fields.uint64("user")) : nil,
            resource: try fields.string("resource"), used: try fields.uint64("used"), most: try fields.uint64("most"))
    }
}

/// The operator's choice of an app by hand (`Shell1.Override`).
public struct OverrideStatus: Hashable, Sendable {
    /// Nil: no app is chosen.
    public var app: Interrupter?
    /// Why nothing comes of it as things are, as a sentence without its end, for who is trusted; empty where something may.
    public var trouble: String

    public init(app: Interrupter? = nil, trouble: String = "") {
        self.app = app
        self.trouble = trouble
    }

    package func addEntries(to entries: inout some WireEntries) {
        entries.add("override", app?.wireName ?? "")
        entries.add("overrideTrouble", trouble)
    }

    /// An older broker does not say it.
    init(_ fields: WireFields) throws(BrokerError) {
        self.init()
        guard fields.has("override") else { return }
        app = Interrupter(wireName: try fields.string("override"))
        trouble = try fields.string("overrideTrouble")
    }
}

/// The machine's mode, whose word it is, and what the calendar says beside it. Empty texts stand for none.
public struct ModeStatus: Hashable, Sendable {
    public var inForce: String
    /// `root` or `operator`, where it was set by hand.
    public var setBy: String
    /// What the policy's calendar says.
    public var calendar: String
    /// When it says something else, in the local time of the broker's machine, such as `2026-11-24 06:00`.
    public var calendarUntil: String

    public init(inForce: String = "", setBy: String = "", calendar: String = "", calendarUntil: String = "") {
        self.inForce = inForce
        self.setBy = setBy
        self.calendar = calendar
        self.calendarUntil = calendarUntil
    }

    package func addEntries(to entries: inout some WireEntries) {
        entries.add("mode", inForce)
        entries.add("modeSetBy", setBy)
        entries.add("calendarMode", calendar)
        entries.add("calendarUntil", calendarUntil)
    }

    /// An older broker has no modes.
    init(_ fields: WireFields) throws(BrokerError) {
        self.init()
        guard fields.has("mode") else { return }
        inForce = try fields.string("mode")
        setBy = try fields.string("modeSetBy")
        calendar = try fields.string("calendarMode")
        calendarUntil = try fields.string("calendarUntil")
    }
}
