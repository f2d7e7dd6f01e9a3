import Vocabulary

/// The user's world, as shells, agents, operators and logind tell of it.
extension Arbiter {
    mutating func microphone(_ id: AppID, _ taken: Bool) {
        guard taken || state.appNames[id] != nil else { return }
        let app = state.row(of: id)
        guard state.apps[app].hasMicrophone != taken else { return state.release(app) }
        state.apps[app].hasMicrophone = taken
        if taken {
            let place = state.microphones.firstIndex { state.appNames[$0] > id } ?? state.microphones.count
            state.microphones.insert(app, at: place)
        } else {
            state.microphones.removeAll { $0 == app }
            state.release(app)
        }
        // A rule may read the microphone of a session that does not use it.
        touchAll()
    }

    /// Stands for each of the app's sessions until its client continues.
    mutating func raiseSensitiveContent(_ id: AppID) {
        guard let app = state.appNames[id] else { return }
        for isClaimed in [false, true] {
            let ref = state.ref(app, isClaimed: isClaimed)
            guard state.isReached(ref) else { continue }
            for client in state.clients(of: ref) {
                for session in state.sessions(of: client) {
                    state.sessions[session].has.insert(.sensitiveContent)
                    touch(session)
                }
            }
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

    /// - Parameter facts: nil: it has ended.
    mutating func loginSession(_ id: LoginSessionID, _ facts: LoginSessionFacts?) {
        guard facts != nil || state.loginNames[id] != nil else { return }
        let login = state.row(of: id)
        state.logins[login].isKnown = facts != nil
        state.logins[login].isActive = facts?.isActive ?? false
        state.logins[login].isLocked = facts?.isLocked ?? false
        state.logins[login].seat = facts?.seat.map { state.place(of: $0) } ?? -1
        state.logins[login].user = facts?.user ?? LoginSessionFacts.userUnknown
        state.release(login)
        state.updateRights()
        state.updateAllInFront()
        touchAll()
    }
}

/// The machine: cameras that come and go, switches, heat, sleep.
extension Arbiter {
    mutating func handleMachine(_ event: Event) {
        switch event {
        case .cameraAppeared(let camera, let capabilities, let seat): appear(camera, capabilities, at: seat)
        case .cameraDisappeared(let camera): disappear(camera)
        case .privacy(let camera, let on): privacy(camera, on)
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

    private mutating func privacy(_ camera: CameraID?, _ on: Bool) {
        guard let camera else {
            state.world.isPrivate = on
            return touchAll()
        }
        guard let slot = state.cameraNames[camera] else {
            return notes.refuse(.unknownCamera, unknownCamera(camera), .knownSwitch)
        }
        state.cameras[slot].isPrivate = on
        notes.touch(slot)
    }

    /// A higher level counts at once; a lower one only when it has lasted (`pressure-settle`), each by itself:
    /// a rule for `serious` must not see pressure fall below it because `critical` ended a while ago.
    private mutating func pressure(_ level: SystemPressure) {
        let raw = Int64(level.rawValue)
        if level >= state.world.pressure {
            state.timers.removeAll { $0.kind == .falling }
            state.world.pressure = level
            return touchAll()
        }
        // Timers of levels up to this one end. Pressure has been this low since the first of them began, so its due counts.
        let since = state.timers.first { $0.kind == .falling && $0.amount <= raw }
        state.timers.removeAll { $0.kind == .falling && $0.amount <= raw }
        let due = since?.due ?? state.now + policy.pressureSettle
        state.timers.append(TimedFact(.falling, until: due, amount: raw))
    }

    private mutating func appear(_ id: CameraID, _ capabilities: CameraCapabilities, at seat: SeatID) {
        let seat = state.place(of: seat)
        if let slot = state.cameraNames[id] {
            state.cameras[slot].seat = seat
            state.cameraSettings[slot].capabilities = capabilities
            state.cameras[slot].isPresent = true
            state.cameras[slot].faults = 0
            state.timers.removeAll { $0.kind == .backoff && $0.camera == slot }
            state.identify(slot)
            notes.touch(slot)
        } else {
            let slot = state.cameras.insert(Camera())
            state.cameras[slot].seat = seat
            state.cameraNames.set(id, for: slot)
            state.cameraSettings.append(CameraSettings(capabilities: capabilities))
            let place = state.cameraOrder.firstIndex { state.cameraNames[$0] > id } ?? state.cameraOrder.count
            state.cameraOrder.insert(slot, at: place)
            state.identify(slot)
        }
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
    /// What a camera is to the policy in force.
    mutating func identify(_ slot: Slot<Camera>) {
        let id = cameraNames[slot]
        cameras[slot].place = policy.names.place(of: id)
        cameras[slot].who = policy.names.who(camera: id)
        cameras[slot].position = UInt8(cameraSettings[slot].capabilities.position.code)
    }
}
