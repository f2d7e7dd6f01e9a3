import Vocabulary

/// The format of a shared camera, and each session's picture of it (semantics.md §6, "Wishes" and "Pictures").
extension Arbiter {
    // MARK: The camera's format

    /// The format and the rate that serve another session's wish better than the holder's own does; empty: none does. A
    /// wish is not served at the holder's expense: where it costs more, or takes one of the holder's other values away.
    func servedWish(of holder: Slot<Session>) -> Configuration {
        let camera = state.sessions[holder].camera
        let (contention, check) = (state.policy.contention, check(camera))
        let wanted = state.sessionSettings[holder].wanted
        guard state.policy.shares, contention.serve != .holder, let own = check.formatAndRate(wanted) else {
            return Configuration()
        }
        let costs = state.policy.costsByFormat(state.cameras[camera].place)
        func suits(_ format: CameraFormat, _ rate: Double) -> Bool {
            if let costs, costs.of(format, at: rate) > costs.of(own.format, at: own.frameRate) { return false }
            return check.keepsValues(of: wanted, in: .serving(format, rate))
        }
        var (best, rates) = (own, [own.frameRate])
        for other in state.requests(on: camera) where other != holder && state.sessions[other].shown.isRunning {
            let wanted = state.sessionSettings[other].wanted
            guard wanted.statesWish, let wish = check.formatAndRate(wanted), suits(wish.format, wish.frameRate) else {
                continue
            }
            let (pixels, most) = (wish.format.width * wish.format.height, best.format.width * best.format.height)
            let isBetter =
                contention.serve == .largest
                ? (pixels, wish.frameRate) > (most, best.frameRate) : (wish.frameRate, pixels) > (best.frameRate, most)
            if isBetter { best = wish }
            rates.append(wish.frameRate)
        }
        let faster = rates.map { min($0, best.format.maxFrameRate) }.filter { $0 > best.frameRate }.sorted(by: >)
        let rate = faster.first { suits(best.format, $0) } ?? best.frameRate
        return best.format == own.format && rate <= own.frameRate ? Configuration() : .serving(best.format, rate)
    }

    /// Whether a camera keeps its format and rate for a recording, whatever its holder wants. A holder that alone records
    /// changes its rate as on a camera of its own, unless another session's wish is served with the present one.
    /// - Parameter takesOver: another session's format is in force until now.
    func keepsFormat(of holder: Slot<Session>, takesOver: Bool) -> Bool {
        let camera = state.sessions[holder].camera
        guard recorder(on: camera) != nil else { return false }
        return takesOver || state.cameraSettings[camera].served != nil || recorder(on: camera, but: holder) != nil
            || !servedWish(of: holder).isEmpty
    }

    /// The format keys that take the place of the holder's own in its next order: those of a wish that is served, or the
    /// present ones while a session records.
    mutating func servedFormat(
        for holder: Slot<Session>, over present: Configuration, takesOver: Bool
    ) -> Configuration {
        let camera = state.sessions[holder].camera
        guard state.policy.shares else { return Configuration() }
        var served = state.cameraSettings[camera].served ?? Configuration()
        if recorder(on: camera) == nil {
            served = servedWish(of: holder)
        } else if keepsFormat(of: holder, takesOver: takesOver) {
            let isInForce = ownFormat(of: holder, over: present).changes(since: present).isEmpty
            served = isInForce ? Configuration() : present.formatAndRate
        }
        state.cameraSettings[camera].served = served.isEmpty ? nil : served
        return served
    }

    /// A holder's batch with the format keys that it needs now: a wish is no longer served where the batch leaves no room
    /// for it.
    mutating func orderedBatch(_ asked: Configuration, of holder: Slot<Session>) -> Configuration {
        let camera = state.sessions[holder].camera
        guard state.policy.shares else { return asked }
        let before = state.cameraSettings[camera].served
        if state.policy.contention.serve != .holder { touch(holder) }
        guard asked.ordered.contains(where: \.key.isWish) || !keepsServed(before, of: holder) else { return asked }
        let soon = soonInForce(on: camera)
        let served = servedFormat(for: holder, over: soon, takesOver: false)
        let namesFormat = asked[.activeFormat] != nil || asked[.sessionPreset] != nil
        if served.isEmpty, before == nil || namesFormat { return asked }
        var ordered = asked.keeping { !$0.isWish }
        if served.isEmpty {
            ordered.merge(ownFormat(of: holder, over: soon))
        } else if !served.changes(since: soon).isEmpty {
            ordered.merge(served)
        }
        return ordered
    }

    private func keepsServed(_ served: Configuration?, of holder: Slot<Session>) -> Bool {
        guard let served else { return true }
        return check(state.sessions[holder].camera).keepsValues(of: state.sessionSettings[holder].wanted, in: served)
    }

    /// Empty: a camera that was plugged in over itself lacks the holder's format.
    private func ownFormat(of holder: Slot<Session>, over present: Configuration) -> Configuration {
        let camera = state.sessions[holder].camera
        if isImpossible(holder, on: camera) { return Configuration() }
        let fitted = fittedConfiguration(of: holder, on: camera).ofTheCamera
        return check(camera).batch(setting: fitted, over: present).keeping(\.isWish)
    }

    /// Orders the format to which the wishes on a camera lead, unless it has to wait, and gives each session its picture.
    mutating func serveWishes(on camera: Slot<Camera>) {
        guard case .streaming(let held) = state.cameras[camera].tenancy else { return }
        if let format = takeNewFormat(of: held.session) { order(format, asked: format, of: held.session, by: .sharer) }
        var place = state.cameras[camera].firstRequest
        while let session = place {
            place = state.sessions[session].nextOnCamera
            // An order that is under way has an answer, and all sessions hear that.
            guard state.sessions[session].shown.isRunning, setPicture(of: session),
                state.cameraSettings[camera].asked.isEmpty
            else { continue }
            tellConfigured(session, asked: Configuration(), state.cameraSettings[camera].inForce, .sharer)
        }
    }

    /// A running sharer states another wish: the answer comes with the camera's other format, or at once.
    mutating func serve(_ wish: Configuration, of sharer: Slot<Session>) {
        let camera = state.sessions[sharer].camera
        guard let holder = state.cameras[camera].tenancy.holder else { return }
        state.sessionSettings[sharer].confirmed = state.sessionSettings[sharer].wanted
        let format = takeNewFormat(of: holder)
        if let format { order(format, asked: wish, of: sharer, by: .client) }
        _ = setPicture(of: sharer)
        if format == nil { tellConfigured(sharer, asked: wish, state.cameraSettings[camera].inForce, .client) }
    }

    private mutating func takeNewFormat(of holder: Slot<Session>) -> Configuration? {
        let camera = state.sessions[holder].camera
        if state.policy.contention.serve == .holder, state.cameraSettings[camera].served == nil { return nil }
        let goal = servedWish(of: holder)
        guard goal != state.cameraSettings[camera].served ?? Configuration(), mayChangeFormat(of: camera) else {
            return nil
        }
        let soon = soonInForce(on: camera)
        var format = goal.isEmpty ? ownFormat(of: holder, over: soon) : goal
        if format.isEmpty { return nil }
        let wanted = state.sessionSettings[holder].wanted
        format.merge(check(camera).gained(of: wanted, in: format, after: soon.formatAndRate))
        state.cameraSettings[camera].served = goal.isEmpty ? nil : goal
        state.timers.append(TimedFact(kind: .formatKept, due: state.now + Bound.formatKept, camera: camera))
        return format
    }

    func mayChangeFormat(of camera: Slot<Camera>) -> Bool {
        recorder(on: camera) == nil && !state.timers.contains { $0.kind == .formatKept && $0.camera == camera }
    }

    /// The session that records on a camera, of several the oldest.
    func recorder(on camera: Slot<Camera>, but session: Slot<Session>? = nil) -> Slot<Session>? {
        state.requests(on: camera).first { $0 != session && state.sessions[$0].has.contains(.recording) }
    }

    // MARK: A session's picture

    /// Orders the picture for the format that the camera has next: the recorder core takes both between two frames.
    /// - Returns: whether the session has another picture from now on.
    mutating func setPicture(of slot: Slot<Session>) -> Bool {
        // Most sessions state no wish, and every round asks.
        if state.sessionSettings[slot].picture == nil, !state.sessionSettings[slot].wanted.statesWish { return false }
        let picture = picture(of: slot, in: soonInForce(on: state.sessions[slot].camera))
        guard picture != state.sessionSettings[slot].picture ?? Configuration() else { return false }
        state.sessionSettings[slot].picture = picture.isEmpty ? nil : picture
        order(for: slot) { .setPicture($0, $1, $2, picture) }
        return true
    }

    /// Empty: the camera's own.
    func picture(of slot: Slot<Session>, in inForce: Configuration) -> Configuration {
        let (check, wanted) = (check(state.sessions[slot].camera), state.sessionSettings[slot].wanted)
        guard state.policy.shares, wanted.statesWish, let wish = check.formatAndRate(wanted),
            inForce[.activeFormat] != nil, let present = check.format(inForce[.activeFormat])
        else { return Configuration() }
        // A format that is under way begins with a rate of its own.
        let most = if case .number(let rate)? = inForce[.frameRate] { rate } else { present.maxFrameRate }
        let statesFormat = wanted[.activeFormat] != nil || wanted[.sessionPreset] != nil
        let fits = statesFormat && wish.format.width <= present.width && wish.format.height <= present.height
        let (format, rate) = (fits ? wish.format : present, min(wish.frameRate, most))
        if format == present, rate == most { return Configuration() }
        return .serving(format, rate)
    }

    /// The configuration in force for one session: the camera's, with the format and the rate of its picture, and with its
    /// own preset where that has chosen this format.
    func view(of inForce: Configuration, for slot: Slot<Session>) -> Configuration {
        guard state.policy.shares, let format = inForce[.activeFormat] else { return inForce }
        let (picture, wanted) = (state.sessionSettings[slot].picture, state.sessionSettings[slot].wanted)
        if picture == nil, wanted[.sessionPreset] == nil { return inForce }
        var view = inForce
        if let picture { view.merge(picture) }
        let chosen = check(state.sessions[slot].camera).choice(wanted)?.format.name
        let isOwn = chosen.map { .text($0) == picture?[.activeFormat] ?? format } ?? false
        let preset = isOwn ? wanted[.sessionPreset] : nil
        view[.sessionPreset] = preset ?? .text(SessionPreset.inputPriority.rawValue)
        guard case .number(let rate)? = picture?[.frameRate] else { return view }
        for key in [ConfigurationKey.activeVideoMinFrameDuration, .activeVideoMaxFrameDuration] {
            view[key] = .number(1 / rate)
        }
        return view
    }

    /// A session that leaves the camera while the grant goes on has the camera's own picture when it comes back.
    mutating func forgetPicture(of slot: Slot<Session>) {
        guard state.sessionSettings[slot].picture != nil else { return }
        state.sessionSettings[slot].picture = nil
        order(for: slot) { .setPicture($0, $1, $2, Configuration()) }
    }
}
