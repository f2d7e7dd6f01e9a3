import Arbiter
package import ArbiterProtocol

extension EventDescription {
    /// The table while it is filled.
    struct Table {
        var found: [EventKind: EventDescription] = [:]
        /// The default for the events that are added next.
        var origin = Origin.clock
        var concern = Concern.users

        mutating func add<each Value: Sendable>(
            _ kind: EventKind, _ sentence: Sentence, concerning concern: Concern? = nil, marked traits: Traits = [],
            _ make: @escaping @Sendable (repeat each Value) -> Event, _ fields: repeat EventField<each Value>
        ) {
            precondition(found[kind] == nil, "\(kind) is described twice")
            found[kind] = EventDescription(
                kind, from: origin, concerning: concern ?? self.concern, traits, sentence, make, repeat each fields)
        }
    }

    package static let all: [EventDescription] = {
        var table = Table()
        table.addClients()
        table.addSessions()
        table.addUsersWorld()
        table.addUsersWords()
        table.addMachine()
        table.addRecorder()
        table.addRecorderNews()
        table.addBroker()
        return EventKind.allCases.map { kind in
            guard let description = table.found[kind] else { preconditionFailure("\(kind) is not described") }
            return description
        }
    }()

    private static let places: [EventKind: Int] = Dictionary(
        uniqueKeysWithValues: EventKind.allCases.enumerated().map { ($0.element, $0.offset) })

    package static func of(_ kind: EventKind) -> EventDescription {
        guard let place = places[kind] else { preconditionFailure("\(kind) is not a kind of event") }
        return all[place]
    }

    package static func with(command: String) -> [EventDescription] { byCommand[command] ?? [] }

    private static let byCommand = Dictionary(
        grouping: all.flatMap { description in description.sentence.commands.map { (command: $0, description) } },
        by: \.command
    ).mapValues { $0.map(\.1) }

    package static let commands: [String] = all.flatMap(\.sentence.commands).eachOnce

    package static let recorderVerbs: [String] = with(command: Sentence.recorderCommand).compactMap(\.sentence.verb)
}

extension Event {
    package var described: EventDescription { EventDescription.of(kind) }
    package var subjects: [EventSubject] { described.subjects(of: self) }
}

extension EventDescription.Table {
    mutating func addBroker() {
        (origin, concern) = (.broker, .users)
        add(.policyLoaded, .own("policy-reload"), concerning: .everybody, marked: [.noted], Event.policyLoaded, .policy)
        add(.reserved, .line("reserve"), Event.reserved, .camera, .app, .survivor)
        // In a scenario no words stand for this event, but the time at which a line begins.
        origin = .clock
        let make: @Sendable () -> Event = { .timePassed }
        add(.timePassed, .unsaid, concerning: .whoeverIsTold, marked: [.routine], make)
    }

    mutating func addClients() {
        (origin, concern) = (.client, .users)
        add(.connected, .own("connect"), Event.connected, .client, .app, .identity)
        add(.declared, .line("declare"), Event.declared, .client, .attributes)
        add(
            .declaredPresence, .line("declare-presence"), marked: [.noted], Event.declaredPresence, .client, .presence,
            .mark("focused"))
        add(.loweredPriority, .own("lower"), marked: [.noted], Event.loweredPriority, .client, .word("rank", "a rank"))
        add(
            .loweredAttribute, .own("lower"), marked: [.noted], Event.loweredAttribute, .client,
            .word("attribute", "an attribute"), .word("to", "its value"))
        add(.disconnected, .line("disconnect"), Event.disconnected, .client)
    }

    mutating func addSessions() {
        (origin, concern) = (.session, .users)
        add(
            .created, .own("session"), Event.created, .session, .client, .cameraOrAll, .configuration("configuration"),
            .mark("reestablished"))
        add(.startRunning, .line("start"), Event.startRunning, .session)
        add(.reclaimed, .line("reclaim"), Event.reclaimed, .session, .ownGrant)
        add(.stopRunning, .line("stop"), Event.stopRunning, .session)
        add(.beginConfiguration, .line("begin"), Event.beginConfiguration, .session)
        add(.commitConfiguration, .line("commit"), Event.commitConfiguration, .session)
        add(.configure, .line("configure"), Event.configure, .session, .configuration("configuration"))
        add(.openStream, .line("stream"), marked: [.routine], Event.openStream, .session)
        add(.capturePhoto, .line("photo"), Event.capturePhoto, .session)
        add(.capturePhotoBracket, .line("bracket"), Event.capturePhotoBracket, .session, .bracket)
        addRecordings()
        add(.ready, .own("ready"), Event.ready, .session, .interruption)
        add(.continueAfterSensitiveContent, .line("continue"), Event.continueAfterSensitiveContent, .session)
        add(.closed, .line("close"), Event.closed, .session)
    }

    private mutating func addRecordings() {
        add(.attachMicrophone, .line("attach-microphone"), Event.attachMicrophone, .session, .microphoneFormat)
        add(.startRecording, .line("record"), Event.startRecording, .session, .recordingOptions)
        add(.stopRecording, .line("stop-record"), Event.stopRecording, .session)
        add(.pauseRecording, .line("pause-record"), Event.pauseRecording, .session)
        add(.resumeRecording, .line("resume-record"), Event.resumeRecording, .session)
        add(.appendMetadata, .line("append-metadata"), marked: [.routine], Event.appendMetadata, .session)
    }

    mutating func addUsersWorld() {
        (origin, concern) = (.user, .users)
        add(
            .sourceAttached, .value(["shell", "agent"], verb: "attach"), concerning: .usersOrEverybody,
            Event.sourceAttached, .source, .userOrAll)
        add(
            .sourceGone, .value(["shell", "agent"], verb: "gone"), concerning: .usersOrEverybody, Event.sourceGone,
            .source, .userOrAll)
        add(
            .placed, .own("presence"), marked: [.noted], Event.placed, .app, .presence, .mark("focused"),
            .by("source", usual: .shell, "a presence source"))
        add(
            .unplaced, .own("presence", verb: "gone"), marked: [.noted], Event.unplaced, .app,
            .by("source", usual: .shell, "a presence source"))
        add(
            .microphone, .line("microphone"), marked: [.noted], Event.microphone, .app,
            .either("taken", "taken", "released"))
        add(.sensitiveContent, .line("sensitive"), marked: [.noted], Event.sensitiveContent, .app)
        add(.operatorChose, .line("operator"), marked: [.noted], Event.operatorChose, .appOrNone)
        add(
            .attribute, .line("attribute"), Event.attribute, .app, .word("attribute", "an attribute"),
            .optionalWord("value"))
        add(.loginSession, .own("login-session"), marked: [.noted], Event.loginSession, .login, .loginFacts)
        add(.loginSessionEnded, .own("login-session", verb: "ended"), marked: [.noted], Event.loginSessionEnded, .login)
    }

    mutating func addUsersWords() {
        (origin, concern) = (.user, .users)
        add(
            .modeSet, .line("mode"), concerning: .everybody, marked: [.noted], Event.modeSet, .modeOrNone,
            .by("from", usual: .root, "who sets a mode"))
        add(
            .answered, .line("answer", order: [0, 2, 1, 3]), Event.answered, .app, .mark("claimed"), .answerOrNone,
            .by("from", usual: .user, "who says so"))
        add(
            .questionAnswered, .line("answer-question"), Event.questionAnswered, .question,
            .oneOf("answer", "an answer"))
        add(
            .questionsWatched, .line("questions", order: [1, 0]), Event.questionsWatched, .user,
            .either("on", "watched", "unwatched"))
        add(.stoppedByUser, .line("stop-app"), Event.stoppedByUser, .app)
        add(.ownPrivacy, .line("own-privacy", order: [1, 0]), Event.ownPrivacy, .user, .either("on", "on", "off"))
        add(.answersForgotten, .line("forget-answers"), Event.answersForgotten, .user)
    }

    mutating func addMachine() {
        (origin, concern) = (.machine, .everybody)
        add(.cameraAppeared, .own("plug"), marked: [.noted], Event.cameraAppeared, .camera, .capabilities, .seat)
        add(.cameraDisappeared, .line("unplug"), marked: [.noted], Event.cameraDisappeared, .camera)
        add(.privacy, .line("privacy"), marked: [.noted], Event.privacy, .cameraOrAll, .either("on", "on", "off"))
        add(
            .heldOutside, .line("held-outside"), marked: [.routine, .noted], Event.heldOutside, .camera,
            .either("held", "on", "off"))
        add(.pressure, .line("pressure"), marked: [.noted], Event.pressure, .pressure)
        add(.sleep, .value(["sleep", "wake"]), marked: [.noted], Event.sleep, .either("asleep", "sleep", "wake"))
        add(.calendar, .line("calendar"), marked: [.noted], Event.calendar, .modeOrNone)
        // A recorder core reports it, but the device is its origin.
        add(
            .deviceFailed, .recorder("failed"), concerning: .whoeverIsTold, Event.deviceFailed, .camera,
            .unsaid("fault", usual: .device), .sentence("message", "what the device says"))
    }

    mutating func addRecorder() {
        (origin, concern) = (.recorder, .whoeverIsTold)
        add(
            .recorderStreaming, .recorder("streaming"), marked: [.answer, .routine], Event.recorderStreaming, .camera,
            .grant, .configuration("inForce"))
        add(.recorderCut, .recorder("cut"), marked: [.answer, .routine], Event.recorderCut, .camera, .grant)
        add(
            .recorderClosedStreams, .recorder("closed-streams"), marked: [.answer, .routine],
            Event.recorderClosedStreams, .camera, .grant, .session)
        add(
            .recorderConfigured, .recorder("configured"), marked: [.answer, .routine], Event.recorderConfigured,
            .camera, .grant, .unsaid("asked"), .configuration("inForce"))
        add(
            .recorderRefusedConfiguration, .recorder("refused-configuration"), Event.recorderRefusedConfiguration,
            .camera, .grant, .unsaid("asked"), .sentence("message", "why"))
        add(.recorderGone, .recorder("gone"), marked: [.routine], Event.recorderGone, .camera)
    }

    mutating func addRecorderNews() {
        (origin, concern) = (.recorder, .whoeverIsTold)
        add(
            .recordingFinished, .line("finished"), marked: [.routine], Event.recordingFinished,
            .number("recording", of: "a recording"), .oneOf("why", "why it ended"), .knownSetting("frames"),
            .knownTime("duration"), .knownSetting("bytes"), .laterMoment("lastCapture"), .laterSetting("framesLeftOut"))
        add(.photoCaptured, .line("captured"), marked: [.answer, .routine], Event.photoCaptured, .photo)
        add(
            .rampFinished, .recorder("ramp-finished"), marked: [.answer, .routine], Event.rampFinished, .camera, .grant,
            .factor("videoZoomFactor"))
        add(
            .cameraStateChanged, .recorder("state"), marked: [.answer, .routine], Event.cameraStateChanged, .camera,
            .grant, .configuration("state"))
        add(
            .recorderTrouble, .recorder("trouble"), Event.recorderTrouble, .camera, .word("code", "a code"),
            .sentence("message", "a sentence"), .laterSetting("recording"), .laterSetting("session"))
    }
}
