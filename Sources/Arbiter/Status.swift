public import Vocabulary

/// Who holds what, who waits, and why: everything in the order of ids.
public struct Status: Sendable {
    public var policy: String
    /// False: nobody says where apps are, so every client counts as foreground.
    public var isPresenceKnown: Bool
    /// The privacy switch of the whole machine.
    public var isPrivate: Bool
    public var isAsleep: Bool
    public var pressure: SystemPressure
    public var cameras: [CameraStatus]
    public var sessions: [SessionStatus]

    public struct CameraStatus: Sendable {
        public var id: CameraID
        public var capabilities: CameraCapabilities
        public var isPresent: Bool
        public var isPrivate: Bool
        /// `free`, `starting`, `streaming`, `resetting` or `revoking`.
        public var tenancy: String
        public var holder: SessionID?
        public var holderApp: AppID?
        /// Who has won it, and waits only for the holder's time, a cut or a restart.
        public var next: SessionID?
        /// The rule that gave it to the holder.
        public var rule: String?
        public var leaseUntil: Moment?
        public var revokedAt: Moment?
    }

    public struct SessionStatus: Sendable {
        public var id: SessionID
        public var client: ClientID
        public var app: AppID
        public var isVerified: Bool
        public var camera: CameraID
        public var state: State
        public var access: Access
        public var causes: CauseSet
        public var isHolder: Bool
        public var isRecording: Bool
        /// The recording under way.
        public var recording: RecordingID?
        /// Where the app is, by the first believed source.
        public var presence: Presence
        public var isFocused: Bool
        public var rank: String
        /// The rule behind the reason, or behind a limited access.
        public var rule: String?
        /// Whose claim it waits for.
        public var waitsFor: AppID?
        public var configuration: Configuration
    }

    public enum State: String, Sendable {
        case stopped, starting, running, interrupted
    }
}

extension Arbiter {
    public func status() -> Status {
        Status(
            policy: state.policy.name,
            isPresenceKnown: Set(state.clients.values.map(\.app.user)).contains { isPresenceKnown(for: $0) },
            isPrivate: state.world.isPrivate, isAsleep: state.world.isAsleep, pressure: state.world.pressure,
            cameras: state.cameraOrder.compactMap(status(of:)),
            sessions: state.sessions.keys.sorted().compactMap(status(of:)))
    }

    public func status(of id: CameraID) -> Status.CameraStatus? {
        guard let camera = state.cameras[id] else { return nil }
        var revokedAt: Moment?
        let tenancy: String
        switch camera.tenancy {
        case .free: tenancy = "free"
        case .starting: tenancy = "starting"
        case .streaming: tenancy = "streaming"
        case .resetting: tenancy = "resetting"
        case .revoking(let cut):
            tenancy = "revoking"
            revokedAt = cut.until
        }
        let held = camera.tenancy.held
        return Status.CameraStatus(
            id: id, capabilities: camera.capabilities, isPresent: camera.isPresent,
            isPrivate: camera.isPrivate || state.world.isPrivate, tenancy: tenancy, holder: held?.session,
            holderApp: held.flatMap { state.sessions[$0.session]?.app },
            next: camera.promise?.session ?? held?.contest?.beneficiary, rule: held?.rule, leaseUntil: held?.leaseUntil,
            revokedAt: revokedAt)
    }

    public func status(of id: SessionID) -> Status.SessionStatus? {
        guard let session = state.sessions[id], let client = state.clients[session.client] else { return nil }
        let live = everyCause(of: session)
        let access: Access
        let shown: Status.State
        var causes = CauseSet(live.map(\.cause))
        switch session.shown {
        case .stopped: (shown, access, causes) = (.stopped, .none, CauseSet())
        case .pending: (shown, access) = (.starting, .none)
        case .running(let granted): (shown, access) = (.running, granted)
        case .interrupted(let told): (shown, access, causes) = (.interrupted, .none, told)
        }
        let reason = causes.reason
        let facts = facts(of: session)
        return Status.SessionStatus(
            id: id, client: session.client, app: session.app, isVerified: client.isVerified, camera: session.camera,
            state: shown, access: access, causes: causes,
            isHolder: state.cameras[session.camera]?.tenancy.held?.session == id, isRecording: session.isRecording,
            recording: ledger.sessions[id]?.recording, presence: facts.presence, isFocused: facts.isFocused,
            rank: state.policy.ranks[min(rankRule(of: session, facts).rank, state.policy.ranks.count - 1)],
            rule: live.first { $0.cause == reason }?.rule, waitsFor: session.waits?.interrupter,
            configuration: session.configuration)
    }

    /// The sessions of a client, in the order of their creation.
    public func sessions(of client: ClientID) -> [SessionID] { state.clients[client]?.sessions ?? [] }

    /// The app a client counts as.
    public func app(of client: ClientID) -> AppID? { state.clients[client]?.app }

    /// The grant under which a camera captures now; nil when it does not.
    public func grant(of camera: CameraID) -> GrantID? {
        state.cameras[camera]?.tenancy.isCapturing == true ? ledger.grants[camera] : nil
    }
}
