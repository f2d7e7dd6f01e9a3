public import Vocabulary

/// A question to the user: may this app have cameras?
public struct AppQuestion: Hashable, Sendable, Described {
    public var number: QuestionID = 0
    /// Escaped, and at most 255 bytes: an app may call itself anything.
    public var app = ""
    public var isVouched = false
    public var program: String?
    public var camera = ""
    /// How long an answer counts.
    public var time = Duration.zero

    package init() {}

    package static let fields: [Field<Self>] = [
        Field("question", \.number), Field("app", \.app), Field("vouched", \.isVouched), Field("program", \.program),
        Field("camera", \.camera), Field("seconds", \.seconds),
    ]

    private var seconds: UInt32 {
        get { UInt32(clamping: time.components.seconds) }
        set { time = .seconds(Int64(newValue)) }
    }
}

/// A recording that an interruption ended.
public struct RecordingCut: Hashable, Sendable, Described {
    /// The app that recorded.
    public var app = ""
    public var camera = CameraID("")
    /// The app that took the camera, as far as the user may know; `nil` where none did.
    public var interrupter: Interrupter?
    public var cause = Cause.videoDeviceInUseByAnotherClient

    package init() {}

    package static let fields: [Field<Self>] = [
        Field("app", \.app), Field("camera", \.camera), Field("by", \.interrupter), Field("why", \.cause),
    ]
}

/// An answer for one of the user's apps that did not come through this client.
public struct AnswerChange: Hashable, Sendable, Described {
    public var app = ""
    /// The answer is for the app whose name the kernel vouches for; else for any program that claims the name.
    public var isVouched = false
    /// `nil` where the earlier answer is forgotten.
    public var answer: AppAnswer?
    /// The app that answered, as far as the user may know; `nil` where the broker does not know.
    public var author: Interrupter?
    /// The number of its process, where that is the user's own.
    public var process: UInt32?
    /// The path of its executable as the kernel shows it, where the process is the user's own.
    public var program: String?

    package init() {}

    package static let fields: [Field<Self>] = [
        Field("app", \.app), Field("vouched", \.isVouched), Field("answer", \.answer, json: ""),
        .inJSON("changed") { ($0.answer?.rawValue ?? "").json }, Field("by", \.author),
        Field("process", \.process), Field("program", \.program),
    ]
}

public struct StoredAnswer: Hashable, Sendable, Described {
    public var app = ""
    public var isVouched = false
    public var answer = AppAnswer.deny
    public var since: String?
    public var origin = AnswerOrigin.user

    package init() {}

    package static let fields: [Field<Self>] = [
        Field("app", \.app, "Its name."),
        Field(
            "vouched", \.isVouched, "The kernel vouches for that; else it is a claim, which another program may make."),
        Field("answer", \.answer, "`allow` or `deny`."), Field("since", \.since, "A date; \"\" where it is not known."),
        Field("from", \.origin, "`question`, `user` or `permission-store`."),
    ]
}
