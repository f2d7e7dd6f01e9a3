import Vocabulary

/// Who has a camera, from one state to the next: nothing else writes `Camera.tenancy`.
extension Arbiter {
    // MARK: Getting it

    /// Gives a camera to a session: opened for it, or passed to it in place.
    /// - Parameter contest: the bid that the session's app has to make way for already.
    mutating func grant(_ look: Look, _ rule: Rule, _ contest: Contest?) {
        let camera = look.camera
        let tenancy = state.cameras[camera].tenancy
        let fitted = fittedConfiguration(of: look.session, on: camera)
        state.cameras[camera].handover = lastDecision
        state.cameras[camera].promise = nil
        state.sessions[look.session].waits = nil
        // Most sessions were configured before, or never: then there is nothing to write.
        if state.sessionSettings[look.session].confirmed != state.sessionSettings[look.session].wanted {
            state.sessionSettings[look.session].confirmed = state.sessionSettings[look.session].wanted
        }
        forgetLeases(on: camera, but: look.app)
        var held = held(look, rule, tenancy)
        if held.contest == nil, contest?.announced != nil { held.contest = contest }
        if tenancy.isCapturing {
            if case .starting(_, let until) = tenancy {
                state.cameras[camera].tenancy = .starting(held, until: until)
            } else {
                state.cameras[camera].tenancy = .streaming(held)
            }
            notes.passing.removeAll { $0 == camera }
            takeOver(look, fitted)
        } else {
            state.ledger.grant += 1
            let grant = GrantID(state.ledger.grant)
            state.cameras[camera].grant = grant
            state.cameras[camera].tenancy = .starting(held, until: state.now + Bound.firstFrame)
            if !state.cameraSettings[camera].inForce.isEmpty { state.cameraSettings[camera].inForce = Configuration() }
            notes.effects.append(.open(state.cameraNames[camera], grant, state.id(look.session), fitted))
            tellGranted(look)
        }
        notes.effects.append(.announce(.holderChanged(state.cameraNames[camera], state.id(look.app))))
    }

    mutating func held(_ look: Look, _ rule: Rule, _ tenancy: Tenancy) -> Held {
        // A holder whose recorder was lost never lost its place: its ordinal and its min-hold go on.
        var held =
            if case .lost(let kept, _) = tenancy, kept.session == look.session {
                kept
            } else {
                Held(
                    session: look.session, granted: state.nextOrdinal(), since: state.now,
                    minHoldUntil: look.rank.minHold > 0 ? state.now + .nanoseconds(look.rank.minHold) : nil, rule: rule)
            }
        held.contest = held.session == look.session && tenancy.isLost ? held.contest : nil
        held.leaseUntil = leaseEnd(look.rank, look.app, on: look.camera)
        if held.leaseUntil == state.now {
            // It was used up in the moment in which the recorder was lost, and nobody was stopped for it: a new one begins.
            forgetLease(look.app, on: look.camera)
            held.leaseUntil = leaseEnd(look.rank, look.app, on: look.camera)
        }
        held.leaseOfRank = look.rank.lease
        held.leaseSince = held.leaseUntil == nil ? nil : state.now
        held.streamingSince = tenancy.isStreaming ? state.now : nil
        return held
    }

    /// The new holder of a camera that goes on finds its defaults, and what it asked for over them.
    private mutating func takeOver(_ look: Look, _ fitted: Configuration) {
        let camera = look.camera
        guard state.cameras[camera].tenancy.isStreaming else {
            // Its first frame is still to come; what it asked for is set then.
            state.sessionSettings[look.session].confirmed = Configuration()
            return tellGranted(look)
        }
        let settings = state.cameraSettings[camera]
        let asked = fitted.ofTheCamera
        // What the recorder was told and has not answered yet is as good as set.
        let check = check(camera)
        let soon = settings.asked.reduce(settings.inForce) { check.merged($1.ordered, into: $0) }
        let whole = check.batch(setting: asked, over: soon)
        state.sessions[look.session].lost = nil
        let isSet = whole.changes(since: soon).isEmpty
        if !isSet { order(whole, asked: whole, of: look.session, by: .client) }
        // What is not set yet is told when it is; a change of camera is told at once.
        let tells = isSet || state.sessions[look.session].has.contains(.switched)
        tellRunning(look.session, applied: tells ? (Configuration(), settings.inForce, .client) : nil)
    }

    /// The first frame is there: whoever has the camera runs, and hears of it once.
    mutating func firstFrame(_ camera: Slot<Camera>, _ inForce: Configuration) {
        guard case .starting(var held, _) = state.cameras[camera].tenancy else {
            return resumed(camera, inForce)
        }
        held.streamingSince = state.now
        state.cameras[camera].tenancy = .streaming(held)
        if state.cameraSettings[camera].inForce != inForce { state.cameraSettings[camera].inForce = inForce }
        state.sessions[held.session].lost = nil
        let request = state.sessions[held.session].request
        let by: Applier = request?.hasHeld == true ? .resumption : .client
        var asked = state.sessionSettings[held.session].confirmed
        // Its sharing and capture modes were told when they were set; on another camera that is no news.
        if state.sessions[held.session].has.contains(.switched) { asked = asked.keeping { !$0.isOfTheBroker } }
        tellRunning(held.session, applied: (asked, inForce, by))
        // What is announced from now on has a grace; sessions that share the camera have something to watch.
        if held.contest != nil || state.policy.shares { notes.touch(camera) }
        // The device works again for every session that lost it.
        for other in state.requests(on: camera) where other != held.session && state.sessions[other].lost != nil {
            guard !state.findsNoRoom(other) else { continue }
            state.sessions[other].lost = nil
            notes.touch(camera)
        }
        // What was configured while the camera started reaches the recorder now.
        let settings = state.sessionSettings[held.session]
        let later = settings.wanted.changes(since: settings.confirmed).ofTheCamera
        if !later.isEmpty { order(later, asked: later, of: held.session, by: .client) }
    }

    // MARK: Losing it

    /// A session gives up its camera, or watching it.
    mutating func leaveCamera(_ session: Slot<Session>, why: RecordingEnd) {
        let camera = state.sessions[session].camera
        guard state.cameras[camera].tenancy.held?.session == session, !notes.passing.contains(camera) else {
            return closeIfSharing(session)
        }
        let others = state.requests(on: camera).contains { $0 != session }
        leave(camera, why: why, goesOn: others)
        notes.touch(camera)
    }

    /// The camera's present holder leaves it. Its stream is ordered cut, or only its own streams are closed where the
    /// camera goes on for other sessions; a recorder that was lost has none.
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
                detachMicrophone(of: held.session)
            }
            notes.passing.append(camera)
        } else if tenancy.isCapturing {
            cut(camera, why: why)
        } else {
            vacate(camera, tenancy.cut)
        }
    }

    /// Nobody has the camera any more, and nobody is to take it over in this step: it is free, or will be once it is cut.
    private mutating func vacate(_ camera: Slot<Camera>, _ cut: Cut?) {
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
        vacate(camera, Cut(until: state.now + Bound.cut))
    }

    /// Names the next holder in the step's cuts. A cut is ordered before the winner is known: the rounds after it find that.
    mutating func nameFollowers() {
        for place in notes.effects.indices {
            guard case .cut(let camera, let grant, let why, _, let reason) = notes.effects[place],
                let slot = state.cameraNames[camera], let promise = state.cameras[slot].promise, !promise.isDormant
            else { continue }
            notes.effects[place] = .cut(camera, grant, why: why, next: state.id(promise.session), reason: reason)
        }
    }

    /// The recorder confirmed the cut, or ended.
    mutating func cutIsDone(_ camera: Slot<Camera>) {
        state.cameras[camera].tenancy.update(cut: nil)
        notes.touch(camera)
    }

    // MARK: Faults

    /// The recorder was lost or the device failed under a holder. It is tried again after a wait that doubles; until then
    /// the holder keeps its place on this camera and counts for nothing on others.
    mutating func fault(_ camera: Slot<Camera>, _ lost: Session.Lost, cut: Cut?) {
        guard var held = state.cameras[camera].tenancy.held else { return }
        let session = held.session
        let wasSteady = held.streamingSince.map { state.now - $0 >= Bound.steady } ?? false
        if wasSteady {
            state.cameras[camera].faults = 0
            state.sessions[session].deaths = 0
        }
        bankLease(held, on: camera)
        held.leaseUntil = nil
        held.leaseSince = nil
        held.streamingSince = nil
        // There is nothing left to finish; the bid that was winning still is.
        held.contest?.announced = nil
        // A holder that has left in this step gave the camera to whoever follows, and now nobody can: it is free.
        let hasLeft = notes.passing.contains(camera)
        if hasLeft {
            vacate(camera, cut)
        } else {
            state.cameras[camera].tenancy = .lost(held, cut: cut)
            lose(session, lost)
        }
        forgetOrders(on: camera)
        for other in state.requests(on: camera) where other != session && state.sessions[other].shown.isRunning {
            lose(other, lost)
        }
        state.cameras[camera].faults = min(state.cameras[camera].faults + 1, Bound.faultsCounted)
        state.timers.removeAll { $0.kind == .backoff && $0.camera == camera }
        state.timers.append(
            TimedFact(
                kind: .backoff, due: state.now + Bound.backoff(after: state.cameras[camera].faults), camera: camera))
        notes.touch(camera)
        guard lost == .recorder, !hasLeft else { return }
        state.sessions[session].deaths += 1
        if state.sessions[session].deaths >= Bound.deathsMax {
            stopForGood(session, .recorderFailed, .law(.recorderFailed), why: .recorderReset)
        }
    }

    /// Nothing is recorded any more: a recording weighs in no decision from here on.
    private mutating func lose(_ session: Slot<Session>, _ lost: Session.Lost) {
        state.sessions[session].lost = lost
        state.sessions[session].has.subtract([.recording, .paused])
    }

    /// The session's own format found no room on the bus: the next waiter is tried, and this session again after a wait
    /// of its own.
    mutating func findNoRoom(_ camera: Slot<Camera>, cut: Cut) {
        guard let held = state.cameras[camera].tenancy.held else { return }
        bankLease(held, on: camera)
        lose(held.session, .device)
        forgetOrders(on: camera)
        vacate(camera, cut)
        state.cameras[camera].handover = lastDecision
        state.sessions[held.session].refusals = min(state.sessions[held.session].refusals + 1, Bound.faultsCounted)
        let wait = Bound.backoff(after: state.sessions[held.session].refusals)
        state.timers.append(TimedFact(kind: .noRoom, due: state.now + wait, camera: camera, session: held.session))
        notes.touch(camera)
    }

    /// No first frame in time (cause 104): what hangs is killed.
    mutating func failToStart(_ camera: Slot<Camera>) {
        notes.effects.append(.killRecorder(state.cameraNames[camera]))
        fault(camera, .device, cut: Cut(until: state.now + Bound.kill, isKilled: true))
    }

    // MARK: Streams that are closed while the camera goes on

    /// Orders a session's streams closed, before its client is told.
    mutating func closeStreams(of session: Slot<Session>, on camera: Slot<Camera>) {
        guard state.cameras[camera].tenancy.isCapturing else { return }
        let order = Effect.closeStreams(state.cameraNames[camera], state.cameras[camera].grant, state.id(session))
        // A session that leaves the camera and is interrupted loses its streams once: none is opened within a step.
        guard !notes.effects.contains(order) else { return }
        notes.effects.append(order)
        // What it opens later in the same grant begins with the picture.
        setSlate(false, of: session, on: camera)
        state.timers.removeAll { $0.kind == .closing && $0.session == session }
        state.timers.append(TimedFact(kind: .closing, due: state.now + Bound.cut, camera: camera, session: session))
    }

    /// A sharer that runs stops watching; its camera goes on.
    mutating func closeIfSharing(_ session: Slot<Session>) {
        guard state.sessions[session].shown.isRunning else { return }
        let camera = state.sessions[session].camera
        guard let holder = state.cameras[camera].tenancy.holder, holder != session || notes.passing.contains(camera)
        else { return }
        closeStreams(of: session, on: camera)
    }

    /// The recorder did not close a stream in time: it is killed, and everybody on the camera starts anew with another.
    mutating func closeTooLate(on camera: Slot<Camera>) {
        guard state.cameras[camera].tenancy.isCapturing else { return }
        notes.effects.append(.killRecorder(state.cameraNames[camera]))
        fault(camera, .recorder, cut: Cut(until: state.now + Bound.kill, isKilled: true))
    }

    /// Orders that a grant's end makes void, done or not.
    private mutating func forgetOrders(on camera: Slot<Camera>) {
        forgetGrant(of: camera)
        if !state.cameraSettings[camera].asked.isEmpty { state.cameraSettings[camera].asked = [] }
        func isOrder(_ timer: TimedFact) -> Bool {
            (timer.kind == .closing || timer.kind == .resuming) && timer.camera == camera
        }
        if state.timers.contains(where: isOrder) { state.timers.removeAll(where: isOrder) }
    }
}
