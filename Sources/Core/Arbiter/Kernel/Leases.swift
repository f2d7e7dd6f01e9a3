package import Vocabulary

/// Time as an app uses it up: leases and cool-downs belong to an app on a camera, not to a session.
extension Arbiter {
    private func leaseUsed(_ app: AppRef, on camera: Slot<Camera>) -> Int? {
        state.timers.firstIndex { $0.kind == .leaseUsed && $0.app == app && $0.camera == camera }
    }

    /// A holder's lease is that of the rank that it has now, and what it has used of another one counts. Whoever comes to a
    /// shorter one keeps the camera for its rank's grace at least.
    mutating func followRank(_ look: Look) {
        let tenancy = state.cameras[look.camera].tenancy
        guard let held = tenancy.held, held.session == look.session, held.leaseOfRank != look.rank.lease,
            !tenancy.isLost
        else { return }
        bankLease(held, on: look.camera)
        let until = leaseEnd(afterChangeTo: look)
        let since = until == nil ? nil : state.now
        state.cameras[look.camera].tenancy.update {
            $0.leaseOfRank = look.rank.lease
            $0.leaseUntil = until
            $0.leaseSince = since
        }
    }

    /// - Returns: whether the lease of the camera's holder is used up by now, and ended its session.
    mutating func expireUsedUp(on camera: Slot<Camera>) -> Bool {
        guard let held = state.cameras[camera].tenancy.held, let until = held.leaseUntil, until <= state.now,
            state.sessions[held.session].request != nil
        else { return false }
        expire(held, on: camera)
        return true
    }

    /// The end of the lease of another rank or policy, once what ran before is banked.
    func leaseEnd(afterChangeTo look: Look) -> Moment? {
        leaseEnd(look.rank, look.app, on: look.camera).map { max($0, state.now + .nanoseconds(look.rank.grace)) }
    }

    /// When a lease ends that runs from now on: what the app has used of it on this camera counts.
    func leaseEnd(_ terms: RankTerms, _ app: AppRef, on camera: Slot<Camera>) -> Moment? {
        guard let lease = terms.lease else { return nil }
        let used = leaseUsed(app, on: camera).map { state.timers[$0].amount } ?? 0
        return state.now + .nanoseconds(max(0, lease - used))
    }

    /// The holder's lease stops running, because it does not have the camera any more.
    mutating func bankLease(_ held: Held, on camera: Slot<Camera>) {
        guard held.leaseSince != nil else { return }
        let app = state.clients[state.sessions[held.session].client].app
        let place = leaseUsed(app, on: camera)
        let used = held.leaseUsed(by: state.now, banked: place.map { state.timers[$0].amount } ?? 0)
        if let place {
            state.timers[place].amount = used
        } else if used > 0 {
            state.timers.append(
                TimedFact(kind: .leaseUsed, due: .distantFuture, camera: camera, app: app, amount: used))
        }
    }

    /// The app asks for the camera again, or not any more: once it has stayed away for the cool-down, it begins a new lease.
    mutating func noteLease(_ app: AppRef, on camera: Slot<Camera>, isAsking: Bool) {
        guard let place = leaseUsed(app, on: camera) else { return }
        let coolDown = state.policy.contention.coolDown
        if isAsking {
            state.timers[place].due = .distantFuture
        } else if coolDown <= .zero {
            forgetLease(app, on: camera)
        } else if state.timers[place].due == .distantFuture {
            state.timers[place].due = state.now + coolDown
        }
    }

    /// A new lease begins: the app left the camera to an app that waited, or its lease has ended.
    mutating func forgetLease(_ app: AppRef, on camera: Slot<Camera>) {
        state.timers.removeAll { $0.kind == .leaseUsed && $0.app == app && $0.camera == camera }
    }

    /// When an app gets a camera that another has left, the other's next lease is a new one.
    mutating func forgetLeases(on camera: Slot<Camera>, but app: AppRef) {
        state.timers.removeAll {
            $0.kind == .leaseUsed && $0.camera == camera && $0.app != app && $0.due < .distantFuture
        }
    }

    /// The app ranks behind all that wait for this camera, for a while.
    mutating func coolDown(_ app: AppRef, on camera: Slot<Camera>) {
        let duration = state.policy.contention.coolDown
        // What is left of an earlier one ends with it, also where the policy has none any more.
        state.timers.removeAll { $0.kind == .coolDown && $0.app == app && $0.camera == camera }
        guard duration > .zero else { return }
        state.timers.append(TimedFact(kind: .coolDown, due: state.now + duration, camera: camera, app: app))
    }

    /// A lease is over: its session is stopped for good, and its app makes way for those that wait.
    mutating func expire(_ held: Held, on camera: Slot<Camera>) {
        let look = state.look(at: held.session)
        coolDown(look.app, on: camera)
        // The rule that set the lease, also where the client has lowered its rank since.
        let rule = state.policy.rank(look.facts).rule
        stopForGood(held.session, .leaseExpired, rule, why: .interrupted)
        forgetLease(look.app, on: camera)
    }
}

extension Held {
    /// What its app has used of a lease, in nanoseconds, of which `banked` before. A grace behind a lease that is used up is
    /// no part of it.
    package func leaseUsed(by now: Moment, banked: Int64) -> Int64 {
        guard let since = leaseSince else { return banked }
        return max(banked, min(banked + (now - since).wholeNanoseconds, leaseOfRank ?? .max))
    }
}

/// For walks that do not count what is left of leases.
extension Arbiter {
    /// The whole lease of a camera's holder, used or not.
    package func leaseLength(on camera: Slot<Camera>) -> Duration? {
        guard let held = state.cameras[camera].tenancy.held, let until = held.leaseUntil, let since = held.leaseSince
        else { return nil }
        let app = state.clients[state.sessions[held.session].client].app
        return until - since + .nanoseconds(leaseUsed(app, on: camera).map { state.timers[$0].amount } ?? 0)
    }

    /// Sets the used part of the holder's lease so that the lease ends then: at most a whole lease from now.
    package mutating func endLease(on camera: Slot<Camera>, at moment: Moment) {
        guard let held = state.cameras[camera].tenancy.held, let length = leaseLength(on: camera) else { return }
        let used = (length - (moment - state.now)).wholeNanoseconds
        precondition(used >= 0, "a lease of \(length) cannot end \(moment - state.now) from now")
        let app = state.clients[state.sessions[held.session].client].app
        if let place = leaseUsed(app, on: camera) {
            state.timers[place].amount = used
        } else if used > 0 {
            state.timers.append(
                TimedFact(kind: .leaseUsed, due: .distantFuture, camera: camera, app: app, amount: used))
        }
        let now = state.now
        state.cameras[camera].tenancy.update {
            $0.leaseUntil = moment
            $0.leaseSince = now
        }
        deadline = earliestDeadline()
    }
}
