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

    /// The app asks for the camera again, or no longer: after a cool-down away it begins a new lease, and under a policy
    /// with pauses after the longest of them.
    mutating func noteLease(_ app: AppRef, on camera: Slot<Camera>, isAsking: Bool) {
        guard let place = leaseTimer(app, on: camera) else { return }
        let away = max(state.policy.contention.coolDown, .nanoseconds(state.policy.longestPause))
        if isAsking {
            state.timers[place].due = .distantFuture
        } else if away <= .zero {
            forgetLease(app, on: camera)
        } else if state.timers[place].due == .distantFuture {
            state.timers[place].due = state.now + away
        }
    }

    /// A new lease begins: the app left the camera to a waiting app, or its lease has ended.
    mutating func forgetLease(_ app: AppRef, on camera: Slot<Camera>) {
        state.timers.removeAll { $0.kind == .leaseUsed && $0.app == app && $0.camera == camera }
    }

    /// An app that gets a camera begins the next lease of every app that left it, unless leases are followed by pauses.
    mutating func forgetLeases(on camera: Slot<Camera>, but app: AppRef) {
        guard state.policy.longestPause == 0 else { return }
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

    /// Ends leases that are used up by now: the holder's, and under a policy with pauses also of apps that wait, since no
    /// lease begins anew at a grant there.
    /// - Returns: whether a lease ended.
    mutating func expireUsedUp(on camera: Slot<Camera>) -> Bool {
        var isAny = false
        if let held = leased(camera), let until = held.leaseUntil, until <= state.now {
            expire(held.session, on: camera)
            isAny = true
        }
        guard state.policy.longestPause > 0 else { return isAny }
        for waiter in Array(state.requests(on: camera)) where state.sessions[waiter].request != nil {
            let look = state.look(at: waiter)
            // A lease that runs has an end of its own. A session that has won was given the camera already.
            if leased(camera).map({ state.app(of: $0.session) }) == look.app { continue }
            if state.cameras[camera].promise?.session == waiter { continue }
            guard let lease = look.rank.lease, look.rank.pause > 0, leaseUsed(look.app, on: camera) >= lease else {
                continue
            }
            expire(waiter, on: camera)
            isAny = true
        }
        return isAny
    }

    /// The holder of a camera whose lease runs, while it asks for the camera.
    private func leased(_ camera: Slot<Camera>) -> Held? {
        guard let held = state.cameras[camera].tenancy.held, held.leaseSince != nil,
            state.sessions[held.session].request != nil
        else { return nil }
        return held
    }

    /// A session whose lease is over is stopped for good, and its app makes way for waiting apps. Where its rank has a
    /// pause, the app's other sessions of such ranks are stopped with it.
    private mutating func expire(_ session: Slot<Session>, on camera: Slot<Camera>) {
        let look = state.look(at: session)
        coolDown(look.app, on: camera)
        // The rule of the lease, also where the client has lowered its rank since.
        stopForGood(session, .leaseExpired, state.policy.rank(look.facts).rule, why: .interrupted)
        forgetLease(look.app, on: camera)
        guard look.rank.pause > 0 else { return }
        state.timers.removeAll { $0.kind == .pause && $0.app == look.app && $0.camera == camera }
        let due = state.now + .nanoseconds(look.rank.pause)
        state.timers.append(TimedFact(kind: .pause, due: due, camera: camera, app: look.app))
        for other in Array(state.requests(on: camera)) where state.app(of: other) == look.app {
            let sibling = state.look(at: other)
            guard sibling.rank.pause > 0 else { continue }
            stopForGood(other, .leaseExpired, state.policy.rank(sibling.facts).rule, why: .interrupted)
        }
    }

    /// The end of the pause that keeps a session from its camera; `nil`: none does.
    func pauseEnd(of look: Look) -> Moment? {
        guard look.rank.pause > 0 else { return nil }
        return state.timers.first { $0.kind == .pause && $0.app == look.app && $0.camera == look.camera }?.due
    }
}
