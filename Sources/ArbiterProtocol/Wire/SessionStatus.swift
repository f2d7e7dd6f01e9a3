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
    /// The recording under way.
    public var recording: RecordingID?
    /// The kernel names its client by the number of its process only (Linux before 6.5).
    public var isWeak: Bool

    /// `docs/semantics.md` §2.
    public enum State: String, Hashable, Sendable, CaseIterable {
        case stopped, running, restricted, interrupted
    }

    package init(
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
            isWeak: try fields.boolean("weak"))
    }
}
