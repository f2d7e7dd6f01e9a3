public import Vocabulary

public struct PolicyOrigin: Hashable, Sendable, Described {
    public var table = ""
    public var name = ""
    public var file = ""
    public var line: UInt64 = 0

    package init() {}

    package static let fields: [Field<Self>] = [
        Field("table", \.table, "\"\", attribute, rule, contention or camera."), Field("name", \.name, "The part's."),
        Field("file", \.file, "Its file."), Field("line", \.line, "From 1."),
    ]
}

/// A session's fate if a policy were loaded.
public struct PlannedChange: Hashable, Sendable, Described {
    public var session = SessionID(0)
    public var app = ""
    public var camera = CameraID("")
    public var kind = ""
    public var rule = ""
    public var after = Duration.zero
    public var recording: RecordingID?
    public var words = ""

    package init() {}

    package static let fields: [Field<Self>] = [
        Field("session", \.session, "Its number."), Field("app", \.app, "Whose it is."),
        Field("camera", \.camera, "Of which camera."),
        Field(
            "kind", \.kind,
            """
            `stopped`, `interrupted`, `restricted`, `refused`, `leased`, `told`; `admitted`, `widened`, `runs`.
            """), Field("rule", \.rule, "The rule behind it."),
        Field("after", \.after, "From the load on, in nanoseconds."),
        .inJSON("recording") { $0.recording.json },
        Field("words", \.words, "What happens, as the end of a sentence that begins with the app."),
        .ifAny("recording", \.recording, json: "", "The recording that it ends."),
    ]
}
