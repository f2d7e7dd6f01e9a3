public import ArbiterProtocol

/// A naive arbiter of a screen or two: after each change it looks at the whole world anew.
///
/// It decides what `docs/semantics.md` says, in the fewest lines that can be checked by reading, and
/// shares no code with the real one: what both agree on was understood twice. It keeps from one look
/// to the next only who holds which camera, and which of its promises of time still run.
///
/// What it leaves out, so that it stays naive: recorders (every cut and every start is instant),
/// conflicting cameras and budgets, sharing, eviction, and all policies but its three.
public struct ReferenceArbiter: Sendable {
    public var world = World()
    public let policy: any HousePolicy
    /// What an expired tenant waits before it is weighed like others again.
    private let coolDown = Duration.seconds(10)

    public init(policy: any HousePolicy) { self.policy = policy }

    /// What is to be seen of one session.
    public enum Shown: Hashable, Sendable {
        case stopped
        case running(Access)
        case interrupted(Set<Cause>)
    }

    public struct Judgement: Hashable, Sendable {
        public var holders: [CameraID: SessionID] = [:]
        public var sessions: [SessionID: Shown] = [:]
        public var recording: Set<SessionID> = []

        public init() {}
    }

    /// Looks at the world, and says who has what.
    public mutating func judge() -> Judgement {
        expireLeases()
        for camera in world.cameras.keys { bankIfLeft(camera) }
        noteLeases()
        for camera in world.cameras.keys { settle(camera) }
        var judgement = Judgement()
        for (id, camera) in world.cameras { judgement.holders[id] = camera.holding?.session }
        for (id, session) in world.sessions {
            let shown = show(id, session)
            judgement.sessions[id] = shown
            // A recording never outlives the right to record, and never comes back by itself.
            if case .running(let access) = shown, access.contains(.record) {
                if session.isRecording { judgement.recording.insert(id) }
            } else {
                world.sessions[id]?.isRecording = false
            }
        }
        return judgement
    }

    // MARK: One session

    /// Everything that limits a session, but for who has its camera.
    func limits(_ session: World.Session) -> [Limit] {
        var limits = policy.limits(world.look(at: session, policy))
        func add(_ cause: Cause) { limits.append(Limit(cause: cause, access: .none)) }
        if let camera = world.cameras[session.camera] {
            if !camera.isPresent { add(.videoDeviceDisconnected) }
            if camera.isPrivate || world.isPrivate { add(.videoDeviceBlockedByPrivacy) }
            if camera.isHeldOutside { add(.videoDeviceInUseByAnotherClient) }
        }
        if world.isAsleep { add(.systemSleep) }
        if let login = world.clients[session.client]?.login, let state = world.logins[login],
            !state.isActive || state.isLocked
        {
            add(.loginSessionInactive)
        }
        if session.isSensitive { add(.sensitiveContentMitigationActivated) }
        return limits
    }

    func access(_ session: World.Session) -> Access {
        limits(session).reduce(.all) { $0.intersection($1.access) }
    }

    private func show(_ id: SessionID, _ session: World.Session) -> Shown {
        guard session.started != nil else { return .stopped }
        let access = access(session)
        if !access.isEmpty, world.cameras[session.camera]?.holding?.session == id { return .running(access) }
        var causes = Set(limits(session).map(\.cause))
        // Only a session that nothing else stops is stopped by another one.
        if !access.isEmpty { causes.insert(.videoDeviceInUseByAnotherClient) }
        return .interrupted(causes)
    }

    // MARK: One camera

    private mutating func expireLeases() {
        world.coolDowns.removeAll { $0.until <= world.now }
        for (id, camera) in world.cameras {
            guard let holding = camera.holding, let until = holding.leaseUntil, until <= world.now,
                let session = world.sessions[holding.session]
            else { continue }
            world.sessions[holding.session]?.started = nil
            world.cameras[id]?.holding = nil
            world.leases.removeAll { $0.app == session.app && $0.camera == id }
            world.coolDowns.append(World.CoolDown(app: session.app, camera: id, until: world.now + coolDown))
        }
    }

    /// A holder that stopped, or is gone, has used its app's lease up to now.
    private mutating func bankIfLeft(_ camera: CameraID) {
        guard let holding = world.cameras[camera]?.holding else { return }
        let session = world.sessions[holding.session]
        guard session?.started == nil || session?.camera != camera else { return }
        release(camera)
        world.cameras[camera]?.holding = nil
    }

    private mutating func settle(_ camera: CameraID) {
        let claims = claims(on: camera)
        let holding = world.cameras[camera]?.holding
        guard var holding, let holder = claims.first(where: { $0.id == holding.session }) else {
            release(camera)
            let granted = strongest(claims, holder: nil).map { grant($0) }
            world.cameras[camera]?.holding = granted
            return
        }
        // Its own app's newer session is no rival: it follows when no other app would win by that.
        let successor = claims.first { $0.app == holder.app && $0.id != holder.id }
        let rivals = claims.filter { $0.app != holder.app }
        if let successor, !rivals.contains(where: { successor.strength.lexicographicallyPrecedes($0.strength) }) {
            release(camera)
            let granted = grant(successor)
            world.cameras[camera]?.holding = granted
            return
        }
        // Who cools down makes way for who waits, and does not beat who has the camera; nor does it lose it by that.
        let fresh = rivals.filter { $0.strength[0] == 1 }
        guard let best = strongest(fresh + [holder.withoutCoolDown], holder: holder), best.id != holder.id else {
            // Nobody stronger is left: whoever was told otherwise keeps the camera.
            holding.toldUntil = nil
            holding.isReady = false
            world.cameras[camera]?.holding = holding
            return
        }
        let grace = holder.manners.grace
        if holding.toldUntil == nil, !best.manners.overrides, grace > .zero,
            world.now + grace >= holding.protectedUntil
        {
            holding.toldUntil = world.now + grace
        }
        let mayFinish = grace > .zero || holding.toldUntil != nil
        let until = holding.toldUntil ?? (mayFinish ? .distantFuture : holding.protectedUntil)
        let isOver = best.manners.overrides || holding.isReady || until <= world.now
        if isOver {
            release(camera)
            holding = grant(best)
        }
        world.cameras[camera]?.holding = holding
    }

    private struct Claim {
        var id: SessionID
        var app: AppID
        var started: Int
        var strength: [Int]
        var manners: Manners

        var withoutCoolDown: Claim {
            var claim = self
            claim.strength[0] = 1
            return claim
        }
    }

    /// Who may run and asks to; of each app the session that asked last, and the one that has the camera.
    private func claims(on camera: CameraID) -> [Claim] {
        var newest: [AppID: Claim] = [:]
        var holder: Claim?
        for (id, session) in world.sessions where session.camera == camera {
            guard let started = session.started, !access(session).isEmpty else { continue }
            let look = world.look(at: session, policy)
            let manners = policy.manners(look)
            let cools = world.coolDowns.contains { $0.app == session.app && $0.camera == camera }
            let claim = Claim(
                id: id, app: session.app, started: started,
                strength: [cools && !manners.overrides ? 0 : 1] + policy.strength(look), manners: manners)
            if id == world.cameras[camera]?.holding?.session { holder = claim }
            if newest[session.app].map({ $0.started < started }) ?? true { newest[session.app] = claim }
        }
        return newest.values + [holder].compactMap { claim in claim.flatMap { newest[$0.app]?.id == $0.id ? nil : $0 } }
    }

    /// The strongest claim; of equals the holder's, else the one that asked first.
    private func strongest(_ claims: [Claim], holder: Claim?) -> Claim? {
        claims.max { a, b in
            if a.strength != b.strength { return a.strength.lexicographicallyPrecedes(b.strength) }
            if a.id == holder?.id || b.id == holder?.id { return b.id == holder?.id }
            return a.started > b.started
        }
    }

    private mutating func grant(_ claim: Claim) -> World.Holding {
        let camera = world.sessions[claim.id]?.camera
        // Who left the camera to somebody who waited begins a new lease.
        world.leases.removeAll { $0.camera == camera && $0.app != claim.app && $0.leftAt != nil }
        let used = world.leases.first { $0.camera == camera && $0.app == claim.app }?.used ?? .zero
        return World.Holding(
            session: claim.id, app: claim.app, since: world.now, protectedUntil: world.now + claim.manners.protection,
            leaseUntil: claim.manners.lease.map { world.now + ($0 - used) })
    }

    private mutating func release(_ camera: CameraID) {
        guard let holding = world.cameras[camera]?.holding, holding.leaseUntil != nil,
            let app = holding.app
        else { return }
        let used = world.now - holding.since
        if let place = world.leases.firstIndex(where: { $0.camera == camera && $0.app == app }) {
            world.leases[place].used += used
        } else {
            world.leases.append(World.Lease(app: app, camera: camera, used: used))
        }
    }

    /// An app that asks for a camera no more has left it; once it stayed away for the cool-down, its lease begins anew.
    private mutating func noteLeases() {
        for place in world.leases.indices {
            let lease = world.leases[place]
            let asks = world.sessions.values.contains {
                $0.app == lease.app && $0.camera == lease.camera && $0.started != nil
            }
            world.leases[place].leftAt = asks ? nil : lease.leftAt ?? world.now
        }
        let (now, coolDown) = (world.now, coolDown)
        world.leases.removeAll { lease in lease.leftAt.map { $0 + coolDown <= now } ?? false }
    }
}
