import Vocabulary

extension Arbiter {
    mutating func create(
        _ id: SessionID, _ clientID: ClientID, _ camera: CameraID?, _ configuration: Configuration,
        _ reestablished: Bool
    ) throws(Refusal) {
        // A second event of the same session changes nothing; and a client that is gone needs none.
        guard state.session(id) == nil, let client = state.client(clientID) else { return }
        guard let chosen = camera.map({ state.cameraNames[$0] }) ?? usualCamera else {
            throw .unknownCamera(camera, among: knownCameras)
        }
        let check = check(chosen)
        // Batches of before the restart may not be possible all at once: the nearest configuration counts then.
        let problem =
            reestablished
            ? check.problem(takenBefore: configuration) : check.problem(configuration, over: Configuration())
        if let problem { throw .unsupported(problem) }
        var wanted = check.merged(configuration, into: Configuration())
        wanted[.camera] = nil
        let slot = state.sessions.insert(Session(id: id.rawValue, client: client, camera: chosen))
        state.sessionSlots.insert(slot, for: id.rawValue)
        state.sessionSettings.put(SessionSettings(wanted: wanted, confirmed: wanted), at: slot)
        if reestablished { state.sessions[slot].has.insert(.reestablished) }
        state.noteWishes(of: slot)
        state.sessions.link(slot, OfClient.self, from: &state.clients[client].firstSession)
    }

    /// The camera of a session that names none: the back one, as in AVFoundation; without one, the first by its id.
    private var usualCamera: Slot<Camera>? {
        let back = state.cameraOrder.first {
            state.cameras[$0].isPresent && state.cameraSettings[$0].capabilities.position == .back
        }
        return back ?? state.cameraOrder.first
    }

    var knownCameras: [CameraID] { state.cameraOrder.map { state.cameraNames[$0] } }

    /// A session that records reports the end of its file first.
    mutating func close(_ slot: Slot<Session>) {
        guard state.sessions[slot].ledger.unfinished > 0 else { return end(slot) }
        withdrawRequest(slot, why: .sessionEnded)
        state.sessions[slot].has.insert(.closing)
        state.sessions[slot].ledger.open = nil
        state.sessions[slot].ledger.announced = nil
        state.sessions[slot].shown = .stopped
    }

    /// Ends a session without a notice; its camera is free in this step.
    mutating func end(_ slot: Slot<Session>) {
        let session = state.sessions[slot]
        withdrawRequest(slot, why: .sessionEnded)
        assert(notes.warnings.isEmpty, "what a session is told is numbered before it ends")
        state.sessions.unlink(slot, OfClient.self, from: &state.clients[session.client].firstSession)
        state.timers.removeAll { $0.session == slot }
        state.sessionSlots.remove(session.id)
        state.sessionSettings[slot] = SessionSettings()
        state.sessions.remove(slot)
    }

    /// Takes the start request back and leaves the camera, if the session has it, without a notice.
    mutating func withdrawRequest(_ slot: Slot<Session>, why: RecordingEnd) {
        guard state.sessions[slot].request != nil else { return }
        stopAsking(slot, why: why)
        forgetRecording(slot)
        state.sessions[slot].request = nil
        state.sessions[slot].deaths = 0
        state.sessions[slot].refusals = 0
        state.sessions[slot].has.subtract([.reestablished, .previews, .metadata, .hadMicrophone, .exceeds])
    }

    /// The session asks for its camera no more. Once none of an app's sessions does, the app has left it.
    mutating func stopAsking(_ slot: Slot<Session>, why: RecordingEnd) {
        let (camera, app) = (state.sessions[slot].camera, state.app(of: slot))
        leaveCamera(slot, why: why)
        // Where the camera goes on for others, the answers to the session's batches are theirs.
        for place in state.cameraSettings[camera].asked.indices
        where state.cameraSettings[camera].asked[place].session == state.sessions[slot].id {
            state.cameraSettings[camera].asked[place].session = CameraSettings.Asked.nobody
        }
        state.sessions[slot].waits = nil
        state.sessions[slot].lost = nil
        state.timers.removeAll { $0.kind == .noRoom && $0.session == slot }
        if state.cameras[camera].promise?.session == slot { state.cameras[camera].promise = nil }
        state.unlink(slot)
        if !state.requests(on: camera).contains(where: { state.app(of: $0) == app }) {
            noteLease(app, on: camera, isAsking: false)
        }
        notes.touch(camera)
    }
}

extension State {
    /// Puts a session with a start request into its camera's list.
    mutating func link(_ slot: Slot<Session>) {
        sessions.link(slot, OnCamera.self, from: &cameras[sessions[slot].camera].firstRequest)
        count(1, requestOf: slot)
    }

    mutating func unlink(_ slot: Slot<Session>) {
        sessions.unlink(slot, OnCamera.self, from: &cameras[sessions[slot].camera].firstRequest)
        sessions[slot].nextOnCamera = nil
        count(-1, requestOf: slot)
    }

    private mutating func count(_ change: Int32, requestOf slot: Slot<Session>) {
        let app = app(of: slot)
        apps[app.slot][app].requests += change
        updateUser(of: app.slot) { $0.requests += change }
    }

    /// Copies the settings that rules read to the session's row.
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
