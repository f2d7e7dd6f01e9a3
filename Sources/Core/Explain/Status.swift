public import Arbiter
public import Vocabulary

/// All cameras and sessions, in the order of their ids.
public struct Status: Sendable {
    public var policy: String
    /// Without a source that says where apps are, every client counts as foreground.
    public var isPresenceKnown: Bool
    /// The privacy switch of the whole machine.
    public var isPrivate: Bool
    public var isAsleep: Bool
    public var pressure: SystemPressure
    public var mode: String?
    /// `nil` where the mode follows the calendar, or none is in force.
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
        /// The winner, which waits only for the holder's time, a cut or a restart.
        public var next: SessionID?
        /// The rule that gave it to the holder.
        public var rule: String?
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
        public var recording: RecordingID?
        public var isPaused: Bool
        public var hasMicrophone: Bool
        /// By the first believed source.
        public var presence: Presence
        public var isFocused: Bool
        public var rank: String
        public var right: RightReason
        /// The rule behind the reason, or behind a limited access.
        public var rule: String?
        public var waitsFor: AppID?
        /// In force while it runs; else it will be in force then.
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
    /// Costs some microseconds a session.
    public func status() -> Status {
        var status = overview()
        status.sessions = sessions(after: SessionID(0), atMost: .max)
        return status
    }

    /// In the order of their ids.
    /// - Parameter last: only sessions with a greater id; 0 is before the first.
    public func sessions(after last: SessionID, atMost count: Int) -> [Status.SessionStatus] {
        let open = state.sessionSlots.slots(after: last.rawValue).lazy
            .filter { !state.sessions[$0].has.contains(.closing) }
        return open.prefix(count).map { status(of: $0) }
    }

    /// The first `count` apps of each kind on each camera, in the order of their sessions' ids. A look at each session.
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

    /// A user's apps that wait for a camera of another app: each app once a camera, since its longest wait, the longest first.
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

    /// The status without its sessions.
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
        // A function that is given to `map` holds a copy of the arbiter.
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

    /// `nil` for a session that is not there, or is being closed.
    package func camera(of id: SessionID) -> CameraID? {
        guard let slot = state.session(id), !state.sessions[slot].has.contains(.closing) else { return nil }
        return state.id(state.sessions[slot].camera)
    }

    /// The groups of a session's client when it connected.
    package func groups(of id: SessionID) -> [UInt32] {
        state.session(id).map { state.clientTexts[Int(state.sessions[$0].client.index)].groups } ?? []
    }

    /// Its client was identified by the number of its process alone.
    package func isWeak(_ id: SessionID) -> Bool {
        state.session(id).map { state.clients[state.sessions[$0].client].marks.contains(.weak) } ?? false
    }

    /// The sessions of a client, in the order of their creation.
    public func sessions(of client: ClientID) -> [SessionID] {
        state.client(client).map { state.sessions(of: $0).map { state.id($0) } } ?? []
    }

    /// Also of a session that is about to end.
    public func app(of session: SessionID) -> AppID? {
        state.sessionSlots[session.rawValue].map { state.id(state.clients[state.sessions[$0].client].app) }
    }

    public func app(of client: ClientID) -> AppID? { state.client(client).map { state.id(state.clients[$0].app) } }

    /// The grant under which a camera captures now.
    public func grant(of camera: CameraID) -> GrantID? {
        guard let slot = state.camera(camera), state.cameras[slot].tenancy.isCapturing else { return nil }
        return state.cameras[slot].grant
    }

    public func holder(of camera: CameraID) -> SessionID? {
        state.camera(camera).flatMap { state.cameras[$0].tenancy.held }.map { state.id($0.session) }
    }

    public func isRevoking(_ camera: CameraID) -> Bool {
        guard let slot = state.camera(camera), case .revoking = state.cameras[slot].tenancy else { return false }
        return true
    }

    /// Whether any session has a start request. A look at each camera.
    public var isAskedToRun: Bool { state.cameraOrder.contains { state.cameras[$0].firstRequest != nil } }

    public func asksToRun(_ session: SessionID) -> Bool {
        state.session(session).map { state.sessions[$0].request != nil } ?? false
    }

    /// Whether a source says where any user's apps are; else every client counts as foreground.
    public var isPresenceKnown: Bool { state.users.contains { state.isPresenceKnown(for: $0.user) } }

    public func presenceStanding(for user: UInt32) -> PresenceStanding { state.presenceStanding(for: user) }

    /// A camera's part of the budget now; 0 where the policy does not name it.
    public func costInUse(of camera: CameraID) -> Int { state.camera(camera).map { state.costInUse(of: $0) } ?? 0 }
}

/// The app that the operator has chosen by hand.
public struct OperatorChoice: Hashable, Sendable {
    public var app: AppID
    /// Why the choice has no effect, as a sentence without its end; empty where it may have one.
    public var trouble: String
}

extension Arbiter {
    public func operatorChoice() -> OperatorChoice? {
        state.world.operatorChoice.map { OperatorChoice(app: state.id($0), trouble: trouble(ofChoice: $0)) }
    }

    private func trouble(ofChoice slot: Slot<App>) -> String {
        guard state.policy.reads.operatorChoice else { return "no rule of the policy asks for the operator's choice" }
        guard !state.apps[slot].isConnected else { return "" }
        let app = state.id(slot)
        let connected = state.namedApps.filter { state.apps[$0].isConnected }.map { state.id($0) }
        // A name that root gives is that of root's own app.
        if let namesake = connected.first(where: { $0.name == app.name }) {
            return "no app named “\(app.name)” of user \(app.user) is connected; "
                + "did you mean “\(namesake.name)@\(namesake.user)”?"
        }
        let named = (policy.causeRules.flatMap(\.when) + policy.rankRules.flatMap(\.when)).compactMap(\.appName)
        guard !named.contains(app.name) else { return "" }
        let known = connected.map { $0.user == app.user ? $0.name : "\($0.name)@\($0.user)" } + named
        let guess = NearestWord.of(app.name, among: known).map { "; did you mean “\($0)”?" } ?? ""
        return "no app named “\(app.name)” is connected or named in the policy\(guess)"
    }
}

extension State {
    /// `nil` where nothing was said of the login session.
    package func facts(of slot: Slot<Login>) -> LoginSessionFacts? {
        let login = logins[slot]
        guard login.isKnown else { return nil }
        return LoginSessionFacts(
            active: login.isActive, locked: login.isLocked, seat: login.seat < 0 ? nil : seats[Int(login.seat)],
            user: login.user)
    }
}
