import Vocabulary

/// Leases and cool-downs: time that an app, not a session, uses up on a camera.
extension Arbiter {
    private func leaseTimer(_ app: AppRef, on camera: Slot<Camera>) -> Int? {
        state.timers.firstIndex { $0.kind == .leaseUsed && $0.app == app && $0.camera == camera }
    }

    /// A session that comes to the shorter lease of another rank keeps the camera for that rank's grace at least.
    mutating func followRank(_ look: Look) {
        let tenancy = state.cameras[look.camera].tenancy
        guard let held = tenancy.held, held.session == look.session, held.leaseOfRank != look.rank.lease,
            !tenancy.isLost
        else { return }
        bankLease(held, on: look.camera)
        let (until, now) = (leaseEnd(look, isChanged: true), state.now)
        state.cameras[look.camera].tenancy.update { $0.setLease(until: until, look.rank, now) }
    }

    /// The end of a lease that runs from now on, counting the app's earlier use of it on this camera.
    /// - Parameter isChanged: the lease is of another rank or policy than before; the time so far is banked.
    func leaseEnd(_ look: Look, isChanged: Bool = false) -> Moment? {
        guard let lease = look.rank.lease else { return nil }
        let left = lease - leaseUsed(look.app, on: look.camera)
        return state.now + .nanoseconds(max(left, isChanged ? look.rank.grace : 0))
    }

    /// The holder's lease stops running, because it does not have the camera any more.
    mutating func bankLease(_ held: Held, on camera: Slot<Camera>) {
        guard held.leaseSince != nil else { return }
        let app = state.app(of: held.session)
        let used = held.leaseUsed(by: state.now, banked: leaseUsed(app, on: camera))
        setLeaseUsed(used, by: app, on: camera)
    }

    /// In nanoseconds, before the lease was taken up last.
    func leaseUsed(_ app: AppRef, on camera: Slot<Camera>) -> Int64 {
        leaseTimer(app, on: camera).map { state.timers[$0].amount } ?? 0
    }

    mutating func setLeaseUsed(_ used: Int64, by app: AppRef, on camera: Slot<Camera>) {
        if let place = leaseTimer(app, on: camera) {
            state.timers[place].amount = used
        } else if used > 0 {
            state.timers.append(
                TimedFact(kind: .leaseUsed, due: .distantFuture, camera: camera, app: app, amount: used))
        }
    }

    /// The app asks for the camera again, or no longer: after a cool-down away it begins a new lease.
    mutating func noteLease(_ app: AppRef, on camera: Slot<Camera>, isAsking: Bool) {
        guard let place = leaseTimer(app, on: camera) else { return }
        let coolDown = state.policy.contention.coolDown
        if isAsking {
            state.timers[place].due = .distantFuture
        } else if coolDown <= .zero {
            forgetLease(app, on: camera)
        } else if state.timers[place].due == .distantFuture {
            state.timers[place].due = state.now + coolDown
        }
    }

    /// A new lease begins: the app left the camera to a waiting app, or its lease has ended.
    mutating func forgetLease(_ app: AppRef, on camera: Slot<Camera>) {
        state.timers.removeAll { $0.kind == .leaseUsed && $0.app == app && $0.camera == camera }
    }

    /// An app that gets a camera begins the next lease of every app that left it.
    mutating func forgetLeases(on camera: Slot<Camera>, but app: AppRef) {
        state.timers.removeAll {
            $0.kind == .leaseUsed && $0.camera == camera && $0.app != app && $0.due < .distantFuture
        }
    }

    /// The app ranks after all that wait for this camera, for a while.
    mutating func coolDown(_ app: AppRef, on camera: Slot<Camera>) {
        let duration = state.policy.contention.coolDown
        // The rest of an earlier cool-down ends with it, also where the policy has none any more.
        state.timers.removeAll { $0.kind == .coolDown && $0.app == app && $0.camera == camera }
        guard duration > .zero else { return }
        state.timers.append(TimedFact(kind: .coolDown, due: state.now + duration, camera: camera, app: app))
    }

    /// Ends a lease that is used up by now: its session is stopped for good, and its app makes way for waiting apps.
    /// - Returns: whether a lease ended.
    mutating func expireUsedUp(on camera: Slot<Camera>) -> Bool {
        guard let held = state.cameras[camera].tenancy.held, let until = held.leaseUntil, until <= state.now,
            state.sessions[held.session].request != nil
        else { return false }
        let look = state.look(at: held.session)
        coolDown(look.app, on: camera)
        // The rule of the lease, also where the client has lowered its rank since.
        stopForGood(held.session, .leaseExpired, state.policy.rank(look.facts).rule, why: .interrupted)
        forgetLease(look.app, on: camera)
        return true
    }
}
