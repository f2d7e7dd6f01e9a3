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

    public init(
        number: QuestionID, app: String, isVouched: Bool, program: String?, camera: String, time: Duration
    ) {
        self.number = number
        self.app = app
        self.isVouched = isVouched
        self.program = program
        self.camera = camera
        self.time = time
    }

    init(_ reader: inout WireReader) throws(BrokerError) {
        number = try reader.uint32("question")
        app = try reader.string("app")
        isVouched = try reader.boolean("vouched")
        let program = try reader.string("program")
        self.program = program.isEmpty ? nil : program
        camera = try reader.string("camera")
        time = .seconds(Int64(try reader.uint32("seconds")))
    }
}

/// A recording that an interruption ended.
public struct RecordingCut: Hashable, Sendable {
    /// Whose recording it was.
    public var app: String
    public var camera: CameraID
    /// Who took the camera, as far as the user may know; nil where nobody did.
    public var interrupter: Interrupter?
    public var cause: Cause

    init(_ reader: inout WireReader) throws(BrokerError) {
        app = try reader.string("app")
        camera = CameraID(try reader.string("camera"))
        interrupter = Interrupter(wireName: try reader.string("by"))
        cause = try reader.cause("why")
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
}

/// A camera that is in use, as its user's desktop shows it.
public struct CameraUse: Hashable, Sendable {
    public var camera: CameraID
    /// What a person calls it.
    public var name: String
    public var holder: Interrupter?
    /// The holder is an app of this user's.
    public var isOwn: Bool
    /// It records, as far as this user may know.
    public var isRecording: Bool
    /// When the holder got it, in microseconds of CLOCK_REALTIME; nil where nobody has it or it is not known.
    public var since: Int64?
    /// This user's own apps that wait for it, the longest first; at most 64.
    public var waiting: [WaitingApp]

    public struct WaitingApp: Hashable, Sendable {
        public var app: String
        /// In microseconds of CLOCK_REALTIME.
        public var since: Int64

        public init(app: String, since: Int64) {
            self.app = app
            self.since = since
        }
    }

    public init(
        camera: CameraID, name: String, holder: Interrupter? = nil, isOwn: Bool = false, isRecording: Bool = false,
        since: Int64? = nil, waiting: [WaitingApp] = []
    ) {
        self.camera = camera
        self.name = name
        self.holder = holder
        self.isOwn = isOwn
        self.isRecording = isRecording
        self.since = since
        self.waiting = waiting
    }
}

/// The client as the one who asks the user about apps, and who shows and ends what they do.
extension CameraClient {
    /// Has `brokerNotices` tell `.question` and `.questionEnded` from now on, the one that stands at once; or ends that.
    /// - Throws: `.notTrusted` with who is asked already.
    public func watchQuestions(_ on: Bool = true) async throws(BrokerError) {
        try await shell("WatchQuestions", [.boolean(on)])
    }

    /// - Throws: `.invalidValue` where the question is over.
    public func answer(_ question: QuestionID, _ answer: AppAnswer) async throws(BrokerError) {
        try await shell("AnswerQuestion", [.uint32(question), .string(answer.rawValue)])
    }

    /// What is said of this user's apps, by name, the vouched-for ones first.
    public func storedAnswers() async throws(BrokerError) -> [StoredAnswer] {
        var reader = WireReader("ListAnswers", try await shell("ListAnswers"))
        var answers: [StoredAnswer] = []
        for (index, wire) in try reader.dictionaries("answers").enumerated() {
            let fields = WireFields("answers[\(index)]", wire)
            let since = try fields.string("since")
            answers.append(
                StoredAnswer(
                    app: try fields.string("app"), isVouched: try fields.boolean("vouched"),
                    answer: try fields.word("answer"), since: since.isEmpty ? nil : since,
                    origin: try fields.word("from")))
        }
        return answers
    }

    /// Says what is answered to an app of this user's; nil forgets it.
    /// - Parameter isVouched: whether the one is meant that the kernel vouches for, or the one that claims the name.
    public func setAnswer(app: String, isVouched: Bool, _ answer: AppAnswer?) async throws(BrokerError) {
        try await shell("SetAnswer", [.string(app), .boolean(isVouched), .string(answer?.rawValue ?? "")])
    }

    /// The apps to which the permission store says no; they replace those of the call before.
    public func setDenied(apps: [String]) async throws(BrokerError) {
        try await shell("SetDenied", [.strings(apps)])
    }

    /// Stops an app's sessions; none of them starts again by itself.
    public func stop(app: String) async throws(BrokerError) {
        try await shell("StopApp", [.string(app)])
    }

    /// The privacy switch for all sessions of this client's user. It stays when this client leaves.
    public func setOwnPrivacy(_ on: Bool) async throws(BrokerError) {
        try await shell("SetOwnPrivacy", [.boolean(on)])
    }

    /// The cameras that somebody has, or that this user's apps wait for. From then on `brokerNotices` has `.useChanged`
    /// once, until the next call.
    public func cameraUse() async throws(BrokerError) -> [CameraUse] {
        var reader = WireReader("ListUse", try await shell("ListUse"))
        var cameras: [CameraUse] = []
        for (index, wire) in try reader.dictionaries("cameras").enumerated() {
            cameras.append(try CameraUse(WireFields("cameras[\(index)]", wire), "cameras[\(index)]"))
        }
        return cameras
    }
}

extension CameraUse {
    init(_ fields: WireFields, _ place: String) throws(BrokerError) {
        camera = CameraID(try fields.string("camera"))
        name = try fields.string("name")
        holder = Interrupter(wireName: try fields.string("holder"))
        isOwn = try fields.boolean("own")
        isRecording = try fields.boolean("recording")
        let since = try fields.int64("since")
        self.since = since > 0 ? since : nil
        waiting = []
        for (index, wire) in try fields.dictionaries("waiting").enumerated() {
            let app = WireFields("\(place).waiting[\(index)]", wire)
            waiting.append(WaitingApp(app: try app.string("app"), since: try app.int64("since")))
        }
    }
}
