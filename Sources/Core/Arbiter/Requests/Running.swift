import Vocabulary

extension Arbiter {
    mutating func startRunning(_ slot: Slot<Session>) throws(Refusal) {
        let session = state.sessions[slot]
        if session.has.contains(.insideBatch) { throw .insideBatch }
        guard session.request == nil else { return }
        try mayStart(slot, on: session.camera)
        state.sessions[slot].request = Session.StartRequest(started: state.nextOrdinal())
        state.link(slot)
        noteLease(state.app(of: slot), on: session.camera, isAsking: true)
        notes.occasion.starter = slot
        touch(slot)
    }

    /// Refuses a session that the policy lets not ask for a camera at all.
    mutating func mayStart(_ slot: Slot<Session>, on camera: Slot<Camera>) throws(Refusal) {
        let own = state.sessions[slot].camera
        state.sessions[slot].camera = camera
        defer { state.sessions[slot].camera = own }
        let look = state.look(at: slot)
        guard let (rule, refusal) = hindrance(of: look) else { return }
        observe(look, .refused, rule)
        throw refusal
    }

    /// The obstacle to a session's request: its rule, and the refusal for its client.
    private func hindrance(of look: Look) -> (Rule, Refusal)? {
        let (camera, app) = (state.cameraNames[look.camera], state.id(look.app))
        if let rule = denial(of: look)?.rule {
            switch rule.law {
            case .noRight: return (rule, .noRight(app, to: camera, at: state.seat(of: look.camera), under: policy))
            case let law?: return (rule, .denied(app, law))
            case nil:
                return (rule, .denied(app, by: policy.name, rule: text(rule), message: message(of: rule, isOwn: true)))
            }
        }
        if let end = pauseEnd(of: look) {
            let rule = state.policy.rank(look.facts).rule
            let words = message(of: rule, isOwn: true)
            return (rule, .pauses(app, camera, rest: end - state.now, rule: text(rule), message: words))
        }
        if let (sibling, law) = betterSibling(of: look) {
            return (.law(law), .appUses(camera, app, session: sibling.id, law))
        }
        if isOneSharerTooMany(look) { return (.law(.sharersBounded), .tooManySharers) }
        if state.policy.contention.ownConflict == .refuse, let sibling = conflictingSibling(of: look) {
            let other = state.cameraNames[sibling.camera]
            return (.law(.ownConflictRefuse), .appUses(other, excluding: camera, app, session: sibling.id))
        }
        return nil
    }

    private func isOneSharerTooMany(_ look: Look) -> Bool {
        guard look.bids, state.policy.shares,
            let holder = state.cameras[look.camera].tenancy.holder,
            state.policy.contention.isOpen(to: look.user, besideUser: state.apps[state.app(of: holder).slot].user),
            !replacesSibling(look)
        else { return false }
        return state.requests(on: look.camera).filter { state.sessions[$0].waits?.isSharing == true }.count
            >= Bound.sharersMax
    }

    /// The start ends an older session of its app on the camera, and takes that one's place.
    private func replacesSibling(_ look: Look) -> Bool {
        if state.policy.contention.sameApp != .replace || look.watches || look.mayJoin(state.policy) { return false }
        return state.requests(on: look.camera).contains { other in
            let sibling = state.look(at: other)
            return sibling.app == look.app && !sibling.watches && !sibling.mayJoin(state.policy)
        }
    }

    /// The denial that takes the camera from a session for good, whoever else wants it.
    func denial(of look: Look) -> (reason: StopReason, rule: Rule)? {
        if !state.mayUse(look.camera, state.sessions[look.session].client) {
            return (.deniedByPolicy, .law(.noRight))
        }
        if let law = state.word(of: look.app).denial { return (.deniedByUser, .law(law)) }
        return look.rank.denies ? (.deniedByPolicy, state.policy.rank(look.facts).rule) : nil
    }

    /// Another session of the app on the camera for whose sake this one may not start: any, where the policy refuses a
    /// second one; one of a better rank, where the newest would replace it.
    private func betterSibling(of look: Look) -> (sibling: Session, law: Law)? {
        let sameApp = state.policy.contention.sameApp
        guard sameApp != .newest, !look.watches, !look.mayJoin(state.policy) else { return nil }
        for other in state.requests(on: look.camera) where other != look.session && state.app(of: other) == look.app {
            let sibling = state.look(at: other)
            if sibling.watches { continue }
            if sameApp == .refuse { return (state.sessions[other], .sameAppRefuse) }
            if sibling.bids, sibling.rank.rank < look.rank.rank { return (state.sessions[other], .sameAppReplace) }
        }
        return nil
    }

    /// Another session of the app that asks for a camera which cannot run beside this one's.
    private func conflictingSibling(of look: Look) -> Session? {
        let place = state.cameras[look.camera].place
        for camera in state.cameraOrder
        where camera != look.camera && state.policy.conflict(state.cameras[camera].place, place) {
            let sibling = state.requests(on: camera).first { $0 != look.session && state.app(of: $0) == look.app }
            if let sibling { return state.sessions[sibling] }
        }
        return nil
    }

    /// A stop of a session that does not ask to run changes nothing, as in AVFoundation.
    mutating func stopRunning(_ slot: Slot<Session>) {
        guard state.sessions[slot].request != nil else { return }
        withdrawRequest(slot, why: .stopped)
        tellStopped(slot)
    }

    /// Stops a session for good, with a notice. The client may start again.
    mutating func stopForGood(_ slot: Slot<Session>, _ reason: StopReason, _ rule: Rule, why: RecordingEnd) {
        guard state.sessions[slot].request != nil else { return }
        let look = state.look(at: slot)
        withdrawRequest(slot, why: why)
        tellStopped(slot, forGood: (reason, rule))
        observe(look, .stopped(reason), rule)
    }

    mutating func ready(_ slot: Slot<Session>, _ interruption: InterruptionID) throws(Refusal) {
        let session = state.sessions[slot]
        guard session.ledger.announced == interruption, let held = state.cameras[session.camera].tenancy.held,
            held.session == slot, held.contest?.announced != nil
        else { throw .notReady(interruption) }
        state.cameras[session.camera].tenancy.update { $0.contest?.announced?.isReady = true }
        notes.touch(session.camera)
    }

    /// Refuses a newcomer that loses and may not wait.
    mutating func refuse(_ index: Int, _ seating: Seating) {
        let (look, ruling) = (seating.looks[index], seating.rulings[index])
        let holder: String =
            switch ruling.interrupter {
            case .some(let app) where state.apps[app.slot].user == look.user: "\(state.id(app).name) has it"
            case .some: "another user's app has it"
            case nil: "it is not to be had now"
            }
        let own = message(of: ruling.rule)
        let message =
            "Camera \"\(state.cameraNames[look.camera].name)\" is not free until HolderChanged says so: \(holder)."
            + (own.isEmpty ? "" : " \(own)")
        let first = notes.verdicts.count
        observe(seating, index, .refused)
        notes.newcomerRefused = (
            Refusal(.refusedByPolicy, message, rule: text(ruling.rule)), Array(notes.verdicts[first...])
        )
    }
}
