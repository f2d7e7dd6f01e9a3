import Vocabulary

extension Arbiter {
    /// Decides again all that the step touched, until nothing changes any more. A round that takes a start request or a
    /// recording away leads to another one; each is taken once, so that their numbers bound the rounds.
    /// - Parameter seating: from the step before; its memory is used again.
    mutating func settle(_ seating: inout Seating) {
        var roundsLeft = 4 * (state.sessionSlots.count + state.cameraOrder.count) + 8
        while !notes.cameras.isEmpty, roundsLeft > 0 {
            roundsLeft -= 1
            noteUsersWhoAsk()
            // Taken first: an argument that changes the arbiter has all of it copied for the call.
            let touched = notes.takeCameras()
            let cameras = linked(to: touched)
            seating.begin(state.policy, now: state.now, notes.occasion)
            for camera in state.cameraOrder where cameras.contains(camera) { look(at: camera, &seating) }
            // The next round would take this round's notices back: none is sent.
            var isVoid = false
            // Without leases in the policy no session comes to one; a lease of an earlier policy ends by its deadline.
            for camera in state.cameraOrder where state.policy.longestLease > 0 && cameras.contains(camera) {
                if expireUsedUp(on: camera) { isVoid = true }
            }
            if !isVoid {
                seating.decide()
                if refuseStarter(seating) { return }
                isVoid = stopImpossible(seating)
            }
            if !isVoid {
                carryOut(seating)
                // Once is enough: the new policy weighed every seat from here on.
                if !seating.isSuccession { notes.occasion.isReload = false }
            }
            if isVoid || seating.needsAnotherRound { notes.touch(cameras) }
        }
        tellWarnings()
        askUsers()
        announcePriorities()
    }

    /// The cameras on which a decision depends together: those that conflict, or share a budget.
    private func linked(to touched: CameraSet) -> CameraSet {
        if !state.policy.linksCameras { return touched }
        var (component, grew) = (touched, true)
        while grew {
            grew = false
            for camera in state.cameraOrder where !component.contains(camera) && isLinked(camera, to: component) {
                component.insert(camera)
                grew = true
            }
        }
        return component
    }

    private func isLinked(_ camera: Slot<Camera>, to component: CameraSet) -> Bool {
        if state.policy.budget != nil { return true }
        let place = state.cameras[camera].place
        return state.cameraOrder.contains {
            component.contains($0) && state.policy.conflict(state.cameras[$0].place, place)
        }
    }

    /// Looks at every session that asks for a camera, and records since when each contends.
    private mutating func look(at camera: Slot<Camera>, _ seating: inout Seating) {
        if state.cameras[camera].tenancy.survivor != nil, state.barsSurvivor(camera) { endSurvivor(camera) }
        let first = seating.looks.count
        var place = state.cameras[camera].firstRequest
        var memory = LookMemory()
        while let slot = place {
            var look = state.look(at: slot, &memory)
            if look.machine.contains(.waitingForPermission) { notes.meetsUndecided = true }
            // The session begins to contend, or no longer does.
            if (state.sessions[slot].request?.bidSince != nil) != look.bids {
                let bidSince = look.bids ? state.nextOrdinal() : nil
                state.sessions[slot].request?.bidSince = bidSince
                if let bidSince { look.bidSince = bidSince }
            }
            seating.looks.append(look)
            seating.rulings.append(Seating.Ruling())
            // A session that loses the camera for a cause loses it with the lease that ran.
            if look.bids, state.policy.longestLease > 0 { followRank(look) }
            place = state.sessions[slot].nextOnCamera
        }
        var stage = Seating.Stage(
            camera, state.cameras[camera], looks: first..<seating.looks.count, isPassing: notes.passing.contains(camera)
        )
        for timer in state.timers where timer.camera == camera {
            if timer.kind == .reservation { stage.keptFor = state.reservation(of: camera) }
            if timer.kind == .backoff { stage.backsOff = true }
        }
        seating.cameras.append(stage)
    }

    // MARK: Before anything is carried out

    /// Refuses a newcomer that loses, where the policy has no waiting: nothing else changes.
    private mutating func refuseStarter(_ seating: Seating) -> Bool {
        guard let starter = notes.occasion.starter, state.policy.contention.newcomer == .refuse,
            let index = seating.looks.firstIndex(where: { $0.session == starter })
        else { return false }
        let (look, ruling) = (seating.looks[index], seating.rulings[index])
        guard ruling.kind == .waits, !ruling.isWinning else { return false }
        // A session that asked only to watch, or does not contend, is not refused while there is something to watch, or soon will be.
        let sitting = seating.sitting(on: seating.stage(of: index))
        if look.watches || state.policy.contention.sharing == .all,
            ruling.watches || sitting.map({ seating.mayWatch(index, beside: $0.look) }) == true
        {
            return false
        }
        refuse(index, seating)
        return true
    }

    /// Stops the sessions that won a camera which came back without their format, before anybody is cut for them.
    private mutating func stopImpossible(_ seating: Seating) -> Bool {
        var isAny = false
        for seat in seating.seats where seat.isTaken && seating.rulings[seat.look].kind != .holds {
            let look = seating.looks[seat.look]
            guard isImpossible(look.session, on: look.camera) else { continue }
            stopForGood(look.session, .configurationLost, .law(.formatLost), why: .interrupted)
            isAny = true
        }
        return isAny
    }

    // MARK: Carrying out

    /// Orders first, then the losers' notices, then all others', then the openings: cut first, tell second.
    private mutating func carryOut(_ seating: Seating) {
        var removed: [Int] = []
        promise(seating)
        if state.policy.contention.strongestMayExceed { noteWhoExceeds(seating) }
        resumeReclaimer(seating)
        for index in seating.cameras.indices { removeHolder(seating, index, &removed) }
        stopLosers(seating)
        for index in seating.cameras.indices {
            guard let holder = seating.holder(on: index), seating.rulings[holder].kind == .holds else { continue }
            keep(seating.cameras[index].next, on: seating.cameras[index].slot)
        }
        for look in removed { tell(seating, look) }
        for look in seating.order where !removed.contains(look) {
            let ruling = seating.rulings[look]
            if ruling.kind != .gets, !ruling.watches { tell(seating, look) }
        }
        for look in seating.order where seating.rulings[look].kind == .gets {
            let contest = seating.cameras[seating.stage(of: look)].next
            grant(seating.looks[look], seating.rulings[look].rule, contest)
            observe(seating, look, .granted)
            // A bid that waits for another camera's holder beats this one too: as a holder it has its times, and is
            // warned.
            if contest != nil { notes.touch(seating.looks[look].camera) }
        }
        if state.policy.shares {
            // Only now is there something to watch.
            for look in seating.order where seating.rulings[look].watches && !removed.contains(look) {
                tell(seating, look)
            }
            for stage in seating.cameras { tellSharers(on: stage.slot) }
        }
        // Another policy may have ended the sharing.
        if state.policy.shares || notes.occasion.isReload {
            for stage in seating.cameras { serveWishes(on: stage.slot) }
        }
    }

    /// Winners that wait for a cut or a device: they receive nothing yet.
    private mutating func promise(_ seating: Seating) {
        for index in seating.cameras.indices {
            var promise: Camera.Promise?
            if let seat = seating.sitting(on: index), seating.rulings[seat.look].kind == .comesNext {
                promise = Camera.Promise(
                    session: seating.looks[seat.look].session, rule: seat.rule, isDormant: seat.kind == .dormant)
                if let contest = seating.cameras[index].next, contest.announced != nil { promise?.contest = contest }
            }
            if seating.cameras[index].promise != promise {
                state.cameras[seating.cameras[index].slot].promise = promise
            }
        }
    }

    /// A succession decides of its successors only.
    private mutating func noteWhoExceeds(_ seating: Seating) {
        if !seating.isSuccession {
            for look in seating.looks where look.exceeds { state.set(.exceeds, false, of: look.session) }
        }
        for seat in seating.seats where seat.exceeds && seat.isTaken {
            state.set(.exceeds, true, of: seating.looks[seat.look].session)
        }
    }

    /// The recorder core receives its grant's owner, now that nothing keeps the session from running, or another one
    /// follows.
    private mutating func resumeReclaimer(_ seating: Seating) {
        guard let reclaimer = notes.reclaimer, let index = seating.looks.firstIndex(where: { $0.session == reclaimer }),
            seating.rulings[index].kind != .undecided
        else { return }
        let (look, holds) = (seating.looks[index], seating.rulings[index].kind == .holds)
        if !holds { notes.reclaimer = nil }
        if holds || state.policy.shares && state.requests(on: look.camera).count > 1 { resume(look) }
    }

    /// A holder that does not keep its camera leaves it: at once where it is only interrupted.
    private mutating func removeHolder(_ seating: Seating, _ index: Int, _ removed: inout [Int]) {
        let camera = seating.cameras[index].slot
        let heirs = seating.seats.contains { $0.camera == index && seating.rulings[$0.look].kind == .gets }
        if seating.cameras[index].isPassing {
            if heirs { return }
            cut(camera, why: .stopped)
            return notes.touch(camera)
        }
        guard let holder = seating.holder(on: index) else { return }
        let ruling = seating.rulings[holder]
        guard !ruling.keepsItsCamera, !ruling.isStopped else { return }
        // Another session has its place, so the lost device is no reason of its own any more.
        if ruling.kind == .waits { state.sessions[seating.looks[holder].session].lost = nil }
        // A shared camera goes on for its next holder, and for the former one too if that may still watch.
        leave(camera, why: .interrupted, goesOn: heirs, keepsWatching: ruling.watches)
        // Where nothing else depends on the camera, its next holder was decided with it.
        if state.policy.shares || state.policy.linksCameras { notes.touch(camera) }
        removed.append(holder)
    }

    /// The least recently opened loser is stopped first. Where a session of its own app takes the place, nothing cools
    /// down.
    private mutating func stopLosers(_ seating: Seating) {
        let losers = seating.order.filter { seating.rulings[$0].isStopped }
        if losers.isEmpty { return }
        func granted(_ look: Int) -> Ordinal {
            let held = state.cameras[seating.looks[look].camera].tenancy.held
            return held?.session == seating.looks[look].session ? held?.granted ?? .max : .max
        }
        for look in losers.sorted(by: { (granted($0), seating.looks[$0].id) < (granted($1), seating.looks[$1].id) }) {
            let loser = seating.looks[look]
            if seating.rulings[look].kind == .evicted { coolDown(loser.app, on: loser.camera) }
            stopForGood(loser.session, .evicted, seating.rulings[look].rule, why: .interrupted)
        }
    }

    private mutating func tell(_ seating: Seating, _ index: Int) {
        let (verdicts, look) = (notes.verdicts.count, seating.looks[index])
        let hadLost = look.machine.contains(.recorderReset) || look.machine.contains(.deviceError)
        let hasFound = hadLost && state.sessions[look.session].lost == nil
        tell(hasFound ? state.look(at: look.session) : look, seating.rulings[index])
        if notes.isObserved { complete(verdictsFrom: verdicts, seating, index) }
    }
}
