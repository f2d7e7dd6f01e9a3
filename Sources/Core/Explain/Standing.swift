public import Arbiter
public import Vocabulary

/// How a session stands at this moment, and why, since when and till when.
///
/// An `Explanation` follows one decision. A session may be held off by something older, or without any verdict: a min-hold that
/// began with the holder's grant, or a cool-down. So this reads the arbiter as it is, and needs no history.
public struct Standing: Sendable {
    /// The verdict of a decision at this moment.
    public var verdict: Explanation.Verdict
    public var camera: CameraID
    /// `nil` where the session runs, or is about to, and nothing was noted.
    public var since: Moment?
    /// Only the holder's time keeps it from its camera.
    public var hasWon: Bool
    /// The times that keep it from its camera, the earliest end first.
    public var limits: [Limit] = []

    public struct Limit: Hashable, Sendable {
        public var until: Moment
        public var kind: Kind
        /// The app whose time it is; `nil` where it is gone.
        public var app: AppID?
        /// The rule that gives this time.
        public var rule: String

        public enum Kind: String, Hashable, Sendable {
            case minHold = "min-hold"
            case grace
            case lease
            case coolDown = "cool-down"
            case cut
        }
    }
}

extension Arbiter {
    /// The standings of some of the sessions that ask to run, in the order of their ids.
    /// - Parameter mayGoOn: once it says no, the searches end with what they have found.
    public func standings(
        where isMeant: (SessionID, AppID) -> Bool, at now: Moment, while mayGoOn: () -> Bool = { true }
    ) -> [Standing] {
        let asking = state.sessionSlots.slots.map { state.id($0) }.filter { id in
            asksToRun(id) && app(of: id).map { isMeant(id, $0) } ?? false
        }
        return asking.compactMap { standing(of: $0, asking.count, at: now, while: mayGoOn) }
    }

    private func standing(of id: SessionID, _ count: Int, at now: Moment, while mayGoOn: () -> Bool) -> Standing? {
        guard let slot = state.session(id), let status = status(of: id), let facts = facts(of: id) else { return nil }
        let contest = state.cameraOrder.lazy.compactMap { state.cameras[$0].contest }.first { $0.beneficiary == slot }
        var outcome = CoreVerdict.Outcome.granted
        if status.state == .interrupted {
            outcome = .interrupted(status.causes)
        } else if status.access != .all, status.state == .running {
            outcome = .restricted(status.access)
        }
        let rule = status.rule ?? holdingRule(of: slot) ?? Law.noOtherBid.text
        var verdict = Explanation.Verdict(
            of: id, app: status.app, outcome, rule: rule, facts, opponent: status.waitsFor, under: policy)
        if status.state == .interrupted {
            let search = AlterationSearch(
                before: self, after: self, event: .timePassed, at: max(now, state.now), session: id,
                outcome: verdict.outcome)
            let attempts = max(1, AlterationSearch.attemptsMax / max(1, count))
            (verdict.changedBy, verdict.searched) = search.search(attempts: attempts, while: mayGoOn)
            verdict.stops = search.stops(while: mayGoOn)
        }
        var standing = Standing(verdict: verdict, camera: status.camera, since: since(slot), hasWon: contest != nil)
        standing.limits = limits(of: slot)
        return standing
    }

    private func holdingRule(of slot: Slot<Session>) -> String? {
        let held = state.cameras[state.sessions[slot].camera].tenancy.held
        return held.flatMap { $0.session == slot ? state.text($0.rule) : nil }
    }

    private func since(_ slot: Slot<Session>) -> Moment? {
        if let open = state.sessions[slot].ledger.open { return open.began }
        let camera = state.cameras[state.sessions[slot].camera]
        guard camera.tenancy.held?.session == slot else { return nil }
        return status(of: state.id(state.sessions[slot].camera))?.heldSince
    }

    /// The times of whoever holds its camera, or one for which it has won, and its own app's cool-down.
    private func limits(of slot: Slot<Session>) -> [Standing.Limit] {
        var found: [Standing.Limit] = []
        let own = state.sessions[slot].camera
        for camera in state.cameraOrder {
            let tenancy = state.cameras[camera].tenancy
            if camera == own, let cut = tenancy.cut {
                found.append(
                    Standing.Limit(until: cut.until, kind: .cut, app: nil, rule: "the cut of the holder before"))
            }
            guard let held = tenancy.held, held.session != slot else { continue }
            let isWon = held.contest?.beneficiary == slot
            if isWon || camera == own { found += times(of: held, isWon) }
        }
        let app = state.clients[state.sessions[slot].client].app
        for timer in state.timers where timer.kind == .coolDown && timer.camera == own && timer.app == app {
            found.append(Standing.Limit(until: timer.due, kind: .coolDown, app: state.id(app), rule: Law.coolDown.text))
        }
        return found.filter { $0.until > state.now && $0.until < .distantFuture }.sorted { $0.until < $1.until }
    }

    private func times(of held: Held, _ isWon: Bool) -> [Standing.Limit] {
        let app = app(of: state.id(held.session))
        let rule = facts(of: state.id(held.session)).map { policy.rank($0).name } ?? Law.weakestRank.text
        var found: [Standing.Limit] = []
        func note(_ kind: Standing.Limit.Kind, _ until: Moment?) {
            if let until { found.append(Standing.Limit(until: until, kind: kind, app: app, rule: rule)) }
        }
        if isWon { note(.minHold, held.minHoldUntil) }
        // A grace that was not announced yet begins when it is.
        if isWon, let announced = held.contest?.announced { note(.grace, announced.deadline) }
        note(.lease, held.leaseUntil)
        return found
    }
}
