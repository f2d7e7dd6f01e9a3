import Vocabulary

extension Arbiter {
    /// Each event to the function that takes it. Exhaustive on purpose: a new event has to say where it belongs.
    mutating func handle(_ event: Event, _ turn: inout Turn) {
        switch event {
        case .connected, .declared, .declaredPresence, .loweredPriority, .loweredAttribute, .disconnected:
            handleClient(event, &turn)
        case .created(let session, let client, let camera, let configuration, let reestablished):
            create(session, client, camera, configuration, reestablished, &turn)
        case .startRunning(let id), .reclaimed(let id, _), .stopRunning(let id), .beginConfiguration(let id),
            .commitConfiguration(let id),
            .configure(let id, _), .openStream(let id), .capturePhoto(let id), .startRecording(let id),
            .stopRecording(let id), .ready(let id, _), .continueAfterSensitiveContent(let id), .closed(let id):
            if let slot = known(id, &turn) { handleRequest(event, slot, &turn) }
        case .sourceAttached, .sourceGone, .placed, .unplaced, .microphone, .sensitiveContent, .operatorChose,
            .attribute, .loginSession, .loginSessionEnded:
            handleUsersWorld(event, &turn)
        case .answered, .questionAnswered, .questionsWatched, .stoppedByUser, .ownPrivacy:
            handlePermission(event, &turn)
        case .cameraAppeared, .cameraDisappeared, .privacy, .heldOutside, .pressure, .sleep:
            handleMachine(event, &turn)
        case .recorderStreaming, .recorderCut, .recorderClosedStreams, .recorderConfigured,
            .recorderRefusedConfiguration, .recorderGone, .deviceFailed, .recordingFinished, .photoCaptured,
            .rampFinished, .recorderTrouble:
            handleRecorder(event, &turn)
        case .policyLoaded(let policy): load(policy, &turn)
        case .reserved(let camera, let app, let survivor): reserve(camera, app, survivor, &turn)
        case .timePassed: break
        }
    }

    private mutating func handleClient(_ event: Event, _ turn: inout Turn) {
        switch event {
        case .connected(let client, let app, let identity): connect(client, app, identity, &turn)
        case .declared(let client, let attributes): declare(client, attributes, &turn)
        case .declaredPresence(let client, let presence, let focused):
            declarePresence(client, Placed(presence, isFocused: focused), &turn)
        case .loweredPriority(let client, let rank): lowerPriority(client, rank, &turn)
        case .loweredAttribute(let client, let name, let value): lowerAttribute(client, name, value, &turn)
        case .disconnected(let client): disconnect(client, &turn)
        default: break
        }
    }

    private mutating func handleRequest(_ event: Event, _ slot: Slot<Session>, _ turn: inout Turn) {
        switch event {
        case .startRunning: startRunning(slot, &turn)
        case .reclaimed(_, let grant): reclaim(slot, grant, &turn)
        case .stopRunning: stopRunning(slot, &turn)
        case .beginConfiguration: beginConfiguration(slot, &turn)
        case .commitConfiguration: commitConfiguration(slot, &turn)
        case .configure(_, let batch): configure(slot, batch, &turn)
        case .openStream: openStream(slot, &turn)
        case .capturePhoto: capturePhoto(slot, &turn)
        case .startRecording: startRecording(slot, &turn)
        case .stopRecording: stopRecording(slot, &turn)
        case .ready(_, let interruption): ready(slot, interruption, &turn)
        case .continueAfterSensitiveContent: continueAfterSensitiveContent(slot, &turn)
        case .closed: close(slot, &turn)
        default: break
        }
    }

    // MARK: What the functions share

    /// A session's causes or strength may have changed, and with it the decision on its camera.
    func touch(_ slot: Slot<Session>, _ turn: inout Turn) {
        let session = state.sessions[slot]
        if session.request != nil { turn.touch(session.camera) }
    }

    /// Every camera that a session asks for, or that has a survivor.
    func touchAll(_ turn: inout Turn) {
        for camera in state.cameraOrder
        where state.cameras[camera].firstRequest != nil || state.cameras[camera].tenancy.survivor != nil {
            turn.touch(camera)
        }
    }

    func touch(client: Slot<Client>, _ turn: inout Turn) {
        var place = state.clients[client].firstSession
        while let slot = place {
            touch(slot, &turn)
            place = state.sessions[slot].nextOfClient
        }
    }

    /// Every session of an app.
    func touch(app: AppRef, _ turn: inout Turn) {
        var place = state.apps[app.slot][app].firstClient
        while let slot = place {
            touch(client: slot, &turn)
            place = state.clients[slot].nextOfApp
        }
    }

    /// Both apps of a name: what is said by name may reach either.
    func touch(_ name: Slot<App>, _ turn: inout Turn) {
        touch(app: state.ref(name, isClaimed: false), &turn)
        touch(app: state.ref(name, isClaimed: true), &turn)
    }

    /// Another app may win now.
    func notePriorities(of app: AppRef, _ turn: inout Turn) {
        let user = state.apps[app.slot].user
        guard !turn.priorities.contains(user) else { return }
        var place = state.apps[app.slot][app].firstClient
        while let client = place {
            if state.clients[client].firstSession != nil { return turn.priorities.append(user) }
            place = state.clients[client].nextOfApp
        }
    }

    func notePriorities(of name: Slot<App>, _ turn: inout Turn) {
        notePriorities(of: state.ref(name, isClaimed: false), &turn)
        notePriorities(of: state.ref(name, isClaimed: true), &turn)
    }

    /// At most once a step and user.
    func announcePriorities(_ turn: inout Turn) {
        if turn.priorities.isEmpty, !turn.prioritiesOfEverybody { return }
        if turn.prioritiesOfEverybody {
            turn.effects.append(.announce(.prioritiesChanged(user: nil)))
        } else {
            if turn.priorities.count > 1 { turn.priorities.sort() }
            for user in turn.priorities {
                turn.effects.append(.announce(.prioritiesChanged(user: user)))
            }
        }
        turn.prioritiesOfEverybody = false
        turn.priorities.removeAll(keepingCapacity: true)
    }

    /// A session that must exist for a request to be taken; a refusal otherwise.
    private func known(_ id: SessionID, _ turn: inout Turn) -> Slot<Session>? {
        if let slot = state.session(id), !state.sessions[slot].has.contains(.closing) { return slot }
        turn.refuse(
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
