import Vocabulary

/// Notices between a camera's holder and its sharers, and the warnings of holders.
extension Arbiter {
    /// Notifies a session that lost its camera to a streaming holder, and may watch it.
    mutating func tellSharer(_ look: Look) {
        let slot = look.session
        state.sessions[slot].lost = nil
        guard state.sessions[slot].shown.isRunning else {
            _ = setPicture(of: slot)
            let inForce = state.cameraSettings[look.camera].inForce
            return tellRunning(slot, applied: (state.sessionSettings[slot].wanted.ofTheCamera, inForce, .sharer))
        }
        // The session loses control and not the picture: the announced interruption does not come.
        if let announced = state.sessions[slot].ledger.announced.take() {
            notify(slot, .interruptionWithdrawn(announced))
        }
        tellAccess(state.look(at: slot))
    }

    /// Sends the holder of a shared camera its sharers' apps, whenever they differ from the last notice.
    mutating func tellSharers(on camera: Slot<Camera>) {
        guard case .streaming(let held) = state.cameras[camera].tenancy, state.sessions[held.session].shown.isRunning
        else { return }
        let own = state.app(of: held.session)
        var apps: [AppRef] = []
        for other in state.requests(on: camera) where other != held.session && state.sessions[other].shown.isRunning {
            let app = state.app(of: other)
            if app != own, !apps.contains(app) { apps.append(app) }
        }
        apps.sort { (state.id($0), $0.isClaimed ? 1 : 0) < (state.id($1), $1.isClaimed ? 1 : 0) }
        // The apps as one number, so that a row stays plain; no app is 0.
        let told = apps.reduce(UInt64(0)) { number, app in
            (number ^ (UInt64(app.slot.index) << 17 | UInt64(app.generation) << 1 | (app.isClaimed ? 1 : 0)) &+ 1)
                &* 0x0000_0100_0000_01b3
        }
        guard told != state.sessions[held.session].ledger.sharersTold else { return }
        state.sessions[held.session].ledger.sharersTold = told
        let user = state.apps[own.slot].user
        let words = apps.map { app in
            state.apps[app.slot].user == user ? Interrupter.app(state.id(app).name) : .anotherUsersApp
        }
        notify(held.session, .sharersChanged(words))
    }

    // MARK: Warnings

    /// Keeps the bid that a holder has to make way for, and the place of the holder's warning. The bid may still lose
    /// in a later round of the step, and then no warning is sent.
    mutating func keep(_ contest: Contest?, on camera: Slot<Camera>) {
        guard let held = state.cameras[camera].tenancy.held else { return }
        if held.contest != contest { state.cameras[camera].tenancy.update { $0.contest = contest } }
        let isTold = state.sessions[held.session].ledger.announced != nil
        guard isTold != (contest?.announced != nil) else { return }
        notes.warnings.append(StepNotes.Warning(session: held.session, camera: camera, place: notes.effects.count))
    }

    /// Sends and withdraws warnings, each at its place in the step.
    mutating func tellWarnings() {
        guard let first = notes.warnings.first?.place else { return }
        // From the last one on, so that earlier places stay. Of two for one session the later one counts.
        while let warning = notes.warnings.popLast() {
            let (slot, tenancy) = (warning.session, state.cameras[warning.camera].tenancy)
            // Before its first frame a session has nothing to finish.
            let contest = tenancy.isStreaming && tenancy.holder == slot ? tenancy.held?.contest : nil
            let (told, deadline) = (state.sessions[slot].ledger.announced, contest?.announced?.deadline)
            guard (told == nil) != (deadline == nil) else { continue }
            let id = state.sessions[slot].ledger.beginInterruption()
            var event = SessionEvent.interruptionWithdrawn(id)
            if let contest, let deadline {
                state.sessions[slot].ledger.announced = id
                event = .willBeInterrupted(
                    InterruptionWarning(
                        id: id, cause: .videoDeviceInUseByAnotherClient, deadline: deadline, rule: text(contest.rule),
                        message: message(of: contest.rule)))
                if notes.isObserved {
                    observe(state.look(at: slot), .warned(deadline - state.now), contest.rule)
                    notes.verdicts[notes.verdicts.count - 1].against = state.id(state.app(of: contest.beneficiary))
                }
            }
            notes.effects.insert(notice(slot, event), at: warning.place)
        }
        // Notices from the first warning on are numbered anew, for each session without a gap.
        for place in first..<notes.effects.count {
            guard case .notify(let client, let id, _, let event) = notes.effects[place], let slot = state.session(id)
            else { continue }
            state.sessions[slot].ledger.sequence += 1
            notes.effects[place] = .notify(client, id, sequence: state.sessions[slot].ledger.sequence, event)
        }
    }
}
