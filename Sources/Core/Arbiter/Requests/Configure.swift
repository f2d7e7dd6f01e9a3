package import Vocabulary

extension Arbiter {
    /// What a session is configured to: while it runs what is in force on its camera, with what is the session's own;
    /// otherwise what it asked for, which is set when it runs.
    package func configuration(of slot: Slot<Session>) -> Configuration {
        let wanted = state.sessionSettings[slot].wanted
        guard state.sessions[slot].shown.isRunning else { return wanted }
        var whole = state.cameraSettings[state.sessions[slot].camera].inForce
        whole.merge(wanted.keeping(\.isOfTheSession))
        return whole
    }

    mutating func beginConfiguration(_ slot: Slot<Session>) {
        guard state.sessionSettings[slot].open.depth < Bound.batchDepthMax else {
            return notes.refuse(
                .limitExceeded, "BeginConfiguration nests at most \(Bound.batchDepthMax) deep; commit some first.",
                .batchDepth)
        }
        state.sessionSettings[slot].open.depth += 1
        state.sessions[slot].has.insert(.insideBatch)
    }

    mutating func commitConfiguration(_ slot: Slot<Session>) {
        let open = state.sessionSettings[slot].open
        guard open.depth > 0 else {
            return notes.refuse(
                .notInsideConfiguration, "There is no batch to commit; BeginConfiguration opens one.",
                .commitClosesBegin)
        }
        state.sessionSettings[slot].open.depth -= 1
        if open.depth > 1 { return }
        // Refused or not, the batch is closed: a client that retries opens a new one.
        state.sessionSettings[slot].open = SessionSettings.OpenBatch()
        state.sessions[slot].has.remove(.insideBatch)
        if !open.batch.isEmpty { apply(open.batch, to: slot) }
    }

    mutating func configure(_ slot: Slot<Session>, _ batch: Configuration) {
        guard state.sessions[slot].has.contains(.insideBatch) else { return apply(batch, to: slot) }
        let open = state.sessionSettings[slot].open.batch
        var asked = open
        asked.merge(batch)
        guard let camera = cameraChecked(asked, slot) else { return }
        let collected = check(camera).merged(batch, into: open)
        if isValid(collected, slot, on: camera) { state.sessionSettings[slot].open.batch = collected }
    }

    /// A whole batch: to the recorder if the session has the camera, kept for later if not, refused if it may not.
    private mutating func apply(_ batch: Configuration, to slot: Slot<Session>) {
        guard let camera = cameraChecked(batch, slot), isValid(batch, slot, on: camera),
            isMicrophoneFree(batch, slot)
        else { return }
        let session = state.sessions[slot]
        let moves = camera != session.camera
        if moves, !isPresent(camera) { return }
        if case .running(let access) = session.shown, !access.contains(.configure), !batch.onlyAsksForControl,
            !(moves && isFree(camera))
        {
            let limit = limit(on: .configure, of: slot)
            return notes.refuse(
                .accessDenied, "This session may not configure now: \(limit.sentence).", rule: text(limit.rule))
        }
        if moves {
            guard session.request == nil || mayStart(slot, on: camera) else { return }
            return switchCamera(slot, to: camera, batch)
        }
        guard hasRoom(for: batch, of: slot) else { return }
        var wanted = batch
        wanted[.camera] = nil
        wanted[.whenBusy] = nil
        let asksForControl = session.has.contains(.asksToWatch) && batch[.sharingMode] == .text("exclusiveControl")
        state.sessionSettings[slot].wanted = wantedAfter(wanted, of: slot, on: camera)
        state.noteWishes(of: slot)
        if !state.sessions[slot].has.contains(.audio) { detachMicrophone(of: slot) }
        wanted = wanted.keeping { !$0.isOfTheBroker }
        if session.shown.isRunning { configureRunning(slot, batch, wanted) }
        if asksForControl { notes.asker = slot }
        if batch.ordered.contains(where: \.key.isOfTheSession) { touch(slot) }
    }

    private mutating func configureRunning(_ slot: Slot<Session>, _ batch: Configuration, _ wanted: Configuration) {
        guard !wanted.isEmpty else {
            return notify(slot, .configurationApplied(asked: batch, inForce: batch, by: .client))
        }
        order(wanted, asked: wanted, of: slot, by: .client)
    }

    /// Gives a batch to the recorder, and remembers the session that will hear the answer.
    mutating func order(_ ordered: Configuration, asked: Configuration, of slot: Slot<Session>, by: Applier) {
        let camera = state.sessions[slot].camera
        state.cameraSettings[camera].asked.append(
            CameraSettings.Asked(session: state.sessions[slot].id, batch: asked, ordered: ordered, by: by))
        notes.effects.append(
            .configure(state.cameraNames[camera], state.cameras[camera].grant, state.id(slot), ordered))
    }

    // MARK: What a batch has to keep to

    private mutating func cameraChecked(_ batch: Configuration, _ slot: Slot<Session>) -> Slot<Camera>? {
        let session = state.sessions[slot]
        guard case .text(let name)? = batch[.camera] else { return session.camera }
        guard let camera = state.cameraNames[CameraID(name)] else {
            notes.refuse(.unknownCamera, unknownCamera(CameraID(name)), .knownCamera)
            return nil
        }
        if camera != session.camera, session.has.contains(.recording) {
            notes.refuse(
                .alreadyRecording, "The camera cannot be switched to \"\(name)\" while recording; StopRecording first.",
                .noSwitchWhileRecording)
            return nil
        }
        return camera
    }

    func check(_ camera: Slot<Camera>) -> ConfigurationCheck {
        ConfigurationCheck(capabilities: state.cameraSettings[camera].capabilities)
    }

    /// A switch to a camera that is not there would only lose the picture that there is.
    private mutating func isPresent(_ camera: Slot<Camera>) -> Bool {
        if state.cameras[camera].isPresent { return true }
        notes.refuse(
            .unsupportedConfiguration,
            "camera \"\(state.cameraNames[camera].name)\" is unplugged; a session is switched to a camera that is there.",
            .batchIsWhole)
        return false
    }

    private func isFree(_ camera: Slot<Camera>) -> Bool {
        state.cameras[camera].tenancy == .free && state.cameras[camera].promise == nil
    }

    private mutating func isValid(_ batch: Configuration, _ slot: Slot<Session>, on camera: Slot<Camera>) -> Bool {
        // What was configured for another camera does not bind this one.
        let current = wantedBefore(slot, on: camera)
        let isRecording = camera == state.sessions[slot].camera && state.sessions[slot].has.contains(.recording)
        guard let problem = check(camera).problem(batch, over: current, isRecording: isRecording) else { return true }
        notes.refuse(.unsupportedConfiguration, problem, .batchIsWhole)
        return false
    }

    /// Adding a microphone while another app has it: refused, unless the client takes the interruption.
    private mutating func isMicrophoneFree(_ batch: Configuration, _ slot: Slot<Session>) -> Bool {
        guard batch[.usesAudio] == .flag(true), !state.sessions[slot].has.contains(.audio),
            batch[.whenBusy] != .text("interrupt")
        else { return true }
        var asked = state
        asked.sessions[slot].has.insert(.audio)
        let limits = asked.look(at: slot).limits
        guard let rule = limits.rule(of: .audioDeviceInUseByAnotherClient) else { return true }
        notes.refuse(
            .microphoneBusy,
            "usesAudio true would interrupt the session: another app has the microphone. Say whenBusy \"interrupt\" to take that.",
            rule: text(rule))
        return false
    }

    /// What a session had asked of a camera when a batch comes: of its own all, of another one what it asked when it had that,
    /// and of one that it never had what is the session's own, whatever its camera.
    private func wantedBefore(_ slot: Slot<Session>, on camera: Slot<Camera>) -> Configuration {
        let settings = state.sessionSettings[slot]
        guard camera != state.sessions[slot].camera else { return settings.wanted }
        let remembered = settings.others.first { $0.camera == camera }
        var wanted = remembered?.wanted ?? Configuration()
        wanted.merge(settings.wanted.keeping(\.isOfTheSession))
        // AVFoundation's preset is the session's, too: a camera that has it begins with it.
        if remembered == nil, let preset = settings.wanted[.sessionPreset] {
            wanted[.sessionPreset] = preset
            if check(camera).choice(wanted) == nil { wanted[.sessionPreset] = nil }
        }
        return wanted
    }

    /// What it has asked of it when the batch is taken. A ramp belongs to its batch, not to what is restored later.
    private func wantedAfter(_ batch: Configuration, of slot: Slot<Session>, on camera: Slot<Camera>) -> Configuration {
        var wanted = check(camera).merged(batch, into: wantedBefore(slot, on: camera))
        wanted[.videoZoomRampRate] = nil
        wanted[.cancelVideoZoomRamp] = nil
        return wanted
    }

    /// Format, zoom, flash and all else are remembered for each camera; a torch is off once its camera is left.
    private mutating func rememberCamera(of slot: Slot<Session>, leavingFor camera: Slot<Camera>) {
        let left = state.sessionSettings[slot].wanted.keeping {
            !$0.isOfTheSession && $0 != .torchMode && $0 != .torchLevel
        }
        let own = state.sessions[slot].camera
        state.sessionSettings[slot].others.removeAll { $0.camera == own || $0.camera == camera }
        state.sessionSettings[slot].others.append(SessionSettings.Remembered(camera: own, wanted: left))
    }

    /// Leaves one camera and bids for another; the start request and its age stay.
    private mutating func switchCamera(_ slot: Slot<Session>, to camera: Slot<Camera>, _ batch: Configuration) {
        let session = state.sessions[slot]
        var asked = batch
        asked[.camera] = nil
        asked[.whenBusy] = nil
        let wanted = wantedAfter(asked, of: slot, on: camera)
        rememberCamera(of: slot, leavingFor: camera)
        let app = state.clients[session.client].app
        if session.has.contains(.microphone) { state.sessions[slot].has.insert(.hadMicrophone) }
        if session.request != nil {
            leaveCamera(slot, why: .stopped)
            notes.touch(session.camera)
            state.sessions[slot].waits = nil
            state.sessions[slot].lost = nil
            state.timers.removeAll { $0.kind == .noRoom && $0.session == slot }
            if state.cameras[session.camera].promise?.session == slot { state.cameras[session.camera].promise = nil }
            state.unlink(slot)
            tellMoved(slot)
        }
        state.sessions[slot].camera = camera
        state.sessionSettings[slot].wanted = wanted
        state.sessionSettings[slot].confirmed = wanted
        state.noteWishes(of: slot)
        state.sessions[slot].has.insert(.switched)
        guard session.request != nil else { return }
        state.sessions[slot].request?.bidSince = nil
        state.sessions[slot].request?.hasHeld = false
        state.link(slot)
        let isStillAsking = state.requests(on: session.camera).contains {
            state.clients[state.sessions[$0].client].app == app
        }
        if !isStillAsking { noteLease(app, on: session.camera, isAsking: false) }
        noteLease(app, on: camera, isAsking: true)
        touch(slot)
    }
}

extension Configuration {
    /// It says how the session shares, and nothing that the camera would have to do.
    var onlyAsksForControl: Bool { count == 1 && self[.sharingMode] != nil }
}
