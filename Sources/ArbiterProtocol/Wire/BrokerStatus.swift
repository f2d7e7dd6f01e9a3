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
    /// The clients that speak for the asker's desktop, and for everybody's; all there are where the asker is trusted.
    /// By role.
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
        presenceKnown: Bool, placements: [PlacementStatus] = [],
        unknown: [UnknownFact] = [],
        speakers: [SpeakerStatus] = [], isPrivate: Bool = false, isOwnPrivate: Bool = false, isAsleep: Bool = false,
        loginSessionsUnknown: String = "", loginSessions: [LoginSessionStatus] = [],
        pressure: SystemPressure = .nominal, pressureWords: PressureStatus = PressureStatus(),
        mode: ModeStatus = ModeStatus(), override: OverrideStatus = OverrideStatus(),
        budgets: [BudgetUse] = [], moment: Moment,
        decision: DecisionID, cameras: [CameraStatus], sessions: [SessionStatus],
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
}

extension BrokerStatus {
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
        var cameras: [CameraStatus] = []
        for (index, wire) in try reader.dictionaries("cameras").enumerated() {
            cameras.append(try CameraStatus(WireFields("cameras[\(index)]", wire)))
        }
        let sessions = try Self.sessions(&reader)
        var logins: [LoginSessionStatus] = []
        for (index, wire) in try broker.dictionaries("loginSessions").enumerated() {
            logins.append(try LoginSessionStatus(WireFields("loginSessions[\(index)]", wire)))
        }
        var speakers: [SpeakerStatus] = []
        for (index, wire) in try broker.dictionaries("speakers").enumerated() {
            speakers.append(try SpeakerStatus(WireFields("speakers[\(index)]", wire)))
        }
        var budgets: [BudgetUse] = []
        for (index, wire) in try broker.dictionaries("budgets").enumerated() {
            budgets.append(try BudgetUse(WireFields("budgets[\(index)]", wire)))
        }
        var placements: [PlacementStatus] = []
        let places = broker.has("placements") ? try broker.dictionaries("placements") : []
        for (index, wire) in places.enumerated() {
            placements.append(try PlacementStatus(WireFields("placements[\(index)]", wire)))
        }
        self.init(
            version: try broker.string("version"), policy: try broker.string("policy"),
            policyHash: broker.has("policyHash") ? try broker.string("policyHash") : "",
            policyByHand: broker.has("policyByHand") ? try broker.string("policyByHand") : "",
            degraded: try broker.string("degraded"), presenceKnown: try broker.boolean("presenceKnown"),
            placements: placements,
            unknown: try broker.strings("unknown").compactMap(UnknownFact.init(rawValue:)), speakers: speakers,
            isPrivate: try broker.boolean("privacy"),
            isOwnPrivate: broker.has("ownPrivacy") ? try broker.boolean("ownPrivacy") : false,
            isAsleep: try broker.boolean("asleep"),
            loginSessionsUnknown: try broker.string("loginSessionsUnknown"),
            loginSessions: logins,
            pressure: SystemPressure(wireName: try broker.string("pressure")) ?? .nominal,
            pressureWords: try PressureStatus(broker), mode: try ModeStatus(broker),
            override: try OverrideStatus(broker),
            budgets: budgets,
            moment: Moment(nanoseconds: try broker.int64("moment")), decision: try broker.uint64("decision"),
            cameras: cameras, sessions: sessions, hasMoreSessions: try broker.boolean("moreSessions"))
    }

    /// The next page, as `GetSessions` gives it: sessions behind the last one, and whether there are more.
    /// - Throws: `.invalidArguments` when the answer is not one of `GetSessions`.
    public mutating func append(page: [WireValue]) throws(BrokerError) {
        var reader = WireReader("GetSessions", page)
        let behind = try Self.sessions(&reader)
        hasMoreSessions = try reader.boolean("more")
        // Ids grow from page to page: whatever else came would come again and again.
        let last = sessions.last?.session ?? SessionID(0)
        guard behind.first.map({ $0.session > last }) ?? !hasMoreSessions else {
            throw BrokerError(
                .invalidArguments, "GetSessions gives no session behind \(last.rawValue), and says there are.")
        }
        sessions += behind
    }

    private static func sessions(_ reader: inout WireReader) throws(BrokerError) -> [SessionStatus] {
        var sessions: [SessionStatus] = []
        for (index, wire) in try reader.dictionaries("sessions").enumerated() {
            sessions.append(try SessionStatus(WireFields("sessions[\(index)]", wire)))
        }
        return sessions
    }
}
