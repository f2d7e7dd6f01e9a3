package import Vocabulary

/// One session that asks for its camera, seen once in a round of deciding: what rules read of it, what limits it, how
/// strong it is. Everything that is decided or told in the round reads this.
package struct Look: BitwiseCopyable {
    let session: Slot<Session>
    let id: UInt64
    package let camera: Slot<Camera>
    package let app: AppRef
    let user: UInt32
    package let facts: FactBits
    /// What the machine itself forbids, under every policy; each leaves nothing.
    package let machine: CauseSet
    let isStuck: Bool
    /// Of the privacy switches only its user's own one is on.
    let isOwnPrivacy: Bool
    let limits: Limits
    /// What the session itself wants: `watching` where it asked to watch only.
    let wish: Access
    /// What all of it leaves, contention apart.
    package let access: Access
    /// What its camera costs with the format that it asked for.
    let cost: Int
    /// It asks to run and may: only another bid keeps it from its camera. Causes that end with its first frame do not count.
    package let bids: Bool
    package let rank: RankTerms
    package let strength: Strength
    let started: Ordinal
    var bidSince: Ordinal
    let coolsDown: Bool
    /// Its bid counts on its camera; found out when all sessions that ask for it are looked at.
    var contends = false
    /// Its app has no other session that asks to run.
    let isAlone: Bool
    /// It was let in beyond the budget, as the strongest app's.
    let exceeds: Bool

    var watches: Bool { wish == .watching }

    /// The strongest first; of equals, the one that asked first.
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

    /// What a policy's rules leave, for each of the causes that a policy may raise.
    package struct Limits: BitwiseCopyable {
        /// By the causes' places: one more than the rule that limits, as its place in the policy's file; 0: none does.
        private var rules: SIMD4<UInt16> = .zero
        package private(set) var causes = CauseSet()
        private(set) var access = Access.all

        /// Each cause's first matching rule answers. One that leaves everything is an exemption: it answers, and the cause
        /// is not live.
        init(_ facts: FactBits, _ policy: CompiledPolicy) {
            var answered = 0
            for rule in policy.causes where answered >> rule.place & 1 == 0 && rule.when.holds(for: facts) {
                answered |= 1 << rule.place
                guard rule.access != .all else { continue }
                access.formIntersection(rule.access)
                causes.insert(rule.cause)
                rules[rule.place] = rule.rule.index + 1
            }
        }

        package func rule(of cause: Cause) -> Rule? {
            guard let place = CauseRule.causes.firstIndex(of: cause), rules[place] > 0 else { return nil }
            return Rule(.policy, Int(rules[place]) - 1)
        }

        /// The rules that limit, in the order of the policy's file.
        func all(_ policy: CompiledPolicy) -> [CompiledCause] {
            (0..<4).compactMap { rules[$0] > 0 ? Int(rules[$0]) - 1 : nil }.sorted().map { policy.causes[$0] }
        }

        /// The first rule of the policy's file that limits.
        var first: Rule? {
            let places = rules.replacing(with: .max, where: rules .== 0)
            return places.min() == .max ? nil : Rule(.policy, Int(places.min()) - 1)
        }
    }

    // MARK: In words, for clients

    /// Every cause that limits the session, and the app it waits behind.
    package func causes(_ waits: Session.Waiting?) -> CauseSet {
        var causes = machine.union(limits.causes)
        if waits != nil { causes.insert(.videoDeviceInUseByAnotherClient) }
        return causes
    }

    package func access(_ waits: Session.Waiting?) -> Access {
        guard let waits else { return access }
        return waits.isSharing ? access.intersection(.watching) : .none
    }

    package func rule(of cause: Cause, _ waits: Session.Waiting?) -> Rule {
        switch cause {
        case .videoDeviceDisconnected: .law(.unplugged)
        case .videoDeviceBlockedByPrivacy: .law(isOwnPrivacy ? .ownPrivacy : .privacy)
        case .waitingForPermission: .law(.asks)
        case .systemSleep: .law(.sleep)
        case .loginSessionInactive: .law(.loginSession)
        case .deviceError: .law(isStuck ? .stuck : .deviceFailed)
        case .recorderReset: .law(.reset)
        case .brokerRestarted: .law(.brokerRestarted)
        case .sensitiveContentMitigationActivated: .law(.sensitive)
        case .videoDeviceInUseByAnotherClient where machine.contains(cause): .law(.heldOutside)
        case .videoDeviceInUseByAnotherClient: waits?.rule ?? .law(.notGiven)
        case .videoDeviceNotAvailableInBackground, .audioDeviceInUseByAnotherClient,
            .videoDeviceNotAvailableWithMultipleForegroundApps, .videoDeviceNotAvailableDueToSystemPressure:
            limits.rule(of: cause) ?? .law(.notGiven)
        }
    }

    /// The rule behind what a session that runs may not do.
    func limitingRule(_ waits: Session.Waiting?) -> Rule {
        if let rule = limits.first { return rule }
        if let waits { return waits.rule }
        return .law(watches ? .askedToWatch : .unlimited)
    }
}

extension Access {
    /// What a sharer has at most (semantics.md §1).
    package static let watching: Access = .sharer
}

/// What several looks of one round share, so that it is found out once: it never outlives a change of the state.
struct LookMemory {
    fileprivate var camera: Slot<Camera>?
    /// What the machine says of the camera itself.
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
        if memory.camera != session.camera { note(session.camera, &memory) }
        if memory.user != user {
            memory.user = user
            memory.foregroundApps = foregroundApps(of: user)
        }
        let facts = facts(session, client, memory.foregroundApps)
        let isPrivate = privateUsers.isEmpty ? false : privateUsers.contains(user)
        var machine = memory.causes.union(machineCauses(session, client))
        if isPrivate { machine.insert(.videoDeviceBlockedByPrivacy) }
        let limits = Look.Limits(facts, policy)
        let wish: Access = policy.shares && session.has.contains(.asksToWatch) ? .watching : .all
        let rank = rank(facts, client)
        let started = session.request?.started ?? 0
        return Look(
            session: slot, id: session.id, camera: session.camera, app: client.app, user: user,
            facts: facts, machine: machine, isStuck: memory.isStuck,
            isOwnPrivacy: isPrivate && !memory.causes.contains(.videoDeviceBlockedByPrivacy), limits: limits,
            wish: wish, access: machine.isEmpty ? limits.access.intersection(wish) : .none, cost: cost(of: slot),
            bids: !memory.isStuck && machine.allEndWithTheFirstFrame && !limits.access.isDisjoint(with: wish)
                && !(session.lost != nil && findsNoRoom(slot)), rank: rank,
            strength: policy.strength(rank.rank, facts, started: started), started: started,
            bidSince: session.request?.bidSince ?? started,
            coolsDown: !rank.isImmediate && coolsDown(client.app, session.camera),
            isAlone: apps[client.app.slot][client.app].requests < 2, exceeds: session.has.contains(.exceeds))
    }

    /// The rank in force for a session, weakened by what its client gave up.
    func rank(_ facts: FactBits, _ client: Client) -> RankTerms {
        let terms = policy.rank(facts)
        guard let lowered = client.loweredRank, Int(lowered) > terms.rank else { return terms }
        return terms.lowered(to: Int(lowered))
    }

    private func facts(_ session: Session, _ client: Client, _ foregroundApps: Facts.ForegroundApps) -> FactBits {
        let placed = placement(of: client.app)
        var facts = FactBits()
        facts.who = client.who | cameras[session.camera].who
        facts.attributes = apps[client.app.slot][client.app].attributes
        facts[.login] = client.login.map { logins[$0].state.code } ?? 0
        facts[.foreground] = placed.isForeground ? 1 : 0
        facts[.layout] = placed.layoutCode
        facts[.focused] = placed.isFocused ? 1 : 0
        facts[.inFront] = counted(foregroundApps, from: placed).code
        facts[.kind] = UInt64(client.kind.rawValue)
        facts[.multitasking] = client.multitasking ? 1 : 0
        facts[.position] = UInt64(cameras[session.camera].position)
        facts[.usesAudio] = session.has.contains(.audio) ? 1 : 0
        facts[.microphone] = microphones.isEmpty || microphoneTaker(against: client.app) == nil ? 0 : 1
        facts[.pressure] = world.pressure.thermometer
        facts[.mode] = UInt64(world.mode)
        facts[.recording] = session.has.contains(.recording) ? 1 : 0
        facts[.bidIsNew] = session.request?.hasHeld == true ? 0 : 1
        facts[.chosen] = world.operatorChoice == client.app.slot && isReached(client.app) ? 1 : 0
        return facts
    }

    /// What is said by name reaches an app that only claims the name while nobody vouched-for is connected under it.
    @inline(__always) package func isReached(_ app: AppRef) -> Bool {
        !app.isClaimed || apps[app.slot].vouched.firstClient == nil
    }

    /// The app that has the microphone a session wants. A session's own app does not count, nor do other users':
    /// a shell speaks for its own user, and only root's apps are heard by everybody.
    func microphoneTaker(against app: AppRef) -> Slot<App>? {
        let user = apps[app.slot].user
        return microphones.first { taker in
            let owner = apps[taker].user
            return (owner == user || owner == 0) && !(taker == app.slot && isReached(app))
        }
    }

    private func machineCauses(_ session: Session, _ client: Client) -> CauseSet {
        var causes = CauseSet()
        if isAway(client, from: session.camera) { causes.insert(.loginSessionInactive) }
        if permission(of: client) == .asked { causes.insert(.waitingForPermission) }
        if let lost = session.lost { causes.insert(lost.cause) }
        if session.has.contains(.reestablished) { causes.insert(.brokerRestarted) }
        if session.has.contains(.sensitiveContent) { causes.insert(.sensitiveContentMitigationActivated) }
        return causes
    }

    /// What keeps everybody from a camera.
    private func note(_ slot: Slot<Camera>, _ memory: inout LookMemory) {
        let camera = cameras[slot]
        var causes = causes(of: camera)
        memory.isStuck = isStuck(camera)
        if memory.isStuck { causes.insert(.deviceError) }
        memory.causes = causes
        memory.camera = slot
    }

    /// What the machine says of a camera, whichever session asks for it, except a recorder that does not end.
    func causes(of camera: Camera) -> CauseSet {
        var causes = CauseSet()
        if !camera.isPresent { causes.insert(.videoDeviceDisconnected) }
        if camera.isPrivate || world.isPrivate { causes.insert(.videoDeviceBlockedByPrivacy) }
        if world.isAsleep { causes.insert(.systemSleep) }
        if camera.isHeldOutside { causes.insert(.videoDeviceInUseByAnotherClient) }
        return causes
    }

    /// A recorder that not even SIGKILL ended holds on to this camera, or to one that excludes it.
    private func isStuck(_ camera: Camera) -> Bool {
        if camera.isStuck { return true }
        guard policy.hasConflicts else { return false }
        return cameras.rows.contains { $0.isStuck && policy.conflict($0.place, camera.place) }
    }

    /// Its own format found no room a moment ago: others may have the camera meanwhile.
    func findsNoRoom(_ session: Slot<Session>) -> Bool {
        timers.contains { $0.kind == .noRoom && $0.session == session }
    }

    @inline(__always) private func coolsDown(_ app: AppRef, _ camera: Slot<Camera>) -> Bool {
        timers.contains { $0.kind == .coolDown && $0.app == app && $0.camera == camera }
    }
}

extension CauseSet {
    /// Only causes that end when the session runs again: these do not keep it from bidding for its camera.
    fileprivate var allEndWithTheFirstFrame: Bool {
        var rest = self
        for cause in [Cause.recorderReset, .brokerRestarted, .deviceError] { rest.remove(cause) }
        return rest.isEmpty
    }
}
