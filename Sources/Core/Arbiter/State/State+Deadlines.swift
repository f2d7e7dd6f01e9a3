package import Vocabulary

extension State {
    /// Every deadline, in one place: the search for the earliest, the handling of due ones and their check read this
    /// list.
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
    // Each step calls these two: as calls of their own they would copy the whole state.
    @inline(__always) package func earliestDeadline(leases: Bool = true) -> Moment? {
        var earliest = Moment.distantFuture
        var isAny = false
        state.forEachDeadline(leases: leases) { moment in
            isAny = true
            if moment < earliest { earliest = moment }
        }
        return isAny ? earliest : nil
    }
}

/// For walks that do not count the rest of leases.
extension Arbiter {
    /// The whole lease of a camera's holder, used or not.
    package func leaseLength(on camera: Slot<Camera>) -> Duration? {
        guard let held = state.cameras[camera].tenancy.held, let until = held.leaseUntil, let since = held.leaseSince
        else { return nil }
        return until - since + .nanoseconds(leaseUsed(state.app(of: held.session), on: camera))
    }

    /// Sets the used part of the holder's lease so that the lease ends at `moment`: at most a whole lease from now.
    package mutating func endLease(on camera: Slot<Camera>, at moment: Moment) {
        guard let held = state.cameras[camera].tenancy.held, let length = leaseLength(on: camera) else { return }
        let used = (length - (moment - state.now)).wholeNanoseconds
        precondition(used >= 0, "a lease of \(length) cannot end \(moment - state.now) from now")
        setLeaseUsed(used, by: state.app(of: held.session), on: camera)
        let now = state.now
        state.cameras[camera].tenancy.update {
            $0.leaseUntil = moment
            $0.leaseSince = now
        }
        deadline = earliestDeadline()
    }
}
