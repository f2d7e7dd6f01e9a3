import Vocabulary

extension Arbiter {
    /// What a rule may read about a session, now.
    func facts(of session: Session) -> Facts {
        // Read where it lies: every look at a camera asks for the facts of each session on it.
        let read = state.clients.read(session.client) {
            (
                app: $0.isVerified ? $0.app.name : nil, claimedApp: $0.attributes.claimedApp,
                kind: $0.attributes.kind, multitasking: $0.attributes.multitasking, loginSession: $0.loginSession
            )
        }
        guard let client = read else { preconditionFailure("a session has a client") }
        let placement = placement(of: session.app)
        let user = session.app.user
        let login: Facts.LoginState =
            switch client.loginSession.flatMap({ state.world.loginSessions[$0] }) {
            case nil: .none
            case .some(let found): found.isActive && !found.isLocked ? .active : .inactive
            }
        return Facts(
            app: client.app, claimedApp: client.claimedApp, user: user,
            loginSession: login, presence: placement.presence, isFocused: placement.isFocused,
            foregroundApps: foregroundApps(of: user, with: placement), client: client.kind,
            multitasking: client.multitasking, camera: session.camera,
            position: state.cameras.read(session.camera, { $0.capabilities.position }) ?? .external,
            usesAudio: session.usesAudio,
            microphoneTaken: microphoneTaker(against: session) != nil,
            pressure: state.world.pressure, isRecording: session.isRecording,
            claimIsNew: session.request.map { !$0.hasHeld } ?? true,
            operatorChosen: state.world.operatorChoice == session.app, attributes: attributes(of: session.app))
    }

    func foregroundApps(of user: UInt32) -> Facts.ForegroundApps {
        // Nobody says where apps are: then none is known to be beside another.
        guard isPresenceKnown(for: user) else { return .one }
        return switch state.world.inFront[user]?.count ?? 0 {
        case 0: .none
        case 1: .one
        default: .several
        }
    }

    /// The same, as an app so placed sees it: one that requires the full screen is not counted, and still in front.
    private func foregroundApps(of user: UInt32, with placement: World.Placement) -> Facts.ForegroundApps {
        let counted = foregroundApps(of: user)
        return counted == .none && placement.presence.isForeground ? .one : counted
    }

    /// The app that has the microphone a session wants. A session's own app does not count, nor do other users':
    /// a shell speaks for its own user, and only root's apps are heard by everybody.
    func microphoneTaker(against session: Session) -> AppID? {
        state.world.microphones.first { $0 != session.app && ($0.user == session.app.user || $0.user == 0) }
    }

    /// The machine's own causes, which hold under every policy and leave nothing.
    func builtInCauses(of session: Session) -> [Policy.LiveCause] {
        var live: [Policy.LiveCause] = []
        func add(_ cause: Cause, _ rule: String) {
            live.append(Policy.LiveCause(cause: cause, access: .none, rule: rule))
        }
        let read = state.cameras.read(session.camera) {
            (isPresent: $0.isPresent, isPrivate: $0.isPrivate, isHeldOutside: $0.isHeldOutside, lost: $0.tenancy.lost)
        }
        guard let camera = read else { preconditionFailure("a session has a camera") }
        if !camera.isPresent { add(.videoDeviceDisconnected, BuiltInRule.unplugged) }
        if camera.isPrivate || state.world.isPrivate { add(.videoDeviceBlockedByPrivacy, BuiltInRule.privacy) }
        if state.world.isAsleep { add(.systemSleep, BuiltInRule.sleep) }
        let loginSession = state.clients.read(session.client) { $0.loginSession }
        if let id = loginSession, let login = state.world.loginSessions[id],
            !login.isActive || login.isLocked
        {
            add(.loginSessionInactive, BuiltInRule.loginSession)
        }
        if isStuck(session.camera) { add(.deviceError, BuiltInRule.stuck) }
        if let (holder, cause) = camera.lost, holder == session.id || isSharing(session) {
            add(cause, cause == .recorderReset ? BuiltInRule.reset : BuiltInRule.deviceFailed)
        }
        if session.isReestablished { add(.brokerRestarted, BuiltInRule.brokerRestarted) }
        if session.isSensitive { add(.sensitiveContentMitigationActivated, BuiltInRule.sensitive) }
        if camera.isHeldOutside { add(.videoDeviceInUseByAnotherClient, BuiltInRule.heldOutside) }
        return live
    }

    /// A recorder that not even SIGKILL ended holds on to this camera, or to one that excludes it.
    func isStuck(_ camera: CameraID) -> Bool {
        if state.cameras.read(camera, { $0.isStuck }) == true { return true }
        guard state.policy.linksCameras else { return false }
        return state.cameraOrder.contains {
            state.cameras.read($0, { $0.isStuck }) == true && state.policy.conflict($0, camera)
        }
    }

    /// Every cause that limits the session, but for the contention that `allocate` decides.
    func liveCauses(of session: Session) -> [Policy.LiveCause] {
        builtInCauses(of: session) + state.policy.liveCauses(facts(of: session))
    }

    /// The same, and whose claim stands in its way: everything that the client is told, and status shows.
    func everyCause(of session: Session) -> [Policy.LiveCause] {
        guard let waits = session.waits else { return liveCauses(of: session) }
        return liveCauses(of: session)
            + [
                Policy.LiveCause(
                    cause: .videoDeviceInUseByAnotherClient, access: waits.isSharing ? .watching : .none,
                    rule: waits.rule)
            ]
    }

    /// The rank rule in force for a session, weakened by what its client gave up.
    func rankRule(of id: SessionID) -> RankRule {
        guard let session = state.sessions[id] else { preconditionFailure("rank of an unknown session") }
        return rankRule(of: session, facts(of: session))
    }

    func rankRule(of session: Session, _ facts: Facts) -> RankRule {
        var rule = state.policy.rank(facts)
        if let name = state.clients.read(session.client, { $0.loweredTo }),
            let lowered = state.policy.ranks.firstIndex(of: name), lowered > rule.rank
        {
            // Nobody keeps the privileges of a rank it gave up.
            rule = RankRule(name: "priority lowered by its client", when: [], rank: lowered)
        }
        return rule
    }
}

/// The names of the rules that no file writes.
enum BuiltInRule {
    static let unplugged = "built in: the camera is unplugged"
    static let privacy = "built in: the privacy switch is on"
    static let sleep = "built in: the machine sleeps"
    static let loginSession = "built in: the login session is not active"
    static let stuck = "built in: the recorder does not let go of the device"
    static let reset = "built in: the recorder was lost"
    static let deviceFailed = "built in: the device failed"
    static let brokerRestarted = Cause.brokerRestartedRule
    static let sensitive = "built in: sensitive content, until the client continues"
    static let heldOutside = "built in: a program outside the broker holds the device"
    static let reserved = "built in: kept for the app that held it before the broker restarted"
    static let restarting = "built in: the recorder is being restarted"
}

extension Cause {
    /// Causes that stand until the session is granted again: they do not keep it from claiming its camera.
    var endsWithGrant: Bool {
        self == .recorderReset || self == .brokerRestarted || self == .deviceError
    }
}
