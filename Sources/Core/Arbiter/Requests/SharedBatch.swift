import Vocabulary

/// Batches on a shared camera: wishes, and commits that take control.
extension Arbiter {
    /// Whether a batch of a session that may not configure takes control of a shared camera.
    /// - Throws: where the session may only watch, and the batch is more than a wish.
    func takesControl(_ batch: Configuration, _ slot: Slot<Session>) throws(Refusal) -> Bool {
        let look = state.look(at: slot)
        let isSharer = state.sessions[slot].waits?.isSharing == true
        let isRecording = state.sessions[slot].has.contains(.recording)
        if state.policy.shares, batch.isWish {
            if isRecording { throw .wishWhileRecording }
            return false
        }
        guard isSharer, state.policy.contention.sharing == .all, !look.watches,
            look.limits.access.contains(.configure)
        else { throw mayNot("configure", .configure, of: slot) }
        if batch.ordered.contains(where: \.key.isOfTheCameraAlone) { return true }
        if isRecording, batch.statesWish { throw .wishWhileRecording }
        return false
    }

    /// Refuses a batch that would take something from another session's recording on the camera.
    func spareRecordings(
        _ batch: Configuration, after wanted: Configuration, of slot: Slot<Session>, takesControl: Bool
    )
        throws(Refusal)
    {
        let camera = state.sessions[slot].camera
        guard let holder = state.cameras[camera].tenancy.holder, takesControl || holder == slot else { return }
        var other: Slot<Session>?
        if takesControl, !state.policy.contention.sharers.contains(.record),
            state.sessions[holder].has.contains(.recording)
        {
            other = holder
        } else if state.policy.contention.serve == .holder, batch.ordered.contains(where: \.key.isWish),
            changesFormat(wanted, of: camera)
        {
            other = recorder(on: camera, but: slot)
        }
        if let other {
            throw .recordingOfAnother(name(state.app(of: other), for: state.look(at: slot)) ?? .anotherUsersApp)
        }
        // A format that stays has to take the batch's other values.
        guard keepsFormat(of: holder, takesOver: takesControl) else { return }
        let values = batch.wish.ofTheCamera.keeping { !$0.isWish }
        if let problem = check(camera).problem(values, over: soonInForce(on: camera)) { throw .unsupported(problem) }
    }

    private func changesFormat(_ wanted: Configuration, of camera: Slot<Camera>) -> Bool {
        let (check, inForce) = (check(camera), state.cameraSettings[camera].inForce)
        guard let wish = check.formatAndRate(wanted), let present = check.format(inForce[.activeFormat]),
            case .number(let rate)? = inForce[.frameRate]
        else { return true }
        return wish.format != present || abs(wish.frameRate / rate - 1) > ConfigurationCheck.roundingShare
    }

    /// Refuses a wish that says `exact`, and would not be the session's picture.
    func demandExactly(_ batch: Configuration, after wanted: Configuration, of slot: Slot<Session>) throws(Refusal) {
        let camera = state.sessions[slot].camera
        guard batch[.formatMatch] == .text("exact"), state.sessions[slot].waits?.isSharing == true,
            let holder = state.cameras[camera].tenancy.holder, let wish = check(camera).formatAndRate(wanted)
        else { return }
        var after = self
        after.state.sessionSettings[slot].wanted = wanted
        var inForce = state.cameraSettings[camera].inForce
        if mayChangeFormat(of: camera) { inForce.merge(after.servedWish(of: holder)) }
        inForce.merge(after.picture(of: slot, in: inForce))
        let format = check(camera).format(inForce[.activeFormat])
        guard case .number(let rate)? = inForce[.frameRate], let format else { return }
        if format == wish.format, abs(rate / wish.frameRate - 1) <= ConfigurationCheck.roundingShare { return }
        throw .notServed(
            "\(format.pixelFormat) \(format.width)x\(format.height) at \(rate.shortDescription) frames a second")
    }
}

extension Configuration {
    /// A key of a wish is among the configuration's.
    var statesWish: Bool { !isEmpty && ordered.contains(where: \.key.isWish) }

    /// A session's wish, and nothing else.
    var isWish: Bool {
        statesWish && ordered.allSatisfy { $0.key.isWish || $0.key == .formatMatch }
    }
}

extension ConfigurationKey {
    /// Set on the camera, and no part of a wish: a picture of one's own does not serve it.
    var isOfTheCameraAlone: Bool { !isWish && !isOfTheSession && !governsItsBatch }
}
