import Vocabulary

/// Warnings: which holders hear that they have to make way, and that they need not after all. A round of deciding only
/// notes where such a notice would stand. What it says is settled when the step has decided everything: a bid may lose
/// again in a later round of the same step, such as by the rank that it has once it watches, and nobody is warned for
/// it then.
extension Arbiter {
    /// Keeps the bid that a holder has to make way for.
    mutating func keep(_ contest: Contest?, on camera: Slot<Camera>) {
        guard let held = state.cameras[camera].tenancy.held else { return }
        if held.contest != contest { state.cameras[camera].tenancy.update { $0.contest = contest } }
        let isTold = state.sessions[held.session].ledger.announced != nil
        guard isTold != (contest?.announced != nil) else { return }
        notes.warnings.append(StepNotes.Warning(session: held.session, camera: camera, place: notes.effects.count))
    }

    /// Announces contests and withdraws warnings, each where the step noted it.
    mutating func tellWarnings() {
        guard let first = notes.warnings.first?.place else { return }
        defer { number(from: first) }
        // From the last one on, so that the places of those before it stay. Of two for one session the later one counts.
        while let warning = notes.warnings.popLast() {
            let tenancy = state.cameras[warning.camera].tenancy
            // Before its first frame a session has nothing to finish.
            let isHolder = tenancy.isStreaming && tenancy.holder == warning.session
            let contest = isHolder ? tenancy.held?.contest : nil
            switch (state.sessions[warning.session].ledger.announced, contest?.announced) {
            case (nil, nil), (.some, .some): continue
            case (let announced?, nil):
                state.sessions[warning.session].ledger.announced = nil
                notes.effects.insert(notice(warning.session, .interruptionWithdrawn(announced)), at: warning.place)
            case (nil, let announced?):
                state.sessions[warning.session].ledger.interruptions += 1
                let id = state.sessions[warning.session].ledger.interruptions
                state.sessions[warning.session].ledger.announced = id
                guard let contest else { continue }
                notes.effects.insert(
                    notice(
                        warning.session,
                        .willBeInterrupted(
                            InterruptionWarning(
                                id: id, cause: .videoDeviceInUseByAnotherClient, deadline: announced.deadline,
                                rule: text(contest.rule)))), at: warning.place)
                observeWarning(of: warning.session, contest, announced.deadline - state.now)
            }
        }
    }

    /// It keeps its picture: the interruption that it was warned of does not come.
    mutating func withdrawWarning(_ slot: Slot<Session>) {
        guard let announced = state.sessions[slot].ledger.announced else { return }
        state.sessions[slot].ledger.announced = nil
        notify(slot, .interruptionWithdrawn(announced))
    }

    /// Why a holder is told that it has to make way, for `explain`.
    private mutating func observeWarning(of slot: Slot<Session>, _ contest: Contest, _ left: Duration) {
        guard notes.isObserved else { return }
        observe(state.look(at: slot), .warned(left), contest.rule)
        let winner = state.clients[state.sessions[contest.beneficiary].client].app
        notes.verdicts[notes.verdicts.count - 1].against = state.id(winner)
    }
}
