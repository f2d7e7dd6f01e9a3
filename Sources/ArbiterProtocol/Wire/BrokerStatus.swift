/// Who holds what, who waits, and why: the answer of `Broker1.GetStatus`.
public struct BrokerStatus: Hashable, Sendable {
    public var version: String
    /// The policy in force, by name.
    public var policy: String
    /// Why the broker runs without what it was told to use; empty when all is well.
    public var degraded: String
    /// False: no presence source, so every client counts as foreground.
    public var presenceKnown: Bool
    /// What nobody tells the broker about the asker's desktop.
    public var unknown: [UnknownFact]
    /// Who speaks for the asker's desktop, and for everybody's; for all there are where the asker is trusted. By role.
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
    /// What the asker's user has of what is bounded; who is trusted is told of every user, and of all together.
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

    public init(
        version: String, policy: String, degraded: String = "", presenceKnown: Bool, unknown: [UnknownFact] = [],
        speakers: [SpeakerStatus] = [], isPrivate: Bool = false, isOwnPrivate: Bool = false, isAsleep: Bool = false,
        loginSessionsUnknown: String = "", loginSessions: [LoginSessionStatus] = [],
        pressure: SystemPressure = .nominal, pressureWords: PressureStatus = PressureStatus(),
        budgets: [BudgetUse] = [], moment: Moment,
        decision: DecisionID, cameras: [CameraStatus], sessions: [SessionStatus],
        hasMoreSessions: Bool = false
    ) {
        self.version = version
        self.policy = policy
        self.degraded = degraded
        self.presenceKnown = presenceKnown
        self.unknown = unknown
        self.speakers = speakers
        self.isPrivate = isPrivate
        self.isOwnPrivate = isOwnPrivate
        self.isAsleep = isAsleep
        self.loginSessionsUnknown = loginSessionsUnknown
        self.loginSessions = loginSessions
        self.pressure = pressure
        self.pressureWords = pressureWords
        self.budgets = budgets
        self.moment = moment
        self.decision = decision
        self.cameras = cameras
        self.sessions = sessions
        self.hasMoreSessions = hasMoreSessions
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

/// Who says how hard the machine is pressed.
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
}

/// A client that tells the broker of a user's desktop.
public struct SpeakerStatus: Hashable, Sendable {
    /// `shell` and `agent` place apps, `microphones` says who has one.
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

/// A part of a user's desktop that the broker decides without, until a shell or the user's camagent tells it.
public enum UnknownFact: String, Hashable, Sendable, CaseIterable {
    /// Where apps are: the next source that the policy believes is asked instead.
    case windows
    /// Which apps have a microphone: none counts as having one.
    case microphones
}

/// One camera in `BrokerStatus`.
public struct CameraStatus: Hashable, Sendable {
    public var camera: CameraID
    public var name: String
    public var position: CameraPosition
    public var present: Bool
    /// Its own privacy switch is on, or that of the machine.
    public var isPrivate: Bool
    /// Grows each time the camera appears.
    public var generation: UInt64
    public var tenancy: Tenancy
    /// The holder's app, as far as the asker may know it; nil when nobody holds the camera.
    public var holder: Interrupter?
    /// The holder's session, when it is of the asker's user.
    public var session: SessionID?
    /// The apps that wait, first in line first.
    public var waiting: [Interrupter]
    /// The apps that watch beside the holder.
    public var sharers: [Interrupter]
    /// A program that has the camera without asking the broker, as far as that can be known; nil: none has.
    public var outside: String?
    /// A program that merely has its node open, as far as that can be known; nil: none has.
    public var openIn: String?
    /// Why a program outside the broker would not be noticed before somebody asks; nil: it would, or the camera has no node.
    public var unwatched: String?
    /// Why apps can open the camera's node without asking the broker; nil: they cannot, or it has none.
    public var bypass: String?

    public enum Tenancy: String, Hashable, Sendable, CaseIterable {
        case free, granted, starting, streaming, revoking
        /// The holder was told, and its grace runs.
        case yielding
        /// Kept for a client of before the broker's restart.
        case reserved
    }

    public init(
        camera: CameraID, name: String, position: CameraPosition, present: Bool, isPrivate: Bool = false,
        generation: UInt64, tenancy: Tenancy, holder: Interrupter? = nil, session: SessionID? = nil,
        waiting: [Interrupter] = [],
        sharers: [Interrupter] = [], outside: String? = nil, openIn: String? = nil, unwatched: String? = nil,
        bypass: String? = nil
    ) {
        self.outside = outside
        self.openIn = openIn
        self.unwatched = unwatched
        self.bypass = bypass
        self.camera = camera
        self.name = name
        self.position = position
        self.present = present
        self.isPrivate = isPrivate
        self.generation = generation
        self.tenancy = tenancy
        self.holder = holder
        self.session = session
        self.waiting = waiting
        self.sharers = sharers
    }
}

/// One session in `BrokerStatus`. Of another user's session only `app` and `camera` mean something.
public struct SessionStatus: Hashable, Sendable {
    public var session: SessionID
    public var app: Interrupter
    public var camera: CameraID
    public var state: State
    public var access: Access
    public var causes: CauseSet
    /// The rule behind the causes, or behind its claim; empty when there is none.
    public var rule: String
    /// The rank of its claim, by the policy's name for it.
    public var rank: String
    /// By what it may use its camera: `root`, `own`, `user`, `group`, `service`, `seat`, or `none` (`docs/semantics.md` §6).
    public var right: String
    public var presence: Presence
    public var focused: Bool
    /// The recording under way.
    public var recording: RecordingID?
    /// The kernel names its client by the number of its process only (Linux before 6.5).
    public var isWeak: Bool

    /// `docs/semantics.md` §2.
    public enum State: String, Hashable, Sendable, CaseIterable {
        case stopped, running, restricted, interrupted
    }

    public init(
        session: SessionID, app: Interrupter, camera: CameraID, state: State, access: Access,
        causes: CauseSet = .init(),
        rule: String = "", rank: String = "", right: String = "", presence: Presence, focused: Bool,
        recording: RecordingID? = nil, isWeak: Bool = false
    ) {
        self.session = session
        self.app = app
        self.camera = camera
        self.state = state
        self.access = access
        self.causes = causes
        self.rule = rule
        self.rank = rank
        self.right = right
        self.presence = presence
        self.focused = focused
        self.recording = recording
        self.isWeak = isWeak
    }
}

extension BrokerStatus {
    /// More pages of sessions than any broker has: one that always said that there are more would be asked for ever.
    package static let pagesMax = 256

    /// The three values that `GetStatus` gives.
    public var wireArguments: [WireValue] { wireArguments(sessions: sessions.map(\.wire)) }

    /// The same with sessions that are on the wire's form already, instead of its own.
    public func wireArguments(sessions: [WireDictionary]) -> [WireValue] {
        [
            .dictionary([
                "version": .string(version), "policy": .string(policy), "degraded": .string(degraded),
                "presenceKnown": .boolean(presenceKnown), "unknown": .strings(unknown.map(\.rawValue)),
                "speakers": .dictionaries(speakers.map(\.wire)),
                "privacy": .boolean(isPrivate), "ownPrivacy": .boolean(isOwnPrivate), "asleep": .boolean(isAsleep),
                "loginSessionsUnknown": .string(loginSessionsUnknown),
                "loginSessions": .dictionaries(loginSessions.map(\.wire)),
                "pressure": .string(pressure.wireName), "pressureSaid": .string(pressureWords.said.wireName),
                "pressureMeasured": .string(pressureWords.measured?.wireName ?? ""),
                "pressureWhy": .string(pressureWords.why), "pressureTrouble": .string(pressureWords.trouble),
                "budgets": .dictionaries(budgets.map(\.wire)),
                "moment": .int64(moment.nanoseconds),
                "decision": .uint64(decision), "moreSessions": .boolean(hasMoreSessions),
            ]),
            .dictionaries(cameras.map(\.wire)), .dictionaries(sessions),
        ]
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
        self.init(
            version: try broker.string("version"), policy: try broker.string("policy"),
            degraded: try broker.string("degraded"), presenceKnown: try broker.boolean("presenceKnown"),
            unknown: try broker.strings("unknown").compactMap(UnknownFact.init(rawValue:)), speakers: speakers,
            isPrivate: try broker.boolean("privacy"),
            isOwnPrivate: broker.has("ownPrivacy") ? try broker.boolean("ownPrivacy") : false,
            isAsleep: try broker.boolean("asleep"),
            loginSessionsUnknown: try broker.string("loginSessionsUnknown"),
            loginSessions: logins,
            pressure: SystemPressure(wireName: try broker.string("pressure")) ?? .nominal,
            pressureWords: try PressureStatus(broker), budgets: budgets,
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

extension PressureStatus {
    fileprivate init(_ fields: WireFields) throws(BrokerError) {
        self.init(
            said: SystemPressure(wireName: try fields.string("pressureSaid")) ?? .nominal,
            measured: SystemPressure(wireName: try fields.string("pressureMeasured")),
            why: try fields.string("pressureWhy"), trouble: try fields.string("pressureTrouble"))
    }
}

extension SpeakerStatus {
    fileprivate var wire: WireDictionary {
        [
            "role": .string(role), "everybody": .boolean(user == nil), "user": .uint32(user ?? 0),
            "app": .string(app.wireName), "process": .uint32(UInt32(clamping: process)), "unit": .string(unit),
            "weak": .boolean(isWeak), "source": .string(source),
        ]
    }

    fileprivate init(_ fields: WireFields) throws(BrokerError) {
        let user = UInt32(clamping: try fields.uint64("user"))
        self.init(
            role: try fields.string("role"), user: try fields.boolean("everybody") ? nil : user,
            app: Interrupter(wireName: try fields.string("app")) ?? .app(""),
            process: Int32(clamping: try fields.uint64("process")), unit: try fields.string("unit"),
            isWeak: try fields.boolean("weak"), source: try fields.string("source"))
    }
}

extension LoginSessionStatus {
    fileprivate var wire: WireDictionary {
        [
            "id": .string(id), "user": .uint32(user), "seat": .string(seat), "remote": .boolean(isRemote),
            "active": .boolean(isActive), "locked": .boolean(isLocked),
        ]
    }

    fileprivate init(_ fields: WireFields) throws(BrokerError) {
        self.init(
            id: try fields.string("id"), user: UInt32(clamping: try fields.uint64("user")),
            seat: try fields.string("seat"), isRemote: try fields.boolean("remote"),
            isActive: try fields.boolean("active"), isLocked: try fields.boolean("locked"))
    }
}

extension CameraStatus {
    fileprivate var wire: WireDictionary {
        [
            "id": .string(camera.name), "name": .string(name), "position": .string(position.rawValue),
            "present": .boolean(present), "privacy": .boolean(isPrivate), "generation": .uint64(generation),
            "tenancy": .string(tenancy.rawValue),
            "holder": .string(holder?.wireName ?? ""), "session": .uint64(session?.rawValue ?? 0),
            "waiting": .strings(waiting.map(\.wireName)), "sharers": .strings(sharers.map(\.wireName)),
            "outside": .string(outside ?? ""), "openIn": .string(openIn ?? ""), "unwatched": .string(unwatched ?? ""),
            "bypass": .string(bypass ?? ""),
        ]
    }

    fileprivate init(_ fields: WireFields) throws(BrokerError) {
        let session = try fields.uint64("session")
        let outside = try fields.string("outside")
        let openIn = try fields.string("openIn")
        let unwatched = try fields.string("unwatched")
        let bypass = try fields.string("bypass")
        self.init(
            camera: CameraID(try fields.string("id")), name: try fields.string("name"),
            position: try fields.word("position"), present: try fields.boolean("present"),
            isPrivate: try fields.boolean("privacy"), generation: try fields.uint64("generation"),
            tenancy: try fields.word("tenancy"),
            holder: Interrupter(wireName: try fields.string("holder")),
            session: session == 0 ? nil : SessionID(session),
            waiting: try fields.strings("waiting").compactMap(Interrupter.init(wireName:)),
            sharers: try fields.strings("sharers").compactMap(Interrupter.init(wireName:)),
            outside: outside.isEmpty ? nil : outside, openIn: openIn.isEmpty ? nil : openIn,
            unwatched: unwatched.isEmpty ? nil : unwatched, bypass: bypass.isEmpty ? nil : bypass)
    }
}

extension SessionStatus {
    public var wire: WireDictionary {
        [
            "session": .uint64(session.rawValue), "app": .string(app.wireName), "camera": .string(camera.name),
            "state": .string(state.rawValue), "access": .strings(access.names), "causes": causes.wire,
            "reason": causes.wireReason, "rule": .string(rule), "rank": .string(rank),
            "right": .string(right),
            "presence": .string(presence.wireName), "focused": .boolean(focused), "recording": .uint64(recording ?? 0),
            "weak": .boolean(isWeak),
        ]
    }

    fileprivate init(_ fields: WireFields) throws(BrokerError) {
        let recording = try fields.uint64("recording")
        let presence = try fields.string("presence")
        self.init(
            session: SessionID(try fields.uint64("session")),
            app: Interrupter(wireName: try fields.string("app")) ?? .app(""),
            camera: CameraID(try fields.string("camera")), state: try fields.word("state"),
            access: try fields.access("access"), causes: try fields.causes("causes"), rule: try fields.string("rule"),
            rank: try fields.string("rank"), right: try fields.string("right"),
            presence: Presence(wireName: presence) ?? .background,
            focused: try fields.boolean("focused"), recording: recording == 0 ? nil : recording,
            isWeak: try fields.boolean("weak"))
    }
}
