import Vocabulary

/// Costs of formats, where a policy tells them apart.
extension State {
    /// The cost of a session's camera while the session has it: by the wanted format and rate.
    package func cost(of slot: Slot<Session>) -> Int { cost(of: slot, wanting: sessionSettings[slot].wanted) }

    fileprivate func cost(of slot: Slot<Session>, wanting wanted: Configuration) -> Int {
        let camera = sessions[slot].camera
        let place = cameras[camera].place
        guard let costs = policy.costsByFormat(place) else { return policy.cost(place) }
        // A camera that lacks the format stops the session before it has the camera.
        let check = ConfigurationCheck(capabilities: cameraSettings[camera].capabilities)
        guard let (format, rate) = check.formatAndRate(wanted) else { return costs.dearest }
        return costs.of(format, at: rate)
    }

    /// A survivor, and a camera under its cut, count with their dearest format, because their format is not known.
    package func costInUse(of slot: Slot<Camera>) -> Int {
        let camera = cameras[slot]
        if let held = camera.tenancy.held { return cost(of: held.session) }
        if camera.tenancy == .free { return camera.promise.map { cost(of: $0.session) } ?? 0 }
        return policy.cost(camera.place)
    }
}

extension Arbiter {
    /// Refuses a batch that costs too much: nobody is cut for a configuration. A waiting session is weighed again with
    /// its new cost.
    /// - Parameter takesControl: the session becomes the holder, and its camera counts with its wish.
    mutating func demandRoom(
        for batch: Configuration, of slot: Slot<Session>, takesControl: Bool
    ) throws(Refusal) {
        guard let budget = state.policy.budget, state.policy.weighsFormats, state.sessions[slot].request != nil else {
            return
        }
        let own = state.sessions[slot].camera
        let before = takesControl ? state.costInUse(of: own) : state.cost(of: slot)
        let wanted = check(own).merged(batch.wish, into: state.sessionSettings[slot].wanted)
        let after = state.cost(of: slot, wanting: wanted)
        if after == before { return }
        let (tenancy, promise) = (state.cameras[own].tenancy, state.cameras[own].promise)
        let counts =
            tenancy.isCapturing && tenancy.holder == slot || promise.map { $0.session == slot && !$0.isDormant } == true
        // Another bid may fit now, or the session itself.
        guard takesControl || counts, after > before else { return touch(slot) }
        let others = state.cameraOrder.reduce(0) { sum, other in
            other == own || state.cameras[other].tenancy.isLost || state.cameras[other].isStuck
                ? sum : sum + state.costInUse(of: other)
        }
        if others + after <= budget { return }
        guard mayExceed(slot) else { throw .costs(after, left: max(0, budget - others), of: budget) }
        state.set(.exceeds, true, of: slot)
        touch(slot)
    }

    /// The budget does not bind the strongest app, where the policy allows that.
    private func mayExceed(_ slot: Slot<Session>) -> Bool {
        guard state.policy.contention.strongestMayExceed else { return false }
        let own = state.look(at: slot)
        return state.cameraOrder.allSatisfy { camera in
            // The session is the holder of its own camera, or becomes it.
            if camera == own.camera { return true }
            guard let session = state.cameras[camera].tenancy.holder ?? state.cameras[camera].promise?.session else {
                return true
            }
            let look = state.look(at: session)
            return look.app == own.app
                || state.policy.compare((own.strength, own.rank.rule), (look.strength, look.rank.rule)).isWon
        }
    }
}
