import Vocabulary

extension Arbiter {
    /// Each event to the function that takes it. Exhaustive on purpose: a new event has to say where it belongs.
    mutating func handle(_ event: Event, _ notes: inout StepNotes) {
        switch event {
        case .connected(let client, let app, let identity): connect(client, app, identity, &notes)
        case .declared(let client, let attributes): declare(client, attributes, &notes)
        case .declaredPresence(let client, let presence, let focused):
            declarePresence(client, Placed(presence, isFocused: focused), &notes)
        case .loweredPriority(let client, let rank): lowerPriority(client, rank, &notes)
        case .loweredAttribute(let client, let name, let value): lowerAttribute(client, name, value, &notes)
        case .disconnected(let client): disconnect(client, &notes)
        case .created(let session, let client, let camera, let configuration, let reestablished):
            create(session, client, camera, configuration, reestablished, &notes)
        case .startRunning(let id), .reclaimed(let id, _), .stopRunning(let id), .beginConfiguration(let id),
            .commitConfiguration(let id), .configure(let id, _), .openStream(let id), .capturePhoto(let id),
            .capturePhotoBracket(let id, _), .attachMicrophone(let id, _), .startRecording(let id, _),
            .stopRecording(let id), .pauseRecording(let id), .resumeRecording(let id), .appendMetadata(let id),
            .ready(let id, _), .continueAfterSensitiveContent(let id), .closed(let id):
            if let slot = known(id, &notes) { handleRequest(event, slot, &notes) }
        case .sourceAttached(let source, let user): attachSource(source, user, &notes)
        case .sourceGone(let source, let user): loseSource(source, user, &notes)
        case .placed(let app, let presence, let focused, let source):
            place(app, Placed(presence, isFocused: focused), source, &notes)
        case .unplaced(let app, let source): place(app, nil, source, &notes)
        case .microphone(let app, let taken): microphone(app, taken, &notes)
        case .sensitiveContent(let app): raiseSensitiveContent(app, &notes)
        case .operatorChose(let app): operatorChose(app, &notes)
        case .attribute(let app, let name, let value): attribute(app, name, value, &notes)
        case .modeSet(let name, let setter): setMode(name, by: setter, &notes)
        case .loginSession(let id, let facts): loginSession(id, facts, &notes)
        case .loginSessionEnded(let id): loginSession(id, nil, &notes)
        case .answered, .questionAnswered, .questionsWatched, .stoppedByUser, .ownPrivacy, .answersForgotten:
            handlePermission(event, &notes)
        case .cameraAppeared, .cameraDisappeared, .privacy, .heldOutside, .pressure, .sleep, .calendar:
            handleMachine(event, &notes)
        case .recorderStreaming, .recorderCut, .recorderClosedStreams, .recorderConfigured,
            .recorderRefusedConfiguration, .recorderGone, .deviceFailed, .recordingFinished, .photoCaptured,
            .rampFinished, .cameraStateChanged, .recorderTrouble:
            handleRecorder(event, &notes)
        case .policyLoaded(let policy): load(policy, &notes)
        case .reserved(let camera, let app, let survivor): reserve(camera, app, survivor, &notes)
        case .timePassed: break
        }
    }

    private mutating func handleRequest(_ event: Event, _ slot: Slot<Session>, _ notes: inout StepNotes) {
        switch event {
        case .startRunning: startRunning(slot, &notes)
        case .reclaimed(_, let grant): reclaim(slot, grant, &notes)
        case .stopRunning: stopRunning(slot, &notes)
        case .beginConfiguration: beginConfiguration(slot, &notes)
        case .commitConfiguration: commitConfiguration(slot, &notes)
        case .configure(_, let batch): configure(slot, batch, &notes)
        case .openStream: openStream(slot, &notes)
        case .capturePhoto: capturePhoto(slot, &notes)
        case .capturePhotoBracket(_, let bracket): capturePhotoBracket(slot, bracket, &notes)
        case .attachMicrophone(_, let format): attachMicrophone(slot, format, &notes)
        case .startRecording(_, let options): startRecording(slot, options, &notes)
        case .stopRecording: stopRecording(slot, &notes)
        case .pauseRecording: pauseRecording(slot, &notes)
        case .resumeRecording: resumeRecording(slot, &notes)
        case .appendMetadata: appendMetadata(slot, &notes)
        case .ready(_, let interruption): ready(slot, interruption, &notes)
        case .continueAfterSensitiveContent: continueAfterSensitiveContent(slot, &notes)
        case .closed: close(slot, &notes)
        default: break
        }
    }

    /// A session's causes or strength may have changed, and with it the decision on its camera.
    func touch(_ slot: Slot<Session>, _ notes: inout StepNotes) {
        let session = state.sessions[slot]
        if session.request != nil { notes.touch(session.camera) }
    }

    /// Every camera that a session asks for, or that has a survivor.
    func touchAll(_ notes: inout StepNotes) {
        for camera in state.cameraOrder
        where state.cameras[camera].firstRequest != nil || state.cameras[camera].tenancy.survivor != nil {
            notes.touch(camera)
        }
    }

    func touch(client: Slot<Client>, _ notes: inout StepNotes) {
        var place = state.clients[client].firstSession
        while let slot = place {
            touch(slot, &notes)
            place = state.sessions[slot].nextOfClient
        }
    }

    func touch(app: AppRef, _ notes: inout StepNotes) {
        var place = state.apps[app.slot][app].firstClient
        while let slot = place {
            touch(client: slot, &notes)
            place = state.clients[slot].nextOfApp
        }
    }

    /// Both apps of a name: what is said by name may reach either.
    func touch(_ name: Slot<App>, _ notes: inout StepNotes) {
        touch(app: state.ref(name, isClaimed: false), &notes)
        touch(app: state.ref(name, isClaimed: true), &notes)
    }

    /// Another app may win now.
    func notePriorities(of app: AppRef, _ notes: inout StepNotes) {
        let user = state.apps[app.slot].user
        guard !notes.priorities.contains(user) else { return }
        var place = state.apps[app.slot][app].firstClient
        while let client = place {
            if state.clients[client].firstSession != nil { return notes.priorities.append(user) }
            place = state.clients[client].nextOfApp
        }
    }

    func notePriorities(of name: Slot<App>, _ notes: inout StepNotes) {
        notePriorities(of: state.ref(name, isClaimed: false), &notes)
        notePriorities(of: state.ref(name, isClaimed: true), &notes)
    }

    /// At most once a step and user.
    func announcePriorities(_ notes: inout StepNotes) {
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
    private func known(_ id: SessionID, _ notes: inout StepNotes) -> Slot<Session>? {
        if let slot = state.session(id), !state.sessions[slot].has.contains(.closing) { return slot }
        notes.refuse(
            .unknownSession, "There is no session \(id.rawValue). Create one with CreateSession.", .knownSession)
        return nil
    }

    func text(_ rule: Rule) -> String { state.text(rule) }
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
