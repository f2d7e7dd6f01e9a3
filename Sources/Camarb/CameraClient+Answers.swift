public import ArbiterProtocol

/// The client as the one that asks the user about apps, and that shows and ends what they do.
extension CameraClient {
    /// Has `brokerNotices` tell `.question` and `.questionEnded` from now on, the one that stands at once; or ends that.
    /// - Throws: `.notTrusted` with the client that asks already.
    public func answerQuestions(_ on: Bool = true) async throws(BrokerError) {
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
