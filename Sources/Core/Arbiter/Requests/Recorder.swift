import Vocabulary

/// Reports of recorders. A report on a grant that is over, or on a camera that is gone, is no mistake: it was on its
/// way.
extension Arbiter {
    mutating func handleRecorder(_ event: Event) {
        switch event {
        case .recorderStreaming(let camera, let grant, let inForce):
            if let slot = current(camera, grant) { firstFrame(slot, inForce) }
        case .recorderCut(let camera, let grant): if let slot = current(camera, grant) { recorderCut(slot) }
        case .recorderClosedStreams(let camera, let grant, let session):
            guard current(camera, grant) != nil, let session = state.session(session) else { return }
            state.timers.removeAll { $0.kind == .closing && $0.session == session }
        case .recorderConfigured(let camera, let grant, _, let inForce):
            if let slot = current(camera, grant) { recorderConfigured(slot, inForce) }
        case .recorderRefusedConfiguration(let camera, let grant, _, let message):
            if let slot = current(camera, grant) { recorderRefused(slot, message) }
        case .recorderGone(let camera): if let slot = state.cameraNames[camera] { recorderGone(slot) }
        case .deviceFailed(let camera, let fault, let message):
            if let slot = state.cameraNames[camera] { deviceFailed(slot, fault, message) }
        case .recordingFinished(
            let recording, let why, let frames, let duration, let bytes, let lastCapture, let framesLeftOut):
            var end = RecordingFinished(
                recording: recording, why: why, frames: frames, duration: duration, bytes: bytes, nextChance: .now)
            (end.lastCapture, end.framesLeftOut) = (lastCapture, framesLeftOut)
            recordingFinished(end)
        case .photoCaptured(let photo): photoCaptured(photo)
        case .rampFinished(let camera, let grant, let factor):
            tellHolder(of: current(camera, grant), .rampFinished(videoZoomFactor: factor))
        case .cameraStateChanged(let camera, let grant, let changed):
            if let slot = current(camera, grant) { cameraStateChanged(slot, changed) }
        case .recorderTrouble(let camera, let code, let message, let recording, let session):
            let trouble = SessionEvent.runtimeError(code: code, message: message)
            if recording == 0, session == 0 { return tellHolder(of: state.cameraNames[camera], trouble) }
            let owner = state.ledger.recordings.first { $0.id == recording }?.session ?? session
            // A recorder core has a say about its own camera's sessions alone.
            if let slot = state.sessionSlots[owner], state.sessions[slot].camera == state.cameraNames[camera] {
                notify(slot, trouble)
            }
        default: break
        }
    }

    /// The camera of a report's grant; `nil` when the grant is over.
    func current(_ camera: CameraID, _ grant: GrantID) -> Slot<Camera>? {
        state.cameraNames[camera].flatMap { state.cameras[$0].grant == grant ? $0 : nil }
    }

    private mutating func tellHolder(of camera: Slot<Camera>?, _ event: SessionEvent) {
        if let holder = camera.flatMap({ state.cameras[$0].tenancy.holder }) { notify(holder, event) }
    }

    private mutating func recorderCut(_ camera: Slot<Camera>) {
        let tenancy = state.cameras[camera].tenancy
        // The client of a grant that nobody reclaimed has ended, and so its recorder core ended the grant by itself.
        // Once the recorder is killed, only its end counts: a session that is opened before would lose it at once.
        if tenancy.survivor != nil || tenancy.cut?.isKilled == false { cutIsDone(camera) }
    }

    /// The batch of the recorder's reply: the earliest without one.
    private mutating func takeAnswered(_ camera: Slot<Camera>) -> CameraSettings.Asked? {
        guard state.cameras[camera].tenancy.isStreaming, !state.cameraSettings[camera].asked.isEmpty else { return nil }
        return state.cameraSettings[camera].asked.removeFirst()
    }

    /// The reply goes to the session of the batch, also when another session has taken control meanwhile.
    private mutating func recorderConfigured(_ camera: Slot<Camera>, _ inForce: Configuration) {
        guard let answered = takeAnswered(camera) else { return }
        state.cameraSettings[camera].inForce = inForce
        let asker = state.sessionSlots[answered.session]
        if state.policy.shares {
            for session in Array(state.requests(on: camera)) where state.sessions[session].shown.isRunning {
                _ = setPicture(of: session)
            }
        }
        if let asker, state.sessions[asker].camera == camera {
            let confirmed = state.sessionSettings[asker].confirmed
            if answered.by != .sharer {
                state.sessionSettings[asker].confirmed = check(camera).merged(
                    answered.batch.ofTheCamera, into: confirmed)
            }
            if answered.batch[.cancelVideoZoomRamp] == .flag(true) {
                // The zoom at which a ramp stopped is restored later, unless the session has set another zoom since.
                state.sessionSettings[asker].confirmed[.videoZoomFactor] = inForce[.videoZoomFactor]
                let isOverruled = state.cameraSettings[camera].asked.contains {
                    $0.session == answered.session && $0.batch[.videoZoomFactor] != nil
                }
                if !isOverruled { state.sessionSettings[asker].wanted[.videoZoomFactor] = inForce[.videoZoomFactor] }
            }
            if state.sessions[asker].shown.isRunning {
                tellConfigured(asker, asked: answered.batch, inForce, answered.by)
            }
        }
        for other in state.requests(on: camera) where other != asker && state.sessions[other].shown.isRunning {
            let ordered = answered.ordered.ofTheCamera
            let isNews = !ordered.isEmpty || state.sessionSettings[other].heard != view(of: inForce, for: other)
            if isNews { tellConfigured(other, asked: ordered, inForce, .sharer) }
        }
    }

    /// Every session that sees the picture receives the state: the holder and its sharers.
    private mutating func cameraStateChanged(_ camera: Slot<Camera>, _ changed: Configuration) {
        guard state.cameras[camera].tenancy.isStreaming, !changed.isEmpty else { return }
        state.cameraSettings[camera].inForce.merge(changed)
        var place = state.cameras[camera].firstRequest
        while let session = place {
            place = state.sessions[session].nextOnCamera
            guard case .running(let access) = state.sessions[session].shown, access.contains(.preview) else { continue }
            state.sessionSettings[session].heard?.merge(changed)
            notify(session, .cameraStateChanged(changed))
        }
    }

    /// Takes the whole batch back, and none before or after it.
    private mutating func recorderRefused(_ camera: Slot<Camera>, _ message: String) {
        guard let answered = takeAnswered(camera) else { return }
        // Pictures were ordered for the format that does not come.
        if state.policy.shares { notes.touch(camera) }
        // A format for another session's wish is none of the holder's own settings.
        guard answered.by != .sharer else { return }
        guard let asker = state.sessionSlots[answered.session], state.sessions[asker].camera == camera else { return }
        let confirmed = state.sessionSettings[asker].confirmed
        let wanted = state.sessionSettings[asker].wanted
        for (key, value) in answered.batch.ordered where wanted[key] == value {
            state.sessionSettings[asker].wanted[key] = confirmed[key]
        }
        // The values that the batch replaced come back.
        for (key, value) in confirmed.ordered where wanted[key] == nil {
            state.sessionSettings[asker].wanted[key] = value
        }
        state.noteWishes(of: asker)
        if state.sessions[asker].request != nil {
            notify(asker, .runtimeError(code: "configuration-refused", message: message))
        }
        touch(asker)
    }

    /// The process ended under a holder (106), or at the end of a cut, which it thereby confirms.
    private mutating func recorderGone(_ camera: Slot<Camera>) {
        if state.cameras[camera].isStuck {
            state.cameras[camera].isStuck = false
            notes.touch(camera)
        }
        let tenancy = state.cameras[camera].tenancy
        if tenancy.cut != nil || tenancy.survivor != nil {
            cutIsDone(camera)
        } else if tenancy.isCapturing {
            fault(camera, .recorder, cut: nil)
        }
    }

    private mutating func deviceFailed(_ camera: Slot<Camera>, _ deviceFault: DeviceFault, _ message: String) {
        if state.cameras[camera].tenancy.survivor != nil { return endSurvivor(camera) }
        guard state.cameras[camera].tenancy.isCapturing, let held = state.cameras[camera].tenancy.held else { return }
        // One notice, and none for each retry: the session is interrupted since.
        if state.sessions[held.session].lost == nil {
            notify(held.session, .runtimeError(code: deviceFault.rawValue, message: message))
        }
        // The process lives and may still hold the device: an order makes it let go.
        notes.effects.append(.cut(state.cameraNames[camera], state.cameras[camera].grant, why: .interrupted, next: nil))
        state.cameras[camera].handover = lastDecision
        let cut = Cut(until: state.now + Bound.cut)
        switch deviceFault {
        case .device: fault(camera, .device, cut: cut)
        case .noRoom: findNoRoom(camera, cut: cut)
        }
    }
}
