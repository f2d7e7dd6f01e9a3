import Vocabulary

extension Arbiter {
    /// The first frame is there: the client is told what is in force, then that it runs.
    mutating func recorderStreams(_ camera: CameraID, _ grant: GrantID, _ inForce: Configuration, _ turn: inout Turn) {
        guard let id = holder(of: camera, grant), case .starting(let held)? = state.cameras[camera]?.tenancy,
            let session = state.sessions[id]
        else { return }
        state.cameras[camera]?.tenancy = .streaming(held)
        endInterruption(id, willResume: true, &turn)
        // Nobody's format changes without this notice; who asked for nothing gets the camera's default and no news.
        var asked = session.confirmed
        var applied = inForce
        if session.isSwitched {
            asked[.camera] = .text(camera.name)
            applied[.camera] = .text(camera.name)
            state.sessions[id]?.isSwitched = false
        }
        if !asked.isEmpty {
            let by: Applier = session.request?.hasHeld == true ? .resumption : .client
            notify(id, .configurationApplied(asked: asked, inForce: applied, by: by), &turn)
        }
        state.sessions[id]?.request?.hasHeld = true
        state.sessions[id]?.shown = .running(.all)
        notify(id, .didStartRunning(grant: grant), &turn)
        // What was configured while the camera started reaches the recorder now.
        var later = session.configuration.changes(since: session.confirmed)
        later[.sharingMode] = nil
        if !later.isEmpty { turn.effects.append(.configure(camera, grant, id, later)) }
        if sharesCameras { state.cameras[camera]?.tenancy.update { $0.inForce = inForce } }
        touch(id, &turn)
    }

    mutating func recorderCut(_ camera: CameraID, _ grant: GrantID, _ turn: inout Turn) {
        // Once the recorder is killed, only its end counts: who is opened for before would lose it at once.
        guard ledger.grants[camera] == grant, let cut = state.cameras[camera]?.tenancy.cut, !cut.isKilled else {
            return
        }
        cutIsDone(camera, &turn)
    }

    private mutating func cutIsDone(_ camera: CameraID, _ turn: inout Turn) {
        state.cameras[camera]?.tenancy.update(cut: nil)
        turn.cameras.insert(camera)
    }

    mutating func recorderConfigured(
        _ camera: CameraID, _ grant: GrantID, _ asked: Configuration, _ inForce: Configuration, _ turn: inout Turn
    ) {
        guard let id = holder(of: camera, grant) else { return }
        state.sessions[id]?.confirmed.merge(asked)
        notify(id, .configurationApplied(asked: asked, inForce: inForce, by: .client), &turn)
        tellSharers(on: camera, asked: asked, inForce: inForce, &turn)
    }

    /// The recorder knows better than the capabilities it gave: the whole batch is taken back, and nothing of what
    /// was asked before or since.
    mutating func recorderRefusedConfiguration(
        _ camera: CameraID, _ grant: GrantID, _ asked: Configuration, _ message: String, _ turn: inout Turn
    ) {
        guard let id = holder(of: camera, grant), let session = state.sessions[id] else { return }
        for (key, value) in asked.ordered where session.configuration[key] == value {
            state.sessions[id]?.configuration[key] = session.confirmed[key]
        }
        notify(id, .runtimeError(code: "configuration-refused", message: message), &turn)
        touch(id, &turn)
    }

    /// The process ended under a holder (106), or at the end of a cut, which it thereby confirms.
    mutating func recorderGone(_ camera: CameraID, _ turn: inout Turn) {
        guard let found = state.cameras[camera] else { return }
        state.cameras[camera]?.isStuck = false
        if found.isStuck { touchRequests(on: camera, &turn) }
        switch found.tenancy {
        case .revoking, .resetting(_, _, .some): cutIsDone(camera, &turn)
        case .starting(let held), .streaming(let held): fault(camera, held, .recorderReset, cut: nil, &turn)
        case .free, .resetting(_, _, nil): break
        }
    }

    mutating func deviceFailed(_ camera: CameraID, _ message: String, _ turn: inout Turn) {
        switch state.cameras[camera]?.tenancy {
        case .starting(let held), .streaming(let held):
            notify(held.session, .runtimeError(code: "device-error", message: message), &turn)
            // The process lives and may still hold the device: it is told to let go.
            if let grant = ledger.grants[camera] { turn.effects.append(.cut(camera, grant, why: .interrupted)) }
            ledger.handovers[camera] = lastDecision
            fault(camera, held, .deviceError, cut: Cut(until: state.now + Bound.cut), &turn)
        case .free, .resetting, .revoking, nil: break
        }
    }

    /// The holder keeps its place, and is granted again after a backoff; the fifth fault in a minute ends it.
    mutating func fault(_ id: CameraID, _ held: Held, _ cause: Cause, cut: Cut?, _ turn: inout Turn) {
        guard var camera = state.cameras[id] else { return }
        camera.faults.removeAll { state.now - $0 >= Bound.faultWindow }
        camera.faults.append(state.now)
        // Nothing is recorded any more: the recording weighs in no decision from here on.
        state.sessions[held.session]?.isRecording = false
        var kept = held
        // There is nothing left to finish; who was winning still is.
        kept.contest?.announced = nil
        camera.tenancy = .resetting(kept, cause: cause, cut: cut)
        camera.closing = []
        let isTheLast = camera.faults.count >= Bound.faultsMax
        if isTheLast { camera.faults = [] }
        camera.restartAt =
            isTheLast ? nil : state.now + Bound.firstBackoff * (1 << (camera.faults.count - 1))
        state.cameras[id] = camera
        interruptSharers(on: id, except: held.session, &turn)
        if isTheLast {
            stopForGood(
                held.session, cause == .recorderReset ? .recorderFailed : .deviceFailed,
                rule: "built in: \(Bound.faultsMax) faults in \(Bound.faultWindow.components.seconds) s",
                cutWhy: .recorderReset, &turn)
        } else {
            touchRequests(on: id, &turn)
        }
    }

    mutating func rampFinished(_ camera: CameraID, _ grant: GrantID, _ factor: Double, _ turn: inout Turn) {
        guard let id = holder(of: camera, grant) else { return }
        notify(id, .rampFinished(videoZoomFactor: factor), &turn)
    }

    mutating func recorderTrouble(_ camera: CameraID, _ code: String, _ message: String, _ turn: inout Turn) {
        guard let held = state.cameras[camera]?.tenancy.held else { return }
        notify(held.session, .runtimeError(code: code, message: message), &turn)
    }
}
