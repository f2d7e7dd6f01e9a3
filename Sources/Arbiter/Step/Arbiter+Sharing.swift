import Vocabulary

/// One camera for several sessions: the holder configures and records, sharers watch beside it.
///
/// The camera goes on while its holder changes: the next one takes over in place, under the same grant, and only the
/// streams of who may not watch any more are closed. What a sharer may do is what cause 3 leaves it here: `watching`.
extension Arbiter {
    static let controlBeforeWatching = "sharing: control before watching"
    static let asksToWatch = "sharing: the session asked to watch only"

    var sharesCameras: Bool { state.policy.contention.sharing != .none }

    /// The session gives up control of its own wish, where that means something.
    func watches(_ session: Session) -> Bool { sharesCameras && session.asksToWatch }

    /// Whether it is beside a holder, running or about to.
    func isSharing(_ session: Session) -> Bool { session.waits?.isSharing == true }

    /// What a session may do now, by all that limits it: its causes, whose claim it lost to, its own wish.
    func access(of session: Session) -> Access { access(of: session, everyCause(of: session)) }

    func access(of session: Session, _ causes: [Policy.LiveCause]) -> Access {
        watches(session) ? causes.access.intersection(.watching) : causes.access
    }

    // MARK: Who shares

    /// Those who lost their camera to a holder on it, and may watch: decided after all seats are taken.
    func seatSharers(_ seats: [Seat], _ allocation: inout Allocation) {
        guard sharesCameras else { return }
        // A camera that is only promised shows nothing yet.
        let shown = seats.filter {
            !$0.isVirtual && ($0.held != nil || allocation.grants[$0.claim.session] != nil)
        }.map(\.claim.camera)
        for (id, claim) in allocation.claims where allocation.waiting[id] != nil && shown.contains(claim.camera) {
            guard !state.policy.liveCauses(claim.facts).access.intersection(.watching).isEmpty else { continue }
            allocation.sharers.insert(id)
        }
    }

    // MARK: A holder goes, the camera stays

    /// The camera can pass to the next holder as it is, without a cut.
    func canPassInPlace(_ camera: CameraID) -> Bool {
        sharesCameras && state.cameras[camera]?.tenancy.isCapturing == true
    }

    /// The holder leaves a camera that goes on: for who follows it in this step, or until that turns out to be nobody.
    mutating func vacate(_ id: CameraID, _ held: Held, why: RecordingEnd, keepsWatching: Bool, _ turn: inout Turn) {
        if !keepsWatching {
            if let recording = ledger.sessions[held.session]?.recording {
                turn.effects.append(.stopRecording(id, recording, why: why))
            }
            closeStreams(of: held.session, on: id, &turn)
        }
        state.cameras[id]?.tenancy.update { $0.isVacant = true }
        turn.cameras.insert(id)
    }

    /// Orders a session's streams closed while its camera goes on, before its client is told.
    mutating func closeStreams(of session: SessionID, on camera: CameraID, _ turn: inout Turn) {
        guard let grant = ledger.grants[camera], state.cameras[camera]?.tenancy.isCapturing == true else { return }
        turn.effects.append(.closeStreams(camera, grant, session))
        state.cameras[camera]?.closing.removeAll { $0.session == session }
        state.cameras[camera]?.closing.append(Camera.Closing(session: session, until: state.now + Bound.cut))
    }

    /// A sharer that runs stops watching; its camera goes on.
    mutating func closeIfSharing(_ session: Session, _ turn: inout Turn) {
        guard case .running = session.shown, let held = state.cameras[session.camera]?.tenancy.held,
            held.session != session.id
        else { return }
        closeStreams(of: session.id, on: session.camera, &turn)
    }

    mutating func recorderClosedStreams(_ camera: CameraID, _ grant: GrantID, _ session: SessionID) {
        guard ledger.grants[camera] == grant else { return }
        state.cameras[camera]?.closing.removeAll { $0.session == session }
    }

    /// The recorder did not close a stream in time: it is killed, and everybody on the camera starts anew with another.
    mutating func meetClosingDeadline(on id: CameraID, _ turn: inout Turn) {
        guard let camera = state.cameras[id], camera.closing.contains(where: { $0.until <= state.now }),
            camera.tenancy.isCapturing, let held = camera.tenancy.held
        else { return }
        turn.effects.append(.killRecorder(id))
        fault(id, held, .recorderReset, cut: Cut(until: state.now + Bound.kill, isKilled: true), &turn)
    }

    // MARK: What sharers are told

    /// Their picture ended with the recorder or the device, whatever becomes of the holder's place in this step.
    mutating func interruptSharers(on camera: CameraID, except holder: SessionID, _ turn: inout Turn) {
        for id in requests(on: camera) where id != holder {
            guard let session = state.sessions[id], isSharing(session), case .running = session.shown else { continue }
            interrupt(id, Allocation(), &turn)
        }
    }

    mutating func presentSharer(_ id: SessionID, _ allocation: Allocation, _ turn: inout Turn) {
        guard let session = state.sessions[id], let camera = state.cameras[session.camera] else { return }
        guard !access(of: session).isEmpty else {
            interrupt(id, allocation, &turn)
            return
        }
        switch camera.tenancy {
        case .streaming(let held):
            if case .running = session.shown {
                withdrawWarning(id, &turn)
            } else {
                startWatching(id, held, &turn)
            }
            presentAccess(id, &turn)
        case .starting:
            switch session.shown {
            case .stopped: state.sessions[id]?.shown = .pending
            // A device error lasts until the device streams.
            case .interrupted(let causes) where !causes.contains(.deviceError):
                endInterruption(id, willResume: true, &turn)
                state.sessions[id]?.shown = .pending
            case .interrupted, .pending, .running: break
            }
        case .free, .resetting, .revoking: interrupt(id, allocation, &turn)
        }
    }

    /// It loses control and not the picture: the interruption it was warned of does not come.
    private mutating func withdrawWarning(_ id: SessionID, _ turn: inout Turn) {
        guard let announced = ledger.sessions[id]?.announced else { return }
        ledger.sessions[id]?.announced = nil
        notify(id, .interruptionWithdrawn(id: announced), &turn)
    }

    /// The camera streams already: it runs at once, and hears what is in force in place of what it asked for.
    private mutating func startWatching(_ id: SessionID, _ held: Held, _ turn: inout Turn) {
        guard let session = state.sessions[id], let grant = ledger.grants[session.camera] else { return }
        endInterruption(id, willResume: true, &turn)
        let asked = session.configuration.ofTheCamera
        if !asked.isEmpty {
            notify(id, .configurationApplied(asked: asked, inForce: held.inForce, by: .sharer), &turn)
        }
        state.sessions[id]?.isSwitched = false
        state.sessions[id]?.isReestablished = false
        state.sessions[id]?.request?.hasHeld = true
        state.sessions[id]?.shown = .running(.all)
        notify(id, .didStartRunning(grant: grant), &turn)
    }

    /// The new holder of a camera that goes on: what it asked for is set over the camera's defaults; who asked for
    /// nothing takes the camera as it is.
    mutating func takeOver(_ id: SessionID, _ fitted: Configuration, _ turn: inout Turn) {
        guard let session = state.sessions[id], let camera = state.cameras[session.camera],
            let grant = ledger.grants[session.camera]
        else { return }
        guard case .streaming = camera.tenancy else {
            // Its first frame is still to come; what it asked for is set then, and a device error ends then.
            state.sessions[id]?.confirmed = Configuration()
            if case .interrupted(let causes) = session.shown, causes.contains(.deviceError) { return }
            endInterruption(id, willResume: true, &turn)
            state.sessions[id]?.shown = .pending
            return
        }
        let asked = fitted.ofTheCamera
        if !asked.isEmpty {
            var whole = ConfigurationCheck(capabilities: camera.capabilities).defaults(asked)
            whole.merge(asked)
            turn.effects.append(.configure(session.camera, grant, id, whole))
        }
        switch session.shown {
        case .running: break
        case .stopped, .pending, .interrupted:
            endInterruption(id, willResume: true, &turn)
            state.sessions[id]?.shown = .running(.all)
            notify(id, .didStartRunning(grant: grant), &turn)
        }
        state.sessions[id]?.request?.hasHeld = true
        state.sessions[id]?.isSwitched = false
        presentAccess(id, &turn)
    }

    /// Those who watch hear of what another session set.
    mutating func tellSharers(
        on camera: CameraID, asked: Configuration, inForce: Configuration, _ turn: inout Turn
    ) {
        guard sharesCameras, let holder = state.cameras[camera]?.tenancy.held?.session else { return }
        state.cameras[camera]?.tenancy.update { $0.inForce = inForce }
        for id in requests(on: camera) where id != holder {
            guard let session = state.sessions[id], case .running = session.shown else { continue }
            notify(id, .configurationApplied(asked: asked, inForce: inForce, by: .sharer), &turn)
        }
    }
}

extension Access {
    /// What a sharer has at most (semantics.md §1).
    static let watching: Access = [.preview, .photo]
}

extension Configuration {
    /// It says how the session shares, and nothing that the camera would have to do.
    var onlyAsksForControl: Bool { count == 1 && self[.sharingMode] != nil }

    /// The settings that a camera has; the others are the session's own.
    var ofTheCamera: Configuration {
        var camera = self
        for key in [ConfigurationKey.camera, .usesAudio, .whenBusy, .sharingMode] { camera[key] = nil }
        return camera
    }
}
