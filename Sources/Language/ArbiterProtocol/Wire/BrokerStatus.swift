public import Vocabulary

/// Each camera's holder, the sessions that wait, and why: the answer of `Broker1.GetStatus`.
public struct BrokerStatus: Hashable, Sendable, Described {
    public var version = ""
    public var policy = ""
    public var policyHash = ""
    public var policyByHand = ""
    public var degraded = ""
    public var presenceKnown = true
    /// By user.
    public var placements: [PlacementStatus] = []
    public var unknown: [UnknownFact] = []
    /// By role.
    public var speakers: [SpeakerStatus] = []
    public var isPrivate = false
    public var isOwnPrivate = false
    public var isAsleep = false
    public var loginSessionsUnknown = ""
    /// Ordered by id.
    public var loginSessions: [LoginSessionStatus] = []
    public var pressure = SystemPressure.nominal
    public var pressureSaid = SystemPressure.nominal
    public var pressureMeasured: SystemPressure?
    public var pressureWhy = ""
    public var pressureTrouble = ""
    public var mode = ""
    public var modeSetBy = ""
    public var calendarMode = ""
    public var calendarUntil = ""
    public var override: Interrupter?
    public var overrideTrouble = ""
    public var budgets: [BudgetUse] = []
    public var moment = Moment.zero
    public var decision: DecisionID = 0
    /// Ordered by id.
    public var cameras: [CameraStatus] = []
    /// Ordered by id.
    public var sessions: [SessionStatus] = []
    public var hasMoreSessions = false

    package init() {}

    /// Of the first of the values of `GetStatus`: everything but cameras and sessions.
    package static let fields: [Field<Self>] = [
        Field("version", \.version, "camarbd's"), Field("policy", \.policy, "The policy in force."),
        Field("policyHash", \.policyHash, since: "policyHash", "Its hash."),
        Field(
            "policyByHand", \.policyByHand, since: "policyByHand",
            "Whence that is, where somebody loaded it (`LoadPolicy`); else empty."),
        Field("degraded", \.degraded, "Why the broker runs without what it was told to use; empty when all is well."),
        Field(
            "presenceKnown", \.presenceKnown,
            "False: there is no presence source, so every client counts as in front."),
        Field(
            "placements", \.placements, since: "placements",
            "Why the apps of each user count as where they are; for a client that is not trusted, of its own user."),
        Field("unknown", \.unknown, "What nobody tells of the asker's desktop: `windows`, `microphones`."),
        Field("speakers", \.speakers, "The clients that tell it (“Telling the broker about a desktop”)."),
        Field("privacy", \.isPrivate, "The privacy switch of the whole machine is on."),
        Field("ownPrivacy", \.isOwnPrivate, since: "ownPrivacy", "That of the asker's user, for its own sessions."),
        Field("asleep", \.isAsleep, "The machine sleeps, or is about to."),
        .inJSON("loginSessionsKnown") { .bool($0.loginSessionsUnknown.isEmpty) },
        Field(
            "loginSessionsUnknown", \.loginSessionsUnknown,
            "Why they are not known, so that nobody is interrupted for one; empty when they are."),
        Field(
            "loginSessions", \.loginSessions,
            """
            Those that the asker may know: its own user's, or where it is trusted everybody's; none that a user's manager has \
            for itself.
            """),
        Field("pressure", \.pressure, "What rules read: `nominal`, `fair`, `serious` or `critical`."),
        Field("pressureSaid", \.pressureSaid, "A shell's word, until it says otherwise."),
        Field("pressureMeasured", \.pressureMeasured, "The machine's own (\"\": nobody looks)."),
        Field("pressureWhy", \.pressureWhy, "By which reading that is."),
        Field("pressureTrouble", \.pressureTrouble, "Why there is none, although it is wanted."),
        Field("mode", \.mode, since: "mode", "The machine's mode; \"\": none."),
        Field("modeSetBy", \.modeSetBy, since: "mode", "Who set it by hand (`root`, `operator`); \"\": the calendar."),
        Field("calendarMode", \.calendarMode, since: "mode", "What the calendar says."),
        Field("calendarUntil", \.calendarUntil, since: "mode", "Till when, in local time (\"\": always)."),
        Field(
            "override", \.override, since: "override",
            "The app that the operator has chosen by hand (`Override`; \"\": none)."),
        Field(
            "overrideTrouble", \.overrideTrouble, since: "override",
            "For who is trusted, why nothing comes of it as things are: nobody knows the app."),
        Field(
            "budgets", \.budgets,
            """
            What the asker's user has of what is bounded. Root is told of each user, and of all together in entries without \
            one.
            """),
        Field("moment", \.moment, "When the answer was true, in nanoseconds of CLOCK_MONOTONIC."),
        Field("decision", \.decision, "The latest, for `Explain`; 0 before the first."),
        Field("moreSessions", \.hasMoreSessions, json: "", "There are others behind the 64 of this answer."),
        .inJSON("cameras") { $0.cameras.json }, .inJSON("sessions") { $0.sessions.json },
    ]

    /// More pages of sessions than any broker has: a broker that always reports more would be asked for ever.
    package static let pagesMax = 256

    package var answer: [WireValue] { [wireValue, cameras.wireValue, sessions.wireValue] }

    /// - Throws: `.invalidArguments` when the answer is not one of `GetStatus`.
    package init(answer: [WireValue]) throws(BrokerError) {
        var reader = WireReader("GetStatus", answer)
        try self.init(try reader.dictionary("broker"), at: "broker")
        cameras = try reader.read("cameras")
        sessions = try reader.read("sessions")
    }

    /// Adds the next page of `GetSessions`: the sessions behind the last one, and whether there are more.
    /// - Throws: `.invalidArguments` when the answer is not one of `GetSessions`.
    package mutating func append(page: [WireValue]) throws(BrokerError) {
        var reader = WireReader("GetSessions", page)
        let behind: [SessionStatus] = try reader.read("sessions")
        hasMoreSessions = try reader.boolean("more")
        // Ids grow from page to page: anything else would come again and again.
        let last = sessions.last?.session ?? SessionID(0)
        guard behind.first.map({ $0.session > last }) ?? !hasMoreSessions else {
            throw BrokerError(
                .invalidArguments, "GetSessions gives no session behind \(last.rawValue), and says there are.")
        }
        sessions += behind
    }
}

/// How much of one bounded thing a user has.
public struct BudgetUse: Hashable, Sendable, Described {
    /// `nil` for all users together.
    public var user: UInt32?
    public var resource = ""
    public var used: UInt64 = 0
    public var most: UInt64 = 0

    package init() {}

    package static let fields: [Field<Self>] = [
        .inJSON("user") { $0.user.map { .count(UInt64($0)) } ?? .null },
        Field("resource", \.resource, "`connections`, `sessions`, `placedApps`, `microphones` or `questions`."),
        Field("used", \.used, "What it has."),
        Field("most", \.most, "What it may have at the most; less where others have much."),
        .ifAny("user", \.user, json: "", "Whose; missing: all users together."),
    ]
}
