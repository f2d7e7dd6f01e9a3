package import ArbiterProtocol

/// After a restart of the broker, cameras are kept for the apps that had them, and grants survive.
extension ReferenceArbiter {
    /// A grant survives only on a camera that was not given since, and where the policy has room for it beside the others.
    package mutating func keep(_ id: CameraID, for app: AppID, until: Moment, _ survivor: ReferenceWorld.Survivor?) {
        endSurvivor(on: id)
        guard let camera = world.cameras[id] else { return }
        world.cameras[id]?.keptFor = (app, until)
        let numbers = 1...Bound.survivorMax
        guard let survivor, !camera.wasGiven, numbers.contains(survivor.grant.rawValue),
            numbers.contains(survivor.recording ?? 1)
        else { return }
        world.cameras[id]?.survivor = survivor
        world.cameras[id]?.wasGiven = true
        let others = world.cameras.filter { $0.key != id && ($0.value.holding != nil || $0.value.survivor != nil) }.keys
        let cost = others.reduce(policy.dearest(id)) { sum, other in
            let holder = world.cameras[other]?.holding.flatMap { world.sessions[$0.session] }
            return sum + (holder.map(policy.cost) ?? policy.dearest(other))
        }
        let isTooMuch = !policy.contention.strongestMayExceed && policy.contention.budget.map { cost > $0 } ?? false
        if isTooMuch || others.contains(where: { policy.excludes($0, id) }) { endSurvivor(on: id) }
    }

    /// - Returns: false where there is no such grant, or it was another app's.
    package mutating func reclaim(_ id: SessionID, _ grant: GrantID) -> Bool {
        guard let session = world.sessions[id], session.batches == 0, session.started == nil,
            let camera = world.cameras[session.camera], let survivor = camera.survivor, survivor.grant == grant,
            let kept = camera.keptFor, world.app(session).id == kept.app, world.isReached(world.app(session))
        else { return false }
        let started = world.tick()
        world.sessions[id]?.started = started
        world.sessions[id]?.isRecording = survivor.recording != nil
        run(id)
        // Rules may read that it has run already.
        guard let session = world.sessions[id] else { return false }
        if !mayUse(session) || rankRule(session).deny || world.consent(session, policy.rights) == .denied {
            endSurvivor(on: session.camera)
            stop(id)
        } else {
            // The look that follows finds what keeps it from running.
            world.cameras[session.camera]?.survivor = nil
            world.sessions[id]?.exceeds = policy.contention.strongestMayExceed
            hold(session.camera, id, world.app(session), rankRule(session))
        }
        return true
    }

    package mutating func endSurvivor(on camera: CameraID) {
        guard world.cameras[camera]?.survivor != nil else { return }
        world.cameras[camera]?.survivor = nil
        beingCut.insert(camera)
    }

    mutating func endBarredSurvivors() {
        for (id, camera) in world.cameras where camera.survivor != nil {
            let isPrivate = camera.keptFor.map { world.privateUsers.contains($0.app.user) } ?? false
            if isPrivate || !camera.isPresent || camera.isPrivate || world.isPrivate || camera.isHeldOutside
                || world.isAsleep
            {
                endSurvivor(on: id)
            }
        }
    }

    /// A session that came while the camera was kept is neither a newcomer nor newer than one that came back to it.
    mutating func endReservations() {
        let over = world.cameras.filter { $0.value.keptFor.map { $0.until <= world.now } ?? false }
        for (id, camera) in over.sorted(by: { $0.value.holding?.granted ?? 0 < $1.value.holding?.granted ?? 0 }) {
            endSurvivor(on: id)
            world.cameras[id]?.keptFor = nil
            guard let holding = camera.holding, holding.granted != nil, let session = world.sessions[holding.session],
                world.app(session).id == camera.keptFor?.app
            else { continue }
            let granted = world.tick()
            world.cameras[id]?.holding?.granted = granted
            if policy.contention.order.first(where: { $0 == .newest || $0 == .oldest }) == .oldest { continue }
            let started = world.tick()
            world.sessions[holding.session]?.started = started
        }
    }
}
