package import Vocabulary

extension State {
    /// Every moment at which something ends by itself, in one place: all code that looks for the earliest one, meets
    /// those that are due, or checks them reads this list.
    @inline(__always) package func forEachDeadline(leases: Bool = true, _ body: (Moment) -> Void) {
        for slot in cameraOrder {
            if let contest = cameras[slot].promise?.contest { body(contest.due) }
            let held: Held
            switch cameras[slot].tenancy {
            // Its reservation is among the timers.
            case .free, .surviving: continue
            case .starting(let holder, let until):
                body(until)
                held = holder
            case .streaming(let holder): held = holder
            case .lost(let holder, let cut):
                if let cut { body(cut.until) }
                held = holder
            case .revoking(let cut):
                body(cut.until)
                continue
            }
            if leases, let lease = held.leaseUntil { body(lease) }
            if let contest = held.contest { body(contest.due) }
        }
        for timer in timers where timer.due < .distantFuture && (leases || timer.kind != .leaseUsed) { body(timer.due) }
        for source in sources { if let until = source.state.until { body(until) } }
    }
}

extension Arbiter {
    // Each step asks: as calls of their own they would copy the whole state.
    @inline(__always) package func earliestDeadline(leases: Bool = true) -> Moment? {
        var earliest = Moment.distantFuture
        var isAny = false
        state.forEachDeadline(leases: leases) { moment in
            isAny = true
            if moment < earliest { earliest = moment }
        }
        return isAny ? earliest : nil
    }

    /// What is due, in a fixed order: cameras by id, then what belongs to none, then sources.
    mutating func meetDeadlines() {
        endReservations()
        meetTimers([.backoff, .noRoom])
        for camera in state.cameraOrder { meetDeadlines(of: camera) }
        meetTimers([.closing, .resuming])
        meetTimers([.coolDown, .leaseUsed, .falling, .question])
        for source in state.sources.indices {
            if let until = state.sources[source].state.until, until <= state.now { thaw(source) }
        }
    }

    private mutating func meetDeadlines(of camera: Slot<Camera>) {
        let tenancy = state.cameras[camera].tenancy
        if let cut = tenancy.cut, cut.until <= state.now { meetDeadline(of: cut, on: camera) }
        if case .starting(_, let until) = tenancy, until <= state.now { return failToStart(camera) }
        if let contest = state.cameras[camera].contest, contest.due <= state.now { notes.touch(camera) }
        guard let held = state.cameras[camera].tenancy.held else { return }
        if let lease = held.leaseUntil, lease <= state.now { expire(held, on: camera) }
    }

    private mutating func meetDeadline(of cut: Cut, on camera: Slot<Camera>) {
        if cut.isKilled {
            // Not even SIGKILL ended it: the driver holds the process. Nobody gets this camera until it is gone.
            state.cameras[camera].isStuck = true
            state.cameras[camera].tenancy.update(cut: Cut(until: .distantFuture, isKilled: true))
            touchLinked(camera)
        } else {
            state.cameras[camera].tenancy.update(cut: Cut(until: state.now + Bound.kill, isKilled: true))
            notes.effects.append(.killRecorder(state.cameraNames[camera]))
        }
    }

    private mutating func meetTimers(_ kinds: [TimedFact.Kind]) {
        let now = state.now
        guard state.timers.contains(where: { $0.due <= now && kinds.contains($0.kind) }) else { return }
        let due = state.timers.filter { $0.due <= now && kinds.contains($0.kind) }
        state.timers.removeAll { $0.due <= now && kinds.contains($0.kind) }
        for timer in due {
            switch timer.kind {
            case .backoff, .noRoom, .coolDown: if let camera = timer.camera { notes.touch(camera) }
            case .closing, .resuming: if let camera = timer.camera { closeTooLate(on: camera) }
            case .leaseUsed, .reservation: break
            case .question: if let app = timer.app { questionIsLate(app) }
            case .falling:
                // Of another policy's time a lower level may be over first: it has been no higher since.
                state.world.pressureLevel = min(state.world.pressureLevel, UInt8(timer.amount))
                state.timers.removeAll { $0.kind == .falling && $0.amount >= timer.amount }
                touchAll()
            }
            if let app = timer.app { state.release(app.slot) }
        }
    }

    /// A recorder that holds on to its device keeps those out that its camera excludes, too.
    mutating func touchLinked(_ camera: Slot<Camera>) {
        notes.touch(camera)
        guard state.policy.hasConflicts else { return }
        for other in state.cameraOrder { notes.touch(other) }
    }
}
