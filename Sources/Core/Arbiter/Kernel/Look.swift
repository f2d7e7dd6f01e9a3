package import Vocabulary

/// One session that asks for its camera, seen once in a round of deciding: its facts, its limits, its rank. Every
/// decision and notice of the round reads this.
package struct Look: BitwiseCopyable {
    let session: Slot<Session>
    let id: UInt64
    package let camera: Slot<Camera>
    package let app: AppRef
    let user: UInt32
    package let facts: FactBits
    /// The causes that the machine itself raises, under every policy; each leaves no access.
    package let machine: CauseSet
    let isStuck: Bool
    /// Of the privacy switches only its user's own one is on.
    let isOwnPrivacy: Bool
    let limits: Limits
    /// The access that the session wants: a sharer's where it asked to watch only.
    let wish: Access
    /// The most that it may do beside a holder.
    let sharers: Access
    /// The access that all limits leave, contention apart.
    package let access: Access
    /// The cost of its camera with the format that it asked for.
    let cost: Int
    /// The session asks to run and may: only another bid keeps it from its camera. Causes that end with its first frame
    /// do not count.
    package let bids: Bool
    package let rank: RankTerms
    package let strength: Strength
    let started: Ordinal
    var bidSince: Ordinal
    let coolsDown: Bool
    /// The bid counts on its camera; set once all sessions that ask for the camera have been looked at.
    var contends = false
    /// Its app has no other session that asks to run.
    let isAlone: Bool
    /// The session was let in beyond the budget, as the strongest app's.
    let exceeds: Bool
    /// The session goes on beside the holder since the step before.
    let isSharing: Bool

    var watches: Bool { wish == .sharer }

    /// Its causes leave it something to do beside a holder.
    var hasShare: Bool { !limits.access.intersection(wish).isDisjoint(with: sharers) }

    /// The session joins a holder of its own app: `same-app` says nothing between them.
    func mayJoin(_ policy: CompiledPolicy) -> Bool { policy.contention.sharing == .all && hasShare }

    /// Sorts the strongest first; of equals, the earlier request.
    struct Standing: Comparable, BitwiseCopyable {
        let strength: Strength
        let started: Ordinal
        let id: UInt64

        static func < (a: Standing, b: Standing) -> Bool {
            if a.strength != b.strength { return a.strength < b.strength }
            return a.started != b.started ? a.started < b.started : a.id < b.id
        }
    }

    var standing: Standing { Standing(strength: strength, started: started, id: id) }

    // MARK: In words, for clients

    /// Every cause that limits the session, and the cause of the app it waits for.
    package func causes(_ waits: Session.Waiting?) -> CauseSet {
        var causes = machine.union(limits.causes)
        if waits != nil { causes.insert(.videoDeviceInUseByAnotherClient) }
        return causes
    }

    package func access(_ waits: Session.Waiting?) -> Access {
        guard let waits else { return access }
        return waits.isSharing ? access.intersection(sharers) : .none
    }

    package func rule(of cause: Cause, _ waits: Session.Waiting?) -> Rule {
        if cause == .videoDeviceBlockedByPrivacy, isOwnPrivacy { return .law(.ownPrivacy) }
        if cause == .deviceError, isStuck { return .law(.stuck) }
        if cause == .videoDeviceInUseByAnotherClient, !machine.contains(cause) { return waits?.rule ?? .law(.notGiven) }
        return Law(cause).map { .law($0) } ?? limits.rule(of: cause) ?? .law(.notGiven)
    }

    /// The rule that limits a session's access while it runs.
    func limitingRule(_ waits: Session.Waiting?) -> Rule {
        if let rule = limits.first { return rule }
        if let waits { return waits.rule }
        return .law(watches ? .askedToWatch : .unlimited)
    }
}

/// Findings that several looks of one round share; the memory never outlives a change of the state.
struct LookMemory {
    fileprivate var camera: Slot<Camera>?
    /// The causes of the camera itself.
    fileprivate var causes = CauseSet()
    fileprivate var isStuck = false
    fileprivate var user: UInt32?
    fileprivate var foregroundApps = Facts.ForegroundApps.one
}

extension State {
    package func look(at slot: Slot<Session>) -> Look {
        var memory = LookMemory()
        return look(at: slot, &memory)
    }

    func look(at slot: Slot<Session>, _ memory: inout LookMemory) -> Look {
        let policy = policy
        let session = sessions[slot]
        let client = clients[session.client]
        let user = apps[client.app.slot].user
        if memory.camera != session.camera {
            let camera = cameras[session.camera]
            memory.camera = session.camera
            memory.causes = causes(of: camera)
            memory.isStuck = isStuck(camera)
            if memory.isStuck { memory.causes.insert(.deviceError) }
        }
        if memory.user != user {
            memory.user = user
            memory.foregroundApps = foregroundApps(of: user)
        }
        let facts = facts(session, client, memory.foregroundApps)
        let isPrivate = privateUsers.contains(user)
        var machine = memory.causes
        if isPrivate { machine.insert(.videoDeviceBlockedByPrivacy) }
        if isAway(client, from: session.camera) { machine.insert(.loginSessionInactive) }
        if isUndecided(client) { machine.insert(.waitingForPermission) }
        if session.has.contains(.sensitiveContent) { machine.insert(.sensitiveContentMitigationActivated) }
        // Causes that end with the session's first frame do not keep it from bidding.
        let mayBid = machine.isEmpty
        if let lost = session.lost { machine.insert(lost.cause) }
        if session.has.contains(.reestablished) { machine.insert(.brokerRestarted) }
        let limits = Look.Limits(facts, policy)
        let wish: Access = policy.shares && session.has.contains(.asksToWatch) ? .sharer : .all
        let rank = rank(facts, client)
        let started = session.request?.started ?? 0
        return Look(
            session: slot, id: session.id, camera: session.camera, app: client.app, user: user,
            facts: facts, machine: machine, isStuck: memory.isStuck,
            isOwnPrivacy: isPrivate && !memory.causes.contains(.videoDeviceBlockedByPrivacy), limits: limits,
            wish: wish, sharers: policy.contention.sharers,
            access: machine.isEmpty ? limits.access.intersection(wish) : .none, cost: cost(of: slot),
            bids: mayBid && !limits.access.isDisjoint(with: wish) && !(session.lost != nil && findsNoRoom(slot)),
            rank: rank,
            strength: policy.strength(rank.rank, facts, started: started), started: started,
            bidSince: session.request?.bidSince ?? started,
            coolsDown: !rank.isImmediate && coolsDown(client.app, session.camera),
            isAlone: apps[client.app.slot][client.app].requests < 2, exceeds: session.has.contains(.exceeds),
            isSharing: session.waits?.isSharing == true)
    }

    /// The rank in force for a session, weakened by its client's own lowering.
    func rank(_ facts: FactBits, _ client: Client) -> RankTerms {
        let terms = policy.rank(facts)
        guard let lowered = client.loweredRank, Int(lowered) > terms.rank else { return terms }
        return terms.lowered(to: Int(lowered))
    }

    /// The session's own format found no room a moment ago: other sessions may have the camera meanwhile.
    func findsNoRoom(_ session: Slot<Session>) -> Bool {
        timers.contains { $0.kind == .noRoom && $0.session == session }
    }

    @inline(__always) private func coolsDown(_ app: AppRef, _ camera: Slot<Camera>) -> Bool {
        timers.contains { $0.kind == .coolDown && $0.app == app && $0.camera == camera }
    }
}
