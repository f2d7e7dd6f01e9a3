import Vocabulary

extension Arbiter {
    /// Decides again whatever the step touched, until nothing changes any more.
    ///
    /// A round can take start requests away (an eviction, a configuration that a returned camera cannot
    /// do) or free a camera without a cut (one whose recorder was lost), and what becomes free is given
    /// out in the next. Neither can happen twice to one of them in a step, so their numbers are the bound.
    mutating func settle(_ turn: inout Turn) {
        var rounds = 2 * (state.requesting.count + state.cameraOrder.count) + 4
        while !turn.cameras.isEmpty || !turn.sessions.isEmpty {
            precondition(rounds > 0, "settling did not come to an end")
            rounds -= 1
            let cameras = linked(to: turn.cameras.takeAll())
            for camera in cameras { turn.sessions.formUnion(requests(on: camera)) }
            let allocation = allocate(cameras, turn)
            if stopImpossible(allocation, &turn) {
                // Nobody is told what the next round takes back.
                turn.cameras.formUnion(cameras)
                continue
            }
            let sessions = turn.sessions.takeAll()
            for camera in cameras where state.cameras.read(camera, { $0.promise }) != allocation.promises[camera] {
                state.cameras[camera]?.promise = allocation.promises[camera]
            }
            carryOut(allocation, sessions, &turn)
            checkTouched(cameras)
        }
    }

    /// The cameras on which a decision depends together: those that conflict, or share a budget.
    private func linked(to touched: [CameraID]) -> [CameraID] {
        guard state.policy.linksCameras, !touched.isEmpty else { return touched }
        if state.policy.contention.budget != nil { return state.cameraOrder }
        var component = touched
        var grew = true
        while grew {
            grew = false
            for camera in state.cameraOrder where !component.contains(camera) {
                if component.contains(where: { state.policy.conflict($0, camera) }) {
                    component.append(camera)
                    grew = true
                }
            }
        }
        return component.sorted()
    }

    /// Orders first, then what the losers hear, then everybody else, then the openings: cut first, tell second.
    private mutating func carryOut(_ allocation: Allocation, _ sessions: [SessionID], _ turn: inout Turn) {
        for camera in allocation.abandoned { abandon(camera, &turn) }
        for removal in allocation.removals {
            // A camera that is shared goes on for its next holder, and for the last one too if that may still watch.
            let goesOn = allocation.grants.keys.contains { allocation.claims[$0]?.camera == removal.camera }
            leave(
                removal.camera, why: .interrupted, goesOn: goesOn,
                keepsWatching: allocation.sharers.contains(removal.session), &turn)
        }
        for evicted in allocation.evictions {
            coolDown(evicted.session, on: evicted.camera)
            stopForGood(evicted.session, .evicted, rule: evicted.rule, cutWhy: .interrupted, &turn)
        }
        // The app keeps its place: nothing cools down.
        for replaced in allocation.replaced {
            stopForGood(replaced.session, .evicted, rule: replaced.rule, cutWhy: .interrupted, &turn)
        }
        for (camera, contest) in allocation.contests { apply(contest, on: camera, &turn) }
        for loser in allocation.removals { present(loser.session, allocation, &turn) }
        let others = sessions.filter { session in
            allocation.grants[session] == nil && !allocation.removals.contains { $0.session == session }
        }
        for session in others where !allocation.sharers.contains(session) { present(session, allocation, &turn) }
        for session in allocation.grants.keys.sorted() {
            guard let rule = allocation.grants[session] else { continue }
            grant(session, rule, allocation, &turn)
        }
        // Who watches has something to watch only now.
        for session in others where allocation.sharers.contains(session) { present(session, allocation, &turn) }
    }

    /// The camera's present holder leaves it. A stream is ordered cut, or only its own streams are closed where the
    /// camera goes on for who shares it; a recorder that was lost has none.
    mutating func leave(
        _ id: CameraID, why: RecordingEnd, goesOn: Bool, keepsWatching: Bool = false, _ turn: inout Turn
    ) {
        guard let tenancy = state.cameras[id]?.tenancy, let held = tenancy.held else { return }
        if let lease = held.leaseUntil { state.sessions[held.session]?.request?.leaseLeft = lease - state.now }
        if goesOn, canPassInPlace(id) {
            vacate(id, held, why: why, keepsWatching: keepsWatching, &turn)
            return
        }
        if tenancy.isCapturing {
            cut(id, why: why, &turn)
        } else {
            state.cameras[id]?.tenancy = tenancy.cut.map { .revoking($0) } ?? .free
        }
        turn.effects.append(.announce(.holderChanged(id, nil)))
        turn.cameras.insert(id)
    }

    /// A camera that went on for a next holder, and nobody came.
    private mutating func abandon(_ id: CameraID, _ turn: inout Turn) {
        cut(id, why: .stopped, &turn)
        turn.effects.append(.announce(.holderChanged(id, nil)))
        turn.cameras.insert(id)
    }

    private mutating func cut(_ id: CameraID, why: RecordingEnd, _ turn: inout Turn) {
        guard let grant = ledger.grants[id] else { preconditionFailure("a camera that captures has a grant") }
        turn.effects.append(.cut(id, grant, why: why))
        ledger.handovers[id] = lastDecision
        state.cameras[id]?.closing = []
        state.cameras[id]?.tenancy = .revoking(Cut(until: state.now + Bound.cut))
    }

    /// Stops the sessions that won a camera which came back without the format they need, before anybody is cut for them.
    private mutating func stopImpossible(_ allocation: Allocation, _ turn: inout Turn) -> Bool {
        if allocation.grants.isEmpty, allocation.promises.isEmpty { return false }
        let winners = Array(allocation.grants.keys) + allocation.promises.values.map(\.session)
        let impossible = winners.sorted().filter { id in
            guard let session = state.sessions[id], let camera = state.cameras[session.camera] else { return false }
            return ConfigurationCheck(capabilities: camera.capabilities).nearest(session.configuration) == nil
        }
        for id in impossible {
            stopForGood(
                id, .configurationLost, rule: "built in: the camera lost the format the session needs",
                cutWhy: .interrupted, &turn)
        }
        return !impossible.isEmpty
    }

    /// Gives a free camera to a session: its interruption ends, and the recorder is told to open.
    private mutating func grant(_ id: SessionID, _ rule: String, _ allocation: Allocation, _ turn: inout Turn) {
        guard let session = state.sessions[id], let camera = state.cameras[session.camera],
            let fitted = ConfigurationCheck(capabilities: camera.capabilities).nearest(session.configuration)
        else { preconditionFailure("what cannot be configured was stopped before it is granted") }
        let held: Held
        var endsInterruption = true
        if case .resetting(let kept, let cause, _) = camera.tenancy, kept.session == id {
            // It never lost its place: ordinal, min-hold and lease go on.
            held = kept
            // A device error lasts until the device streams, a lost recorder until there is another.
            endsInterruption = cause != .deviceError
        } else {
            let rank = rankRule(of: id)
            held = Held(
                session: id, granted: state.nextOrdinal(), since: state.now,
                minHoldUntil: rank.minHold > .zero ? state.now + rank.minHold : nil,
                leaseUntil: rank.lease.map { state.now + min($0, session.request?.leaseLeft ?? $0) }, rule: rule)
        }
        ledger.handovers[session.camera] = lastDecision
        state.sessions[id]?.isReestablished = false
        state.sessions[id]?.confirmed = session.configuration
        state.sessions[id]?.waits = nil
        if camera.tenancy.isCapturing {
            precondition(camera.tenancy.held?.isVacant == true, "\(session.camera.name) is granted while it is held")
            let inForce = camera.tenancy.held?.inForce ?? Configuration()
            state.cameras[session.camera]?.tenancy.update {
                $0 = held
                $0.inForce = inForce
            }
            takeOver(id, fitted, &turn)
        } else {
            ledger.grant += 1
            let grant = GrantID(ledger.grant)
            ledger.grants[session.camera] = grant
            state.cameras[session.camera]?.tenancy = .starting(held)
            if endsInterruption {
                endInterruption(id, willResume: true, &turn)
                state.sessions[id]?.shown = .pending
            }
            turn.effects.append(.open(session.camera, grant, id, fitted))
        }
        turn.effects.append(.announce(.holderChanged(session.camera, session.app)))
        turn.verdicts.append(
            Verdict(
                session: id, outcome: .granted, rule: rule, facts: allocation.claims[id]?.facts,
                standing: allocation.claims[id]?.standing, opponents: allocation.others(on: session.camera)))
    }

    /// Cheap enough for release builds: what this step touched still makes sense.
    private func checkTouched(_ cameras: [CameraID]) {
        for (index, id) in cameras.enumerated() {
            // One that is vacant is looked at in the next round.
            let holder = state.cameras.read(id) { camera in
                camera.tenancy.held.flatMap { $0.isVacant ? nil : $0.session }
            }
            guard let holder else { continue }
            precondition(
                state.sessions.read(holder, { $0.camera == id && $0.request != nil }) == true,
                "camera \(id.name) is held by a session that does not ask for it")
            for other in cameras[(index + 1)...] where state.cameras[other]?.tenancy.held != nil {
                precondition(
                    !state.policy.conflict(id, other), "\(id.name) and \(other.name) conflict, and both are held")
            }
        }
    }
}
