import Vocabulary

extension Arbiter {
    mutating func startRunning(_ id: SessionID, _ turn: inout Turn) {
        guard let session = known(id, &turn) else { return }
        guard session.open == nil else {
            turn.refuse(
                .insideConfiguration,
                "The session is between BeginConfiguration and CommitConfiguration; commit, then start.",
                rule: "no start inside a batch")
            return
        }
        guard session.request == nil else { return }
        guard mayStart(session, &turn) else { return }
        let started = state.nextOrdinal()
        state.sessions[id]?.request = Session.StartRequest(started: started)
        state.requesting.insertSorted(id)
        state.cameras[session.camera]?.requests.insertSorted(id)
        turn.starter = id
        touch(id, &turn)
    }

    /// Whether the policy lets a session ask for its camera at all, or refuses it as it does now.
    func mayStart(_ session: Session, _ turn: inout Turn) -> Bool {
        let facts = facts(of: session)
        let rank = state.policy.rank(facts)
        if rank.deny {
            refuseStart(
                session, facts, "The policy \"\(state.policy.name)\" does not give the camera to \(session.app.name).",
                rank.name, &turn)
            return false
        }
        if state.policy.contention.sameApp == .refuse, !watches(session), let sibling = runningSibling(of: session) {
            refuseStart(
                session, facts,
                "\(session.app.name) already uses camera \"\(session.camera.name)\" in session \(sibling.rawValue); stop that one first.",
                "same-app: refuse", &turn)
            return false
        }
        if state.policy.contention.ownConflict == .refuse, let sibling = conflictingSibling(of: session) {
            refuseStart(
                session, facts,
                "\(session.app.name) already uses camera \"\(sibling.camera.name)\", which cannot run beside \"\(session.camera.name)\", in session \(sibling.id.rawValue); stop that one first.",
                "own-conflict: refuse", &turn)
            return false
        }
        return true
    }

    /// Another session of the same app that asks for a camera which cannot run beside this one's.
    private func conflictingSibling(of session: Session) -> Session? {
        for camera in state.cameraOrder
        where camera != session.camera && state.policy.conflict(camera, session.camera) {
            for id in requests(on: camera) where id != session.id {
                if let other = state.sessions[id], other.app == session.app { return other }
            }
        }
        return nil
    }

    private func runningSibling(of session: Session) -> SessionID? {
        state.cameras[session.camera]?.requests.first { id in
            guard let other = state.sessions[id], id != session.id, !watches(other) else { return false }
            return other.app == session.app
        }
    }

    func refuseStart(_ session: Session, _ facts: Facts, _ message: String, _ rule: String, _ turn: inout Turn) {
        turn.refuse(.refusedByPolicy, message, rule: rule)
        turn.verdicts.append(
            Verdict(
                session: session.id, outcome: .refused, rule: rule, facts: facts))
    }

    mutating func stopRunning(_ id: SessionID, _ turn: inout Turn) {
        guard let session = known(id, &turn) else { return }
        guard session.request != nil else {
            turn.refuse(
                .notRunning, "The session has no start request to take back; StartRunning makes one.",
                rule: "a stop takes a start request back")
            return
        }
        withdrawRequest(id, why: .stopped, &turn)
        endInterruption(id, willResume: false, &turn)
        if case .running = session.shown { notify(id, .didStopRunning, &turn) }
        state.sessions[id]?.shown = .stopped
        turn.sessions.remove(id)
    }

    /// Stops a session for good, and says so. The client may start again.
    mutating func stopForGood(
        _ id: SessionID, _ reason: StopReason, rule: String, cutWhy: RecordingEnd, _ turn: inout Turn
    ) {
        guard let session = state.sessions[id], session.request != nil else { return }
        let facts = facts(of: session)
        withdrawRequest(id, why: cutWhy, &turn)
        // The stop itself closes an open interruption: no InterruptionEnded beside it.
        ledger.sessions[id]?.open = nil
        ledger.sessions[id]?.announced = nil
        if case .running = session.shown { notify(id, .didStopRunning, &turn) }
        notify(id, .sessionStopped(reason, rule: rule), &turn)
        state.sessions[id]?.shown = .stopped
        turn.verdicts.append(
            Verdict(
                session: id, outcome: .stopped(reason), rule: rule, facts: facts))
    }

    mutating func ready(_ id: SessionID, _ interruption: InterruptionID, _ turn: inout Turn) {
        guard let session = known(id, &turn) else { return }
        guard ledger.sessions[id]?.announced == interruption,
            let held = state.cameras[session.camera]?.tenancy.held, held.session == id, held.contest?.announced != nil
        else {
            turn.refuse(
                .invalidValue,
                "Interruption \(interruption) is not announced for this session; Ready answers the id of the latest WillBeInterrupted.",
                rule: "ready answers an announcement")
            return
        }
        state.cameras[session.camera]?.tenancy.update { $0.contest?.announced?.isReady = true }
        turn.cameras.insert(session.camera)
    }

    mutating func continueAfterSensitiveContent(_ id: SessionID, _ turn: inout Turn) {
        guard known(id, &turn) != nil else { return }
        state.sessions[id]?.isSensitive = false
        touch(id, &turn)
    }
}
