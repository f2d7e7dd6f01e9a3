/// A question to the user: may this app have cameras?
public struct AppQuestion: Hashable, Sendable {
    public var number: QuestionID
    /// Escaped, and at most 255 bytes: an app may call itself what it likes.
    public var app: String
    /// The kernel vouches for the name; else the app claims it.
    public var isVouched: Bool
    /// The path of its executable as the kernel shows it; nil where it does not.
    public var program: String?
    /// The camera that it asks for, as people call it.
    public var camera: String
    /// So long an answer counts.
    public var time: Duration

    public init(number: QuestionID, app: String, isVouched: Bool, program: String?, camera: String, time: Duration) {
        self.number = number
        self.app = app
        self.isVouched = isVouched
        self.program = program
        self.camera = camera
        self.time = time
    }

    package init(_ reader: inout WireReader) throws(BrokerError) {
        number = try reader.uint32("question")
        app = try reader.string("app")
        isVouched = try reader.boolean("vouched")
        program = try reader.anyString("program")
        camera = try reader.string("camera")
        time = .seconds(Int64(try reader.uint32("seconds")))
    }
}

/// A recording that an interruption ended.
public struct RecordingCut: Hashable, Sendable {
    /// Whose recording it was.
    public var app: String
    public var camera: CameraID
    /// The app that took the camera, as far as the user may know; nil where none did.
    public var interrupter: Interrupter?
    public var cause: Cause

    package init(_ reader: inout WireReader) throws(BrokerError) {
        app = try reader.string("app")
        camera = CameraID(try reader.string("camera"))
        interrupter = Interrupter(wireName: try reader.string("by"))
        cause = try reader.cause("why")
    }
}

/// Somebody answered for one of the user's apps, and not through this client.
public struct AnswerChange: Hashable, Sendable {
    public var app: String
    /// The answer is for the app whose name the kernel vouches for; else for whichever program claims it.
    public var isVouched: Bool
    /// What is said from now on; nil: nothing.
    public var answer: AppAnswer?
    /// The app that said it, as far as the user may know; nil where the broker does not know.
    public var author: Interrupter?
    /// The number of its process, where that is the user's own.
    public var process: UInt32?
    /// The path of its executable as the kernel shows it, where the process is the user's own.
    public var program: String?

    package init(
        app: String, isVouched: Bool, answer: AppAnswer?, author: Interrupter?, process: UInt32?, program: String?
    ) {
        self.app = app
        self.isVouched = isVouched
        self.answer = answer
        self.author = author
        self.process = process
        self.program = program
    }

    package init(_ reader: inout WireReader) throws(BrokerError) {
        app = try reader.string("app")
        isVouched = try reader.boolean("vouched")
        let answer = try reader.string("answer")
        self.answer = AppAnswer(rawValue: answer)
        author = Interrupter(wireName: try reader.string("by"))
        let process = try reader.uint32("process")
        self.process = process == 0 ? nil : process
        program = try reader.anyString("program")
    }
}

/// What is said of one app of a user's.
public struct StoredAnswer: Hashable, Sendable {
    public var app: String
    /// The kernel vouches for the name; an answer for one that claims it is another one.
    public var isVouched: Bool
    public var answer: AppAnswer
    /// An ISO 8601 date; nil where it is not known.
    public var since: String?
    public var origin: AnswerOrigin

    package init(app: String, isVouched: Bool, answer: AppAnswer, since: String?, origin: AnswerOrigin) {
        self.app = app
        self.isVouched = isVouched
        self.answer = answer
        self.since = since
        self.origin = origin
    }
}
