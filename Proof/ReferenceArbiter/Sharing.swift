package import ArbiterProtocol

/// Shared cameras: who watches beside the holder, and control that passes by a commit.
///
/// Wishes, pictures and the camera's format are left out: configurations in force are not compared, and a sharer's wish costs nothing.
extension Round {
    /// The bids that contend for a camera.
    static func contenders(_ bids: [Bid], _ world: ReferenceWorld, _ policy: Policy) -> [Bid] {
        let admitted = bids.filter { admits($0, world, policy) }
        // Where a session wants control, sessions that only watch do not contend.
        let controlling = admitted.filter { !$0.watches }
        let contending = controlling.isEmpty ? admitted : controlling
        guard policy.contention.givesControlByCommit,
            let holder = contending.first(where: { world.cameras[$0.camera]?.holding?.session == $0.id })
        else { return contending }
        return contending.filter { $0.id == holder.id || !mayWatch($0, beside: holder, policy) }
    }

    static func mayWatch(_ bid: Bid, beside holder: Bid, _ policy: Policy) -> Bool {
        policy.contention.shares && !bid.watching.isEmpty
            && (policy.contention.sharesWithEveryone || bid.app.id.user == holder.app.id.user)
    }

    /// The sharer that has just committed a batch with a key of the camera, if it is beside this holder.
    func taker(from holder: Bid) -> Bid? {
        guard let id = occasion.taker, id != holder.id, let bid = bids.first(where: { $0.id == id }),
            bid.camera == holder.camera, bid.mayConfigure
        else { return nil }
        return Self.mayWatch(bid, beside: holder, policy) ? bid : nil
    }

    /// Where control passes by commits, sessions of one app share a camera like those of several.
    func goesOn(_ bid: Bid, beside other: Bid) -> Bool {
        policy.contention.givesControlByCommit && Self.mayWatch(bid, beside: other, policy)
    }

    /// A session that lost to a holder may watch, where the policy shares the camera with it, and so may one that does not contend.
    /// Of the bounded number of places the sessions that shared until now keep theirs, and the next one is the former holder's. The
    /// contract leaves open who gets the others: here by their ids.
    mutating func letWatch() {
        var places: [CameraID: Int] = [:]
        for bid in bids.sorted(by: { (turn(of: $0), $0.id) < (turn(of: $1), $1.id) }) {
            guard case .waits(let isWinning, watches: false) = outcomes[bid.id],
                let allocation = allocations.first(where: { $0.kind != .kept && $0.bid.camera == bid.camera }),
                isWinning || outcomes[allocation.bid.id] == .has, Self.mayWatch(bid, beside: allocation.bid, policy),
                places[bid.camera, default: 0] < Bound.sharersMax
            else { continue }
            places[bid.camera, default: 0] += 1
            outcomes[bid.id] = .waits(isWinning: isWinning, watches: true)
        }
    }

    private func hasRun(_ bid: Bid) -> Bool { running.contains(bid.id) }

    private func turn(of bid: Bid) -> Int { hasRun(bid) ? formerHolders.contains(bid.id) ? 1 : 0 : 2 }

    private func isSharer(_ id: SessionID) -> Bool {
        if case .waits(_, watches: true) = outcomes[id] { true } else { false }
    }

    /// Whether a recording of a session that does not hold its camera may go on.
    func mayRecordBeside(_ id: SessionID) -> Bool {
        isSharer(id) && bids.contains { $0.id == id && $0.watching.contains(.record) }
    }

    /// With the start, it or a session that ran has no place any more.
    private func isOneTooMany(_ bid: Bid) -> Bool {
        guard !isSuccession,
            let holder = allocations.first(where: { $0.kind != .kept && $0.bid.camera == bid.camera })?.bid
        else { return false }
        return bids.contains { other in
            other.camera == bid.camera && other.id != holder.id && !isSharer(other.id)
                && (other.id == bid.id || hasRun(other)) && Self.mayWatch(other, beside: holder, policy)
        } && bids.count { $0.camera == bid.camera && isSharer($0.id) } >= Bound.sharersMax
    }

    /// A newcomer that loses may not wait, but it may watch: if it asks no more, or if nobody contends with the holder.
    func refuses(_ starter: SessionID) -> Bool {
        guard let bid = bids.first(where: { $0.id == starter }) else { return false }
        if isOneTooMany(bid) { return true }
        guard policy.contention.newcomer == .refuse, case .waits(isWinning: false, let watches) = outcomes[starter]
        else { return false }
        return !(watches && (bid.watches || policy.contention.givesControlByCommit))
    }
}

extension ReferenceArbiter {
    /// Keys of the session itself, of the batch alone, and of the session's wish: no camera is set by these.
    private static let keysWithoutControl: Set<ConfigurationKey> = [
        .camera, .usesAudio, .whenBusy, .formatMatch, .sharingMode, .captureMode, .sessionPreset, .activeFormat,
        .frameRate,
        .activeVideoMinFrameDuration, .activeVideoMaxFrameDuration,
    ]

    /// Whether the session, which has just taken the batch, runs beside a holder and takes control with it.
    func takesControl(with batch: Configuration, _ id: SessionID) -> Bool {
        guard policy.contention.givesControlByCommit, let session = world.sessions[id],
            let holder = holder(beside: id), case .running? = judgement.sessions[id],
            batch.ordered.contains(where: { !Self.keysWithoutControl.contains($0.key) }),
            let bid = world.bid(id, policy), bid.mayConfigure, let other = world.bid(holder, policy)
        else { return false }
        return session.camera == other.camera && Round.mayWatch(bid, beside: other, policy)
    }

    /// Where control passes by commits, `same-app` says nothing of a session that may share with another of its app.
    func mayShare(_ session: ReferenceWorld.Session) -> Bool {
        policy.contention.givesControlByCommit && !world.watching(session, policy).isEmpty
    }

    func holder(beside id: SessionID) -> SessionID? {
        let holder = world.sessions[id].flatMap { world.cameras[$0.camera]?.holding?.session }
        return holder == id ? nil : holder
    }

    /// The taker would end the recording of the holder, which may not record as a sharer.
    func endsRecordingOfHolder(_ taker: SessionID) -> Bool {
        guard let holder = holder(beside: taker), judgement.recording.contains(holder) else { return false }
        return world.bid(holder, policy).map { !$0.watching.contains(.record) } ?? true
    }

    /// A sharer's recording ends with the grant that it is of.
    mutating func endRecordings(on cameras: Set<CameraID>) {
        for (id, session) in world.sessions where cameras.contains(session.camera) {
            world.sessions[id]?.isRecording = false
            world.sessions[id]?.isPaused = false
        }
    }

    func recordings(on camera: CameraID) -> Int {
        judgement.recording.count { world.sessions[$0]?.camera == camera }
    }

    /// Whether another session on its camera records: no batch is refused for another's recording without one.
    package func isRecording(beside id: SessionID) -> Bool {
        judgement.recording.contains { $0 != id && world.sessions[$0]?.camera == world.sessions[id]?.camera }
    }

    package func isSharer(_ id: SessionID) -> Bool {
        if case .running? = judgement.sessions[id] { holder(beside: id) != nil } else { false }
    }
}
