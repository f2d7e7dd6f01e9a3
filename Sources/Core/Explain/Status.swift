public import Arbiter
public import Vocabulary

/// What each app holds or waits for, and why: everything in the order of ids.
public struct Status: Sendable {
    public var policy: String
    /// False: no source says where apps are, so every client counts as foreground.
    public var isPresenceKnown: Bool
    /// The privacy switch of the whole machine.
    public var isPrivate: Bool
    public var isAsleep: Bool
    public var pressure: SystemPressure
    /// The mode in force; nil: none.
    public var mode: String?
    /// Who set it by hand; nil: it follows the calendar, or none is in force.
    public var modeSetBy: Mode.Setter?
    public var cameras: [CameraStatus]
    public var sessions: [SessionStatus]

    public struct CameraStatus: Sendable {
        public var id: CameraID
        public var capabilities: CameraCapabilities
        public var isPresent: Bool
        public var isPrivate: Bool
        public var tenancy: TenancyState
        public var holder: SessionID?
        public var holderApp: AppID?
        /// The session that has won it, and waits only for the holder's time, a cut or a restart.
        public var next: SessionID?
        /// The rule that gave it to the holder.
        public var rule: String?
        /// Since when the holder has it.
        public var heldSince: Moment?
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
        /// The recording under way, and whether its client has paused it.
        public var recording: RecordingID?
        public var isPaused: Bool
        /// Its client's own is attached.
        public var hasMicrophone: Bool
        /// Where the app is, by the first believed source.
        public var presence: Presence
        public var isFocused: Bool
        public var rank: String
        /// By what it may use its camera.
        public var right: RightReason
        /// The rule behind the reason, or behind a limited access.
        public var rule: String?
        /// Whose bid it waits for.
        public var waitsFor: AppID?
        /// In force while it runs; otherwise what will be set when it does.
        public var configuration: Configuration
    }

    /// The apps that are on a camera without holding it.
    public struct Company: Sendable {
        public private(set) var waiting: [AppID] = []
        public private(set) var watching: [AppID] = []

        public init() {}

        fileprivate mutating func note(_ app: AppID, _ isWaiting: Bool, atMost count: Int) {
            if isWaiting {
                if waiting.count < count { waiting.append(app) }
            } else if watching.count < count {
                watching.append(app)
            }
        }
    }

    public enum State: String, Sendable { case stopped, starting, running, interrupted }
}

extension Arbiter {
    /// All of it: costs some microseconds a session.
    public func status() -> Status {
        var status = overview()
        status.sessions = sessions(after: SessionID(0), atMost: .max)
        return status
    }

    /// Of many sessions only so many, in the order of their ids.
    /// - Parameter last: only those with a greater id; 0 is before the first.
    public func sessions(after last: SessionID, atMost count: Int) -> [Status.SessionStatus] {
        let open = state.sessionSlots.slots(after: last.rawValue).lazy
            .filter { !state.sessions[$0].has.contains(.closing) }
        return open.prefix(count).map { status(of: $0) }
    }

    /// Whose sessions are on each camera without holding it, the first `count` of each in the order of their ids. A look
    /// at each session, and no more.
    public func company(atMost count: Int) -> [CameraID: Status.Company] {
        var found: [CameraID: Status.Company] = [:]
        for slot in state.sessionSlots.slots {
            let session = state.sessions[slot]
            if session.has.contains(.closing) { continue }
            let isWaiting: Bool
            switch session.shown {
            case .interrupted: isWaiting = true
            case .running where state.cameras[session.camera].tenancy.held?.session != slot: isWaiting = false
            case .running, .stopped, .pending: continue
            }
            let app = state.id(state.clients[session.client].app)
            found[state.id(session.camera), default: Status.Company()].note(app, isWaiting, atMost: count)
        }
        return found
    }

    /// A user's own apps that wait for a camera which somebody else has: each app once a camera, since its longest wait, the
    /// longest first.
    public func waits(of user: UInt32) -> [(camera: CameraID, app: AppID, since: Moment)] {
        var found: [(camera: CameraID, app: AppID, since: Moment)] = []
        for slot in state.sessionSlots.slots {
            let session = state.sessions[slot]
            guard case .interrupted(let causes, _) = session.shown, causes.contains(.videoDeviceInUseByAnotherClient),
                let began = session.ledger.open?.began
            else { continue }
            let app = state.id(state.clients[session.client].app)
            guard app.user == user else { continue }
            let camera = state.id(session.camera)
            if let place = found.firstIndex(where: { $0.camera == camera && $0.app == app }) {
                found[place].since = min(found[place].since, began)
            } else {
                found.append((camera, app, began))
            }
        }
        return found.sorted { ($0.since, $0.app) < ($1.since, $1.app) }
    }

    /// The status without its sessions, whose number it does not cost.
    public func overview() -> Status {
        Status(
            policy: policy.name, isPresenceKnown: isPresenceKnown, isPrivate: state.world.isPrivate,
            isAsleep: state.world.isAsleep, pressure: state.world.pressure, mode: state.mode?.name,
            modeSetBy: state.mode.flatMap { mode in
                state.modeWords.byHand.flatMap { $0.mode == mode.name ? $0.by : nil }
            },
            cameras: state.cameraOrder.map(status(of:)),
            sessions: [])
    }

    public func status(of id: CameraID) -> Status.CameraStatus? {
        // Given to `map`, the function would hold a copy of the arbiter.
        if let slot = state.camera(id) { status(of: slot) } else { nil }
    }

    private func status(of slot: Slot<Camera>) -> Status.CameraStatus {
        let camera = state.cameras[slot]
        var revokedAt: Moment?
        let tenancy: TenancyState
        switch camera.tenancy {
        case .free: tenancy = .free
        case .surviving: tenancy = .reserved
        case .starting: tenancy = .starting
        case .streaming: tenancy = .streaming
        case .lost: tenancy = .resetting
        case .revoking(let cut):
            tenancy = .revoking
            revokedAt = cut.until
        }
        let held = camera.tenancy.held
        return Status.CameraStatus(
            id: state.id(slot), capabilities: state.cameraSettings[slot].capabilities,
            isPresent: camera.isPresent, isPrivate: camera.isPrivate || state.world.isPrivate, tenancy: tenancy,
            holder: held.map { state.id($0.session) },
            holderApp: held.map { state.id(state.clients[state.sessions[$0.session].client].app) },
            next: (camera.promise?.session ?? held?.contest?.beneficiary).map { state.id($0) },
            rule: held.map { text($0.rule) }, heldSince: held?.since, leaseUntil: held?.leaseUntil, revokedAt: revokedAt
        )
    }

    public func status(of id: SessionID) -> Status.SessionStatus? {
        guard let slot = state.session(id), !state.sessions[slot].has.contains(.closing) else { return nil }
        return status(of: slot)
    }

    private func status(of slot: Slot<Session>) -> Status.SessionStatus {
        let session = state.sessions[slot]
        let look = state.look(at: slot)
        let client = state.clients[session.client]
        let placed = state.placement(of: client.app)
        let ranks = state.policy.source.ranks
        var causes = look.causes(session.waits)
        let (shown, access): (Status.State, Access)
        switch session.shown {
        case .stopped: (shown, access, causes) = (.stopped, .none, CauseSet())
        case .pending: (shown, access) = (.starting, .none)
        case .running(let granted): (shown, access) = (.running, granted)
        case .interrupted(let told, _): (shown, access, causes) = (.interrupted, .none, told)
        }
        return Status.SessionStatus(
            id: SessionID(session.id), client: state.id(session.client), app: state.id(client.app),
            isVerified: !client.app.isClaimed, camera: state.id(session.camera), state: shown, access: access,
            causes: causes, isHolder: state.cameras[session.camera].tenancy.held?.session == slot,
            isRecording: session.has.contains(.recording), recording: session.ledger.recording,
            isPaused: session.has.contains(.paused), hasMicrophone: session.has.contains(.microphone),
            presence: placed.presence, isFocused: placed.isFocused,
            rank: ranks[min(look.rank.rank, ranks.count - 1)],
            right: state.rightReason(of: session.client, on: session.camera),
            rule: causes.reason.flatMap { reason in
                look.causes(session.waits).contains(reason) ? text(look.rule(of: reason, session.waits)) : nil
            },
            waitsFor: session.waits?.interrupter.map { state.id($0) }, configuration: configuration(of: slot))
    }

    /// The groups that a session's client was in when it connected, by number.
    package func groups(of id: SessionID) -> [UInt32] {
        state.session(id).map { state.clientTexts[Int(state.sessions[$0].client.index)].groups } ?? []
    }

    /// Its client was looked up by the number of its process alone.
    package func isWeak(_ id: SessionID) -> Bool {
        state.session(id).map { state.clients[state.sessions[$0].client].marks.contains(.weak) } ?? false
    }

    /// The sessions of a client, in the order of their creation.
    public func sessions(of client: ClientID) -> [SessionID] {
        state.client(client).map { state.sessions(of: $0).map { state.id($0) } } ?? []
    }

    /// The app of a session, also of one that is about to end.
    public func app(of session: SessionID) -> AppID? {
        state.sessionSlots[session.rawValue].map { state.id(state.clients[state.sessions[$0].client].app) }
    }

    /// The app a client counts as.
    public func app(of client: ClientID) -> AppID? { state.client(client).map { state.id(state.clients[$0].app) } }

    /// The grant under which a camera captures now; nil when it does not.
    public func grant(of camera: CameraID) -> GrantID? {
        guard let slot = state.camera(camera), state.cameras[slot].tenancy.isCapturing else { return nil }
        return state.cameras[slot].grant
    }

    /// The session that has a camera.
    public func holder(of camera: CameraID) -> SessionID? {
        state.camera(camera).flatMap { state.cameras[$0].tenancy.held }.map { state.id($0.session) }
    }

    /// Whether a camera is being cut.
    public func isRevoking(_ camera: CameraID) -> Bool {
        guard let slot = state.camera(camera), case .revoking = state.cameras[slot].tenancy else { return false }
        return true
    }

    /// Whether any session has a start request. A look at each camera, and no more.
    public var isAskedToRun: Bool { state.cameraOrder.contains { state.cameras[$0].firstRequest != nil } }

    /// Whether the session has a start request.
    public func asksToRun(_ session: SessionID) -> Bool {
        state.session(session).map { state.sessions[$0].request != nil } ?? false
    }

    /// Whether any user's apps are told apart by where they are; false: every client counts as foreground.
    public var isPresenceKnown: Bool { state.users.contains { state.isPresenceKnown(for: $0.user) } }

    /// Which source says where a user's apps are, or what counts instead.
    public func presenceStanding(for user: UInt32) -> PresenceStanding { state.presenceStanding(for: user) }

    /// What a camera counts towards the budget now, whoever has it; 0 for one that the policy does not name.
    public func costInUse(of camera: CameraID) -> Int { state.camera(camera).map { state.costInUse(of: $0) } ?? 0 }
}
