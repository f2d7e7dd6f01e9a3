import Vocabulary

extension Arbiter {
    mutating func beginConfiguration(_ id: SessionID, _ turn: inout Turn) {
        guard let session = known(id, &turn) else { return }
        let depth = (session.open?.depth ?? 0) + 1
        guard depth <= Bound.batchDepthMax else {
            turn.refuse(
                .limitExceeded, "BeginConfiguration nests at most \(Bound.batchDepthMax) deep; commit some first.",
                rule: "batches nest at most \(Bound.batchDepthMax) deep")
            return
        }
        state.sessions[id]?.open = Session.OpenBatch(depth: depth, batch: session.open?.batch ?? Configuration())
    }

    mutating func commitConfiguration(_ id: SessionID, _ turn: inout Turn) {
        guard let session = known(id, &turn) else { return }
        guard var open = session.open else {
            turn.refuse(
                .notInsideConfiguration, "There is no batch to commit; BeginConfiguration opens one.",
                rule: "a commit closes a begin")
            return
        }
        open.depth -= 1
        if open.depth > 0 {
            state.sessions[id]?.open = open
            return
        }
        // Refused or not, the batch is closed: a client that retries opens a new one.
        state.sessions[id]?.open = nil
        if !open.batch.isEmpty { apply(open.batch, to: id, &turn) }
    }

    mutating func configure(_ id: SessionID, _ batch: Configuration, _ turn: inout Turn) {
        guard let session = known(id, &turn) else { return }
        guard session.open != nil else {
            apply(batch, to: id, &turn)
            return
        }
        var collected = session.open?.batch ?? Configuration()
        collected.merge(batch)
        guard let camera = cameraChecked(collected, session, &turn) else { return }
        if isValid(collected, session, on: camera, &turn) { state.sessions[id]?.open?.batch = collected }
    }

    /// A whole batch: to the recorder if the session has the camera, kept for later if not, refused if it may not.
    private mutating func apply(_ batch: Configuration, to id: SessionID, _ turn: inout Turn) {
        guard let session = state.sessions[id], let camera = cameraChecked(batch, session, &turn),
            isValid(batch, session, on: camera, &turn), isMicrophoneFree(batch, session, &turn)
        else { return }
        if case .running(let access) = session.shown, !access.contains(.configure), !batch.onlyAsksForControl {
            let limit = limit(on: .configure, of: session)
            turn.refuse(.accessDenied, "This session may not configure now: \(limit.sentence).", rule: limit.rule)
            return
        }
        if camera != session.camera {
            var moved = session
            moved.camera = camera
            guard session.request == nil || mayStart(moved, &turn) else { return }
            switchCamera(id, to: camera, batch, &turn)
            return
        }
        var wanted = batch
        wanted[.camera] = nil
        wanted[.whenBusy] = nil
        let asksForControl = session.asksToWatch && batch[.sharingMode] == .text("exclusiveControl")
        state.sessions[id]?.configuration.merge(wanted)
        // A rate belongs to its ramp, not to the configuration that is restored later.
        state.sessions[id]?.configuration[.videoZoomRampRate] = nil
        wanted[.sharingMode] = nil
        if case .running = session.shown, let grant = ledger.grants[camera] {
            if wanted.isEmpty {
                notify(id, .configurationApplied(asked: batch, inForce: batch, by: .client), &turn)
            } else {
                turn.effects.append(.configure(camera, grant, id, wanted))
            }
        }
        if asksForControl { turn.asker = id }
        if batch[.usesAudio] != nil || batch[.sharingMode] != nil { touch(id, &turn) }
    }

    private func cameraChecked(_ batch: Configuration, _ session: Session, _ turn: inout Turn) -> CameraID? {
        guard case .text(let name)? = batch[.camera] else { return session.camera }
        let camera = CameraID(name)
        guard state.cameras[camera] != nil else {
            turn.refuse(.unknownCamera, unknownCamera(camera), rule: "a session is on a camera the broker knows")
            return nil
        }
        if camera != session.camera, session.isRecording {
            turn.refuse(
                .alreadyRecording, "The camera cannot be switched to \"\(name)\" while recording; StopRecording first.",
                rule: "no camera switch while recording")
            return nil
        }
        return camera
    }

    private func isValid(_ batch: Configuration, _ session: Session, on camera: CameraID, _ turn: inout Turn) -> Bool {
        guard let capabilities = state.cameras[camera]?.capabilities else { return false }
        // What was configured for another camera does not bind this one.
        let current = camera == session.camera ? session.configuration : Configuration()
        guard let problem = ConfigurationCheck(capabilities: capabilities).problem(batch, over: current) else {
            return true
        }
        turn.refuse(.unsupportedConfiguration, problem, rule: "a batch is valid as a whole")
        return false
    }

    /// Adding a microphone while another app has it: refused, unless the client takes the interruption.
    private func isMicrophoneFree(_ batch: Configuration, _ session: Session, _ turn: inout Turn) -> Bool {
        guard batch[.usesAudio] == .flag(true), !session.usesAudio, batch[.whenBusy] != .text("interrupt") else {
            return true
        }
        var asked = session
        asked.configuration[.usesAudio] = .flag(true)
        guard let live = liveCauses(of: asked).first(where: { $0.cause == .audioDeviceInUseByAnotherClient }) else {
            return true
        }
        turn.refuse(
            .microphoneBusy,
            "usesAudio true would interrupt the session: another app has the microphone. Say whenBusy \"interrupt\" to take that.",
            rule: live.rule)
        return false
    }

    /// Leaves one camera and claims another; the start request and its age stay.
    private mutating func switchCamera(_ id: SessionID, to camera: CameraID, _ batch: Configuration, _ turn: inout Turn)
    {
        guard let session = state.sessions[id] else { return }
        var wanted = batch
        wanted[.camera] = nil
        wanted[.whenBusy] = nil
        if let audio = session.configuration[.usesAudio], wanted[.usesAudio] == nil { wanted[.usesAudio] = audio }
        if session.request != nil {
            turn.cameras.insert(session.camera)
            leaveCamera(session, why: .stopped, &turn)
            // The stop closes a warning, as every stop does.
            ledger.sessions[id]?.announced = nil
            state.sessions[id]?.waits = nil
            state.cameras[session.camera]?.requests.removeSorted(id)
            state.cameras[camera]?.requests.insertSorted(id)
            if case .running = session.shown {
                state.sessions[id]?.shown = .pending
                notify(id, .didStopRunning, &turn)
            }
        }
        state.sessions[id]?.camera = camera
        state.sessions[id]?.configuration = wanted
        state.sessions[id]?.confirmed = wanted
        state.sessions[id]?.isSwitched = true
        state.sessions[id]?.request?.claimed = nil
        state.sessions[id]?.request?.hasHeld = false
        touch(id, &turn)
    }
}
