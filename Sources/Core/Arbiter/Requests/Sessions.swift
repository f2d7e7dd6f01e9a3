import Vocabulary

extension Arbiter {
    mutating func create(
        _ id: SessionID, _ clientID: ClientID, _ camera: CameraID?, _ configuration: Configuration,
        _ reestablished: Bool
    ) {
        // Told twice, it is the same session; and a client that is gone needs none.
        guard state.session(id) == nil, let client = state.client(clientID) else { return }
        guard let chosen = camera.map({ state.cameraNames[$0] }) ?? usualCamera else {
            return notes.refuse(.unknownCamera, unknownCamera(camera), .knownCamera)
        }
        let check = check(chosen)
        // What a session asked for batch by batch before the restart need not be what could be asked for at once: whatever its
        // camera or format does not have is the nearest, as on any resumption.
        let problem =
            reestablished
            ? check.problem(takenBefore: configuration) : check.problem(configuration, over: Configuration())
        if let problem { return notes.refuse(.unsupportedConfiguration, problem, .batchIsWhole) }
        var wanted = check.merged(configuration, into: Configuration())
        wanted[.camera] = nil
        let slot = state.sessions.insert(Session(id: id.rawValue, client: client, camera: chosen))
        state.sessionSlots.insert(slot, for: id.rawValue)
        while state.sessionSettings.count < state.sessions.rows.count {
            state.sessionSettings.append(SessionSettings())
        }
        state.sessionSettings[slot] = SessionSettings(wanted: wanted, confirmed: wanted)
        if reestablished { state.sessions[slot].has.insert(.reestablished) }
        state.noteWishes(of: slot)
        state.append(slot, to: client)
    }

    /// Whoever names no camera gets the back one, as from AVFoundation; where none is there, the first by its id.
    private var usualCamera: Slot<Camera>? {
        let back = state.cameraOrder.first {
            state.cameras[$0].isPresent && state.cameraSettings[$0].capabilities.position == .back
        }
        return back ?? state.cameraOrder.first
    }

    func unknownCamera(_ camera: CameraID?) -> String {
        guard let camera else { return "There is no camera at all." }
        return BrokerError.unknownCamera(camera.name, among: state.cameraOrder.map { state.cameraNames[$0].name })
            .message
    }

    /// A session that records tells the end of its file first.
    mutating func close(_ slot: Slot<Session>) {
        guard state.sessions[slot].ledger.unfinished > 0 else { return end(slot) }
        withdrawRequest(slot, why: .sessionEnded)
        state.sessions[slot].has.insert(.closing)
        state.sessions[slot].ledger.open = nil
        state.sessions[slot].ledger.announced = nil
        state.sessions[slot].shown = .stopped
    }

    /// A session that ends closes silently; its camera is free in this step.
    mutating func end(_ slot: Slot<Session>) {
        let session = state.sessions[slot]
        withdrawRequest(slot, why: .sessionEnded)
        assert(notes.warnings.isEmpty, "what a session is told is numbered before it ends")
        state.remove(slot, from: session.client)
        state.timers.removeAll { $0.session == slot }
        state.sessionSlots.remove(session.id)
        state.sessionSettings[slot] = SessionSettings()
        state.sessions.remove(slot)
    }

    /// Takes the start request back and leaves the camera, if the session has it. Says nothing to the client.
    mutating func withdrawRequest(_ slot: Slot<Session>, why: RecordingEnd) {
        let session = state.sessions[slot]
        guard session.request != nil else { return }
        leaveCamera(slot, why: why)
        forgetRecording(slot)
        state.sessions[slot].request = nil
        state.sessions[slot].waits = nil
        state.sessions[slot].lost = nil
        state.sessions[slot].deaths = 0
        state.sessions[slot].refusals = 0
        state.sessions[slot].has.subtract([.reestablished, .previews, .metadata, .hadMicrophone, .exceeds])
        state.timers.removeAll { $0.kind == .noRoom && $0.session == slot }
        if state.cameras[session.camera].promise?.session == slot { state.cameras[session.camera].promise = nil }
        state.unlink(slot)
        noteLeft(session.camera, by: state.clients[session.client].app)
        notes.touch(session.camera)
    }

    /// Once none of an app's sessions asks for a camera any more, the app has left it.
    private mutating func noteLeft(_ camera: Slot<Camera>, by app: AppRef) {
        let isStillAsking = state.requests(on: camera).contains { state.clients[state.sessions[$0].client].app == app }
        if !isStillAsking { noteLease(app, on: camera, isAsking: false) }
    }
}

extension State {
    /// In the order of their creation.
    mutating func append(_ slot: Slot<Session>, to client: Slot<Client>) {
        guard var last = clients[client].firstSession else {
            clients[client].firstSession = slot
            return
        }
        while let next = sessions[last].nextOfClient { last = next }
        sessions[last].nextOfClient = slot
    }

    mutating func remove(_ slot: Slot<Session>, from client: Slot<Client>) {
        if clients[client].firstSession == slot {
            clients[client].firstSession = sessions[slot].nextOfClient
            return
        }
        var place = clients[client].firstSession
        while let other = place, sessions[other].nextOfClient != slot { place = sessions[other].nextOfClient }
        if let place { sessions[place].nextOfClient = sessions[slot].nextOfClient }
    }

    /// Puts a session with a start request into its camera's list, in the order of the ids.
    mutating func link(_ slot: Slot<Session>) {
        let camera = sessions[slot].camera
        var before: Slot<Session>?
        var place = cameras[camera].firstRequest
        while let other = place, sessions[other].id < sessions[slot].id {
            before = other
            place = sessions[other].nextOnCamera
        }
        sessions[slot].nextOnCamera = place
        if let before { sessions[before].nextOnCamera = slot } else { cameras[camera].firstRequest = slot }
        let app = clients[sessions[slot].client].app
        apps[app.slot][app].requests += 1
        updateUser(of: app.slot) { $0.requests += 1 }
    }

    mutating func unlink(_ slot: Slot<Session>) {
        let camera = sessions[slot].camera
        var before: Slot<Session>?
        var place = cameras[camera].firstRequest
        while let other = place, other != slot {
            before = other
            place = sessions[other].nextOnCamera
        }
        guard place == slot else { return }
        let next = sessions[slot].nextOnCamera
        if let before { sessions[before].nextOnCamera = next } else { cameras[camera].firstRequest = next }
        sessions[slot].nextOnCamera = nil
        let app = clients[sessions[slot].client].app
        apps[app.slot][app].requests -= 1
        updateUser(of: app.slot) { $0.requests -= 1 }
    }

    /// What rules read of a session's settings, beside them.
    package mutating func noteWishes(of slot: Slot<Session>) {
        let wanted = sessionSettings[slot].wanted
        set(.audio, wanted[.usesAudio] == .flag(true), of: slot)
        set(.asksToWatch, wanted[.sharingMode] == .text("sharedReadOnly"), of: slot)
        set(.takesVideo, wanted[.captureMode] == .text("video"), of: slot)
    }

    mutating func set(_ mark: Session.Marks, _ holds: Bool, of slot: Slot<Session>) {
        if holds { sessions[slot].has.insert(mark) } else { sessions[slot].has.remove(mark) }
    }
}

extension [SessionSettings] {
    subscript(slot: Slot<Session>) -> SessionSettings {
        get { self[Int(slot.index)] }
        _modify { yield &self[Int(slot.index)] }
    }
}

extension [CameraSettings] {
    package subscript(slot: Slot<Camera>) -> CameraSettings {
        get { self[Int(slot.index)] }
        _modify { yield &self[Int(slot.index)] }
    }
}
