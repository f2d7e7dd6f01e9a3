import Vocabulary

extension Arbiter {
    mutating func microphone(_ app: AppID, _ taken: Bool, _ turn: inout Turn) {
        if taken {
            state.world.microphones.insertSorted(app)
        } else {
            state.world.microphones.removeSorted(app)
        }
        // A rule may read the microphone of a session that does not use it.
        touchAllRequesting(&turn)
    }

    /// Stands for each of the app's sessions until its client continues.
    mutating func raiseSensitiveContent(_ app: AppID, _ turn: inout Turn) {
        for client in state.apps[app] ?? [] {
            for session in state.clients[client]?.sessions ?? [] {
                state.sessions[session]?.isSensitive = true
                touch(session, &turn)
            }
        }
    }

    mutating func operatorChose(_ app: AppID?, _ turn: inout Turn) {
        let before = state.world.operatorChoice
        state.world.operatorChoice = app
        if let before { touch(app: before, &turn) }
        if let app { touch(app: app, &turn) }
    }

    mutating func loginSession(_ id: LoginSessionID, _ login: World.LoginSession?, _ turn: inout Turn) {
        state.world.loginSessions[id] = login
        rebuildInFront()
        touchAllRequesting(&turn)
    }

    mutating func privacy(_ camera: CameraID?, _ on: Bool, _ turn: inout Turn) {
        if let camera {
            guard state.cameras[camera] != nil else {
                turn.refuse(
                    .unknownCamera, unknownCamera(camera), rule: "a switch belongs to a camera the broker knows")
                return
            }
            state.cameras[camera]?.isPrivate = on
            touchRequests(on: camera, &turn)
        } else {
            state.world.isPrivate = on
            touchAllRequesting(&turn)
        }
    }

    mutating func heldOutside(_ camera: CameraID, _ held: Bool, _ turn: inout Turn) {
        state.cameras[camera]?.isHeldOutside = held
        touchRequests(on: camera, &turn)
    }

    /// A higher level counts at once; a lower one only when it has lasted (`pressure-settle`), each by itself:
    /// a rule for `serious` must not see pressure fall below it because `critical` ended a while ago.
    mutating func pressure(_ level: SystemPressure, _ turn: inout Turn) {
        if level >= state.world.pressure {
            state.world.falling = []
            state.world.pressure = level
            touchAllRequesting(&turn)
            return
        }
        // What was lower than this has not lasted; that it was as low as this has, since the first of those.
        let since = state.world.falling.first { $0.to <= level }
        state.world.falling.removeAll { $0.to <= level }
        let at = since?.at ?? state.now + state.policy.pressureSettle
        state.world.falling.append(World.Falling(to: level, at: at))
    }

    mutating func sleep(_ asleep: Bool, _ turn: inout Turn) {
        state.world.isAsleep = asleep
        touchAllRequesting(&turn)
    }

    func requests(on camera: CameraID) -> [SessionID] { state.cameras[camera]?.requests ?? [] }

    mutating func touchRequests(on camera: CameraID, _ turn: inout Turn) {
        turn.cameras.insert(camera)
        for session in requests(on: camera) { touch(session, &turn) }
    }

    // MARK: Cameras come and go

    mutating func appear(_ id: CameraID, _ capabilities: CameraCapabilities, _ turn: inout Turn) {
        if state.cameras[id] == nil {
            state.cameras[id] = Camera(capabilities: capabilities)
            state.cameraOrder.insertSorted(id)
        } else {
            state.cameras[id]?.capabilities = capabilities
            state.cameras[id]?.isPresent = true
            state.cameras[id]?.faults = []
            touchRequests(on: id, &turn)
        }
        turn.effects.append(.announce(.camerasChanged))
    }

    mutating func disappear(_ id: CameraID, _ turn: inout Turn) {
        guard state.cameras[id]?.isPresent == true else { return }
        state.cameras[id]?.isPresent = false
        touchRequests(on: id, &turn)
        turn.effects.append(.announce(.camerasChanged))
    }

    // MARK: The broker

    /// Decided again in this step; deadlines that run do not grow.
    mutating func load(_ policy: Policy, _ turn: inout Turn) {
        state.policy = policy
        rebuildInFront()
        for id in state.cameraOrder {
            guard let held = state.cameras[id]?.tenancy.held else { continue }
            let rule = rankRule(of: held.session)
            state.cameras[id]?.tenancy.update { held in
                held.minHoldUntil = Self.earlier(
                    held.minHoldUntil, rule.minHold > .zero ? held.since + rule.minHold : nil)
                held.leaseUntil =
                    held.leaseUntil.map { old in rule.lease.map { min(old, held.since + $0) } ?? old }
                    ?? rule.lease.map { held.since + $0 }
            }
        }
        // A shorter lease may be over already.
        for id in state.cameraOrder {
            if let held = state.cameras[id]?.tenancy.held, let lease = held.leaseUntil, lease <= state.now {
                expire(held, on: id, &turn)
            }
        }
        for id in state.requesting {
            guard let session = state.sessions[id] else { continue }
            let rule = state.policy.rank(facts(of: session))
            if rule.deny { stopForGood(id, .deniedByPolicy, rule: rule.name, cutWhy: .interrupted, &turn) }
        }
        turn.effects.append(.announce(.prioritiesChanged))
        touchAllRequesting(&turn)
    }

    /// Of a deadline that runs and one that a new policy would set: neither grows the other.
    private static func earlier(_ running: Moment?, _ wanted: Moment?) -> Moment? {
        guard let running, let wanted else { return nil }
        return min(running, wanted)
    }

    mutating func reserve(_ camera: CameraID, _ app: AppID, _ turn: inout Turn) {
        guard state.cameras[camera] != nil else { return }
        state.cameras[camera]?.reservation = Camera.Reservation(app: app, until: state.now + Bound.reservation)
        turn.cameras.insert(camera)
    }
}
