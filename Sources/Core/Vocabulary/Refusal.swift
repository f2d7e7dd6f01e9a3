/// A request that a rule does not allow. Names the rule, the value, and the allowed values.
public struct Refusal: Error, Hashable, Sendable {
    public var error: BrokerError
    public var rule: String

    public init(_ kind: BrokerError.Kind, _ message: String, rule: String) {
        error = BrokerError(kind, message)
        self.rule = rule
    }

    private init(_ law: Law, _ kind: BrokerError.Kind, _ message: String) {
        self.init(kind, message, rule: law.text)
    }
}

/// The sentences of all refusals by a law, each with its law and its error.
extension Refusal {
    // MARK: What a session asks

    package static func unknownSession(_ id: SessionID) -> Refusal {
        Refusal(.knownSession, .unknownSession, "There is no session \(id.rawValue). Create one with CreateSession.")
    }

    package static func unknownCamera(_ camera: CameraID?, among known: [CameraID], _ law: Law = .knownCamera)
        -> Refusal
    {
        guard let camera else { return Refusal(law, .unknownCamera, "There is no camera at all.") }
        let error = BrokerError.unknownCamera(camera.name, among: known.map(\.name))
        return Refusal(law, .unknownCamera, error.message)
    }

    package static let insideBatch = Refusal(
        .noStartInsideBatch, .insideConfiguration,
        "The session is between BeginConfiguration and CommitConfiguration; commit, then start.")
    package static let nothingToReclaim = Refusal(
        .reclaimedOnce, .staleGrant,
        "There is no grant from before the restart that this session could go on with; start it with StartRunning.")

    package static func notReady(_ interruption: InterruptionID) -> Refusal {
        Refusal(
            .readyAnswers, .invalidValue,
            "Interruption \(interruption) is not announced for this session; Ready answers the id of the latest WillBeInterrupted."
        )
    }

    package static func interrupted(_ reason: Cause?, _ verb: String, _ law: Law) -> Refusal {
        let words = reason?.wireName ?? ""
        return Refusal(law, .interrupted, "The session is interrupted (\(words)); it can \(verb) when it runs again.")
    }

    package static func notRunning(_ verb: String, _ law: Law) -> Refusal {
        Refusal(law, .notRunning, "The session is not running yet; \(verb) after DidStartRunning.")
    }

    package static func appUses(_ camera: CameraID, _ app: AppID, session: UInt64, _ law: Law) -> Refusal {
        Refusal(
            law, .refusedByPolicy,
            "\(app.name) already uses camera \"\(camera.name)\" in session \(session); stop that one first.")
    }

    package static func appUses(_ other: CameraID, excluding camera: CameraID, _ app: AppID, session: UInt64) -> Refusal
    {
        Refusal(
            .ownConflictRefuse, .refusedByPolicy,
            "\(app.name) already uses camera \"\(other.name)\", which cannot run beside \"\(camera.name)\", in session \(session); stop that one first."
        )
    }

    /// - Parameter law: its user's denial, or its desktop's permission store's.
    package static func denied(_ app: AppID, _ law: Law) -> Refusal {
        let said =
            law == .deniedInStore
            ? "the permission store of its desktop says no, which the desktop's settings change"
            : "its user said no, which \"camclient apps allow\" changes"
        return Refusal(law, .accessDenied, "\(app.name) of user \(app.user) may not have cameras: \(said).")
    }

    /// - Parameter message: the rule's own words; empty: it has none.
    package static func denied(_ app: AppID, by policy: String, rule: String, message: String) -> Refusal {
        let words = message.isEmpty ? "." : ": \(message)"
        return Refusal(
            .refusedByPolicy, "The policy \"\(policy)\" does not give the camera to \(app.name)\(words)", rule: rule)
    }

    /// - Parameters:
    ///   - rest: of the pause.
    ///   - message: the rule's own words; empty: it has none.
    package static func pauses(_ app: AppID, _ camera: CameraID, rest: Duration, rule: String, message: String)
        -> Refusal
    {
        let seconds = Duration.seconds((rest.wholeNanoseconds + 999_999_999) / 1_000_000_000)
        let words = message.isEmpty ? "" : " \(message)"
        return Refusal(
            .refusedByPolicy,
            "The lease of \(app.name) on camera \"\(camera.name)\" has ended, and its pause lasts for another \(TimeText.write(seconds)).\(words)",
            rule: rule)
    }

    // MARK: Configurations

    package static let batchTooDeep = Refusal(
        .batchDepth, .limitExceeded, "BeginConfiguration nests at most \(Bound.batchDepthMax) deep; commit some first.")
    package static let tooManyBatches = Refusal(
        .batchesBounded, .limitExceeded,
        "The camera has \(Bound.batchesMax) batches under way, which is the most; wait for the answer to one of them.")
    package static let noBatch = Refusal(
        .commitClosesBegin, .notInsideConfiguration, "There is no batch to commit; BeginConfiguration opens one.")

    package static func unsupported(_ problem: String) -> Refusal {
        Refusal(.batchIsWhole, .unsupportedConfiguration, problem)
    }

    package static func wrongBracket(_ problem: String) -> Refusal { Refusal(.batchIsWhole, .invalidValue, problem) }

    package static func unplugged(_ camera: CameraID) -> Refusal {
        .unsupported("camera \"\(camera.name)\" is unplugged; a session is switched to a camera that is there.")
    }

    package static func recordingHinders(switchTo camera: CameraID) -> Refusal {
        Refusal(
            .noSwitchWhileRecording, .alreadyRecording,
            "The camera cannot be switched to \"\(camera.name)\" while recording; StopRecording first.")
    }

    package static func microphoneBusy(rule: String) -> Refusal {
        Refusal(
            .microphoneBusy,
            "usesAudio true would interrupt the session: another app has the microphone. Say whenBusy \"interrupt\" to take that.",
            rule: rule)
    }

    package static func costs(_ cost: Int, left: Int, of budget: Int) -> Refusal {
        Refusal(
            .budget, .unsupportedConfiguration,
            "This configuration costs \(cost), and \(left) of the policy's budget of \(budget) is left beside the other cameras in use; configure a format or a frame rate that costs less."
        )
    }

    // MARK: Shared cameras

    /// - Parameter app: as far as the client may know it.
    package static func recordingOfAnother(_ app: Interrupter) -> Refusal {
        Refusal(
            .recordingOfAnother, .alreadyRecording,
            "This batch would take something from the recording of \(app.description) on the same camera; nothing changed. Commit it when that recording is over."
        )
    }

    package static let wishWhileRecording = Refusal(
        .wishWhileRecording, .alreadyRecording,
        "A sharer's format and frame rate stay as they are while it records; StopRecording first.")

    /// - Parameter picture: the format and the rate that the session would get.
    package static func notServed(_ picture: String) -> Refusal {
        Refusal(
            .exactMatch, .unsupportedConfiguration,
            "The shared camera gives this session \(picture) for this wish, and formatMatch is exact; nothing changed. Leave out formatMatch to take the nearest."
        )
    }

    package static let tooManySharers = Refusal(
        .sharersBounded, .limitExceeded,
        "The camera has \(Bound.sharersMax) sharers beside its holder, which is the most; start when one of them has stopped."
    )

    // MARK: Recordings

    package static let tooManyRecordings = Refusal(
        .recordingsBounded, .limitExceeded,
        "The camera has \(Bound.recordingsMax) recordings, which is the most; start when one of them has stopped.")
    package static let microphoneOfTheHolder = Refusal(
        .microphoneOfTheHolder, .accessDenied,
        "The microphone on a shared camera is that of the session which controls it; a sharer records without sound.")

    package static let usesNoAudio = Refusal(
        .microphoneForAudio, .unsupportedConfiguration,
        "usesAudio is false: configure usesAudio true, then attach the microphone.")
    package static let noMicrophone = Refusal(
        .audioNeedsMicrophone, .unsupportedConfiguration,
        "usesAudio is true, and no microphone is attached: call AttachMicrophone first, or configure usesAudio false.")
    package static let nothingToStop = Refusal(
        .stoppedOnce, .notRecording, "The session is not recording; StartRecording begins one.")

    package static func recordsAlready(_ recording: RecordingID) -> Refusal {
        Refusal(
            .oneRecording, .alreadyRecording,
            "The session is recording already (recording \(recording)); StopRecording finishes it.")
    }

    package static func notRecording(_ verb: String, _ law: Law) -> Refusal {
        Refusal(
            law, .notRecording,
            "The session is not recording, so that there is nothing to \(verb); StartRecording begins one.")
    }

    package static func pausedAlready(_ recording: RecordingID) -> Refusal {
        Refusal(
            .pausedOnce, .notRecording,
            "Recording \(recording) is paused already; ResumeRecording goes on with it.")
    }

    package static func notPaused(_ recording: RecordingID) -> Refusal {
        Refusal(
            .resumedOnce, .alreadyRecording,
            "Recording \(recording) is not paused, and goes on; PauseRecording pauses it.")
    }

    package static func findsNoObjects(_ camera: CameraID) -> Refusal {
        Refusal(
            .objectsOfTheCamera, .invalidValue,
            "metadata objects: camera \"\(camera.name)\" finds none, as its AvailableMetadataObjectTypes say; leave the kind out."
        )
    }

    // MARK: What clients and users say of apps

    package static func declaredLate(sessions: Int) -> Refusal {
        Refusal(
            .declareFirst, .refusedByPolicy,
            "A client says its name and kind before its first session; this one has \(sessions).")
    }

    /// A rank, attribute or mode that the policy does not have.
    package static func unknown(_ sort: String, _ name: String, of policy: String, has: [String], _ law: Law) -> Refusal
    {
        let names = has.isEmpty ? "none" : has.joined(separator: ", ")
        return Refusal(law, .invalidValue, "The policy \"\(policy)\" has no \(sort) \"\(name)\"; it has \(names).")
    }

    package static func unknownValue(_ value: String, of attribute: String, has: [String]) -> Refusal {
        Refusal(
            .attributesOfThePolicy, .invalidValue,
            "The attribute \(attribute) has no value \"\(value)\"; it has \(has.joined(separator: ", ")).")
    }

    package static func raised(_ sort: String, to value: String, from current: String) -> Refusal {
        Refusal(
            .demotionOnly, .priorityRaised,
            "\(sort) \"\(value)\" is stronger than \"\(current)\", the one in force; only weaker ones can be taken.")
    }

    package static func tooManyAttributed(_ count: Int32) -> Refusal {
        Refusal(
            .attributesBounded, .limitExceeded,
            "\(count) apps have attributes, the most there may be; forget those of apps that are gone.")
    }

    package static let rootsApp = Refusal(
        .answersBounded, .invalidValue, "Nobody is asked about root's apps: they always may.")
    package static let storeOnlyDenies = Refusal(
        .answersBounded, .invalidValue, "A permission store denies apps by their names, and allows none.")

    package static func tooManyAnswers(_ count: Int, of user: UInt32) -> Refusal {
        Refusal(
            .answersBounded, .limitExceeded,
            "\(count) answers are kept for user \(user), the most there may be; forget some of them.")
    }

    package static func asksForNothing(_ app: AppID) -> Refusal {
        Refusal(.stoppedByUser, .invalidValue, "No app \"\(app.name)\" of user \(app.user) asks for a camera.")
    }

    package static func questionIsOver(_ id: QuestionID) -> Refusal {
        Refusal(
            .questionsEnd, .invalidValue,
            "Question \(id) is over, or was never asked; QuestionEnded says which ones are.")
    }

    /// - Parameter setters: the setters by hand; empty: it follows its calendar alone.
    package static func mode(_ mode: String, isOf setters: [String], not setter: String) -> Refusal {
        let who = setters.isEmpty ? "its calendar alone" : "\(setters.joined(separator: " and ")) only"
        return Refusal(
            .modeSetters, .notTrusted,
            "The mode \"\(mode)\" is set and taken back by \(who), and this is the word of \(setter).")
    }

    // MARK: Rights

    /// The sentence names nobody: its reader may be anybody.
    package static func noRight(_ app: AppID, to camera: CameraID, at seat: SeatID?, under policy: Policy) -> Refusal {
        let whose = policy.whoseRight(seat: "seat \(seat?.name ?? "it is at")")
        return Refusal(
            .noRight, .accessDenied,
            "\(app.name) of user \(app.user) has no right to camera \"\(camera.name)\": \(whose)")
    }

    /// The refusal to store answers of a user without any right.
    package static func noRightToAny(of user: UInt32, under policy: Policy) -> Refusal {
        let whose = policy.whoseRight(seat: "a camera's seat")
        return Refusal(
            .noRight, .accessDenied,
            "User \(user) has no right to any camera, so nothing is kept that it says of its apps: \(whose)")
    }
}

extension Policy {
    /// The users and groups with a right, as the end of a sentence.
    fileprivate func whoseRight(seat: String) -> String {
        var allowed = ["root"]
        if rights.seat { allowed.append("the user who sits at \(seat)") }
        if !(rights.users.isEmpty && rights.groups.isEmpty && rights.services.isEmpty) {
            allowed.append("the users, groups and services that its [access] names")
        }
        let strong = rights.identity == .strong ? ", each by a strong identity" : ""
        return "the policy \"\(name)\" gives it to \(allowed.joined(separator: ", "))\(strong)."
    }
}
