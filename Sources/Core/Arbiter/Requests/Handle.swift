import Vocabulary

extension Arbiter {
    /// A refused request changes nothing.
    mutating func handle(_ event: Event) {
        do { try sort(event) } catch { notes.effects.append(.refused(error)) }
    }

    /// Exhaustive on purpose: a new event needs its function here.
    private mutating func sort(_ event: Event) throws(Refusal) {
        switch event {
        case .connected(let client, let app, let identity): connect(client, app, identity)
        case .declared(let client, let attributes): try declare(client, attributes)
        case .declaredPresence(let client, let presence, let focused):
            declarePresence(client, Placed(presence, isFocused: focused))
        case .loweredPriority(let client, let rank): try lowerPriority(client, rank)
        case .loweredAttribute(let client, let name, let value): try lowerAttribute(client, name, value)
        case .disconnected(let client): disconnect(client)
        case .created(let session, let client, let camera, let configuration, let reestablished):
            try create(session, client, camera, configuration, reestablished)
        case .startRunning(let id), .reclaimed(let id, _), .stopRunning(let id), .beginConfiguration(let id),
            .commitConfiguration(let id), .configure(let id, _), .openStream(let id), .capturePhoto(let id),
            .capturePhotoBracket(let id, _), .attachMicrophone(let id, _), .startRecording(let id, _),
            .stopRecording(let id), .pauseRecording(let id), .resumeRecording(let id), .appendMetadata(let id),
            .ready(let id, _), .continueAfterSensitiveContent(let id), .closed(let id):
            try handleRequest(event, known(id))
        case .sourceAttached(let source, let user): attachSource(source, user)
        case .sourceGone(let source, let user): loseSource(source, user)
        case .placed(let app, let presence, let focused, let source):
            place(app, Placed(presence, isFocused: focused), source)
        case .unplaced(let app, let source): place(app, nil, source)
        case .microphone(let app, let taken): microphone(app, taken)
        case .sensitiveContent(let app): raiseSensitiveContent(app)
        case .operatorChose(let app): operatorChose(app)
        case .attribute(let app, let name, let value): try attribute(app, name, value)
        case .modeSet(let name, let setter): try setMode(name, by: setter)
        case .loginSession(let id, let facts): loginSession(id, facts)
        case .loginSessionEnded(let id): loginSession(id, nil)
        case .answered, .questionAnswered, .questionsWatched, .stoppedByUser, .ownPrivacy, .answersForgotten:
            try handlePermission(event)
        case .cameraAppeared, .cameraDisappeared, .privacy, .heldOutside, .pressure, .sleep, .calendar:
            try handleMachine(event)
        case .recorderStreaming, .recorderCut, .recorderClosedStreams, .recorderConfigured,
            .recorderRefusedConfiguration, .recorderGone, .deviceFailed, .recordingFinished, .photoCaptured,
            .rampFinished, .cameraStateChanged, .recorderTrouble:
            handleRecorder(event)
        case .policyLoaded(let policy): load(policy)
        case .reserved(let camera, let app, let survivor): reserve(camera, app, survivor)
        case .timePassed: break
        }
    }

    private func known(_ id: SessionID) throws(Refusal) -> Slot<Session> {
        if let slot = state.session(id), !state.sessions[slot].has.contains(.closing) { return slot }
        throw .unknownSession(id)
    }

    private mutating func handleRequest(_ event: Event, _ slot: Slot<Session>) throws(Refusal) {
        switch event {
        case .startRunning: try startRunning(slot)
        case .reclaimed(_, let grant): try reclaim(slot, grant)
        case .stopRunning: stopRunning(slot)
        case .beginConfiguration: try beginConfiguration(slot)
        case .commitConfiguration: try commitConfiguration(slot)
        case .configure(_, let batch): try configure(slot, batch)
        case .openStream: try openStream(slot)
        case .capturePhoto: try capturePhoto(slot)
        case .capturePhotoBracket(_, let bracket): try capturePhotoBracket(slot, bracket)
        case .attachMicrophone(_, let format): try attachMicrophone(slot, format)
        case .startRecording(_, let options): try startRecording(slot, options)
        case .stopRecording: try stopRecording(slot)
        case .pauseRecording: try pauseRecording(slot, true)
        case .resumeRecording: try pauseRecording(slot, false)
        case .appendMetadata: try appendMetadata(slot)
        case .ready(_, let interruption): try ready(slot, interruption)
        case .continueAfterSensitiveContent:
            state.sessions[slot].has.remove(.sensitiveContent)
            touch(slot)
        case .closed: close(slot)
        default: break
        }
    }

    // MARK: What an event touches

    /// A session's causes or strength may have changed, and with it the decision on its camera.
    mutating func touch(_ slot: Slot<Session>) {
        let session = state.sessions[slot]
        if session.request != nil { notes.touch(session.camera) }
    }

    /// Every camera that a session asks for, or that has a survivor.
    mutating func touchAll() {
        for camera in state.cameraOrder
        where state.cameras[camera].firstRequest != nil || state.cameras[camera].tenancy.survivor != nil {
            notes.touch(camera)
        }
    }

    mutating func touch(client: Slot<Client>) { for session in state.sessions(of: client) { touch(session) } }

    mutating func touch(app: AppRef) { for client in state.clients(of: app) { touch(client: client) } }

    /// Both apps of a name: a fact by name may reach either.
    mutating func touch(_ name: Slot<App>) {
        touch(app: state.ref(name, isClaimed: false))
        touch(app: state.ref(name, isClaimed: true))
    }

    /// Another app may win now.
    mutating func notePriorities(of app: AppRef) {
        let user = state.apps[app.slot].user
        if notes.priorities.contains(user) { return }
        if state.clients(of: app).contains(where: { state.clients[$0].firstSession != nil }) {
            notes.priorities.append(user)
        }
    }

    mutating func notePriorities(of name: Slot<App>) {
        notePriorities(of: state.ref(name, isClaimed: false))
        notePriorities(of: state.ref(name, isClaimed: true))
    }

    /// At most once a step and user.
    mutating func announcePriorities() {
        if notes.priorities.isEmpty, !notes.prioritiesOfEverybody { return }
        if notes.prioritiesOfEverybody {
            notes.effects.append(.announce(.prioritiesChanged(user: nil)))
        } else {
            if notes.priorities.count > 1 { notes.priorities.sort() }
            for user in notes.priorities { notes.effects.append(.announce(.prioritiesChanged(user: user))) }
        }
        notes.prioritiesOfEverybody = false
        notes.priorities.removeAll(keepingCapacity: true)
    }

    /// An order to the recorder about the grant of a session's camera.
    mutating func order(for slot: Slot<Session>, _ make: (CameraID, GrantID, SessionID) -> Effect) {
        let camera = state.sessions[slot].camera
        notes.effects.append(make(state.cameraNames[camera], state.cameras[camera].grant, state.id(slot)))
    }

    package func text(_ rule: Rule) -> String { state.text(rule) }
    func message(of rule: Rule, isOwn: Bool = false) -> String { state.policy.message(of: rule, isOwn: isOwn) }
}

extension State {
    /// The text of a rule for clients and `explain`.
    package func text(_ rule: Rule) -> String {
        if rule.law == nil, Int(rule.index) < policy.texts.count {
            return rule.isAfterItsTime ? policy.lateTexts[Int(rule.index)] : policy.texts[Int(rule.index)]
        }
        let name = rule.law.map(\.text) ?? carriedTexts[Int(rule.index) - policy.texts.count]
        return rule.isAfterItsTime ? "\(name), after its time" : name
    }
}
