import Vocabulary

/// What formats cost, where a policy tells them apart.
extension State {
    /// What a session's camera costs while the session has it: by the format, and the rate, that it asked for last.
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

    /// What a camera counts as it is: that of a survivor, and one that is being cut, count with their dearest format,
    /// because nobody says theirs.
    package func costInUse(of slot: Slot<Camera>) -> Int {
        let camera = cameras[slot]
        if let held = camera.tenancy.held { return cost(of: held.session) }
        if camera.tenancy == .free { return camera.promise.map { cost(of: $0.session) } ?? 0 }
        return policy.cost(camera.place)
    }
}

extension Arbiter {
    /// Whether the budget has room for a batch of a session that has its camera, or has won it: nobody is cut for a
    /// configuration, so one that costs too much is refused. A session that waits is weighed again with what it asks for.
    mutating func hasRoom(for batch: Configuration, of slot: Slot<Session>) -> Bool {
        guard let budget = state.policy.budget, state.policy.weighsFormats, state.sessions[slot].request != nil else {
            return true
        }
        let camera = state.sessions[slot].camera
        let before = state.cost(of: slot)
        var wanted = batch
        wanted[.camera] = nil
        wanted[.whenBusy] = nil
        let after = state.cost(
            of: slot, wanting: check(camera).merged(wanted, into: state.sessionSettings[slot].wanted))
        guard after != before else { return true }
        let counts =
            state.cameras[camera].tenancy.isCapturing && state.cameras[camera].tenancy.holder == slot
            || state.cameras[camera].promise.map { $0.session == slot && !$0.isDormant } == true
        guard counts, after > before else {
            // Somebody may fit now who did not before, or the session itself.
            touch(slot)
            return true
        }
        let others = state.cameraOrder.reduce(0) { sum, other in
            other == camera || state.cameras[other].tenancy.isLost || state.cameras[other].isStuck
                ? sum : sum + state.costInUse(of: other)
        }
        if others + after <= budget { return true }
        if mayExceed(slot) {
            state.set(.exceeds, true, of: slot)
            touch(slot)
            return true
        }
        notes.refuse(
            .unsupportedConfiguration,
            "This configuration costs \(after), and \(max(0, budget - others)) of the policy's budget of \(budget) is left beside the other cameras in use; configure a format or a frame rate that costs less.",
            .budget)
        return false
    }

    /// The budget does not bind the strongest app, where the policy says so.
    private func mayExceed(_ slot: Slot<Session>) -> Bool {
        guard state.policy.contention.strongestMayExceed else { return false }
        let own = state.look(at: slot)
        return state.cameraOrder.allSatisfy { camera in
            guard let session = state.cameras[camera].tenancy.holder ?? state.cameras[camera].promise?.session else {
                return true
            }
            let look = state.look(at: session)
            return look.app == own.app
                || state.policy.compare((own.strength, own.rank.rule), (look.strength, look.rank.rule)).isWon
        }
    }
}
