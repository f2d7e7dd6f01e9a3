package import ArbiterProtocol

/// Times that run, and their ends.
extension ReferenceArbiter {
    package var nextMoment: Moment? {
        var ends =
            world.coolDowns.map(\.until) + world.pauses.map(\.until) + world.leases.compactMap(\.until)
            + world.falling.map(\.until)
        ends += world.speakers.compactMap(\.frozenUntil) + world.questions.values.map(\.until)
        for camera in world.cameras.values {
            ends += [camera.keptFor?.until, camera.holding?.leaseUntil, camera.holding?.warning?.due].compactMap { $0 }
        }
        return ends.min()
    }

    package mutating func pass(to moment: Moment) {
        var (last, repeats) = (world.now, 0)
        while let next = nextMoment, next <= moment {
            world.now = max(world.now, next)
            endTimes()
            judge()
            // A time that begins again at once would never let time pass.
            repeats = next == last ? repeats + 1 : 0
            last = next
            if repeats > 100 { break }
        }
        world.now = max(world.now, moment)
    }

    private mutating func endTimes() {
        let now = world.now
        endReservations()
        endLeases()
        world.coolDowns.removeAll { $0.until <= now }
        world.pauses.removeAll { $0.until <= now }
        world.leases.removeAll { $0.until.map { $0 <= now } ?? false }
        if let level = world.falling.filter({ $0.until <= now }).map(\.level).min() {
            world.pressure = min(world.pressure, level)
            world.falling.removeAll { $0.level >= level }
        }
        endQuestions()
        for index in world.speakers.indices where world.speakers[index].frozenUntil.map({ $0 <= now }) == true {
            world.speakers[index].frozenUntil = nil
            let speaker = world.speakers[index]
            // Only its own words end with it.
            world.said[speaker.source] = world.said[speaker.source]?.filter { app, said in
                !(said.isStale && (speaker.user == nil ? !said.isOwn : said.isOwn && app.user == speaker.user))
            }
        }
    }

    /// - Returns: whether a lease ended.
    @discardableResult mutating func endLeases() -> Bool {
        var isAny = false
        for camera in world.cameras.keys.sorted() {
            if let holding = leased(camera), let until = holding.leaseUntil, until <= world.now {
                endLease(holding.session, on: camera)
                isAny = true
            }
            guard longestPause > .zero else { continue }
            for (id, session) in asking(for: camera) where world.sessions[id]?.started != nil {
                let (app, rule) = (world.app(session), rankRule(session))
                guard rule.pause > .zero, let lease = rule.lease else { continue }
                // A lease that runs has an end of its own, and a session that has won gets the camera.
                if leased(camera).flatMap({ world.sessions[$0.session].map(world.app) }) == app { continue }
                if world.cameras[camera]?.holding?.session == id { continue }
                let used = world.leases.first { $0.app == app && $0.camera == camera }?.used ?? .zero
                if used < lease { continue }
                endLease(id, on: camera)
                isAny = true
            }
        }
        return isAny
    }

    /// The holder whose lease runs, while it asks for the camera.
    private func leased(_ camera: CameraID) -> ReferenceWorld.Holding? {
        guard let holding = world.cameras[camera]?.holding, holding.leaseSince != nil,
            world.sessions[holding.session]?.started != nil
        else { return nil }
        return holding
    }

    private var longestPause: Duration { policy.rankRules.map(\.pauseAfterLease).max() ?? .zero }
    /// The time without a request for a camera after which an app has a whole lease again.
    private var awayTime: Duration { max(policy.contention.coolDown, longestPause) }
    /// A new lease begins when another app gets the camera.
    var endsLeasesByOthers: Bool { longestPause == .zero }

    private func asking(for camera: CameraID) -> [(SessionID, ReferenceWorld.Session)] {
        world.sessions.filter { $0.value.started != nil && $0.value.camera == camera }.sorted { $0.key < $1.key }
    }

    private mutating func endLease(_ id: SessionID, on camera: CameraID) {
        guard let session = world.sessions[id] else { return }
        let (app, pause) = (world.app(session), rankRule(session).pauseAfterLease)
        stop(id)
        coolDown(app, on: camera)
        world.leases.removeAll { $0.app == app && $0.camera == camera }
        guard pause > .zero else { return }
        world.pauses.removeAll { $0.app == app && $0.camera == camera }
        world.pauses.append((app, camera, world.now + pause))
        for (other, sibling) in asking(for: camera)
        where world.app(sibling) == app && rankRule(sibling).pauseAfterLease > .zero {
            stop(other)
        }
    }

    mutating func coolDown(_ app: ReferenceWorld.App, on camera: CameraID) {
        world.coolDowns.removeAll { $0.app == app && $0.camera == camera }
        guard policy.contention.coolDown > .zero else { return }
        world.coolDowns.append((app, camera, world.now + policy.contention.coolDown))
    }

    func leaseEnd(_ lease: Duration?, _ app: ReferenceWorld.App, on camera: CameraID) -> Moment? {
        let used = world.leases.first { $0.app == app && $0.camera == camera }?.used ?? .zero
        return lease.map { world.now + max(.zero, $0 - used) }
    }

    mutating func countLease(on camera: CameraID) {
        guard let holding = world.cameras[camera]?.holding, let since = holding.leaseSince,
            let app = world.sessions[holding.session].map(world.app)
        else { return }
        let index = world.leases.firstIndex { $0.app == app && $0.camera == camera }
        let before = index.map { world.leases[$0].used } ?? .zero
        // The grace after a lease is no part of it.
        var used = before + (world.now - since)
        if let lease = holding.lease { used = max(before, min(used, lease)) }
        world.cameras[camera]?.holding?.leaseSince = world.now
        if let index {
            world.leases[index].used = used
        } else if used > .zero {
            world.leases.append((app: app, camera: camera, used: used, until: nil))
        }
    }

    /// A holder that gets another rank gets its lease, minus the time that the app has used; at least the rank's grace is left.
    mutating func noteRanks() {
        for camera in world.cameras.keys.sorted() {
            guard let holding = world.cameras[camera]?.holding, holding.granted != nil,
                let session = world.sessions[holding.session], rankRule(session).lease != holding.lease,
                // A holder that loses its camera for a cause keeps its old lease.
                world.bids(session, policy)
            else { continue }
            countLease(on: camera)
            let (lease, until) = (rankRule(session).lease, newEnd(session, on: camera))
            world.cameras[camera]?.holding?.lease = lease
            world.cameras[camera]?.holding?.leaseUntil = until
            world.cameras[camera]?.holding?.leaseSince = until == nil ? nil : world.now
        }
    }

    private func newEnd(_ session: ReferenceWorld.Session, on camera: CameraID) -> Moment? {
        let rule = rankRule(session)
        return leaseEnd(rule.lease, world.app(session), on: camera).map { max($0, world.now + rule.grace) }
    }

    /// Notes since when each app no longer asks for each camera.
    mutating func noteWhoAsks() {
        for index in world.leases.indices {
            let lease = world.leases[index]
            let asks = world.sessions.values.contains {
                $0.started != nil && $0.camera == lease.camera && world.app($0) == lease.app
            }
            let until = lease.until ?? world.now + awayTime
            world.leases[index].until = asks ? nil : until
        }
        world.leases.removeAll { $0.until.map { $0 <= world.now } ?? false }
    }

    /// A new policy makes no running time longer.
    package mutating func shortenTimes() {
        for camera in world.cameras.keys.sorted() {
            guard var holding = world.cameras[camera]?.holding, holding.granted != nil,
                let session = world.sessions[holding.session]
            else { continue }
            let rule = rankRule(session)
            if let until = holding.protectedUntil {
                let protected = min(until, holding.since + rule.minHold)
                holding.protectedUntil = rule.minHold > .zero ? protected : nil
            }
            // Without a lease under the policy before, its time counts from the grant.
            if rule.lease != nil, holding.leaseSince == nil {
                world.cameras[camera]?.holding?.leaseSince = holding.since
            }
            countLease(on: camera)
            if let end = newEnd(session, on: camera) { holding.leaseUntil = min(holding.leaseUntil ?? end, end) }
            holding.leaseSince = holding.leaseUntil == nil ? nil : world.now
            holding.lease = rule.lease
            world.cameras[camera]?.holding = holding
        }
        endLeases()
    }
}
