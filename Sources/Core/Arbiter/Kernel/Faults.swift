import Vocabulary

/// Recorders and devices that fail, and streams that close while their camera goes on.
extension Arbiter {
    /// The holder's recorder was lost or its device failed: the device is tried again after a wait that doubles.
    mutating func fault(_ camera: Slot<Camera>, _ lost: Session.Lost, cut: Cut?) {
        guard var held = state.cameras[camera].tenancy.held else { return }
        let session = held.session
        if let since = held.streamingSince, state.now - since >= Bound.steady {
            state.cameras[camera].faults = 0
            state.sessions[session].deaths = 0
        }
        bankLease(held, on: camera)
        (held.leaseUntil, held.leaseSince, held.streamingSince) = (nil, nil, nil)
        // A lost session has nothing left to finish; the winning bid still wins.
        held.contest?.announced = nil
        // A holder that left in this step gave the camera to the session that follows, and now none can: the camera is
        // free.
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
        let faults = min(state.cameras[camera].faults + 1, Bound.faultsCounted)
        state.cameras[camera].faults = faults
        state.timers.removeAll { $0.kind == .backoff && $0.camera == camera }
        state.timers.append(TimedFact(kind: .backoff, due: state.now + Bound.backoff(after: faults), camera: camera))
        notes.touch(camera)
        guard lost == .recorder, !hasLeft else { return }
        state.sessions[session].deaths += 1
        if state.sessions[session].deaths >= Bound.deathsMax {
            stopForGood(session, .recorderFailed, .law(.recorderFailed), why: .recorderReset)
        }
    }

    /// The recording has ended: it weighs in no decision from here on.
    private mutating func lose(_ session: Slot<Session>, _ lost: Session.Lost) {
        state.sessions[session].lost = lost
        state.sessions[session].has.subtract([.recording, .paused])
    }

    /// The session's own format found no room on the bus: this session alone has a wait, and the next waiter is tried.
    mutating func findNoRoom(_ camera: Slot<Camera>, cut: Cut) {
        guard let held = state.cameras[camera].tenancy.held else { return }
        bankLease(held, on: camera)
        lose(held.session, .device)
        forgetOrders(on: camera)
        vacate(camera, cut)
        state.cameras[camera].handover = lastDecision
        let refusals = min(state.sessions[held.session].refusals + 1, Bound.faultsCounted)
        state.sessions[held.session].refusals = refusals
        state.timers.append(
            TimedFact(
                kind: .noRoom, due: state.now + Bound.backoff(after: refusals), camera: camera, session: held.session)
        )
        notes.touch(camera)
    }

    /// A recorder that gives no first frame, or does not close a stream, is killed: all sessions on its camera start
    /// anew.
    mutating func killRecorder(_ camera: Slot<Camera>, _ lost: Session.Lost) {
        guard state.cameras[camera].tenancy.isCapturing else { return }
        notes.effects.append(.killRecorder(state.cameraNames[camera]))
        fault(camera, lost, cut: Cut(until: state.now + Bound.kill, isKilled: true))
    }

    /// Drops the orders that a grant's end makes void, answered or not.
    mutating func forgetOrders(on camera: Slot<Camera>) {
        forgetGrant(of: camera)
        if !state.cameraSettings[camera].asked.isEmpty { state.cameraSettings[camera].asked = [] }
        func isOrder(_ timer: TimedFact) -> Bool {
            (timer.kind == .closing || timer.kind == .resuming || timer.kind == .formatKept) && timer.camera == camera
        }
        if state.timers.contains(where: isOrder) { state.timers.removeAll(where: isOrder) }
    }

    // MARK: Streams that are closed while the camera goes on

    /// Orders a session's streams closed, before its client's notice.
    mutating func closeStreams(of session: Slot<Session>, on camera: Slot<Camera>) {
        guard state.cameras[camera].tenancy.isCapturing else { return }
        let order = Effect.closeStreams(state.cameraNames[camera], state.cameras[camera].grant, state.id(session))
        // A session that leaves the camera and is interrupted loses its streams once: none is opened within a step.
        guard !notes.effects.contains(order) else { return }
        notes.effects.append(order)
        // A stream that the session opens later in the same grant begins with the picture.
        setSlate(false, of: session, on: camera)
        state.timers.removeAll { $0.kind == .closing && $0.session == session }
        state.timers.append(TimedFact(kind: .closing, due: state.now + Bound.cut, camera: camera, session: session))
    }

    /// A sharer that runs stops watching; its camera goes on.
    mutating func closeIfSharing(_ session: Slot<Session>, why: RecordingEnd = .interrupted) {
        let camera = state.sessions[session].camera
        guard state.sessions[session].shown.isRunning, let holder = state.cameras[camera].tenancy.holder,
            holder != session || notes.passing.contains(camera)
        else { return }
        if holder != session, let recording = state.sessions[session].ledger.recording {
            notes.effects.append(.stopRecording(state.cameraNames[camera], recording, why: why))
        }
        closeStreams(of: session, on: camera)
        forgetPicture(of: session)
    }
}
