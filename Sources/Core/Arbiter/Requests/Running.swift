import Vocabulary

extension Arbiter {
    mutating func startRunning(_ slot: Slot<Session>) {
        let session = state.sessions[slot]
        guard !session.has.contains(.insideBatch) else { return refuseInsideBatch() }
        guard session.request == nil, mayStart(slot, on: session.camera) else { return }
        state.sessions[slot].request = Session.StartRequest(started: state.nextOrdinal())
        state.link(slot)
        noteLease(state.clients[session.client].app, on: session.camera, isAsking: true)
        notes.starter = slot
        touch(slot)
    }

    mutating func refuseInsideBatch() {
        notes.refuse(
            .insideConfiguration,
            "The session is between BeginConfiguration and CommitConfiguration; commit, then start.",
            .noStartInsideBatch)
    }

    /// Whether the policy lets a session ask for a camera at all, or refuses it as it does now.
    mutating func mayStart(_ slot: Slot<Session>, on camera: Slot<Camera>) -> Bool {
        let own = state.sessions[slot].camera
        state.sessions[slot].camera = camera
        defer { state.sessions[slot].camera = own }
        let look = state.look(at: slot)
        let app = state.id(look.app).name
        func refuse(_ message: String, _ rule: Rule, _ kind: BrokerError.Kind = .refusedByPolicy) -> Bool {
            notes.refuse(kind, message, rule: text(rule))
            observe(look, .refused, rule)
            return false
        }
        guard state.mayUse(camera, state.sessions[slot].client) else {
            return refuse(noRight(of: slot, to: camera), .law(.noRight), .accessDenied)
        }
        if case .denied(let inStore) = state.permission(of: slot) {
            return refuse(
                saidNo(to: look.app, inStore: inStore), .law(inStore ? .deniedInStore : .saidNo), .accessDenied)
        }
        if look.rank.denies {
            let rule = state.policy.rank(look.facts).rule
            return refuse("The policy \"\(policy.name)\" does not give the camera to \(app).", rule)
        }
        let name = state.cameraNames[camera].name
        if let (sibling, law) = betterSibling(of: look) {
            return refuse(
                "\(app) already uses camera \"\(name)\" in session \(sibling.id); stop that one first.", .law(law))
        }
        if state.policy.contention.ownConflict == .refuse, let sibling = conflictingSibling(of: look) {
            let other = state.cameraNames[sibling.camera].name
            return refuse(
                "\(app) already uses camera \"\(other)\", which cannot run beside \"\(name)\", in session \(sibling.id); stop that one first.",
                .law(.ownConflictRefuse))
        }
        return true
    }

    private func saidNo(to app: AppRef, inStore: Bool) -> String {
        let id = state.id(app)
        let said =
            inStore
            ? "the permission store of its desktop says no, which the desktop's settings change"
            : "its user said no, which \"camclient apps allow\" changes"
        return "\(id.name) of user \(id.user) may not have cameras: \(said)."
    }

    /// Another session of the same app on the same camera for whose sake this one may not start: any, where the policy
    /// refuses a second one; one of a better rank, where the newest would replace it.
    private func betterSibling(of look: Look) -> (sibling: Session, law: Law)? {
        let sameApp = state.policy.contention.sameApp
        guard sameApp != .newest, !look.watches else { return nil }
        for other in state.requests(on: look.camera) where other != look.session {
            guard state.clients[state.sessions[other].client].app == look.app else { continue }
            let sibling = state.look(at: other)
            if sibling.watches { continue }
            if sameApp == .refuse { return (state.sessions[other], .sameAppRefuse) }
            if sibling.bids, sibling.rank.rank < look.rank.rank { return (state.sessions[other], .sameAppReplace) }
        }
        return nil
    }

    /// Another session of the same app that asks for a camera which cannot run beside this one's.
    private func conflictingSibling(of look: Look) -> Session? {
        let place = state.cameras[look.camera].place
        for camera in state.cameraOrder
        where camera != look.camera && state.policy.conflict(state.cameras[camera].place, place) {
            for other in state.requests(on: camera) where other != look.session {
                if state.clients[state.sessions[other].client].app == look.app { return state.sessions[other] }
            }
        }
        return nil
    }

    /// A stop of a session that does not ask to run changes nothing, as in AVFoundation.
    mutating func stopRunning(_ slot: Slot<Session>) {
        guard state.sessions[slot].request != nil else { return }
        withdrawRequest(slot, why: .stopped)
        tellStopped(slot)
    }

    /// Stops a session for good, and says so. The client may start again.
    mutating func stopForGood(_ slot: Slot<Session>, _ reason: StopReason, _ rule: Rule, why: RecordingEnd) {
        guard state.sessions[slot].request != nil else { return }
        let look = state.look(at: slot)
        withdrawRequest(slot, why: why)
        tellStoppedForGood(slot, reason, rule)
        observe(look, .stopped(reason), rule)
    }

    mutating func ready(_ slot: Slot<Session>, _ interruption: InterruptionID) {
        let session = state.sessions[slot]
        guard session.ledger.announced == interruption, let held = state.cameras[session.camera].tenancy.held,
            held.session == slot, held.contest?.announced != nil
        else {
            return notes.refuse(
                .invalidValue,
                "Interruption \(interruption) is not announced for this session; Ready answers the id of the latest WillBeInterrupted.",
                .readyAnswers)
        }
        state.cameras[session.camera].tenancy.update { $0.contest?.announced?.isReady = true }
        notes.touch(session.camera)
    }

    mutating func continueAfterSensitiveContent(_ slot: Slot<Session>) {
        state.sessions[slot].has.remove(.sensitiveContent)
        touch(slot)
    }

    /// The refusal of a newcomer that loses and may not wait.
    mutating func refuse(_ index: Int, _ seating: Seating) {
        let (look, ruling) = (seating.looks[index], seating.rulings[index])
        let holder: String =
            switch ruling.interrupter {
            case .some(let app) where state.apps[app.slot].user == look.user: "\(state.id(app).name) has it"
            case .some: "another user's app has it"
            case nil: "it is not to be had now"
            }
        let message =
            "Camera \"\(state.cameraNames[look.camera].name)\" is not free until HolderChanged says so: \(holder)."
        let first = notes.verdicts.count
        observe(seating, index, .refused)
        notes.newcomerRefused = (
            Refusal(.refusedByPolicy, message, rule: text(ruling.rule)), Array(notes.verdicts[first...])
        )
    }
}
