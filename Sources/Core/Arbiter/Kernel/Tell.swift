import Vocabulary

/// Each client's notices: nothing else writes `Session.shown`, and the last notice decides the next one. An
/// interruption ends with the session's first frame. From winning to that frame the last causes stand.
extension Arbiter {
    /// Sends one session's client the changes of a round of deciding, and nothing where nothing changed.
    mutating func tell(_ look: Look, _ ruling: Seating.Ruling) {
        let slot = look.session
        var waits: Session.Waiting?
        switch ruling.kind {
        case .undecided, .evicted, .replaced: return
        case .barred: state.sessions[slot].ledger.sharersTold = 0
        case .waits:
            state.sessions[slot].ledger.sharersTold = 0
            waits = Session.Waiting(interrupter: ruling.interrupter, rule: ruling.rule, isSharing: ruling.watches)
        case .holds, .gets, .comesNext: break
        }
        state.sessions[slot].waits = waits
        let tenancy = state.cameras[look.camera].tenancy
        if ruling.kind == .holds, tenancy.isStreaming {
            // The client's last notice came from another broker: one notice is sent in any case.
            let isReclaimed = notes.reclaimer == slot
            if isReclaimed { notes.reclaimer = nil }
            tellAccess(look, always: isReclaimed)
        } else if ruling.watches, tenancy.isStreaming {
            tellSharer(look)
        } else if ruling.kind == .barred || waits != nil && !(ruling.watches && tenancy.isCapturing) {
            interrupt(look)
        } else {
            tellGranted(look)
        }
    }

    /// The session has won, and its first frame is still to come. A fault on the way is sent; a rival's part in it is
    /// no news.
    mutating func tellGranted(_ look: Look) {
        let (shown, fault) = (state.sessions[look.session].shown, state.sessions[look.session].lost?.cause)
        if case .interrupted(let told, _) = shown {
            if let fault, !told.contains(fault) { interrupt(look) }
        } else if fault != nil {
            interrupt(look)
        } else {
            state.sessions[look.session].shown = .pending
            guard shown.isRunning else { return }
            // A sharer that becomes the holder by a cut lost its recording with the grant.
            forgetRecording(look.session)
            notify(look.session, .didStopRunning)
        }
    }

    // MARK: Interruptions

    mutating func interrupt(_ look: Look) {
        let slot = look.session
        closeIfSharing(slot)
        let (waits, before) = (state.sessions[slot].waits, state.sessions[slot].shown)
        let causes = look.causes(waits)
        let by = state.interrupter(of: look, waits, causes)
        let words = state.policy.hasMessages ? causes.reason.map { message(of: look.rule(of: $0, waits)) } ?? "" : ""
        // A notice has an app's name alone: a name that is vouched for now is the same name.
        if case .interrupted(let told, let other) = before, told == causes,
            by == nil || by?.isOfSameName(as: other) == true, words == state.sessionSettings[slot].message ?? ""
        {
            if let by, by != other { state.sessions[slot].shown = .interrupted(causes, by: by) }
            return
        }
        guard let reason = causes.reason else { preconditionFailure("session \(look.id) is interrupted for no cause") }
        let rule = look.rule(of: reason, waits)
        state.sessions[slot].shown = .interrupted(causes, by: by)
        if words != state.sessionSettings[slot].message ?? "" {
            state.sessionSettings[slot].message = words.isEmpty ? nil : words
        }
        let interrupter = name(by, for: look)
        if case .interrupted = before {
            state.sessions[slot].ledger.open?.causes.formUnion(causes)
            let id = state.sessions[slot].ledger.open?.id ?? 0
            notify(
                slot,
                .interruptionChanged(
                    Interruption(
                        id: id, causes: causes, interrupter: interrupter, rule: text(rule), message: words)))
        } else {
            let id = state.sessions[slot].ledger.beginInterruption()
            let cut = takeRecording(look, reason, interrupter)
            state.sessions[slot].ledger.open = Session.Ledger.Interruption(
                id: id, began: state.now, causes: causes, recording: cut)
            notify(
                slot,
                .wasInterrupted(
                    Interruption(
                        id: id, causes: causes, interrupter: interrupter, recording: cut, rule: text(rule),
                        message: words)))
            if before.isRunning { notify(slot, .didStopRunning) }
        }
        observe(look, .interrupted(causes), rule)
    }

    /// Takes the recording from a session that loses it, with the cause for its client.
    private mutating func takeRecording(_ look: Look, _ cause: Cause?, _ interrupter: Interrupter?) -> RecordingID? {
        guard let recording = forgetRecording(look.session) else { return nil }
        note(cause, by: interrupter, for: recording, on: look.camera)
        // A rule may read that the session records.
        notes.touch(look.camera)
        return recording
    }

    /// An app's name for clients of the same user; for all others "another user's app".
    func name(_ app: AppRef?, for look: Look) -> Interrupter? {
        guard let app, state.isThere(app) else { return nil }
        let id = state.id(app)
        return id.user == look.user ? .app(id.name) : .anotherUsersApp
    }

    private mutating func endInterruption(_ slot: Slot<Session>, willResume: Bool) {
        state.sessions[slot].ledger.announced = nil
        guard let open = state.sessions[slot].ledger.open.take() else { return }
        notify(
            slot,
            .interruptionEnded(
                InterruptionEnd(
                    id: open.id, causes: open.causes, duration: state.now - open.began, willResume: willResume,
                    recording: open.recording)))
    }

    // MARK: Running

    /// The session runs from now on: sends the configuration in force, the end of its interruption, the start, and its
    /// access.
    mutating func tellRunning(
        _ slot: Slot<Session>, applied: (asked: Configuration, inForce: Configuration, by: Applier)?
    ) {
        let session = state.sessions[slot]
        guard !session.shown.isRunning else { return tellAccess(state.look(at: slot)) }
        if let applied { tellConfigured(slot, asked: applied.asked, applied.inForce, applied.by) }
        endInterruption(slot, willResume: true)
        state.sessions[slot].has.subtract([.switched, .reestablished])
        state.sessions[slot].request?.hasHeld = true
        state.sessions[slot].refusals = 0
        state.sessions[slot].shown = .running(.all)
        state.sessions[slot].ledger.controllerTold = nil
        notify(slot, .didStartRunning(state.cameras[session.camera].grant))
        if session.has.contains(.switched) {
            let outputs: [(mark: Session.Marks, output: SessionOutput)] = [
                (.previews, .preview), (.hadMicrophone, .microphone), (.metadata, .metadata),
            ]
            let reopen = outputs.filter { session.has.contains($0.mark) }.map(\.output)
            state.sessions[slot].has.subtract([.previews, .hadMicrophone, .metadata])
            notify(slot, .connectionsFormed(camera: state.cameraNames[session.camera], reopen: reopen))
        }
        tellAccess(state.look(at: slot))
        if state.policy.readsBids { notes.touch(session.camera) }
    }

    /// Sends the asked configuration, and values that differ from the last notice; before the session runs only where
    /// that is news.
    mutating func tellConfigured(
        _ slot: Slot<Session>, asked: Configuration, _ ofTheCamera: Configuration, _ by: Applier
    ) {
        let inForce = view(of: ofTheCamera, for: slot)
        var (told, applied) = (asked, inForce)
        if state.sessionSettings[slot].heard != inForce {
            if let heard = state.sessionSettings[slot].heard {
                for (key, value) in inForce.news(since: heard).ordered where told[key] == nil { told[key] = value }
            }
            state.sessionSettings[slot].heard = inForce
        }
        let session = state.sessions[slot]
        if session.has.contains(.switched), !session.shown.isRunning {
            let name = ConfigurationValue.text(state.cameraNames[session.camera].name)
            (told[.camera], applied[.camera]) = (name, name)
        }
        if told.isEmpty, !session.shown.isRunning { return }
        notify(slot, .configurationApplied(ConfigurationChange(asked: told, inForce: applied, by: by)))
    }

    /// Sends a running session its access, if that changed.
    mutating func tellAccess(_ look: Look, always: Bool = false) {
        let slot = look.session
        let session = state.sessions[slot]
        guard case .running(let before) = session.shown else { return }
        let access = look.access(session.waits)
        if session.has.contains(.takesVideo) || session.has.contains(.slate) {
            setSlate(state.isSlateDue(look, access), of: slot, on: look.camera)
        }
        let controller = controller(beside: session)
        let isNews = access != before || always || controller != session.ledger.controllerTold
        if controller != session.ledger.controllerTold { state.sessions[slot].ledger.controllerTold = controller }
        state.sessions[slot].shown = .running(access)
        // Cut first, tell second.
        let causes = look.causes(session.waits)
        if before.contains(.record), !access.contains(.record), let recording = session.ledger.recording {
            notes.effects.append(.stopRecording(state.cameraNames[look.camera], recording, why: .accessLost))
            // A sharer's holder took nothing where another cause did.
            let waits = causes.reason == .videoDeviceInUseByAnotherClient ? session.waits : nil
            let interrupter = name(state.interrupter(of: look, waits, causes), for: look)
            _ = takeRecording(look, causes.reason, interrupter)
        }
        // A holder that goes on beside the next one has its recording ended first, and then its microphone.
        if session.waits != nil { detachMicrophone(of: slot) }
        guard isNews else { return }
        if before.contains(.preview), !access.contains(.preview) { closeStreams(of: slot, on: look.camera) }
        let rule = look.limitingRule(session.waits)
        notify(
            slot,
            .accessChanged(
                AccessChange(
                    access, causes: causes, rule: text(rule), message: message(of: rule),
                    controller: name(controller, for: look))))
        observe(look, .restricted(access), rule)
    }

    /// The app that controls the camera which a session shares: the next holder's, where the camera passes to it.
    private func controller(beside session: Session) -> AppRef? {
        guard let waits = session.waits, waits.isSharing else { return nil }
        if notes.passing.contains(session.camera) { return waits.interrupter }
        return state.cameras[session.camera].tenancy.holder.map { state.app(of: $0) }
    }

    /// A preview is black while its session may not record (semantics.md §5).
    mutating func setSlate(_ isBlack: Bool, of slot: Slot<Session>, on camera: Slot<Camera>) {
        guard state.sessions[slot].has.contains(.slate) != isBlack else { return }
        state.set(.slate, isBlack, of: slot)
        notes.effects.append(.setSlate(state.cameraNames[camera], state.cameras[camera].grant, state.id(slot), isBlack))
    }

    // MARK: Stops

    /// Nothing will resume. A stop for good closes an open interruption without an `InterruptionEnded`.
    mutating func tellStopped(_ slot: Slot<Session>, forGood stop: (reason: StopReason, rule: Rule)? = nil) {
        let wasRunning = state.sessions[slot].shown.isRunning
        if stop != nil { state.sessions[slot].ledger.open = nil }
        endInterruption(slot, willResume: false)
        if wasRunning { notify(slot, .didStopRunning) }
        if let stop {
            let (rule, words) = (text(stop.rule), message(of: stop.rule, isOwn: stop.reason != .evicted))
            notify(slot, .sessionStopped(SessionStop(stop.reason, rule: rule, message: words)))
        }
        state.sessions[slot].shown = .stopped
    }

    /// The session moved to another camera: it stops here, and its interruption goes on there.
    mutating func tellMoved(_ slot: Slot<Session>) {
        state.sessions[slot].ledger.announced = nil
        guard state.sessions[slot].shown.isRunning else { return }
        state.sessions[slot].shown = .pending
        notify(slot, .didStopRunning)
    }

    // MARK: The notice itself

    mutating func notify(_ slot: Slot<Session>, _ event: SessionEvent) {
        // Where a warning may still come before this notice, its number follows the warning's.
        if notes.warnings.isEmpty { state.sessions[slot].ledger.sequence += 1 }
        let sequence = notes.warnings.isEmpty ? state.sessions[slot].ledger.sequence : 0
        notes.effects.append(notice(slot, sequence: sequence, event))
    }

    func notice(_ slot: Slot<Session>, sequence: UInt64 = 0, _ event: SessionEvent) -> Effect {
        .notify(state.id(state.sessions[slot].client), state.id(slot), sequence: sequence, event)
    }
}
