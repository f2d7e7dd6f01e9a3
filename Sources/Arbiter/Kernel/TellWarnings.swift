import Vocabulary

/// Warnings that their own step takes back.
extension Arbiter {
    /// Nobody is warned for a winner that does not come after all: it may lose again in a later round of the same step, such
    /// as by the rank that it has once it watches. Neither the warning nor its withdrawal is told then, and what the
    /// session hears besides follows without a gap.
    mutating func takeBackWarnings(_ notes: inout StepNotes) {
        var gone: [Int] = []
        for place in notes.warnings {
            guard case .notify(_, let session, _, .willBeInterrupted(let id, _, _, _)) = notes.effects[place],
                let end = notes.effects.indices.first(where: { notes.effects[$0].withdraws(id, of: session) })
            else { continue }
            gone += [place, end]
            notes.verdicts.removeAll { verdict in
                if case .warned = verdict.outcome { verdict.session == session } else { false }
            }
            if let slot = state.session(session) { forgetWarning(id, of: slot) }
            renumber(session, from: place, &notes)
            renumber(session, from: end, &notes)
        }
        notes.warnings.removeAll(keepingCapacity: true)
        for place in gone.sorted(by: >) { notes.effects.remove(at: place) }
    }

    /// Why a holder is told that it has to make way, for `explain`.
    func observeWarning(of slot: Slot<Session>, _ contest: Contest, _ left: Duration, _ notes: inout StepNotes) {
        guard notes.isObserved else { return }
        observe(state.look(at: slot), .warned(left), contest.rule, &notes)
        let winner = state.clients[state.sessions[contest.beneficiary].client].app
        notes.verdicts[notes.verdicts.count - 1].against = state.id(winner)
    }

    private mutating func forgetWarning(_ id: InterruptionID, of slot: Slot<Session>) {
        state.sessions[slot].ledger.sequence -= 2
        // A later interruption keeps its number: what numbers have to do is grow.
        if state.sessions[slot].ledger.interruptions == id { state.sessions[slot].ledger.interruptions -= 1 }
    }

    /// What the session hears from a place on moves forward by one.
    private func renumber(_ session: SessionID, from place: Int, _ notes: inout StepNotes) {
        for index in notes.effects.indices[place...] {
            guard case .notify(let client, session, let sequence, let event) = notes.effects[index] else { continue }
            notes.effects[index] = .notify(client, session, sequence: sequence - 1, event)
        }
    }
}

extension Effect {
    fileprivate func withdraws(_ id: InterruptionID, of session: SessionID) -> Bool {
        if case .notify(_, session, _, .interruptionWithdrawn(id)) = self { true } else { false }
    }
}
