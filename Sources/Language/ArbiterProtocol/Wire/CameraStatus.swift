public import Vocabulary

public struct CameraStatus: Hashable, Sendable, Described {
    public var camera = CameraID("")
    public var name = ""
    public var position = CameraPosition.external
    public var present = false
    public var isPrivate = false
    public var generation: UInt64 = 0
    public var tenancy = TenancyState.free
    public var holder: Interrupter?
    public var session: SessionID?
    public var waiting: [Interrupter] = []
    public var sharers: [Interrupter] = []
    public var outside: String?
    public var openIn: String?
    public var unwatched: String?
    public var bypass: String?
    public var fault: String?

    package init() {}

    package static let fields: [Field<Self>] = [
        Field("id", \.camera, json: "camera", "Its identity."), Field("name", \.name, "What a person calls it."),
        Field("position", \.position, "`front`, `back` or `external`."),
        Field("present", \.present, "It is plugged in."),
        Field("privacy", \.isPrivate, "Its own privacy switch is on, or that of the machine."),
        Field("generation", \.generation, "Grows each time it appears."),
        Field(
            "tenancy", \.tenancy,
            "`free`, `reserved`, `starting`, `streaming`, `resetting` or `revoking` (semantics.md §1)."),
        Field("holder", \.holder, "The app that has it, as far as the asker may know; \"\": none."),
        Field("session", \.session, "The holder's, where it is of the asker's user; else 0."),
        Field("waiting", \.waiting, "Apps that wait, the first in line first."),
        Field("sharers", \.sharers, "Apps that watch beside the holder."),
        Field("outside", \.outside, "A program that streams from it without asking; \"\": none."),
        Field("openIn", \.openIn, "One that merely has its node open; \"\": none."),
        Field("unwatched", \.unwatched, "Why neither would be noticed before somebody asks; \"\": they would."),
        .inJSON("bypassable") { .bool($0.bypass != nil) },
        Field("bypass", \.bypass, "Why apps can open its node without asking; \"\": they cannot, or it has none."),
        Field("fault", \.fault, since: "fault", "How its device failed since it last streamed; \"\": it did not."),
    ]
}

/// A camera in use, as its user's desktop shows it.
public struct CameraUse: Hashable, Sendable, Described {
    public var camera = CameraID("")
    public var name = ""
    public var holder: Interrupter?
    public var isOwn = false
    public var isRecording = false
    public var since: Int64?
    public var waiting: [WaitingApp] = []

    package init() {}

    package static let fields: [Field<Self>] = [
        Field("camera", \.camera, "Its id."), Field("name", \.name, "What a person calls it."),
        Field("holder", \.holder, "The app that has it, as far as the asker may know; \"\": none."),
        Field("own", \.isOwn, "That is an app of the asker's user."),
        Field("recording", \.isRecording, "It records, as far as that user may know."),
        Field("since", \.since, "When the holder got it, in microseconds of CLOCK_REALTIME; 0: not known."),
        Field("waiting", \.waiting, "The user's own apps that wait for it, the longest first; at most 64."),
    ]

    public struct WaitingApp: Hashable, Sendable, Described {
        public var app = ""
        public var since: Int64 = 0

        package init() {}

        package static let fields: [Field<Self>] = [
            Field("app", \.app, "Its name."), Field("since", \.since, "In microseconds of CLOCK_REALTIME."),
        ]
    }
}
