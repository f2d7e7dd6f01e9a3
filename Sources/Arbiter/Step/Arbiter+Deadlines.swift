public import Vocabulary

extension Arbiter {
    /// When `step` wants to be called at the latest, with `timePassed` if nothing else happens. Nil: never.
    public var deadline: Moment? { earliestDeadline(leases: true) }

    func earliestDeadline(leases: Bool) -> Moment? {
        var earliest: Moment?
        func consider(_ moment: Moment?) {
            if let moment, earliest.map({ moment < $0 }) ?? true { earliest = moment }
        }
        for id in state.cameraOrder {
            // Read where it lies: everybody asks, after every step.
            state.cameras.read(id) { camera -> Void in
                consider(camera.restartAt)
                consider(camera.reservation?.until)
                consider(camera.tenancy.cut?.until)
                for closing in camera.closing { consider(closing.until) }
                guard let held = camera.tenancy.held else { return }
                if leases { consider(held.leaseUntil) }
                consider(held.contest?.due)
            }
        }
        for coolDown in state.world.coolDowns { consider(coolDown.until) }
        consider(state.world.falling.first?.at)
        for source in state.world.sources.values { consider(source.until) }
        return earliest
    }

    /// What is due, in a fixed order: cameras by id, then cool-downs, pressure, sources.
    mutating func meetDeadlines(_ turn: inout Turn) {
        for id in state.cameraOrder {
            guard let camera = state.cameras[id] else { continue }
            if let restartAt = camera.restartAt, restartAt <= state.now {
                state.cameras[id]?.restartAt = nil
                turn.cameras.insert(id)
            }
            if let reservation = camera.reservation, reservation.until <= state.now {
                state.cameras[id]?.reservation = nil
                turn.cameras.insert(id)
            }
            if let cut = camera.tenancy.cut, cut.until <= state.now { meetDeadline(of: cut, on: id, &turn) }
            meetClosingDeadline(on: id, &turn)
            if let held = state.cameras[id]?.tenancy.held {
                if let lease = held.leaseUntil, lease <= state.now { expire(held, on: id, &turn) }
                if let contest = held.contest, contest.due <= state.now { turn.cameras.insert(id) }
            }
        }
        for coolDown in state.world.coolDowns where coolDown.until <= state.now { turn.cameras.insert(coolDown.camera) }
        let now = state.now
        state.world.coolDowns.removeAll { $0.until <= now }
        while let falling = state.world.falling.first, falling.at <= state.now {
            state.world.falling.removeFirst()
            state.world.pressure = falling.to
            touchAllRequesting(&turn)
        }
        for key in state.world.sources.keys.sorted() {
            if let until = state.world.sources[key]?.until, until <= state.now { thaw(key, &turn) }
        }
    }

    private mutating func meetDeadline(of cut: Cut, on id: CameraID, _ turn: inout Turn) {
        if cut.isKilled {
            // Not even SIGKILL ended it: the driver holds the process. Nobody gets this camera until it is gone.
            state.cameras[id]?.isStuck = true
            state.cameras[id]?.tenancy.update(cut: Cut(until: .distantFuture, isKilled: true))
            touchRequests(on: id, &turn)
        } else {
            state.cameras[id]?.tenancy.update(cut: Cut(until: state.now + Bound.kill, isKilled: true))
            turn.effects.append(.killRecorder(id))
        }
    }

    mutating func expire(_ held: Held, on camera: CameraID, _ turn: inout Turn) {
        let rule = rankRule(of: held.session)
        coolDown(held.session, on: camera)
        stopForGood(held.session, .leaseExpired, rule: rule.name, cutWhy: .interrupted, &turn)
    }

    /// The app ranks behind those who wait for this camera, for a while.
    mutating func coolDown(_ session: SessionID, on camera: CameraID) {
        let duration = state.policy.contention.coolDown
        guard duration > .zero, let app = state.sessions[session]?.app else { return }
        state.world.coolDowns.removeAll { $0.app == app && $0.camera == camera }
        state.world.coolDowns.append(World.CoolDown(app: app, camera: camera, until: state.now + duration))
    }
}
