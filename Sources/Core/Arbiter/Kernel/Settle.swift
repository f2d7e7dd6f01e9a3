import Vocabulary

extension Arbiter {
    /// Decides again whatever the step touched, until nothing changes any more.
    ///
    /// A round can take start requests away (an eviction, a configuration that a returned camera cannot
    /// do), free a camera without a cut, or change what rules read (a recording that was cut), and what becomes of that is
    /// decided in the next. A request is taken away once, and so is a recording, so their numbers bound the rounds.
    /// - Parameter seating: what the last one to decide left behind; its memory is used again.
    mutating func settle(_ seating: inout Seating) {
        var roundsLeft = 4 * (state.sessionSlots.count + state.cameraOrder.count) + 8
        while !notes.cameras.isEmpty, roundsLeft > 0, notes.newcomerRefused == nil {
            roundsLeft -= 1
            noteUsersWhoAsk()
            let cameras = linked(to: notes.takeCameras())
            seating.begin(state.policy, now: state.now, occasion)
            for camera in state.cameraOrder where cameras.contains(camera) { look(at: camera, &seating) }
            var hasExpired = false
            // Without leases in the policy nobody comes to one; what runs of a policy before ends by its deadline.
            for camera in state.cameraOrder where state.policy.longestLease > 0 && cameras.contains(camera) {
                // Of a rank without grace that a holder came to just now.
                if expireUsedUp(on: camera) { hasExpired = true }
            }
            if hasExpired {
                notes.touch(cameras)
                continue
            }
            seating.decide()
            if refuseStarter(seating) { return }
            if stopImpossible(seating) {
                // Nobody is told what the next round takes back.
                notes.touch(cameras)
                continue
            }
            carryOut(seating)
            // Once is enough: what is seated from here on was weighed by the new policy.
            if !seating.isSuccession { notes.isReload = false }
            // A successor in its app's place was decided alone; all others are weighed against it now. Whoever exceeds the
            // budget is, too, when somebody else is the strongest.
            if seating.isSuccession || seating.takesOwnPlace || seating.takesBeyondBudget || seating.isBeyondBudget
                || seating.namesLosers
            {
                notes.touch(cameras)
            }
        }
        tellWarnings()
        askUsers()
        announcePriorities()
    }

    private var occasion: Seating.Occasion {
        Seating.Occasion(
            starter: notes.starter, asker: notes.asker, isReload: notes.isReload, isObserved: notes.isObserved)
    }

    /// The cameras on which a decision depends together: those that conflict, or share a budget.
    private func linked(to touched: CameraSet) -> CameraSet {
        if !state.policy.linksCameras { return touched }
        var component = touched
        if state.policy.budget != nil {
            for camera in state.cameraOrder { component.insert(camera) }
            return component
        }
        var grew = state.policy.hasConflicts
        while grew {
            grew = false
            for camera in state.cameraOrder where !component.contains(camera) {
                let place = state.cameras[camera].place
                let isLinked = state.cameraOrder.contains {
                    component.contains($0) && state.policy.conflict(state.cameras[$0].place, place)
                }
                guard isLinked else { continue }
                component.insert(camera)
                grew = true
            }
        }
        return component
    }

    /// Looks at every session that asks for a camera, and notes since when each contends.
    private mutating func look(at camera: Slot<Camera>, _ seating: inout Seating) {
        if state.cameras[camera].tenancy.survivor != nil, state.barsSurvivor(camera) { endSurvivor(camera) }
        let first = seating.looks.count
        var place = state.cameras[camera].firstRequest
        var memory = LookMemory()
        while let slot = place {
            let look = state.look(at: slot, &memory)
            if look.machine.contains(.waitingForPermission) { notes.meetsUndecided = true }
            seating.add(look)
            noteBid(of: slot, &seating)
            // Whoever loses the camera for a cause loses it with the lease that ran.
            if look.bids, state.policy.longestLease > 0 { followRank(look) }
            place = state.sessions[slot].nextOnCamera
        }
        var stage = Seating.Stage(
            camera, state.cameras[camera], looks: first..<seating.looks.count, isPassing: notes.passing.contains(camera)
        )
        for timer in state.timers where timer.camera == camera {
            if timer.kind == .reservation { stage.reservation = state.reservation(of: camera) }
            if timer.kind == .backoff { stage.backsOff = true }
        }
        if stage.hasSurvivor { stage.survivorsApp = stage.reservation }
        seating.add(stage)
    }

    /// The session that was looked at last begins to contend, or no longer does.
    @inline(__always) private mutating func noteBid(of slot: Slot<Session>, _ seating: inout Seating) {
        let look = seating.looks.count - 1
        let isNoted = state.sessions[slot].request?.bidSince != nil
        guard isNoted != seating.looks[look].bids else { return }
        let bidSince = isNoted ? nil : state.nextOrdinal()
        state.sessions[slot].request?.bidSince = bidSince
        if let bidSince { seating.looks[look].bidSince = bidSince }
    }

    // MARK: Carrying out

    /// Orders first, then what the losers hear, then everybody else, then the openings: cut first, tell second.
    private mutating func carryOut(_ seating: Seating) {
        var removed: [Int] = []
        var stopped: [Int] = []
        promise(seating)
        if state.policy.contention.strongestMayExceed { noteWhoExceeds(seating) }
        resumeReclaimer(seating)
        for index in seating.cameras.indices { removeHolder(seating, index, &removed, &stopped) }
        stopLosers(seating, stopped)
        for index in seating.cameras.indices {
            guard let session = seating.cameras[index].holder, let holder = seating.look(of: session, on: index),
                seating.rulings[holder].kind == .holds
            else { continue }
            keep(seating.contests[index], on: seating.cameras[index].slot)
        }
        for look in removed { tell(seating, look) }
        for look in seating.order where !removed.contains(look) {
            let ruling = seating.rulings[look]
            if ruling.kind != .gets, !ruling.watches { tell(seating, look) }
        }
        for look in seating.order where seating.rulings[look].kind == .gets {
            let contest = seating.contests[seating.stage(of: look)]
            grant(seating.looks[look], seating.rulings[look].rule, contest)
            observe(seating, look, .granted)
            // A bid that waits for another camera's holder beats this one too: as a holder it has its times, and is warned.
            if contest != nil { notes.touch(seating.looks[look].camera) }
        }
        // Only now is there something to watch.
        for look in seating.order where seating.rulings[look].watches && !removed.contains(look) {
            tell(seating, look)
        }
        // Without sharing nobody watches, and no camera is looked at for it.
        if state.policy.shares { for stage in seating.cameras { tellSharers(on: stage.slot) } }
    }

    /// Winners that wait for a cut or a device: nothing is said to them yet.
    private mutating func promise(_ seating: Seating) {
        for index in seating.cameras.indices {
            var promise: Camera.Promise?
            if let seat = seating.sitting(on: index), seating.rulings[seat.look].kind == .comesNext {
                promise = Camera.Promise(
                    session: seating.looks[seat.look].session, rule: seat.rule, isDormant: seat.kind == .dormant)
                if let contest = seating.contests[index], contest.announced != nil { promise?.contest = contest }
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
        for seat in seating.seats where seat.exceeds && seat.kind != .kept {
            state.set(.exceeds, true, of: seating.looks[seat.look].session)
        }
    }

    /// The session that reclaimed its grant has held the camera since this step began. The recorder core hears of it now that
    /// nothing keeps the session from running. Where the camera is shared, it may pass to another session of the app at once.
    private mutating func resumeReclaimer(_ seating: Seating) {
        guard let reclaimer = notes.reclaimer, let index = seating.looks.firstIndex(where: { $0.session == reclaimer })
        else { return }
        let look = seating.looks[index]
        switch seating.rulings[index].kind {
        case .undecided: return
        case .holds: resume(look)
        case .barred, .gets, .comesNext, .waits, .evicted, .replaced:
            notes.reclaimer = nil
            if state.policy.shares, state.requests(on: look.camera).count > 1 { resume(look) }
        }
    }

    /// The holder that does not keep its camera leaves it: at once where it is only interrupted.
    private mutating func removeHolder(
        _ seating: Seating, _ index: Int, _ removed: inout [Int], _ stopped: inout [Int]
    ) {
        let camera = seating.cameras[index].slot
        let heirs = seating.seats.contains { $0.camera == index && seating.rulings[$0.look].kind == .gets }
        for look in seating.cameras[index].looks
        where seating.rulings[look].kind == .replaced || seating.rulings[look].kind == .evicted { stopped.append(look) }
        if seating.cameras[index].isPassing {
            if !heirs {
                cut(camera, why: .stopped)
                notes.touch(camera)
            }
            return
        }
        guard let session = seating.cameras[index].holder, let holder = seating.look(of: session, on: index) else {
            return
        }
        let ruling = seating.rulings[holder]
        guard !ruling.keepsItsCamera, ruling.kind != .evicted, ruling.kind != .replaced else { return }
        // Another session has its place, so the lost device is no longer a reason of its own.
        if ruling.kind == .waits { state.sessions[session].lost = nil }
        // A camera that is shared goes on for its next holder, and for the last one too if that may still watch.
        leave(camera, why: .interrupted, goesOn: heirs, keepsWatching: ruling.watches)
        // Where nothing else depends on it, its next holder was decided with it.
        if state.policy.shares || state.policy.linksCameras { notes.touch(camera) }
        removed.append(holder)
    }

    /// Of several evictions of one opening the least recently opened is told first. Where a session of its own app takes
    /// the place, the app keeps it: nothing cools down.
    private mutating func stopLosers(_ seating: Seating, _ stopped: [Int]) {
        if stopped.isEmpty { return }
        func granted(_ look: Int) -> Ordinal {
            let held = state.cameras[seating.looks[look].camera].tenancy.held
            return held?.session == seating.looks[look].session ? held?.granted ?? .max : .max
        }
        for look in stopped.sorted(by: { (granted($0), seating.looks[$0].id) < (granted($1), seating.looks[$1].id) }) {
            let loser = seating.looks[look]
            if seating.rulings[look].kind == .evicted { coolDown(loser.app, on: loser.camera) }
            stopForGood(loser.session, .evicted, seating.rulings[look].rule, why: .interrupted)
        }
    }

    private mutating func tell(_ seating: Seating, _ look: Int) {
        let verdicts = notes.verdicts.count
        let (machine, session) = (seating.looks[look].machine, seating.looks[look].session)
        let hadLost = machine.contains(.recorderReset) || machine.contains(.deviceError)
        if hadLost, state.sessions[session].lost == nil {
            tell(state.look(at: session), seating.rulings[look])
        } else {
            tell(seating.looks[look], seating.rulings[look])
        }
        if notes.isObserved { complete(verdictsFrom: verdicts, seating, look) }
    }

    // MARK: Before anything is carried out

    /// A newcomer that loses, where it may not wait: its request is refused, and nothing changes.
    private mutating func refuseStarter(_ seating: Seating) -> Bool {
        guard let starter = notes.starter, state.policy.contention.newcomer == .refuse,
            let index = seating.looks.firstIndex(where: { $0.session == starter })
        else { return false }
        let (look, ruling) = (seating.looks[index], seating.rulings[index])
        guard ruling.kind == .waits, !ruling.isWinning else { return false }
        // A session that asked only to watch is not refused while there is something to watch, or about to be.
        let sitting = seating.seats.first { $0.kind != .kept && seating.looks[$0.look].camera == look.camera }
        if look.watches, ruling.watches || sitting.map({ seating.mayWatch(index, beside: $0.look) }) == true {
            return false
        }
        refuse(index, seating)
        return true
    }

    /// Stops the sessions that won a camera which came back without the format they need, before anybody is cut for them.
    private mutating func stopImpossible(_ seating: Seating) -> Bool {
        var isAny = false
        for seat in seating.seats where seat.kind != .kept {
            let look = seating.looks[seat.look]
            guard seating.rulings[seat.look].kind == .gets || seating.rulings[seat.look].kind == .comesNext else {
                continue
            }
            guard isImpossible(look.session, on: look.camera) else { continue }
            stopForGood(look.session, .configurationLost, .law(.formatLost), why: .interrupted)
            isAny = true
        }
        return isAny
    }

    /// The camera has no format that the session could run with.
    func isImpossible(_ session: Slot<Session>, on camera: Slot<Camera>) -> Bool {
        check(camera).choice(state.sessionSettings[session].wanted) == nil
    }

    func fittedConfiguration(of session: Slot<Session>, on camera: Slot<Camera>) -> Configuration {
        guard let fitted = check(camera).nearest(state.sessionSettings[session].wanted) else {
            preconditionFailure("what cannot be configured was stopped before it is granted")
        }
        return fitted
    }
}
