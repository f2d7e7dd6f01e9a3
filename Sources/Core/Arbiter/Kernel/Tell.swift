package import Vocabulary

/// What each client hears: nothing else writes `Session.shown`, and what was said before decides what is said now. An
/// interruption ends with the session's first frame. From winning to that frame the causes last told stand.
extension Arbiter {
    /// Tells one session's client what a round of deciding changed for it, and nothing when nothing did.
    mutating func tell(_ look: Look, _ ruling: Seating.Ruling) {
        switch ruling.kind {
        case .undecided, .evicted, .replaced: break
        case .barred:
            state.sessions[look.session].ledger.sharersTold = 0
            state.sessions[look.session].waits = nil
            interrupt(look)
        case .waits:
            state.sessions[look.session].ledger.sharersTold = 0
            state.sessions[look.session].waits = Session.Waiting(
                interrupter: ruling.interrupter, rule: ruling.rule, isSharing: ruling.watches)
            if ruling.watches { tellSharer(look) } else { interrupt(look) }
        case .holds, .gets, .comesNext:
            state.sessions[look.session].waits = nil
            if ruling.kind == .holds, state.cameras[look.camera].tenancy.isStreaming {
                // What its client last heard came from another broker: once, it is told in any case.
                let isReclaimed = notes.reclaimer == look.session
                if isReclaimed { notes.reclaimer = nil }
                tellAccess(look, always: isReclaimed)
            } else {
                tellGranted(look)
            }
        }
    }

    /// It has won, and its first frame is still to come. A fault on the way is told; that others were in its way is not news.
    mutating func tellGranted(_ look: Look) {
        let session = state.sessions[look.session]
        var fault = CauseSet()
        if let lost = session.lost { fault.insert(lost.cause) }
        switch session.shown {
        case .interrupted(let told, _): if !fault.isEmpty, fault.union(told) != told { interrupt(look) }
        case .stopped, .pending:
            if fault.isEmpty { state.sessions[look.session].shown = .pending } else { interrupt(look) }
        case .running:
            guard fault.isEmpty else { return interrupt(look) }
            state.sessions[look.session].shown = .pending
            notify(look.session, .didStopRunning)
        }
    }

    // MARK: Interruptions

    mutating func interrupt(_ look: Look) {
        let slot = look.session
        closeIfSharing(slot)
        let waits = state.sessions[slot].waits
        let causes = look.causes(waits)
        let by = state.interrupter(of: look, waits, causes)
        // Nearly always a waiting session has nothing new to hear. What is told of an app is its name: an app that is
        // vouched for now is no other one.
        if case .interrupted(let told, let before) = state.sessions[slot].shown, told == causes,
            by == nil || by?.isOfSameName(as: before) == true
        {
            if let by, by != before { state.sessions[slot].shown = .interrupted(causes, by: by) }
            return
        }
        guard let reason = causes.reason else { preconditionFailure("session \(look.id) is interrupted for no cause") }
        let rule = look.rule(of: reason, waits)
        switch state.sessions[slot].shown {
        case .interrupted:
            state.sessions[slot].shown = .interrupted(causes, by: by)
            state.sessions[slot].ledger.open?.causes.formUnion(causes)
            let id = state.sessions[slot].ledger.open?.id ?? 0
            notify(
                slot,
                .interruptionChanged(
                    Interruption(id: id, causes: causes, interrupter: words(by, for: look), rule: text(rule))))
        case .running, .pending, .stopped: beginInterruption(look, causes, by, rule)
        }
        observe(look, .interrupted(causes), rule)
    }

    private mutating func beginInterruption(_ look: Look, _ causes: CauseSet, _ by: AppRef?, _ rule: Rule) {
        let slot = look.session
        let wasRunning = state.sessions[slot].shown.isRunning
        let id = takeInterruption(of: slot)
        state.sessions[slot].ledger.open = Session.Ledger.Interruption(id: id, began: state.now, causes: causes)
        state.sessions[slot].shown = .interrupted(causes, by: by)
        let cut = forgetRecording(slot)
        let interrupter = words(by, for: look)
        if let cut {
            state.sessions[slot].ledger.open?.recording = cut
            note(causes.reason, by: interrupter, for: cut, on: look.camera)
            // A rule may read that it records.
            notes.touch(look.camera)
        }
        notify(
            slot,
            .wasInterrupted(
                Interruption(id: id, causes: causes, interrupter: interrupter, recording: cut, rule: text(rule))))
        if wasRunning { notify(slot, .didStopRunning) }
    }

    /// The interruption that was announced, or a new one.
    private mutating func takeInterruption(of slot: Slot<Session>) -> InterruptionID {
        if let announced = state.sessions[slot].ledger.announced {
            state.sessions[slot].ledger.announced = nil
            return announced
        }
        state.sessions[slot].ledger.interruptions += 1
        return state.sessions[slot].ledger.interruptions
    }

    /// Named to clients of the same user; to others it is another user's app.
    private func words(_ app: AppRef?, for look: Look) -> Interrupter? {
        guard let app, state.isThere(app) else { return nil }
        let id = state.id(app)
        return id.user == look.user ? .app(id.name) : .anotherUsersApp
    }

    mutating func endInterruption(_ slot: Slot<Session>, willResume: Bool) {
        state.sessions[slot].ledger.announced = nil
        guard let open = state.sessions[slot].ledger.open else { return }
        state.sessions[slot].ledger.open = nil
        notify(
            slot,
            .interruptionEnded(
                InterruptionEnd(
                    id: open.id, causes: open.causes, duration: state.now - open.began, willResume: willResume,
                    recording: open.recording)))
    }

    // MARK: Running

    /// It runs from now on: what is in force, the end of its interruption, that it runs, and what it may do.
    mutating func tellRunning(
        _ slot: Slot<Session>, applied: (asked: Configuration, inForce: Configuration, by: Applier)?
    ) {
        let session = state.sessions[slot]
        guard !session.shown.isRunning else { return tellAccess(state.look(at: slot)) }
        if let applied { tellInForce(slot, applied.asked, applied.inForce, applied.by) }
        endInterruption(slot, willResume: true)
        let wasSwitched = session.has.contains(.switched)
        state.sessions[slot].has.subtract([.switched, .reestablished])
        state.sessions[slot].request?.hasHeld = true
        state.sessions[slot].refusals = 0
        state.sessions[slot].shown = .running(.all)
        notify(slot, .didStartRunning(state.cameras[session.camera].grant))
        if wasSwitched {
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

    /// What is in force where a session asked for something, where it differs from what it last heard, and where it was moved.
    private mutating func tellInForce(
        _ slot: Slot<Session>, _ wanted: Configuration, _ inForce: Configuration, _ by: Applier
    ) {
        var asked = withNews(wanted, inForce, for: slot)
        var applied = inForce
        if state.sessions[slot].has.contains(.switched) {
            let camera = state.cameraNames[state.sessions[slot].camera]
            asked[.camera] = .text(camera.name)
            applied[.camera] = .text(camera.name)
        }
        if state.sessionSettings[slot].heard != inForce { state.sessionSettings[slot].heard = inForce }
        guard !asked.isEmpty else { return }
        notify(slot, .configurationApplied(ConfigurationChange(asked: asked, inForce: applied, by: by)))
    }

    /// What was asked, and values that differ from those that the client last heard.
    private func withNews(_ asked: Configuration, _ inForce: Configuration, for slot: Slot<Session>) -> Configuration {
        guard let heard = state.sessionSettings[slot].heard, heard != inForce else { return asked }
        var told = asked
        for (key, value) in inForce.news(since: heard).ordered where told[key] == nil { told[key] = value }
        return told
    }

    /// A running session hears what was set, by itself or by another one that shares its camera.
    mutating func tellConfigured(_ slot: Slot<Session>, asked: Configuration, _ inForce: Configuration, _ by: Applier) {
        let told = withNews(asked, inForce, for: slot)
        state.sessionSettings[slot].heard = inForce
        notify(slot, .configurationApplied(ConfigurationChange(asked: told, inForce: inForce, by: by)))
    }

    /// What a session that runs may do now, if that changed.
    mutating func tellAccess(_ look: Look, always: Bool = false) {
        let slot = look.session
        let session = state.sessions[slot]
        guard case .running(let before) = session.shown else { return }
        let access = look.access(session.waits)
        if session.has.contains(.takesVideo) || session.has.contains(.slate) {
            setSlate(state.isSlateDue(look, access), of: slot, on: look.camera)
        }
        guard access != before || always else { return giveUpMicrophone(slot) }
        state.sessions[slot].shown = .running(access)
        // Cut first, tell second.
        if before.contains(.record), !access.contains(.record), let recording = forgetRecording(slot) {
            notes.effects.append(.stopRecording(state.cameraNames[look.camera], recording, why: .accessLost))
            let causes = look.causes(session.waits)
            note(
                causes.reason, by: words(state.interrupter(of: look, session.waits, causes), for: look), for: recording,
                on: look.camera)
            // A rule may read that it records.
            notes.touch(look.camera)
        }
        giveUpMicrophone(slot)
        if before.contains(.preview), !access.contains(.preview) { closeStreams(of: slot, on: look.camera) }
        let rule = look.limitingRule(session.waits)
        notify(slot, .accessChanged(AccessChange(access, causes: look.causes(session.waits), rule: text(rule))))
        observe(look, .restricted(access), rule)
    }

    /// A holder that goes on beside the next one has its recording ended first, and then its microphone.
    private mutating func giveUpMicrophone(_ slot: Slot<Session>) {
        if state.sessions[slot].waits != nil { detachMicrophone(of: slot) }
    }

    // MARK: Stops

    /// Its client asked for it: what was open is closed, and nothing will resume.
    mutating func tellStopped(_ slot: Slot<Session>) {
        let wasRunning = state.sessions[slot].shown.isRunning
        endInterruption(slot, willResume: false)
        if wasRunning { notify(slot, .didStopRunning) }
        state.sessions[slot].shown = .stopped
    }

    /// The stop itself closes an open interruption: no `InterruptionEnded` beside it.
    mutating func tellStoppedForGood(_ slot: Slot<Session>, _ reason: StopReason, _ rule: Rule) {
        state.sessions[slot].ledger.open = nil
        state.sessions[slot].ledger.announced = nil
        if state.sessions[slot].shown.isRunning { notify(slot, .didStopRunning) }
        notify(slot, .sessionStopped(SessionStop(reason, rule: text(rule))))
        state.sessions[slot].shown = .stopped
    }

    /// It moved to another camera: it stops here, and its interruption goes on there.
    mutating func tellMoved(_ slot: Slot<Session>) {
        state.sessions[slot].ledger.announced = nil
        guard state.sessions[slot].shown.isRunning else { return }
        state.sessions[slot].shown = .pending
        notify(slot, .didStopRunning)
    }

    // MARK: The notice itself

    mutating func notify(_ slot: Slot<Session>, _ event: SessionEvent) {
        // Where a warning may still come before it, it is numbered behind that.
        if notes.warnings.isEmpty { state.sessions[slot].ledger.sequence += 1 }
        let sequence = notes.warnings.isEmpty ? state.sessions[slot].ledger.sequence : 0
        notes.effects.append(notice(slot, sequence: sequence, event))
    }

    func notice(_ slot: Slot<Session>, sequence: UInt64 = 0, _ event: SessionEvent) -> Effect {
        .notify(state.id(state.sessions[slot].client), state.id(slot), sequence: sequence, event)
    }

    /// Numbers what is told from the first warning on, for each session without a gap.
    mutating func number(from first: Int) {
        for place in first..<notes.effects.count {
            guard case .notify(let client, let id, _, let event) = notes.effects[place], let slot = state.session(id)
            else { continue }
            state.sessions[slot].ledger.sequence += 1
            notes.effects[place] = .notify(client, id, sequence: state.sessions[slot].ledger.sequence, event)
        }
    }
}

extension State {
    /// The app behind an interruption, where there is one.
    package func interrupter(of look: Look, _ waits: Session.Waiting?, _ causes: CauseSet) -> AppRef? {
        if causes.contains(.videoDeviceInUseByAnotherClient) { return waits?.interrupter }
        if causes.contains(.videoDeviceNotAvailableWithMultipleForegroundApps) {
            // The one app beside it is the interrupter; of several, none is.
            return appBeside(look.app)
        }
        guard causes.contains(.audioDeviceInUseByAnotherClient) else { return nil }
        return microphoneTaker(against: look.app).map { ref($0, isClaimed: false) }
    }

    /// A session that takes video, and that another app beside its own keeps from recording: it sees black, so that nobody
    /// takes its preview for a recording. (An image picker in video mode, as iOS 9 documents it.)
    package func isSlateDue(_ look: Look, _ access: Access) -> Bool {
        guard sessions[look.session].has.contains(.takesVideo), access.contains(.preview) else { return false }
        return look.limits.all(policy).contains {
            $0.cause == .videoDeviceNotAvailableWithMultipleForegroundApps && !$0.access.contains(.record)
        }
    }
}
