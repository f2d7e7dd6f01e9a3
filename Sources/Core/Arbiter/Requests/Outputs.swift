import Vocabulary

extension Arbiter {
    /// Whether a session may do something that needs the camera; a refusal that says what is missing otherwise.
    mutating func mayUse(_ slot: Slot<Session>, needs right: Access, _ verb: String, _ law: Law) -> Bool {
        switch state.sessions[slot].shown {
        case .running(let access) where access.isSuperset(of: right): return true
        case .running(let access):
            let limit = limit(on: right, of: slot)
            let allowed = access.names.joined(separator: ", ")
            notes.refuse(
                .accessDenied, "This session may not \(verb) now: \(limit.sentence). It may \(allowed).",
                rule: text(limit.rule))
        case .interrupted(let causes, _):
            notes.refuse(
                .interrupted,
                "The session is interrupted (\(causes.reason?.wireName ?? "")); it can \(verb) when it runs again.", law
            )
        case .stopped, .pending:
            notes.refuse(.notRunning, "The session is not running yet; \(verb) after DidStartRunning.", law)
        }
        return false
    }

    /// The rule that takes a right from a session that runs, and what to say about it.
    func limit(on right: Access, of slot: Slot<Session>) -> (rule: Rule, sentence: String) {
        let look = state.look(at: slot)
        if let limit = look.limits.all(state.policy).first(where: { !$0.access.isSuperset(of: right) }) {
            // The published wording of the rule for a picker that is not in full screen, as iOS words it.
            if right == .record, limit.cause == .videoDeviceNotAvailableWithMultipleForegroundApps {
                return (limit.rule, "it must be full screen to record video")
            }
            return (limit.rule, limit.cause.wireName)
        }
        if let waits = state.sessions[slot].waits {
            return (waits.rule, Cause.videoDeviceInUseByAnotherClient.wireName)
        }
        return look.watches
            ? (.law(.askedToWatch), "its sharingMode is sharedReadOnly")
            : (.law(.notGiven), "the policy does not give it")
    }

    mutating func openStream(_ slot: Slot<Session>) {
        guard mayUse(slot, needs: .preview, "preview", .runningToPreview) else { return }
        let camera = state.sessions[slot].camera
        state.sessions[slot].has.insert(.previews)
        notes.effects.append(.openStream(state.cameraNames[camera], state.cameras[camera].grant, state.id(slot)))
    }

    mutating func capturePhoto(_ slot: Slot<Session>) {
        guard mayUse(slot, needs: .photo, "photo", .runningToPhoto) else { return }
        let camera = state.sessions[slot].camera
        let photo = beginPhoto(slot)
        notes.effects.append(
            .capturePhoto(state.cameraNames[camera], state.cameras[camera].grant, state.id(slot), photo))
        notes.effects.append(.answered(photo))
    }

    /// All of its photos or none.
    mutating func capturePhotoBracket(_ slot: Slot<Session>, _ bracket: PhotoBracket) {
        guard mayUse(slot, needs: .photo, "photo", .runningToPhoto) else { return }
        let camera = state.sessions[slot].camera
        if let problem = check(camera).problem(of: bracket, in: configuration(of: slot)) {
            return notes.refuse(.invalidValue, problem, .batchIsWhole)
        }
        let first = beginPhoto(slot)
        for _ in bracket.shots.dropFirst() { _ = beginPhoto(slot) }
        notes.effects.append(
            .capturePhotoBracket(
                state.cameraNames[camera], state.cameras[camera].grant, state.id(slot), first: first, bracket))
        notes.effects.append(.answered(first))
    }

    private mutating func beginPhoto(_ slot: Slot<Session>) -> PhotoID {
        state.ledger.photo += 1
        state.ledger.photos.append(Ledger.Photo(id: state.ledger.photo, session: state.sessions[slot].id))
        return state.ledger.photo
    }

    mutating func photoCaptured(_ photo: PhotoCaptured) {
        guard let place = state.ledger.photos.firstIndex(where: { $0.id == photo.photo }) else { return }
        let owner = state.ledger.photos.remove(at: place).session
        if let slot = state.sessionSlots[owner], !state.sessions[slot].has.contains(.closing) {
            notify(slot, .photoCaptured(photo))
        }
    }
}
