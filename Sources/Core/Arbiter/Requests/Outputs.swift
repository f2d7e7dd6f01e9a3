import Vocabulary

extension Arbiter {
    /// Refuses an output that needs access which the session does not have now, with a sentence about the missing
    /// access.
    func demand(_ right: Access, of slot: Slot<Session>, to verb: String, _ law: Law) throws(Refusal) {
        switch state.sessions[slot].shown {
        case .running(let access) where access.isSuperset(of: right): break
        case .running(let access):
            throw mayNot(verb, right, of: slot, " It may \(access.names.joined(separator: ", ")).")
        case .interrupted(let causes, _): throw .interrupted(causes.reason, verb, law)
        case .stopped, .pending: throw .notRunning(verb, law)
        }
    }

    func mayNot(_ verb: String, _ right: Access, of slot: Slot<Session>, _ rest: String = "") -> Refusal {
        let limit = limit(on: right, of: slot)
        return Refusal(
            .accessDenied, "This session may not \(verb) now: \(limit.sentence).\(rest)", rule: text(limit.rule))
    }

    /// The rule that takes a right from a running session, with a sentence for its client.
    private func limit(on right: Access, of slot: Slot<Session>) -> (rule: Rule, sentence: String) {
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

    mutating func openStream(_ slot: Slot<Session>) throws(Refusal) {
        try demand(.preview, of: slot, to: "preview", .runningToPreview)
        state.sessions[slot].has.insert(.previews)
        order(for: slot) { .openStream($0, $1, $2) }
    }

    mutating func capturePhoto(_ slot: Slot<Session>) throws(Refusal) {
        try demand(.photo, of: slot, to: "photo", .runningToPhoto)
        let photo = beginPhoto(slot)
        order(for: slot) { .capturePhoto($0, $1, $2, photo) }
        notes.effects.append(.answered(photo))
    }

    /// All of its photos or none.
    mutating func capturePhotoBracket(_ slot: Slot<Session>, _ bracket: PhotoBracket) throws(Refusal) {
        try demand(.photo, of: slot, to: "photo", .runningToPhoto)
        if let problem = check(state.sessions[slot].camera).problem(of: bracket, in: configuration(of: slot)) {
            throw .wrongBracket(problem)
        }
        let first = beginPhoto(slot)
        for _ in bracket.shots.dropFirst() { _ = beginPhoto(slot) }
        order(for: slot) { .capturePhotoBracket($0, $1, $2, first: first, bracket) }
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
