package import ArbiterProtocol

/// A session that asks to run, and that only another bid keeps from its camera.
struct Bid {
    var id: SessionID
    var app: ReferenceWorld.App
    var camera: CameraID
    var started: Int
    var bidSince: Int
    var watches: Bool
    var rule: RankRule
    /// Its rank and what the order list compares; smaller is stronger.
    var strength: [Int]
    /// Its cool-down runs.
    var cools: Bool
    var cost: Int
    /// It was let in beyond the budget.
    var exceeds: Bool
    /// Its access beside a holder, if it may watch at all.
    var watching: Access
    /// Its causes leave it control.
    var mayConfigure: Bool

    func beats(_ other: Bid) -> Bool { strength.lexicographicallyPrecedes(other.strength) }

    /// Of equal bids the one that asked first.
    func isBefore(_ other: Bid) -> Bool { strength == other.strength ? started < other.started : beats(other) }
}

extension ReferenceWorld {
    /// The machine's causes, under every policy.
    func machine(_ session: Session, _ policy: Policy) -> Set<Cause> {
        var causes: Set<Cause> = []
        if let camera = cameras[session.camera] {
            if !camera.isPresent { causes.insert(.videoDeviceDisconnected) }
            if camera.isPrivate || isPrivate || privateUsers.contains(app(session).id.user) {
                causes.insert(.videoDeviceBlockedByPrivacy)
            }
            if camera.isHeldOutside { causes.insert(.videoDeviceInUseByAnotherClient) }
        }
        if isAsleep { causes.insert(.systemSleep) }
        if consent(session, policy.rights) == .wanted { causes.insert(.waitingForPermission) }
        if isAway(session, policy.rights) { causes.insert(.loginSessionInactive) }
        if session.isSensitive { causes.insert(.sensitiveContentMitigationActivated) }
        if session.isReestablished { causes.insert(.brokerRestarted) }
        return causes
    }

    /// A session that asked only to watch never has more.
    func most(_ session: Session, _ policy: Policy) -> Access {
        session.watches && policy.contention.shares ? .sharer : .all
    }

    /// The access that its causes leave a session beside a holder.
    func watching(_ session: Session, _ policy: Policy) -> Access {
        policy.limits(facts(session, policy)).reduce(most(session, policy).intersection(policy.contention.sharers)) {
            $0.intersection($1.access)
        }
    }

    func bids(_ session: Session, _ policy: Policy) -> Bool {
        let left = policy.limits(facts(session, policy)).reduce(most(session, policy)) { $0.intersection($1.access) }
        // A restart of the broker keeps no session from its bid.
        return !left.isEmpty && machine(session, policy).isSubset(of: [.brokerRestarted])
    }

    func bid(_ id: SessionID, _ policy: Policy) -> Bid? {
        guard let session = sessions[id], let started = session.started, bids(session, policy) else { return nil }
        let facts = facts(session, policy)
        let app = app(session)
        let rule = rankRule(session, policy)
        let most = most(session, policy)
        let left = policy.limits(facts).reduce(most) { $0.intersection($1.access) }
        let cools = coolDowns.contains { $0.app == app && $0.camera == session.camera }
        return Bid(
            id: id, app: app, camera: session.camera, started: started, bidSince: session.bidSince ?? started,
            watches: most != .all, rule: rule,
            strength: [rule.rank] + policy.order(facts, started: started), cools: cools && !rule.isImmediate,
            cost: policy.cost(session), exceeds: session.exceeds,
            watching: watching(session, policy), mayConfigure: left.contains(.configure))
    }

    package func strength(of id: SessionID, _ policy: Policy) -> (app: App, strength: [Int])? {
        guard let session = sessions[id] else { return nil }
        let order = policy.order(facts(session, policy), started: session.started ?? 0)
        return (app(session), [rankRule(session, policy).rank] + order)
    }

    /// With the rank to which its client lowered itself.
    func rankRule(_ session: Session, _ policy: Policy) -> RankRule {
        let own = policy.rankRule(facts(session, policy))
        guard let lowered = clients[session.client]?.loweredTo.flatMap(policy.ranks.firstIndex(of:)) else { return own }
        return own.lowered(to: lowered)
    }
}

extension ReferenceArbiter {
    func rankRule(_ session: ReferenceWorld.Session) -> RankRule { world.rankRule(session, policy) }

    package func mayStart(_ id: SessionID) -> Bool {
        guard let session = world.sessions[id] else { return false }
        guard mayUse(session), world.consent(session, policy.rights) != .denied else { return false }
        let own = rankRule(session)
        if own.deny { return false }
        let app = world.app(session)
        if own.pauseAfterLease > .zero, world.pauses.contains(where: { $0.app == app && $0.camera == session.camera }) {
            return false
        }
        let siblings = world.sessions.filter { $0.key != id && $0.value.started != nil && world.app($0.value) == app }
        let watches = world.most(session, policy) != .all
        for sibling in siblings.values where sibling.camera == session.camera && !watches {
            if world.most(sibling, policy) != .all { continue }
            if mayShare(session) { continue }
            switch policy.contention.sameApp {
            case .newest: break
            case .refuse: return false
            case .replace: if world.bids(sibling, policy), rankRule(sibling).rank < own.rank { return false }
            }
        }
        guard policy.contention.ownConflict == .refuse else { return true }
        return !siblings.values.contains { policy.excludes($0.camera, session.camera) && $0.camera != session.camera }
    }

    /// Demotion only. A client without a session may take any rank that is not stronger than its last.
    package mutating func lower(_ client: ClientID, to rank: String) -> Bool {
        guard let wanted = policy.ranks.firstIndex(of: rank) else { return false }
        let sessions = world.sessions.values.filter { $0.client == client }
        let last = world.clients[client]?.loweredTo.flatMap(policy.ranks.firstIndex(of:))
        guard wanted >= sessions.map({ rankRule($0).rank }).min() ?? last ?? 0 else { return false }
        world.clients[client]?.loweredTo = rank
        return true
    }

    /// Demotion only, and for the whole app.
    package mutating func lower(_ client: ClientID, _ name: String, to value: String) -> Bool {
        guard let attribute = policy.attributes.first(where: { $0.name == name }), let app = world.clients[client]?.app,
            let wanted = attribute.values.firstIndex(of: value), wanted >= world.value(attribute, of: app).place
        else { return false }
        let declared = policy.attributes.map(\.name)
        var lowered = world.clients[client]?.loweredValues.filter { declared.contains($0.key) } ?? [:]
        lowered[name] = value
        world.clients[client]?.loweredValues = lowered
        return true
    }

    package mutating func tell(_ app: AppID, _ name: String, _ value: String?) -> Bool {
        guard let value else {
            world.attributes[app]?[name] = nil
            return true
        }
        guard policy.attributes.first(where: { $0.name == name })?.values.contains(value) == true else { return false }
        let declared = policy.attributes.map(\.name)
        world.attributes[app] = (world.attributes[app] ?? [:]).filter { declared.contains($0.key) }
        world.attributes[app]?[name] = value
        return true
    }

    /// - Parameter name: `nil` takes back the mode that was set.
    /// - Returns: false where there is no such mode, or the setter may not set it.
    mutating func setMode(_ name: String?, by setter: Mode.Setter) -> Bool {
        let touched = policy.modes.filter { $0.name == name || $0.name == world.modeByHand }
        guard touched.allSatisfy({ !$0.setBy.isEmpty && (setter == .root || $0.setBy.contains(setter)) }) else {
            return false
        }
        if let name, !touched.contains(where: { $0.name == name }) { return false }
        world.modeByHand = name
        return true
    }

    func mayUse(_ session: ReferenceWorld.Session) -> Bool {
        world.clients[session.client].map { world.right($0, to: session.camera, policy.rights).has } ?? false
    }

    /// Stops sessions without a right under the policy, and those that it denies.
    /// - Parameter isOther: the policy before was another one.
    package mutating func load(_ policy: Policy, isOther: Bool) {
        self.policy = policy
        if isOther { shortenTimes() }
        // All are looked at before the first is stopped.
        let stopped = world.sessions.filter {
            $0.value.started != nil && (!mayUse($0.value) || rankRule($0.value).deny)
        }
        for id in stopped.keys { stop(id) }
    }
}
