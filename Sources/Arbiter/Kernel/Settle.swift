import Vocabulary

extension Arbiter {
    /// Decides again whatever the step touched, until nothing changes any more.
    ///
    /// A round can take start requests away (an eviction, a configuration that a returned camera cannot
    /// do), free a camera without a cut, or change what rules read (a recording that was cut), and what becomes of that is
    /// decided in the next. A request is taken away once, and so is a recording, so their numbers bound the rounds.
    mutating func settle(_ turn: inout Turn) {
        var roundsLeft = 4 * (state.sessionSlots.count + state.cameraOrder.count) + 8
        while !turn.cameras.isEmpty, roundsLeft > 0, turn.newcomerRefused == nil {
            roundsLeft -= 1
            let cameras = linked(to: turn.takeCameras(), turn)
            var seating = Seating(state.policy, now: state.now, [], [], occasion(turn))
            lookAt(cameras, &seating, turn)
            seating.decide()
            if refuseStarter(seating, &turn) { return }
            if stopImpossible(seating, &turn) {
                // Nobody is told what the next round takes back.
                for camera in cameras { turn.touch(camera) }
                continue
            }
            carryOut(seating, &turn)
            // Whoever follows in its own place was decided alone; everybody else is weighed against it now.
            if seating.isSuccession { for camera in cameras { turn.touch(camera) } }
        }
        announcePriorities(&turn)
    }

    private func occasion(_ turn: Turn) -> Seating.Occasion {
        let isReload = if case .policyLoaded = turn.event { true } else { false }
        return Seating.Occasion(
            starter: turn.starter, asker: turn.asker, isReload: isReload, isObserved: turn.isObserved)
    }

    /// The cameras on which a decision depends together: those that conflict, or share a budget. In the order of their ids.
    private func linked(to touched: [Slot<Camera>], _ turn: Turn) -> [Slot<Camera>] {
        if touched.count == 1, !state.policy.linksCameras { return touched }
        if state.policy.budget != nil { return state.cameraOrder }
        var component = touched
        var grew = state.policy.hasConflicts
        while grew {
            grew = false
            for camera in state.cameraOrder where !component.contains(camera) {
                let place = state.cameras[camera].place
                if component.contains(where: { state.policy.conflict(state.cameras[$0].place, place) }) {
                    component.append(camera)
                    grew = true
                }
            }
        }
        return state.cameraOrder.filter(component.contains)
    }

    /// Looks at everybody who asks for one of these cameras, and notes since when each contends.
    private mutating func lookAt(_ cameras: [Slot<Camera>], _ seating: inout Seating, _ turn: Turn) {
        var looks: [Look] = []
        var stages: [Seating.Stage] = []
        stages.reserveCapacity(cameras.count)
        for camera in cameras {
            let first = looks.count
            var place = state.cameras[camera].firstRequest
            while let slot = place {
                var look = state.look(at: slot)
                noteClaim(&look)
                looks.append(look)
                place = state.sessions[slot].nextOnCamera
            }
            var stage = Seating.Stage(slot: camera, camera: state.cameras[camera], looks: first..<looks.count)
            stage.isPassing = turn.passing.contains(camera)
            for timer in state.timers where timer.camera == camera {
                if timer.kind == .reservation, let app = timer.app {
                    // What is said by name reaches who only claims it while nobody vouched-for is there.
                    let isVouchedThere = state.apps[app.slot].vouched.firstClient != nil
                    stage.reservation = state.ref(app.slot, isClaimed: !isVouchedThere)
                }
                if timer.kind == .backoff { stage.backsOff = true }
            }
            stages.append(stage)
        }
        seating = Seating(state.policy, now: state.now, looks, stages, seating.occasion)
    }

    private mutating func noteClaim(_ look: inout Look) {
        let claimed = state.sessions[look.session].request?.claimed
        if look.claims, claimed == nil {
            look.claimed = state.nextOrdinal()
            state.sessions[look.session].request?.claimed = look.claimed
        } else if !look.claims, claimed != nil {
            state.sessions[look.session].request?.claimed = nil
        }
    }

    // MARK: Carrying out

    /// Orders first, then what the losers hear, then everybody else, then the openings: cut first, tell second.
    private mutating func carryOut(_ seating: Seating, _ turn: inout Turn) {
        var removed: [Int] = []
        var stopped: [Int] = []
        promise(seating)
        for index in seating.cameras.indices { removeHolder(seating, index, &removed, &stopped, &turn) }
        stopLosers(seating, stopped, &turn)
        for (index, stage) in seating.cameras.enumerated() {
            guard let held = stage.held, let holder = seating.look(of: held.session, on: index),
                seating.rulings[holder].kind == .holds
            else { continue }
            tellContest(seating.contests[index], on: stage.slot, &turn)
        }
        for look in removed { tell(seating, look, &turn) }
        let order = seating.order
        for look in order where !removed.contains(look) {
            let ruling = seating.rulings[look]
            if ruling.kind != .gets, !ruling.watches { tell(seating, look, &turn) }
        }
        for look in order where seating.rulings[look].kind == .gets {
            grant(seating.looks[look], seating.rulings[look].rule, &turn)
            observe(seating, look, .granted, &turn)
        }
        // Who watches has something to watch only now.
        for look in order where seating.rulings[look].watches && !removed.contains(look) { tell(seating, look, &turn) }
        for stage in seating.cameras { tellSharers(on: stage.slot, &turn) }
    }

    /// Winners that wait for a cut or a device: nothing is said to them yet.
    private mutating func promise(_ seating: Seating) {
        for (index, stage) in seating.cameras.enumerated() {
            var promise: Camera.Promise?
            if let seat = seating.seats.first(where: { $0.camera == index && $0.kind != .kept }),
                seating.rulings[seat.look].kind == .comesNext
            {
                promise = Camera.Promise(session: seating.looks[seat.look].session, rule: seat.rule)
            }
            if stage.camera.promise != promise { state.cameras[stage.slot].promise = promise }
        }
    }

    /// The holder that does not keep its camera leaves it: at once where it is only interrupted.
    private mutating func removeHolder(
        _ seating: Seating, _ index: Int, _ removed: inout [Int], _ stopped: inout [Int], _ turn: inout Turn
    ) {
        let stage = seating.cameras[index]
        let heirs = seating.seats.contains { $0.camera == index && seating.rulings[$0.look].kind == .gets }
        for look in stage.looks where seating.rulings[look].kind == .replaced || seating.rulings[look].kind == .evicted
        {
            stopped.append(look)
        }
        if stage.isPassing {
            if !heirs { cut(stage.slot, why: .stopped, &turn) }
            return
        }
        guard let held = stage.held, let holder = seating.look(of: held.session, on: index) else { return }
        let ruling = seating.rulings[holder]
        guard !ruling.keepsItsCamera, ruling.kind != .evicted, ruling.kind != .replaced else { return }
        // Somebody else has its place: that its device was lost is no reason of its own any more.
        if ruling.kind == .waits { state.sessions[held.session].lost = nil }
        // A camera that is shared goes on for its next holder, and for the last one too if that may still watch.
        leave(stage.slot, why: .interrupted, goesOn: heirs, keepsWatching: ruling.watches, &turn)
        removed.append(holder)
    }

    /// Of several evictions of one opening the least recently opened is told first. Where a session of its own app takes
    /// the place, the app keeps it: nothing cools down.
    private mutating func stopLosers(_ seating: Seating, _ stopped: [Int], _ turn: inout Turn) {
        func granted(_ look: Int) -> Ordinal {
            let held = state.cameras[seating.looks[look].camera].tenancy.held
            return held?.session == seating.looks[look].session ? held?.granted ?? .max : .max
        }
        for look in stopped.sorted(by: { (granted($0), seating.looks[$0].id) < (granted($1), seating.looks[$1].id) }) {
            let loser = seating.looks[look]
            if seating.rulings[look].kind == .evicted { coolDown(loser.app, on: loser.camera) }
            stopForGood(loser.session, .evicted, seating.rulings[look].rule, why: .interrupted, &turn)
        }
    }

    private mutating func tell(_ seating: Seating, _ look: Int, _ turn: inout Turn) {
        let verdicts = turn.verdicts.count
        let before = seating.looks[look]
        let hadLost = before.machine.contains(.recorderReset) || before.machine.contains(.deviceError)
        let isNews = hadLost && state.sessions[before.session].lost == nil
        tell(isNews ? state.look(at: before.session) : before, seating.rulings[look], &turn)
        if turn.isObserved { complete(verdictsFrom: verdicts, seating, look, &turn) }
    }

    // MARK: Before anything is carried out

    /// A newcomer that loses, where it may not wait: its request is refused, and nothing changes.
    private func refuseStarter(_ seating: Seating, _ turn: inout Turn) -> Bool {
        guard let starter = turn.starter, state.policy.contention.newcomer == .refuse,
            let index = seating.looks.firstIndex(where: { $0.session == starter })
        else { return false }
        let (look, ruling) = (seating.looks[index], seating.rulings[index])
        guard ruling.kind == .waits, !ruling.isWinning else { return false }
        // Who asked to watch only is not refused while there is something to watch, or about to be.
        let sitting = seating.seats.first { $0.kind != .kept && seating.looks[$0.look].camera == look.camera }
        if look.watches, ruling.watches || sitting.map({ seating.mayWatch(index, beside: $0.look) }) == true {
            return false
        }
        refuse(look, ruling, seating, index, &turn)
        return true
    }

    /// Stops the sessions that won a camera which came back without the format they need, before anybody is cut for them.
    private mutating func stopImpossible(_ seating: Seating, _ turn: inout Turn) -> Bool {
        var isAny = false
        for seat in seating.seats where seat.kind != .kept {
            let look = seating.looks[seat.look]
            guard seating.rulings[seat.look].kind == .gets || seating.rulings[seat.look].kind == .comesNext else {
                continue
            }
            let capabilities = state.cameraSettings[look.camera].capabilities
            let wanted = state.sessionSettings[look.session].wanted
            guard ConfigurationCheck(capabilities: capabilities).nearest(wanted) == nil else { continue }
            stopForGood(look.session, .configurationLost, .law(.formatLost), why: .interrupted, &turn)
            isAny = true
        }
        return isAny
    }

    func fittedConfiguration(of session: Slot<Session>, on camera: Slot<Camera>) -> Configuration {
        let check = ConfigurationCheck(capabilities: state.cameraSettings[camera].capabilities)
        guard let fitted = check.nearest(state.sessionSettings[session].wanted) else {
            preconditionFailure("what cannot be configured was stopped before it is granted")
        }
        return fitted
    }
}

extension Seating {
    /// The looks in the order of their sessions' ids, whatever their cameras.
    var order: [Int] {
        cameras.count > 1 ? looks.indices.sorted { looks[$0].id < looks[$1].id } : Array(looks.indices)
    }
}
