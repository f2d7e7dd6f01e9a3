package import Vocabulary

extension Arbiter {
    /// The configuration in force on its camera with the session's own keys while it runs; otherwise the wanted one.
    package func configuration(of slot: Slot<Session>) -> Configuration {
        let wanted = state.sessionSettings[slot].wanted
        guard state.sessions[slot].shown.isRunning else { return wanted }
        var whole = view(of: state.cameraSettings[state.sessions[slot].camera].inForce, for: slot)
        whole.merge(wanted.keeping(\.isOfTheSession))
        return whole
    }

    mutating func beginConfiguration(_ slot: Slot<Session>) throws(Refusal) {
        guard state.sessionSettings[slot].open.depth < Bound.batchDepthMax else { throw .batchTooDeep }
        state.sessionSettings[slot].open.depth += 1
        state.sessions[slot].has.insert(.insideBatch)
    }

    mutating func commitConfiguration(_ slot: Slot<Session>) throws(Refusal) {
        let open = state.sessionSettings[slot].open
        guard open.depth > 0 else { throw .noBatch }
        state.sessionSettings[slot].open.depth -= 1
        if open.depth > 1 { return }
        // Refused or not, the batch is closed: a client that retries opens a new one.
        state.sessionSettings[slot].open = SessionSettings.OpenBatch()
        state.sessions[slot].has.remove(.insideBatch)
        if !open.batch.isEmpty { try apply(open.batch, to: slot) }
    }

    mutating func configure(_ slot: Slot<Session>, _ batch: Configuration) throws(Refusal) {
        guard state.sessions[slot].has.contains(.insideBatch) else { return try apply(batch, to: slot) }
        let open = state.sessionSettings[slot].open.batch
        var asked = open
        asked.merge(batch)
        let camera = try camera(of: asked, slot)
        let collected = check(camera).merged(batch, into: open)
        try validate(collected, slot, on: camera)
        state.sessionSettings[slot].open.batch = collected
    }

    /// A whole batch: sent to the recorder if the session has the camera, kept for later if not, refused if it may not
    /// configure.
    private mutating func apply(_ batch: Configuration, to slot: Slot<Session>) throws(Refusal) {
        let camera = try camera(of: batch, slot)
        try validate(batch, slot, on: camera)
        try demandMicrophone(batch, slot)
        let session = state.sessions[slot]
        let moves = camera != session.camera
        // A switch to an unplugged camera would only lose the present picture.
        if moves, !state.cameras[camera].isPresent { throw .unplugged(state.cameraNames[camera]) }
        var takesControl = false
        if case .running(let access) = session.shown, !access.contains(.configure), !batch.onlyAsksForControl,
            !(moves && state.cameras[camera].tenancy == .free && state.cameras[camera].promise == nil)
        {
            takesControl = try self.takesControl(batch, slot)
        }
        if moves {
            if session.request != nil { try mayStart(slot, on: camera) }
            return switchCamera(slot, to: camera, batch)
        }
        if session.shown.isRunning, state.cameraSettings[camera].asked.count >= Bound.batchesMax {
            throw .tooManyBatches
        }
        try demandRoom(for: batch, of: slot, takesControl: takesControl)
        let wanted = wantedAfter(batch.wish, of: slot, on: camera)
        if state.policy.shares, session.shown.isRunning {
            try spareRecordings(batch, after: wanted, of: slot, takesControl: takesControl)
            if !takesControl { try demandExactly(batch, after: wanted, of: slot) }
        }
        let asksForControl = session.has.contains(.asksToWatch) && batch[.sharingMode] == .text("exclusiveControl")
        state.sessionSettings[slot].wanted = wanted
        state.noteWishes(of: slot)
        if !state.sessions[slot].has.contains(.audio) { detachMicrophone(of: slot) }
        if takesControl {
            touch(slot)
        } else if session.shown.isRunning {
            carryOut(batch, of: slot)
        }
        if asksForControl { notes.occasion.asker = slot }
        if takesControl { notes.occasion.committer = slot }
        if batch.ordered.contains(where: \.key.isOfTheSession) { touch(slot) }
    }

    /// A running session's batch: the holder's goes to the recorder, with the format of a wish that is served instead.
    private mutating func carryOut(_ batch: Configuration, of slot: Slot<Session>) {
        let asked = batch.wish.keeping { !$0.isOfTheBroker }
        if asked.isEmpty {
            return notify(slot, .configurationApplied(ConfigurationChange(asked: batch, inForce: batch, by: .client)))
        }
        let camera = state.sessions[slot].camera
        if asked.isWish, state.cameras[camera].tenancy.holder != slot { return serve(asked, of: slot) }
        let ordered = orderedBatch(asked, of: slot)
        if !ordered.isEmpty { order(ordered, asked: asked, of: slot, by: .client) }
        if state.policy.shares { _ = setPicture(of: slot) }
        if ordered.isEmpty { tellConfigured(slot, asked: asked, state.cameraSettings[camera].inForce, .client) }
    }

    /// The configuration in force once the recorder core has answered all its orders.
    func soonInForce(on camera: Slot<Camera>) -> Configuration {
        let (settings, check) = (state.cameraSettings[camera], check(camera))
        return settings.asked.reduce(settings.inForce) { check.merged($1.ordered, into: $0) }
    }

    /// Orders a batch from the recorder, and remembers the session for the result.
    mutating func order(_ ordered: Configuration, asked: Configuration, of slot: Slot<Session>, by: Applier) {
        let camera = state.sessions[slot].camera
        state.cameraSettings[camera].asked.append(
            CameraSettings.Asked(session: state.sessions[slot].id, batch: asked, ordered: ordered, by: by))
        order(for: slot) { .configure($0, $1, $2, ordered) }
    }

    // MARK: What a batch has to keep to

    private func camera(of batch: Configuration, _ slot: Slot<Session>) throws(Refusal) -> Slot<Camera> {
        let session = state.sessions[slot]
        guard case .text(let name)? = batch[.camera] else { return session.camera }
        let id = CameraID(name)
        guard let camera = state.cameraNames[id] else { throw .unknownCamera(id, among: knownCameras) }
        if camera != session.camera, session.has.contains(.recording) { throw .recordingHinders(switchTo: id) }
        return camera
    }

    /// The camera has no format that the session could run with.
    func isImpossible(_ session: Slot<Session>, on camera: Slot<Camera>) -> Bool {
        check(camera).choice(state.sessionSettings[session].wanted) == nil
    }

    func fittedConfiguration(of session: Slot<Session>, on camera: Slot<Camera>) -> Configuration {
        guard let fitted = check(camera).nearest(state.sessionSettings[session].wanted) else {
            preconditionFailure("what cannot be configured was stopped before it is granted")
        }
        return fitted
    }

    func check(_ camera: Slot<Camera>) -> ConfigurationCheck {
        ConfigurationCheck(capabilities: state.cameraSettings[camera].capabilities)
    }

    private func validate(_ batch: Configuration, _ slot: Slot<Session>, on camera: Slot<Camera>) throws(Refusal) {
        // A configuration for another camera does not bind this one.
        let current = wantedBefore(slot, on: camera)
        let isRecording = camera == state.sessions[slot].camera && state.sessions[slot].has.contains(.recording)
        if let problem = check(camera).problem(batch, over: current, isRecording: isRecording) {
            throw .unsupported(problem)
        }
    }

    /// Refuses to add a microphone while another app has it, unless the client takes the interruption.
    private func demandMicrophone(_ batch: Configuration, _ slot: Slot<Session>) throws(Refusal) {
        guard batch[.usesAudio] == .flag(true), !state.sessions[slot].has.contains(.audio),
            batch[.whenBusy] != .text("interrupt")
        else { return }
        var asked = state
        asked.sessions[slot].has.insert(.audio)
        if let rule = asked.look(at: slot).limits.rule(of: .audioDeviceInUseByAnotherClient) {
            throw .microphoneBusy(rule: text(rule))
        }
    }

    /// For its own camera all keys; for a former camera its keys of that time; for a new one the session's own keys.
    private func wantedBefore(_ slot: Slot<Session>, on camera: Slot<Camera>) -> Configuration {
        let settings = state.sessionSettings[slot]
        guard camera != state.sessions[slot].camera else { return settings.wanted }
        let remembered = settings.others.first { $0.camera == camera }
        var wanted = remembered?.wanted ?? Configuration()
        wanted.merge(settings.wanted.keeping(\.isOfTheSession))
        // As in AVFoundation a preset is the session's: a new camera begins with it.
        if remembered == nil, let preset = settings.wanted[.sessionPreset] {
            wanted[.sessionPreset] = preset
            if check(camera).choice(wanted) == nil { wanted[.sessionPreset] = nil }
        }
        return wanted
    }

    /// The wanted configuration after a batch. A ramp belongs to its batch, not to a later restoration.
    private func wantedAfter(_ batch: Configuration, of slot: Slot<Session>, on camera: Slot<Camera>) -> Configuration {
        check(camera).merged(batch, into: wantedBefore(slot, on: camera)).keeping { !$0.isOfARamp }
    }

    /// Leaves one camera and bids for another; the start request and its age stay.
    private mutating func switchCamera(_ slot: Slot<Session>, to camera: Slot<Camera>, _ batch: Configuration) {
        let session = state.sessions[slot]
        let wanted = wantedAfter(batch.wish, of: slot, on: camera)
        // Format, zoom, flash and all other keys are remembered for each camera; a torch is off once its camera is
        // left.
        let left = state.sessionSettings[slot].wanted.keeping {
            !$0.isOfTheSession && $0 != .torchMode && $0 != .torchLevel
        }
        state.sessionSettings[slot].others.removeAll { $0.camera == session.camera || $0.camera == camera }
        state.sessionSettings[slot].others.append(SessionSettings.Remembered(camera: session.camera, wanted: left))
        if session.has.contains(.microphone) { state.sessions[slot].has.insert(.hadMicrophone) }
        if session.request != nil {
            stopAsking(slot, why: .stopped)
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
        noteLease(state.app(of: slot), on: camera, isAsking: true)
        touch(slot)
    }
}

extension Configuration {
    /// The batch changes how the session shares, and nothing on the camera.
    var onlyAsksForControl: Bool { count == 1 && self[.sharingMode] != nil }

    /// The configuration without the keys that only govern the batch itself.
    var wish: Configuration { keeping { !$0.governsItsBatch } }
}
