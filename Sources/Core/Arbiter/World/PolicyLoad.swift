import Vocabulary

extension Arbiter {
    /// Under the policy in force already, a load only checks again whom it lets use cameras at all.
    mutating func load(_ policy: Policy) {
        if policy != self.policy { replacePolicy(by: policy) }
        // Apps' own claims count differently where the leases left a single user, and a rule may deny by them.
        noteUsersWhoAsk()
        // All are looked at before the first is stopped, with which others may lose a recording.
        let denials = state.requesting.map { ($0, denial(of: state.look(at: $0))) }
        for case (let slot, let (reason, rule)?) in denials { stopForGood(slot, reason, rule, why: .interrupted) }
        touchAll()
    }

    private mutating func replacePolicy(by policy: Policy) {
        carryTexts(to: CompiledPolicy(policy))
        identifyAll()
        // A session has to pass the new policy's right to run beside others, and a survivor has no session.
        for camera in state.cameraOrder { endSurvivor(camera) }
        // Nobody is let in beyond a budget that binds everybody.
        if !state.policy.contention.strongestMayExceed { state.forEachSession { state.set(.exceeds, false, of: $0) } }
        for camera in state.cameraOrder { shortenTimes(on: camera) }
        // A shorter lease may be over already.
        for camera in state.cameraOrder { _ = expireUsedUp(on: camera) }
        notes.occasion.isReload = true
        notes.prioritiesOfEverybody = true
    }

    private mutating func identifyAll() {
        for camera in state.cameraOrder { state.identify(camera) }
        for client in Array(state.clientSlots.slots) { state.identify(client) }
        for app in state.namedApps { state.updateAttributes(app) }
        state.updateMode()
        state.updateAllInFront()
    }

    /// Each deadline becomes the earlier one: the present one, or the new policy's.
    private mutating func shortenTimes(on camera: Slot<Camera>) {
        guard var held = state.cameras[camera].tenancy.held else { return }
        let look = state.look(at: held.session)
        if let until = held.minHoldUntil {
            held.minHoldUntil = look.rank.minHold > 0 ? min(until, held.since + .nanoseconds(look.rank.minHold)) : nil
        }
        // A camera whose device was lost uses no lease until it streams again.
        if !state.cameras[camera].tenancy.isLost {
            // Where the policy before had no lease for it, its time counts from the grant.
            if look.rank.lease != nil, held.leaseSince == nil { held.leaseSince = held.since }
            bankLease(held, on: camera)
            let end = leaseEnd(look, isChanged: true)
            held.setLease(until: end.map { min(held.leaseUntil ?? $0, $0) } ?? held.leaseUntil, look.rank, state.now)
        }
        state.cameras[camera].tenancy.update { $0 = held }
    }

    /// Keeps the texts of the former policy's rules that something in force still names.
    private mutating func carryTexts(to policy: CompiledPolicy) {
        let old = state
        state.policy = policy
        var carried: [String] = []
        func translate(_ rule: Rule) -> Rule {
            if rule.law != nil { return rule }
            if rule.isAfterItsTime { return translate(Rule(rule.kind, Int(rule.index))).afterItsTime }
            let text = old.text(rule)
            if let place = policy.texts.firstIndex(of: text) {
                return Rule(place < policy.firstOrderText ? .policy : .order, place)
            }
            if !carried.contains(text) { carried.append(text) }
            return Rule(rule.kind, policy.texts.count + (carried.firstIndex(of: text) ?? 0))
        }
        for camera in state.cameraOrder {
            if let promise = state.cameras[camera].promise {
                state.cameras[camera].promise?.rule = translate(promise.rule)
                if let rule = promise.contest?.rule { state.cameras[camera].promise?.contest?.rule = translate(rule) }
            }
            guard state.cameras[camera].tenancy.held != nil else { continue }
            state.cameras[camera].tenancy.update { held in
                held.rule = translate(held.rule)
                if let rule = held.contest?.rule { held.contest?.rule = translate(rule) }
            }
        }
        for slot in old.requesting {
            if let rule = state.sessions[slot].waits?.rule { state.sessions[slot].waits?.rule = translate(rule) }
        }
        state.carriedTexts = carried
    }
}
