import Vocabulary

/// A camera's tenancy, from one state to the next.
extension Arbiter {
    // MARK: Getting it

    /// Gives a camera to a session: opened for it, or passed on in place.
    /// - Parameter contest: the bid that the session's app has to make way for already.
    mutating func grant(_ look: Look, _ rule: Rule, _ contest: Contest?) {
        let camera = look.camera
        let tenancy = state.cameras[camera].tenancy
        let fitted = fittedConfiguration(of: look.session, on: camera)
        state.cameras[camera].handover = lastDecision
        state.cameras[camera].promise = nil
        state.sessions[look.session].waits = nil
        // Most sessions were configured before, or never: then nothing is written.
        if state.sessionSettings[look.session].confirmed != state.sessionSettings[look.session].wanted {
            state.sessionSettings[look.session].confirmed = state.sessionSettings[look.session].wanted
        }
        forgetLeases(on: camera, but: look.app)
        var held = held(look, rule, tenancy)
        if held.contest == nil, contest?.announced != nil { held.contest = contest }
        if tenancy.isCapturing {
            state.cameras[camera].tenancy.update { $0 = held }
            notes.passing.removeAll { $0 == camera }
            takeOver(look, fitted)
        } else {
            state.ledger.grant += 1
            let grant = GrantID(state.ledger.grant)
            state.cameras[camera].grant = grant
            state.cameras[camera].tenancy = .starting(held, until: state.now + Bound.firstFrame)
            if !state.cameraSettings[camera].inForce.isEmpty { state.cameraSettings[camera].inForce = Configuration() }
            if state.cameraSettings[camera].served != nil { state.cameraSettings[camera].served = nil }
            notes.effects.append(.open(state.cameraNames[camera], grant, state.id(look.session), fitted))
            tellGranted(look)
        }
        notes.effects.append(.announce(.holderChanged(state.cameraNames[camera], state.id(look.app))))
    }

    mutating func held(_ look: Look, _ rule: Rule, _ tenancy: Tenancy) -> Held {
        var held: Held
        // A holder whose recorder was lost never lost its place: its ordinal and its min-hold go on.
        if case .lost(let kept, _) = tenancy, kept.session == look.session {
            held = kept
        } else {
            held = Held(session: look.session, granted: state.nextOrdinal(), since: state.now, rule: rule)
            if look.rank.minHold > 0 { held.minHoldUntil = state.now + .nanoseconds(look.rank.minHold) }
            // A commit begins no time of its own against those that wait.
            if rule == .law(.lastCommit), let until = held.minHoldUntil {
                held.minHoldUntil = tenancy.held?.minHoldUntil.map { min($0, until) }
            }
        }
        if leaseEnd(look) == state.now, look.rank.pause > 0 {
            // The lease was used up by another session of the app, from which this one took the camera over. It ends in
            // this step.
            notes.touch(look.camera)
        } else if leaseEnd(look) == state.now {
            // The lease was used up in the moment of the recorder's loss, and nobody was stopped for it: a new one
            // begins.
            forgetLease(look.app, on: look.camera)
        }
        held.setLease(until: leaseEnd(look), look.rank, state.now)
        held.streamingSince = tenancy.isStreaming ? state.now : nil
        return held
    }

    /// The new holder of a camera that goes on gets the camera's defaults, with its own configuration over them.
    private mutating func takeOver(_ look: Look, _ fitted: Configuration) {
        let camera = look.camera
        guard state.cameras[camera].tenancy.isStreaming else {
            // The first frame is still to come; the session's configuration is set then.
            state.sessionSettings[look.session].confirmed = Configuration()
            return tellGranted(look)
        }
        let settings = state.cameraSettings[camera]
        let soon = soonInForce(on: camera)
        let whole = check(camera).batch(setting: fitted.ofTheCamera, over: soon)
        state.sessions[look.session].lost = nil
        let served = servedFormat(for: look.session, over: soon, takesOver: true)
        var ordered = whole
        if !served.isEmpty, let nearest = check(camera).nearest(fitted, in: served) {
            // While a session records, the format may lack some of the new holder's values.
            ordered = check(camera).batch(setting: nearest.ofTheCamera, over: soon).keeping { !$0.isWish }
            ordered.merge(served)
        }
        // The answer to a commit comes, also where nothing is new.
        let isSet = ordered.changes(since: soon).isEmpty && notes.occasion.committer != look.session
        if !isSet { order(ordered, asked: whole, of: look.session, by: .client) }
        // A batch takes control once, also where the session loses it again in this step.
        if notes.occasion.committer == look.session { notes.occasion.committer = nil }
        if state.policy.shares { _ = setPicture(of: look.session) }
        // A value that is not set yet is sent when it is set; a change of camera is sent at once.
        let tells = isSet || state.sessions[look.session].has.contains(.switched)
        let asked = isSet ? state.sessionSettings[look.session].wanted.ofTheCamera : Configuration()
        let by: Applier = state.sessions[look.session].request?.hasHeld == true ? .resumption : .client
        tellRunning(look.session, applied: tells ? (asked, settings.inForce, by) : nil)
    }

    /// The first frame is there: the holder runs, and receives one notice of it.
    mutating func firstFrame(_ camera: Slot<Camera>, _ inForce: Configuration) {
        guard case .starting(var held, _) = state.cameras[camera].tenancy else { return resumed(camera, inForce) }
        held.streamingSince = state.now
        state.cameras[camera].tenancy = .streaming(held)
        if state.cameraSettings[camera].inForce != inForce { state.cameraSettings[camera].inForce = inForce }
        state.sessions[held.session].lost = nil
        let by: Applier = state.sessions[held.session].request?.hasHeld == true ? .resumption : .client
        var asked = state.sessionSettings[held.session].confirmed
        // The sharing and capture modes were sent when they were set; on another camera they are no news.
        if state.sessions[held.session].has.contains(.switched) { asked = asked.keeping { !$0.isOfTheBroker } }
        tellRunning(held.session, applied: (asked, inForce, by))
        // A warning from now on has a grace; sessions that share the camera have something to watch.
        if held.contest != nil || state.policy.shares { notes.touch(camera) }
        // The device works again for every session that lost it.
        for other in state.requests(on: camera) where other != held.session && state.sessions[other].lost != nil {
            guard !state.findsNoRoom(other) else { continue }
            state.sessions[other].lost = nil
            notes.touch(camera)
        }
        // A configuration made during the start reaches the recorder now.
        let settings = state.sessionSettings[held.session]
        let later = settings.wanted.changes(since: settings.confirmed).ofTheCamera
        if !later.isEmpty { order(later, asked: later, of: held.session, by: .client) }
    }

    // MARK: Losing it

    /// A session gives up its camera, or watching it.
    mutating func leaveCamera(_ session: Slot<Session>, why: RecordingEnd) {
        let camera = state.sessions[session].camera
        guard state.cameras[camera].tenancy.held?.session == session, !notes.passing.contains(camera) else {
            return closeIfSharing(session, why: why)
        }
        leave(camera, why: why, goesOn: state.requests(on: camera).contains { $0 != session })
        notes.touch(camera)
    }

    /// Orders the stream cut, or closes only the holder's streams where the camera goes on for other sessions.
    mutating func leave(_ camera: Slot<Camera>, why: RecordingEnd, goesOn: Bool, keepsWatching: Bool = false) {
        let tenancy = state.cameras[camera].tenancy
        guard let held = tenancy.held else { return }
        bankLease(held, on: camera)
        if goesOn, state.policy.shares, tenancy.isCapturing {
            if !keepsWatching {
                if let recording = state.sessions[held.session].ledger.recording {
                    notes.effects.append(.stopRecording(state.cameraNames[camera], recording, why: why))
                }
                closeStreams(of: held.session, on: camera)
                forgetPicture(of: held.session)
                detachMicrophone(of: held.session)
            }
            notes.passing.append(camera)
        } else if tenancy.isCapturing {
            cut(camera, why: why)
        } else {
            vacate(camera, tenancy.cut)
        }
    }

    /// The camera has no holder, and no next one in this step: it is free, or will be after its cut.
    mutating func vacate(_ camera: Slot<Camera>, _ cut: Cut?) {
        state.cameras[camera].tenancy = cut.map { .revoking($0) } ?? .free
        notes.passing.removeAll { $0 == camera }
        notes.effects.append(.announce(.holderChanged(state.cameraNames[camera], nil)))
    }

    /// Cuts the stream, also of a camera that went on for a next holder that did not come.
    mutating func cut(_ camera: Slot<Camera>, why: RecordingEnd) {
        notes.hasCut = true
        notes.effects.append(.cut(state.cameraNames[camera], state.cameras[camera].grant, why: why, next: nil))
        state.cameras[camera].handover = lastDecision
        forgetOrders(on: camera)
        // Sharers' recordings end with the grant, before the next round weighs who records.
        for session in Array(state.requests(on: camera)) where state.sessions[session].waits?.isSharing == true {
            state.sessions[session].has.subtract([.recording, .paused])
        }
        vacate(camera, Cut(until: state.now + Bound.cut))
    }

    /// Names the next holder in the step's cuts. A cut is ordered before the winner is known: later rounds find the
    /// winner.
    mutating func nameFollowers() {
        for place in notes.effects.indices {
            guard case .cut(let camera, let grant, let why, _, let reason) = notes.effects[place],
                let slot = state.cameraNames[camera], let promise = state.cameras[slot].promise, !promise.isDormant
            else { continue }
            notes.effects[place] = .cut(camera, grant, why: why, next: state.id(promise.session), reason: reason)
        }
    }

    /// The recorder confirmed the cut, or ended. A survivor's camera stays kept for its app until its reservation ends.
    mutating func cutIsDone(_ camera: Slot<Camera>) {
        state.cameras[camera].tenancy.update(cut: nil)
        notes.touch(camera)
    }

    // MARK: Survivors: grants that outlived the broker

    /// A survivor that nobody reclaimed, or that nobody may have: cut like every stream, and never left to another app.
    mutating func endSurvivor(_ camera: Slot<Camera>) {
        if state.cameras[camera].tenancy.survivor != nil { cut(camera, why: .interrupted) }
    }

    /// The recorder core receives its grant's new session.
    mutating func resume(_ look: Look) {
        let camera = look.camera
        let fitted = fittedConfiguration(of: look.session, on: camera)
        state.timers.append(TimedFact(kind: .resuming, due: state.now + Bound.resume, camera: camera))
        notes.effects.append(
            .resume(state.cameraNames[camera], state.cameras[camera].grant, state.id(look.session), fitted))
        notes.effects.append(.announce(.holderChanged(state.cameraNames[camera], state.id(look.app))))
    }
}
