/// One session in `BrokerStatus`. Of another user's session only `app`, `camera` and `state` mean something.
public struct SessionStatus: Hashable, Sendable {
    public var session: SessionID
    public var app: Interrupter
    public var camera: CameraID
    public var state: State
    public var access: Access
    public var causes: CauseSet
    /// The rule behind the causes, or behind its bid; empty when there is none.
    public var rule: String
    /// The rank of its bid, by the policy's name for it.
    public var rank: String
    /// By what it may use its camera: `root`, `own`, `user`, `group`, `service`, `seat`, or `none` (`docs/semantics.md` §6).
    public var right: String
    public var presence: Presence
    public var focused: Bool
    /// The recording under way, and whether its client has paused it.
    public var recording: RecordingID?
    public var isPaused: Bool
    /// The kernel names its client by the number of its process only (Linux before 6.5).
    public var isWeak: Bool

    /// `docs/semantics.md` §2.
    public enum State: String, Hashable, Sendable, CaseIterable { case stopped, running, restricted, interrupted }

    package init(
        session: SessionID, app: Interrupter, camera: CameraID, state: State, access: Access,
        causes: CauseSet = .init(), rule: String = "", rank: String = "", right: String = "", presence: Presence,
        focused: Bool, recording: RecordingID? = nil, isPaused: Bool = false, isWeak: Bool = false
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
        self.isPaused = isPaused
        self.isWeak = isWeak
    }
}

extension SessionStatus: WireRecord {
    package func addEntries(to entries: inout some WireEntries) {
        entries.add("session", session.rawValue)
        entries.add("app", app.wireName)
        entries.add("camera", camera.name)
        entries.add("state", state.rawValue)
        entries.add("access", access.names)
        entries.add("causes", causes.ordered.map(\.wireName))
        entries.add("reason", causes.reason?.wireName ?? "")
        entries.add("rule", rule)
        entries.add("rank", rank)
        entries.add("right", right)
        entries.add("presence", presence.wireName)
        entries.add("focused", focused)
        entries.add("recording", recording ?? 0)
        entries.add("paused", isPaused)
        entries.add("weak", isWeak)
    }

    init(_ fields: WireFields) throws(BrokerError) {
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
            isPaused: fields.has("paused") ? try fields.boolean("paused") : false, isWeak: try fields.boolean("weak"))
    }
}
