import Vocabulary

extension Arbiter {
    /// Each event to the function that takes it. Exhaustive on purpose: a new event has to say where it belongs.
    mutating func handle(_ event: Event) {
        switch event {
        case .connected(let client, let app, let identity): connect(client, app, identity)
        case .declared(let client, let attributes): declare(client, attributes)
        case .declaredPresence(let client, let presence, let focused):
            declarePresence(client, Placed(presence, isFocused: focused))
        case .loweredPriority(let client, let rank): lowerPriority(client, rank)
        case .loweredAttribute(let client, let name, let value): lowerAttribute(client, name, value)
        case .disconnected(let client): disconnect(client)
        case .created(let session, let client, let camera, let configuration, let reestablished):
            create(session, client, camera, configuration, reestablished)
        case .startRunning(let id), .reclaimed(let id, _), .stopRunning(let id), .beginConfiguration(let id),
            .commitConfiguration(let id), .configure(let id, _), .openStream(let id), .capturePhoto(let id),
            .capturePhotoBracket(let id, _), .attachMicrophone(let id, _), .startRecording(let id, _),
            .stopRecording(let id), .pauseRecording(let id), .resumeRecording(let id), .appendMetadata(let id),
            .ready(let id, _), .continueAfterSensitiveContent(let id), .closed(let id):
            if let slot = known(id) { handleRequest(event, slot) }
        case .sourceAttached(let source, let user): attachSource(source, user)
        case .sourceGone(let source, let user): loseSource(source, user)
        case .placed(let app, let presence, let focused, let source):
            place(app, Placed(presence, isFocused: focused), source)
        case .unplaced(let app, let source): place(app, nil, source)
        case .microphone(let app, let taken): microphone(app, taken)
        case .sensitiveContent(let app): raiseSensitiveContent(app)
        case .operatorChose(let app): operatorChose(app)
        case .attribute(let app, let name, let value): attribute(app, name, value)
        case .modeSet(let name, let setter): setMode(name, by: setter)
        case .loginSession(let id, let facts): loginSession(id, facts)
        case .loginSessionEnded(let id): loginSession(id, nil)
        case .answered, .questionAnswered, .questionsWatched, .stoppedByUser, .ownPrivacy, .answersForgotten:
            handlePermission(event)
        case .cameraAppeared, .cameraDisappeared, .privacy, .heldOutside, .pressure, .sleep, .calendar:
            handleMachine(event)
        case .recorderStreaming, .recorderCut, .recorderClosedStreams, .recorderConfigured,
            .recorderRefusedConfiguration, .recorderGone, .deviceFailed, .recordingFinished, .photoCaptured,
            .rampFinished, .cameraStateChanged, .recorderTrouble:
            handleRecorder(event)
        case .policyLoaded(let policy): load(policy)
        case .reserved(let camera, let app, let survivor): reserve(camera, app, survivor)
        case .timePassed: break
        }
    }

    private mutating func handleRequest(_ event: Event, _ slot: Slot<Session>) {
        switch event {
        case .startRunning: startRunning(slot)
        case .reclaimed(_, let grant): reclaim(slot, grant)
        case .stopRunning: stopRunning(slot)
        case .beginConfiguration: beginConfiguration(slot)
        case .commitConfiguration: commitConfiguration(slot)
        case .configure(_, let batch): configure(slot, batch)
        case .openStream: openStream(slot)
        case .capturePhoto: capturePhoto(slot)
        case .capturePhotoBracket(_, let bracket): capturePhotoBracket(slot, bracket)
        case .attachMicrophone(_, let format): attachMicrophone(slot, format)
        case .startRecording(_, let options): startRecording(slot, options)
        case .stopRecording: stopRecording(slot)
        case .pauseRecording: pauseRecording(slot)
        case .resumeRecording: resumeRecording(slot)
        case .appendMetadata: appendMetadata(slot)
        case .ready(_, let interruption): ready(slot, interruption)
        case .continueAfterSensitiveContent: continueAfterSensitiveContent(slot)
        case .closed: close(slot)
        default: break
        }
    }

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

    mutating func touch(client: Slot<Client>) {
        var place = state.clients[client].firstSession
        while let slot = place {
            touch(slot)
            place = state.sessions[slot].nextOfClient
        }
    }

    mutating func touch(app: AppRef) {
        var place = state.apps[app.slot][app].firstClient
        while let slot = place {
            touch(client: slot)
            place = state.clients[slot].nextOfApp
        }
    }

    /// Both apps of a name: what is said by name may reach either.
    mutating func touch(_ name: Slot<App>) {
        touch(app: state.ref(name, isClaimed: false))
        touch(app: state.ref(name, isClaimed: true))
    }

    /// Another app may win now.
    mutating func notePriorities(of app: AppRef) {
        let user = state.apps[app.slot].user
        guard !notes.priorities.contains(user) else { return }
        var place = state.apps[app.slot][app].firstClient
        while let client = place {
            if state.clients[client].firstSession != nil { return notes.priorities.append(user) }
            place = state.clients[client].nextOfApp
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

    /// A session that must exist for a request to be taken; a refusal otherwise.
    private mutating func known(_ id: SessionID) -> Slot<Session>? {
        if let slot = state.session(id), !state.sessions[slot].has.contains(.closing) { return slot }
        notes.refuse(
            .unknownSession, "There is no session \(id.rawValue). Create one with CreateSession.", .knownSession)
        return nil
    }

    package func text(_ rule: Rule) -> String { state.text(rule) }
}

extension State {
    /// What clients and `explain` call a rule.
    package func text(_ rule: Rule) -> String {
        if rule.law == nil, Int(rule.index) < policy.texts.count {
            return rule.isAfterItsTime ? policy.lateTexts[Int(rule.index)] : policy.texts[Int(rule.index)]
        }
        let name = rule.law.map(\.text) ?? carriedTexts[Int(rule.index) - policy.texts.count]
        return rule.isAfterItsTime ? "\(name), after its time" : name
    }
}
