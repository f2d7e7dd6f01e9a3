package import Vocabulary

/// Grants that outlive the broker (semantics.md §5): kept for their former app, reclaimed, or cut. A survivor is a
/// camera in use by no session of this broker. It ends with its reservation at the latest, by the same cut as every
/// other stream, so that two sessions never capture from one camera.
extension Arbiter {
    // MARK: Keeping it

    /// Keeps a camera for the app that held it before the restart.
    mutating func reserve(_ id: CameraID, _ app: AppID, _ survivor: Survivor?) {
        let survivor = survivor.flatMap { $0.isCredible ? $0 : nil }
        if let survivor {
            // Also where the camera is not there yet: no number is given twice.
            state.ledger.grant = max(state.ledger.grant, survivor.grant.rawValue)
            state.ledger.lastRecording = max(state.ledger.lastRecording, survivor.recording ?? 0)
        }
        guard let camera = state.cameraNames[id] else { return }
        // A second reservation keeps the camera for the later app, and its capture for the earlier one ends.
        endSurvivor(camera)
        let earlier = state.timers.filter { $0.kind == .reservation && $0.camera == camera }
        state.timers.removeAll { $0.kind == .reservation && $0.camera == camera }
        // Kept for the vouched app of the name, and, while that is not connected, for an app that only claims it.
        let row = state.row(of: app)
        let ref = state.ref(row, isClaimed: false)
        state.timers.append(TimedFact(kind: .reservation, due: state.now + Bound.reservation, camera: camera, app: ref))
        for timer in earlier { if let app = timer.app { state.release(app.slot) } }
        // Once this broker has granted a camera, no recorder core of another broker is left on it.
        if let survivor, state.cameras[camera].grant == GrantID(0) { keep(survivor, on: camera) }
        notes.touch(camera)
    }

    private mutating func keep(_ survivor: Survivor, on camera: Slot<Camera>) {
        let hasRoom = hasRoom(for: camera)
        state.cameras[camera].grant = survivor.grant
        state.cameras[camera].handover = lastDecision
        state.cameras[camera].tenancy = .surviving(survivor)
        if !hasRoom { endSurvivor(camera) }
    }

    /// Whether the policy lets the camera be used beside the cameras in use: it may differ from the former broker's
    /// policy. Of several survivors that exclude each other the first to be reserved stays.
    private func hasRoom(for camera: Slot<Camera>) -> Bool {
        let taken = state.cameraOrder.filter {
            $0 != camera && (state.cameras[$0].tenancy != .free || state.cameras[$0].promise != nil)
        }
        let place = state.cameras[camera].place
        if taken.contains(where: { state.policy.conflict(state.cameras[$0].place, place) }) { return false }
        guard let budget = state.policy.budget, !state.policy.contention.strongestMayExceed else { return true }
        return taken.reduce(state.policy.cost(place)) { $0 + state.costInUse(of: $1) } <= budget
    }

    // MARK: Taking it up again

    /// The session had the grant, and is its holder from here on like any other: the former broker already sent it
    /// `didStartRunning`. Causes that keep it from running end the grant as at any time; without any, its recorder core
    /// goes on.
    mutating func reclaim(_ slot: Slot<Session>, _ grant: GrantID) throws(Refusal) {
        let session = state.sessions[slot]
        guard !session.has.contains(.insideBatch) else { throw .insideBatch }
        guard session.request == nil, let survivor = survivor(of: grant, for: session) else {
            throw .nothingToReclaim
        }
        let (camera, app) = (session.camera, state.app(of: slot))
        state.sessions[slot].request = Session.StartRequest(started: state.nextOrdinal(), hasHeld: true)
        state.sessions[slot].has.remove(.reestablished)
        // A survivor is kept then, whatever it costs.
        if state.policy.contention.strongestMayExceed { state.sessions[slot].has.insert(.exceeds) }
        state.sessions[slot].shown = .running(.all)
        state.sessionSettings[slot].confirmed = state.sessionSettings[slot].wanted
        state.link(slot)
        noteLease(app, on: camera, isAsking: true)
        if let recording = survivor.recording { takeUp(recording, slot) }
        touch(slot)
        let look = state.look(at: slot)
        // The policy or the camera of this broker does not allow the configuration at all.
        let formatLost = (reason: StopReason.configurationLost, rule: Rule.law(.formatLost))
        if let (reason, rule) = denial(of: look) ?? (isImpossible(slot, on: camera) ? formatLost : nil) {
            endSurvivor(camera)
            return stopForGood(slot, reason, rule, why: .interrupted)
        }
        forgetLeases(on: camera, but: app)
        var held = held(look, .law(.reserved), state.cameras[camera].tenancy)
        held.streamingSince = state.now
        state.cameras[camera].tenancy = .streaming(held)
        state.cameras[camera].handover = lastDecision
        // The client's last configuration, until the recorder core reports the one in force.
        state.cameraSettings[camera].inForce = fittedConfiguration(of: slot, on: camera).ofTheCamera
        notes.reclaimer = slot
    }

    /// The survivor on the session's camera, where it has that grant and was kept for its app.
    private func survivor(of grant: GrantID, for session: Session) -> Survivor? {
        guard let survivor = state.cameras[session.camera].tenancy.survivor, survivor.grant == grant,
            state.reservation(of: session.camera) == state.clients[session.client].app
        else { return nil }
        return survivor
    }

    /// The recording goes on under its number, and ends like a recording of this broker.
    private mutating func takeUp(_ recording: RecordingID, _ slot: Slot<Session>) {
        // Where a wrong file gives two recordings one number, the first has it.
        guard !state.ledger.recordings.contains(where: { $0.id == recording }) else { return }
        begin(recording, of: slot)
    }

    /// The grant goes on. Wanted keys that are not in force, because the former broker died on the way, are set now.
    mutating func resumed(_ camera: Slot<Camera>, _ inForce: Configuration) {
        guard let place = state.timers.firstIndex(where: { $0.kind == .resuming && $0.camera == camera }) else {
            return
        }
        state.timers.remove(at: place)
        let settings = state.cameraSettings[camera]
        var missing = settings.inForce.changes(since: inForce)
        // A one-shot mode that has finished is not set again: that would focus anew in the middle of a recording.
        for (key, value) in missing.ordered where value == .text("auto") && inForce[key] == .text("locked") {
            missing[key] = nil
        }
        // Orders since the reclaim are newer, and on their way.
        for batch in settings.asked { for (key, _) in batch.ordered.ordered { missing[key] = nil } }
        state.cameraSettings[camera].inForce = inForce
        if state.policy.shares {
            // Only now is the format known of which sharers have their pictures.
            notes.touch(camera)
            // A recording keeps the format of a wish that the former broker served.
            if recorder(on: camera) != nil, missing.ordered.contains(where: \.key.isWish) {
                missing = missing.keeping { !$0.isWish }
                state.cameraSettings[camera].served = inForce.formatAndRate
            }
        }
        guard let holder = state.cameras[camera].tenancy.holder else { return }
        if state.policy.shares { _ = setPicture(of: holder) }
        if state.sessionSettings[holder].heard == nil {
            state.sessionSettings[holder].heard = view(of: inForce, for: holder)
        }
        if !missing.isEmpty { return order(missing, asked: missing, of: holder, by: .resumption) }
        // Sharers that began before the answer heard the holder's own format.
        for session in Array(state.requests(on: camera)) where session != holder {
            guard state.sessions[session].shown.isRunning, let heard = state.sessionSettings[session].heard,
                let before = check(camera).formatAndRate(heard)
            else { continue }
            _ = setPicture(of: session)
            guard let now = check(camera).formatAndRate(view(of: inForce, for: session)), now != before else {
                continue
            }
            tellConfigured(session, asked: Configuration(), inForce, .sharer)
        }
    }

    /// A recording that ended before its session's reclaim has no client to notify.
    mutating func forgetRecordingOfSurvivor(_ recording: RecordingID) {
        for camera in state.cameraOrder {
            guard var survivor = state.cameras[camera].tenancy.survivor, survivor.recording == recording else {
                continue
            }
            survivor.recording = nil
            state.cameras[camera].tenancy = .surviving(survivor)
        }
    }
}

extension Survivor {
    /// From a file: a number that no broker can have reached is wrong.
    package var isCredible: Bool {
        (1...Bound.survivorMax).contains(grant.rawValue) && (1...Bound.survivorMax).contains(recording ?? 1)
    }
}
