import Vocabulary

extension Arbiter {
    /// Each event to the function that takes it. Exhaustive on purpose: a new event has to say where it belongs.
    mutating func take(_ event: Event, _ turn: inout Turn) {
        switch event {
        case .connected(let client, let app, let verified, let loginSession):
            connect(client, app, verified, loginSession, &turn)
        case .declared(let client, let attributes): declare(client, attributes, &turn)
        case .declaredPresence(let client, let presence, let focused):
            declarePresence(client, presence, focused, &turn)
        case .loweredPriority(let client, let rank): lowerPriority(client, rank, &turn)
        case .loweredAttribute(let client, let name, let value): lowerAttribute(client, name, value, &turn)
        case .disconnected(let client): disconnect(client, &turn)

        case .created(let session, let client, let camera, let configuration, let reestablished):
            create(session, client, camera, configuration, reestablished, &turn)
        case .startRunning(let session): startRunning(session, &turn)
        case .stopRunning(let session): stopRunning(session, &turn)
        case .beginConfiguration(let session): beginConfiguration(session, &turn)
        case .commitConfiguration(let session): commitConfiguration(session, &turn)
        case .configure(let session, let batch): configure(session, batch, &turn)
        case .openStream(let session): openStream(session, &turn)
        case .capturePhoto(let session): capturePhoto(session, &turn)
        case .startRecording(let session): startRecording(session, &turn)
        case .stopRecording(let session): stopRecording(session, &turn)
        case .ready(let session, let interruption): ready(session, interruption, &turn)
        case .continueAfterSensitiveContent(let session): continueAfterSensitiveContent(session, &turn)
        case .closed(let session): close(session, &turn)

        case .sourceAttached(let source, let user): attachSource(source, user, &turn)
        case .sourceGone(let source, let user): loseSource(source, user, &turn)
        case .placed(let app, let presence, let focused, let source):
            place(app, World.Placement(presence: presence, isFocused: focused), source, &turn)
        case .unplaced(let app, let source): place(app, nil, source, &turn)
        case .microphone(let app, let taken): microphone(app, taken, &turn)
        case .sensitiveContent(let app): raiseSensitiveContent(app, &turn)
        case .operatorChose(let app): operatorChose(app, &turn)
        case .attribute(let app, let name, let value): attribute(app, name, value, &turn)
        case .loginSession(let id, let active, let locked):
            loginSession(id, World.LoginSession(isActive: active, isLocked: locked), &turn)
        case .loginSessionEnded(let id): loginSession(id, nil, &turn)

        case .cameraAppeared(let camera, let capabilities): appear(camera, capabilities, &turn)
        case .cameraDisappeared(let camera): disappear(camera, &turn)
        case .privacy(let camera, let on): privacy(camera, on, &turn)
        case .heldOutside(let camera, let held): heldOutside(camera, held, &turn)
        case .pressure(let level): pressure(level, &turn)
        case .sleep(let asleep): sleep(asleep, &turn)

        case .recorderStreaming(let camera, let grant, let inForce): recorderStreams(camera, grant, inForce, &turn)
        case .recorderCut(let camera, let grant): recorderCut(camera, grant, &turn)
        case .recorderConfigured(let camera, let grant, let asked, let inForce):
            recorderConfigured(camera, grant, asked, inForce, &turn)
        case .recorderRefusedConfiguration(let camera, let grant, let asked, let message):
            recorderRefusedConfiguration(camera, grant, asked, message, &turn)
        case .recorderClosedStreams(let camera, let grant, let session): recorderClosedStreams(camera, grant, session)
        case .recorderGone(let camera): recorderGone(camera, &turn)
        case .deviceFailed(let camera, let message): deviceFailed(camera, message, &turn)
        case .recordingFinished(let recording, let why, let frames, let duration, let bytes):
            recordingFinished(recording, why, frames, duration, bytes, &turn)
        case .photoCaptured(let photo): photoCaptured(photo, &turn)
        case .rampFinished(let camera, let grant, let factor): rampFinished(camera, grant, factor, &turn)
        case .recorderTrouble(let camera, let code, let message): recorderTrouble(camera, code, message, &turn)

        case .policyLoaded(let policy): load(policy, &turn)
        case .reserved(let camera, let app): reserve(camera, app, &turn)
        case .timePassed: break
        }
    }

    // MARK: What the functions share

    /// Every session that asks to run.
    func touchAllRequesting(_ turn: inout Turn) {
        for session in state.requesting { touch(session, &turn) }
    }

    /// A session's causes or strength may have changed, and with it the decision on its camera.
    func touch(_ session: SessionID, _ turn: inout Turn) {
        guard let found = state.sessions[session], found.request != nil else { return }
        turn.sessions.insert(session)
        turn.cameras.insert(found.camera)
    }

    /// Every session of an app that asks to run.
    func touch(app: AppID, _ turn: inout Turn) {
        for client in state.apps[app] ?? [] {
            for session in state.clients[client]?.sessions ?? [] { touch(session, &turn) }
        }
    }

    /// The session whose holder a grant's news is about; nil when the news is old.
    func holder(of camera: CameraID, _ grant: GrantID) -> SessionID? {
        guard ledger.grants[camera] == grant else { return nil }
        return state.cameras[camera]?.tenancy.held?.session
    }

    /// A session that must exist for a request to be taken; a refusal otherwise.
    func known(_ session: SessionID, _ turn: inout Turn) -> Session? {
        if let found = state.sessions[session] { return found }
        turn.refuse(
            .unknownSession, "There is no session \(session.rawValue). Create one with CreateSession.",
            rule: "a session answers until it is closed")
        return nil
    }
}
