public import Vocabulary

/// A session in `BrokerStatus`. Of another user's session only `app`, `camera` and `state` mean something.
public struct SessionStatus: Hashable, Sendable, Described {
    public var session = SessionID(0)
    public var app = Interrupter.anotherUsersApp
    public var camera = CameraID("")
    public var state = State.stopped
    public var access = Access.none
    public var causes = CauseSet()
    public var rule = ""
    public var rank = ""
    public var right = ""
    public var presence = Presence.background
    public var focused = false
    public var recording: RecordingID?
    public var isPaused = false
    public var isWeak = false

    /// `docs/semantics.md` §2.
    public enum State: String, Hashable, Sendable, CaseIterable { case stopped, running, restricted, interrupted }

    package init() {}

    package static let fields: [Field<Self>] = [
        Field("session", \.session, "Its number."), Field("app", \.app, "Whose it is."),
        Field("camera", \.camera, "Of which camera."),
        Field("state", \.state, "`stopped`, `running`, `restricted` or `interrupted` (semantics.md §2)."),
        Field("access", \.access, "What it may do now."),
        Field("causes", \.causes, "Every cause that stands, the reason first."),
        .following("reason", "The first of them; \"\": there is none.") { $0.causes.reason },
        Field("rule", \.rule, "The rule behind the causes, or behind its bid."),
        Field("rank", \.rank, "The rank of its bid, by the policy's name for it."),
        Field(
            "right", \.right,
            """
            By what it may use its camera: `root`, `own`, `user`, `group`, `service`, `seat` or `none` (semantics.md §6).
            """), Field("presence", \.presence, "Where its app is."),
        Field("focused", \.focused, "Its app has the focus."),
        Field("recording", \.recording, "The one under way; 0: none."),
        Field("paused", \.isPaused, since: "paused", json: "", "Its client has paused it."),
        Field("weak", \.isWeak, "The kernel names its client by the number of its process only."),
    ]
}

extension SessionStatus.State: WireWord {}
