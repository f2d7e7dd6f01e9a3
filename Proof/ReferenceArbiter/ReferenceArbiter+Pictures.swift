package import ArbiterProtocol

/// The pictures that sessions ask for, as far as a policy's costs tell them apart. Merging a batch is no decision, and left to
/// `ConfigurationCheck`.
extension ReferenceArbiter {
    /// The session remembers its requests to each camera.
    mutating func ask(_ batch: Configuration, _ id: SessionID) {
        guard let session = world.sessions[id] else { return }
        let asked = asked(batch, of: session, on: session.camera)
        world.sessions[id]?.asked[session.camera] = asked
        lookAtPictures(of: id)
    }

    /// A camera that the session never had begins with the session's preset, where it has a format for that.
    mutating func takePresetAlong(from camera: CameraID, _ id: SessionID) {
        guard let session = world.sessions[id], session.asked[session.camera] == nil,
            let preset = session.asked[camera]?[.sessionPreset]
        else { return }
        let asked = Configuration([.sessionPreset: preset])
        if pictures(asked, session.camera) != nil { world.sessions[id]?.asked[session.camera] = asked }
    }

    /// A camera may have come back with other formats.
    package mutating func lookAtPictures(on camera: CameraID) {
        for (id, session) in world.sessions where session.camera == camera { lookAtPictures(of: id) }
    }

    private mutating func lookAtPictures(of id: SessionID) {
        guard let session = world.sessions[id] else { return }
        let pictures = pictures(session.asked[session.camera] ?? Configuration(), session.camera)
        world.sessions[id]?.pictures = pictures
    }

    private func asked(_ batch: Configuration, of session: ReferenceWorld.Session, on camera: CameraID) -> Configuration
    {
        let before = session.asked[camera] ?? Configuration()
        let own = batch.keeping { $0 != .camera && $0 != .whenBusy }
        return check(camera)?.merged(own, into: before) ?? before
    }

    private func pictures(_ asked: Configuration, _ camera: CameraID) -> ReferenceWorld.Pictures? {
        check(camera)?.formatAndRate(asked).map { format, rate in
            (pixelFormat: format.pixelFormat, width: format.width, height: format.height, frameRate: rate)
        }
    }

    private func check(_ camera: CameraID) -> ConfigurationCheck? {
        world.cameras[camera]?.capabilities.map { ConfigurationCheck(capabilities: $0) }
    }

    /// No session is cut for a configuration: a dearer one of a holder needs room.
    package func hasRoom(for event: Event) -> Bool {
        switch event {
        case .configure(let id, let batch):
            if let session = world.sessions[id], session.batches > 0 { return true }
            return hasRoom(for: batch, id)
        case .commitConfiguration(let id):
            guard let session = world.sessions[id], session.batches == 1 else { return true }
            return hasRoom(for: session.batch, id)
        default: return true
        }
    }

    private func hasRoom(for batch: Configuration, _ id: SessionID) -> Bool {
        guard let (sum, budget) = dearer(batch, id) else { return true }
        return sum <= budget || isStrongest(id)
    }

    /// The strongest app may exceed the budget.
    func mayExceed(with batch: Configuration, _ id: SessionID) -> Bool {
        dearer(batch, id).map { $0.sum > $0.budget } ?? false
    }

    /// The cost of all cameras in use with a batch that makes its session's camera dearer.
    private func dearer(_ batch: Configuration, _ id: SessionID) -> (sum: Int, budget: Int)? {
        guard let session = world.sessions[id], session.started != nil, let budget = policy.contention.budget,
            policy.weighsPictures
        else { return nil }
        if case .text(let name)? = batch[.camera], CameraID(name) != session.camera { return nil }
        guard let holder = world.cameras[session.camera]?.holding.flatMap({ world.sessions[$0.session] }),
            world.cameras[session.camera]?.holding?.session == id || wouldTakeControl(with: batch, id)
        else { return nil }
        var after = session
        after.pictures = pictures(asked(batch, of: session, on: session.camera), session.camera)
        guard policy.cost(after) > policy.cost(holder) else { return nil }
        let others = world.cameras.filter { $0.key != session.camera }.map { camera, state in
            if let holder = state.holding.flatMap({ world.sessions[$0.session] }) { return policy.cost(holder) }
            return state.survivor == nil ? 0 : policy.dearest(camera)
        }
        return (others.reduce(policy.cost(after), +), budget)
    }

    private func wouldTakeControl(with batch: Configuration, _ id: SessionID) -> Bool {
        var after = self
        after.takeOwnKeys(batch, id)
        return after.takesControl(with: batch, id)
    }

    private func isStrongest(_ id: SessionID) -> Bool {
        guard policy.contention.strongestMayExceed, let own = world.strength(of: id, policy) else { return false }
        // A holder that loses control to the batch is in nobody's way.
        let others = world.cameras.filter { $0.key != world.sessions[id]?.camera }
        return others.values.compactMap(\.holding?.session).allSatisfy { other in
            guard let theirs = world.strength(of: other, policy) else { return true }
            return theirs.app == own.app || own.strength.lexicographicallyPrecedes(theirs.strength)
        }
    }
}
