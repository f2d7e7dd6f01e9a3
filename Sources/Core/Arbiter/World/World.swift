import Vocabulary

/// The user's world, as shells, agents, operators and logind report it.
extension Arbiter {
    mutating func microphone(_ id: AppID, _ taken: Bool) {
        guard taken || state.appNames[id] != nil else { return }
        let app = state.row(of: id)
        guard state.apps[app].hasMicrophone != taken else { return state.release(app) }
        state.apps[app].hasMicrophone = taken
        state.microphones.removeAll { $0 == app }
        if taken { state.microphones.insert(app, at: state.microphones.place { state.appNames[$0] < id }) }
        state.release(app)
        // A rule may read the microphone of a session that does not use it.
        touchAll()
    }

    /// The cause stands for each of the app's sessions until its client continues.
    mutating func raiseSensitiveContent(_ id: AppID) {
        guard let app = state.appNames[id] else { return }
        for session in state.both(app).filter({ state.isReached($0) }).flatMap({ state.sessions(of: $0) }) {
            state.sessions[session].has.insert(.sensitiveContent)
            touch(session)
        }
    }

    mutating func operatorChose(_ id: AppID?) {
        let before = state.world.operatorChoice
        let after = id.map { state.row(of: $0) }
        guard before != after else { return }
        state.world.operatorChoice = after
        for app in [before, after].compactMap({ $0 }) {
            touch(app)
            if state.policy.reads.operatorChoice { notePriorities(of: app) }
        }
        if let before { state.release(before) }
    }

    /// - Parameter facts: `nil` for a session that has ended.
    mutating func loginSession(_ id: LoginSessionID, _ facts: LoginSessionFacts?) {
        guard facts != nil || state.loginNames[id] != nil else { return }
        let login = state.row(of: id)
        let seat = facts?.seat.map { state.place(of: $0) } ?? -1
        state.logins[login] = Login(
            isKnown: facts != nil, isActive: facts?.isActive ?? false, isLocked: facts?.isLocked ?? false,
            clients: state.logins[login].clients, seat: seat, user: facts?.user ?? LoginSessionFacts.userUnknown)
        state.release(login)
        state.updateRights()
        state.updateAllInFront()
        touchAll()
    }
}

/// The machine: cameras that come and go, switches, heat, sleep.
extension Arbiter {
    mutating func handleMachine(_ event: Event) throws(Refusal) {
        switch event {
        case .cameraAppeared(let camera, let capabilities, let seat): appear(camera, capabilities, at: seat)
        case .cameraDisappeared(let camera): disappear(camera)
        case .privacy(let camera, let on): try privacy(camera, on)
        case .heldOutside(let camera, let held):
            guard let slot = state.cameraNames[camera] else { return }
            state.cameras[slot].isHeldOutside = held
            notes.touch(slot)
        case .pressure(let level): pressure(level)
        case .calendar(let name): calendar(name)
        case .sleep(let asleep):
            state.world.isAsleep = asleep
            touchAll()
        default: break
        }
    }

    private mutating func privacy(_ camera: CameraID?, _ on: Bool) throws(Refusal) {
        guard let camera else {
            state.world.isPrivate = on
            return touchAll()
        }
        guard let slot = state.cameraNames[camera] else {
            throw .unknownCamera(camera, among: knownCameras, .knownSwitch)
        }
        state.cameras[slot].isPrivate = on
        notes.touch(slot)
    }

    /// A lower level counts when it has lasted (`pressure-settle`), each by itself: a rule for `serious` must not see
    /// pressure fall below it because `critical` ended a while ago.
    private mutating func pressure(_ level: SystemPressure) {
        let raw = Int64(level.rawValue)
        if level >= state.world.pressure {
            state.timers.removeAll { $0.kind == .falling }
            state.world.pressure = level
            return touchAll()
        }
        // Timers of levels up to this one end. Pressure has been this low since the first of them began, so its due
        // counts.
        let since = state.timers.first { $0.kind == .falling && $0.amount <= raw }
        state.timers.removeAll { $0.kind == .falling && $0.amount <= raw }
        let due = since?.due ?? state.now + policy.pressureSettle
        state.timers.append(TimedFact(kind: .falling, due: due, amount: raw))
    }

    private mutating func appear(_ id: CameraID, _ capabilities: CameraCapabilities, at seat: SeatID) {
        let seat = state.place(of: seat)
        let known = state.cameraNames[id]
        let slot = known ?? state.cameras.insert(Camera())
        if known == nil {
            state.cameraNames.set(id, for: slot)
            state.cameraSettings.put(CameraSettings(capabilities: capabilities), at: slot)
            state.cameraOrder.insert(slot, at: state.cameraOrder.place { state.cameraNames[$0] < id })
        } else {
            state.cameraSettings[slot].capabilities = capabilities
            state.cameras[slot].isPresent = true
            state.cameras[slot].faults = 0
            state.timers.removeAll { $0.kind == .backoff && $0.camera == slot }
            notes.touch(slot)
        }
        state.cameras[slot].seat = seat
        state.identify(slot)
        notes.effects.append(.announce(.camerasChanged))
    }

    private mutating func disappear(_ id: CameraID) {
        guard let slot = state.cameraNames[id], state.cameras[slot].isPresent else { return }
        state.cameras[slot].isPresent = false
        notes.touch(slot)
        notes.effects.append(.announce(.camerasChanged))
    }
}

extension State {
    /// Finds a camera's number under the policy in force.
    mutating func identify(_ slot: Slot<Camera>) {
        let id = cameraNames[slot]
        cameras[slot].place = policy.names.place(of: id)
        cameras[slot].who = policy.names.who(camera: id)
        cameras[slot].position = UInt8(cameraSettings[slot].capabilities.position.code)
    }
}
