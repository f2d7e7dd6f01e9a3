package import ArbiterProtocol

/// A naive arbiter that looks at the whole world anew after each change.
///
/// It decides by `docs/semantics.md`, under any policy, and shares no decision with the real one: what both agree on was understood
/// twice. From one look to the next it keeps only each camera's holder, and the times that still run. Recorders answer at once, and
/// the caller says whether a configuration was taken.
package struct ReferenceArbiter: Sendable {
    package var world = ReferenceWorld()
    package var policy: Policy
    package private(set) var judgement = Judgement()
    /// Cameras that were left since the last look: a shared camera may pass on without a cut.
    var left: Set<CameraID> = []
    /// Cameras whose recorders have not answered yet.
    var beingCut: Set<CameraID> = []
    var opening: Set<CameraID> = []

    package init(policy: Policy) { self.policy = policy }

    package enum Shown: Hashable, Sendable {
        case stopped
        case running(Access)
        case interrupted(Set<Cause>)
    }

    package struct Judgement: Hashable, Sendable {
        package var holders: [CameraID: SessionID] = [:]
        package var sessions: [SessionID: Shown] = [:]
        package var recording: Set<SessionID> = []
    }

    package struct Occasion: Sendable {
        /// The session that starts, or asks for control: it is decided as a newcomer.
        package var starter: SessionID?
        /// The start may be refused.
        package var isStart = false
        /// Another policy was loaded: cameras that exclude each other may be held side by side.
        package var isReload = false
        /// The sharer that takes control by the batch that it has just committed.
        package var taker: SessionID?

        package init(starter: SessionID? = nil, isStart: Bool = false, isReload: Bool = false) {
            (self.starter, self.isStart, self.isReload) = (starter, isStart, isReload)
        }
    }

    /// Looks at the world until nothing changes any more.
    /// - Returns: false where the start is refused; then nothing changed.
    @discardableResult package mutating func judge(_ occasion: Occasion = Occasion()) -> Bool {
        let before = self
        var occasion = occasion
        var mayBeRefused = occasion.isStart
        // Each look after the first stops, starts or cuts a session; a policy may also go round in circles.
        for _ in 0..<(32 + 16 * world.sessions.count) {
            endBarredSurvivors()
            noteWhoAsks()
            noteWhoBids()
            noteRanks()
            // A lease of which a new rank leaves nothing ends before bids are compared.
            if endLeases() { continue }
            if !policy.contention.shares { endRecordings(on: left) }
            var round = Round(self, occasion)
            round.decide()
            if mayBeRefused, let starter = occasion.starter, round.refuses(starter) {
                self = before
                return false
            }
            let last = (judgement, world.cameras.mapValues { $0.holding?.granted }, ran)
            carryOut(round)
            occasion.taker = nil
            // All holders from here on were admitted by the new policy.
            if !round.isSuccession { occasion.isReload = false }
            if !round.isSuccession { show(round) }
            let next = (judgement, world.cameras.mapValues { $0.holding?.granted }, ran)
            if last != next || round.isSuccession { continue }
            // After the first answer of a recorder the session is no newcomer.
            guard takeAnswer() else { break }
            (occasion, mayBeRefused) = (Occasion(), false)
        }
        noteQuestions()
        return true
    }

    /// The sessions that run after a time in which the reference was not told. All but the holders, which the world has, share.
    package mutating func note(running: [SessionID]) {
        judgement.holders = world.cameras.compactMapValues { $0.holding?.session }
        judgement.sessions = [:]
        for id in running { judgement.sessions[id] = .running(.all) }
    }

    package mutating func settle() {
        (opening, beingCut, left) = ([], [], [])
        judge()
    }

    /// Recorders answer at once, and one after the other in the order of their cameras.
    private mutating func takeAnswer() -> Bool {
        guard let camera = beingCut.union(opening).min() else { return false }
        if beingCut.remove(camera) != nil { return true }
        opening.remove(camera)
        if let holder = world.cameras[camera]?.holding?.session { run(holder) }
        return true
    }

    private var ran: Set<SessionID> { Set(world.sessions.filter(\.value.hasRun).keys) }

    private mutating func noteWhoBids() {
        // The contract leaves open which of several began to contend first: here by their ids.
        for id in world.sessions.keys.sorted() {
            guard let session = world.sessions[id], session.started != nil else { continue }
            let bids = world.bids(session, policy)
            let bidSince = session.bidSince ?? world.tick()
            world.sessions[id]?.bidSince = bids ? bidSince : nil
        }
    }

    private mutating func carryOut(_ round: Round) {
        let formers = world.cameras.compactMapValues(\.holding)
        var warnings: [CameraID: (app: ReferenceWorld.App?, warning: ReferenceWorld.Warning)] = [:]
        for camera in world.cameras.keys.sorted() {
            guard let holding = world.cameras[camera]?.holding else { continue }
            if round.outcomes[holding.session] == .has { continue }
            if round.isSuccession, round.outcomes[holding.session] == nil { continue }
            // A warning is the app's: another session of it has the time that is left, and has to be ready itself.
            if round.isSuccession, var warning = holding.warning, warning.toldUntil != nil {
                warning.isReady = false
                let app = round.taken[camera] ?? world.sessions[holding.session].map(world.app)
                warnings[camera] = (app, warning)
            }
            leave(holding.session, recordsOn: round.mayRecordBeside(holding.session))
        }
        for (id, outcome) in round.outcomes.sorted(by: { $0.key < $1.key }) {
            guard let session = world.sessions[id] else { continue }
            if outcome == .evicted { coolDown(world.app(session), on: session.camera) }
            if outcome == .evicted || outcome == .replaced { stop(id) }
        }
        noteWhoAsks()
        noteWhoExceeds(round)
        // The contract leaves open which of several grants of one moment is older: here their ids decide.
        let allocations = round.allocations.filter { $0.kind != .kept }.sorted { $0.bid.id < $1.bid.id }
        let passing = policy.contention.shares ? left.intersection(allocations.map(\.bid.camera)) : []
        endRecordings(on: left.subtracting(passing))
        for allocation in allocations {
            if world.cameras[allocation.bid.camera]?.holding == nil {
                world.cameras[allocation.bid.camera]?.holding = ReferenceWorld.Holding(allocation.bid.id)
                if let (app, warning) = warnings[allocation.bid.camera], app == allocation.bid.app {
                    world.cameras[allocation.bid.camera]?.holding?.warning = warning
                }
            }
            guard world.cameras[allocation.bid.camera]?.holding?.granted == nil,
                !mustWait(allocation.bid.camera, passing)
            else {
                continue
            }
            grant(allocation.bid)
            if round.taken[allocation.bid.camera] != nil {
                // No min-hold begins anew, and what is left of one is the taker's as far as its own rank has one.
                let left = formers[allocation.bid.camera]?.protectedUntil
                let own = world.cameras[allocation.bid.camera]?.holding?.protectedUntil
                world.cameras[allocation.bid.camera]?.holding?.protectedUntil = left.flatMap { left in
                    own.map { min(left, $0) }
                }
            }
        }
        opening.subtract(left)
        beingCut.formUnion(left)
        left = []
        if round.isSuccession { return }
        for camera in world.cameras.keys { world.cameras[camera]?.holding?.warning = round.warnings[camera] }
    }

    private mutating func noteWhoExceeds(_ round: Round) {
        if !round.isSuccession { for id in world.sessions.keys { world.sessions[id]?.exceeds = false } }
        for allocation in round.allocations where allocation.exceeds && allocation.kind != .kept {
            world.sessions[allocation.bid.id]?.exceeds = true
        }
    }

    /// A camera that excludes this one is being cut in this moment.
    /// - Parameter passing: cameras that are not cut, although their holders have left them.
    private func mustWait(_ camera: CameraID, _ passing: Set<CameraID>) -> Bool {
        if passing.contains(camera) { return false }
        return left.subtracting(passing).union(beingCut).contains { other in
            let bothCost = policy.dearest(other) > 0 && policy.dearest(camera) > 0
            return other == camera || policy.excludes(other, camera) || (policy.contention.budget != nil && bothCost)
        }
    }

    private mutating func grant(_ bid: Bid) {
        hold(bid.camera, bid.id, bid.app, bid.rule)
        if left.remove(bid.camera) == nil { opening.insert(bid.camera) }
        if !opening.contains(bid.camera) { run(bid.id) }
    }

    mutating func hold(_ camera: CameraID, _ id: SessionID, _ app: ReferenceWorld.App, _ rule: RankRule) {
        // An app that left the camera to somebody else begins a new lease.
        if endsLeasesByOthers {
            world.leases.removeAll { $0.camera == camera && $0.app != app && $0.until != nil }
        }
        var holding = ReferenceWorld.Holding(id)
        if let before = world.cameras[camera]?.holding, before.session == id { holding.warning = before.warning }
        holding.granted = world.tick()
        holding.since = world.now
        holding.protectedUntil = rule.minHold > .zero ? world.now + rule.minHold : nil
        if leaseEnd(rule.lease, app, on: camera) == world.now, rule.pauseAfterLease == .zero {
            // It was used up before a session was stopped for it: a new lease begins.
            world.leases.removeAll { $0.camera == camera && $0.app == app }
        }
        holding.leaseUntil = leaseEnd(rule.lease, app, on: camera)
        holding.leaseSince = holding.leaseUntil == nil ? nil : world.now
        holding.lease = rule.lease
        world.cameras[camera]?.holding = holding
        world.cameras[camera]?.wasGiven = true
    }

    mutating func run(_ id: SessionID) {
        world.sessions[id]?.hasRun = true
        world.sessions[id]?.isReestablished = false
    }

    /// - Parameter recordsOn: as a sharer of the camera.
    package mutating func leave(_ id: SessionID, recordsOn: Bool = false) {
        for (camera, state) in world.cameras where state.holding?.session == id {
            countLease(on: camera)
            if state.holding?.granted != nil { left.insert(camera) }
            world.cameras[camera]?.holding = nil
            // A microphone is the grant's.
            world.sessions[id]?.hasMicrophone = false
            if recordsOn { continue }
            world.sessions[id]?.isRecording = false
            world.sessions[id]?.isPaused = false
        }
    }

    package mutating func stop(_ id: SessionID) {
        leave(id)
        world.sessions[id]?.stop()
    }

    private mutating func show(_ round: Round) {
        judgement = Judgement()
        for (id, camera) in world.cameras { judgement.holders[id] = camera.holding?.session }
        for (id, session) in world.sessions {
            let shown = shown(id, session, round)
            judgement.sessions[id] = shown
            // A recording never outlives the right to record.
            if case .running(let access) = shown {
                // No session runs before the first frame, nor while streams in its way are cut.
                if world.cameras[session.camera]?.holding?.granted != nil, !opening.contains(session.camera) { run(id) }
                if access.contains(.record) {
                    if session.isRecording { judgement.recording.insert(id) }
                    continue
                }
            }
            world.sessions[id]?.isRecording = false
            world.sessions[id]?.isPaused = false
        }
    }

    private func shown(_ id: SessionID, _ session: ReferenceWorld.Session, _ round: Round) -> Shown {
        guard session.started != nil else { return .stopped }
        let limits = policy.limits(world.facts(session, policy))
        let access = limits.reduce(world.most(session, policy)) { $0.intersection($1.access) }
        if world.cameras[session.camera]?.holding?.session == id { return .running(access) }
        var causes = world.machine(session, policy).union(limits.map(\.cause))
        switch round.outcomes[id] {
        case nil: break
        case .waits(_, watches: true): return .running(access.intersection(policy.contention.sharers))
        // Only a session that nothing else stops is stopped by another one.
        default: causes.insert(.videoDeviceInUseByAnotherClient)
        }
        return .interrupted(causes)
    }
}

extension ReferenceWorld {
    enum Consent { case given, wanted, denied }

    func consent(_ session: Session, _ rights: Rights) -> Consent {
        let app = app(session)
        if app.id.user == 0 { return .given }
        if denied.contains(app.id) { return .denied }
        switch answers[app] {
        case .allow: return .given
        case .deny: return .denied
        case nil:
            return rights.apps == .ask && (app.isClaimed || !rights.services.contains(app.id.name)) ? .wanted : .given
        }
    }

    func asks(_ session: Session, _ rights: Rights) -> Bool {
        session.started != nil && consent(session, rights) == .wanted && !isAsleep && !isAway(session, rights)
    }
}

extension ReferenceArbiter {
    /// - Returns: false where the answer is not allowed.
    package mutating func say(_ app: ReferenceWorld.App, _ answer: AppAnswer?, inStore: Bool) -> Bool {
        if app.id.user == 0 { return false }
        if inStore {
            if app.isClaimed || answer == .allow { return false }
            if answer == nil { world.denied.remove(app.id) } else { world.denied.insert(app.id) }
        } else {
            world.answers[app] = answer
        }
        for (id, session) in world.sessions
        where session.started != nil && world.consent(session, policy.rights) == .denied { stop(id) }
        return true
    }

    /// - Returns: false where there is no question about that app.
    package mutating func answer(_ app: ReferenceWorld.App, _ answer: AppAnswer) -> Bool {
        guard world.questions[app.id.user]?.app == app else { return false }
        return say(app, answer, inStore: false)
    }

    /// - Returns: false where no app of the name asks for a camera.
    package mutating func stop(named app: AppID) -> Bool {
        let own = world.sessions.filter { $0.value.started != nil && world.app($0.value).id == app }
        for id in own.keys { stop(id) }
        return !own.isEmpty
    }

    static let questionTime = Duration.seconds(30)

    mutating func noteQuestions() {
        let asking = world.sessions.filter { world.asks($0.value, policy.rights) }.values.sorted {
            ($0.started ?? 0) < ($1.started ?? 0)
        }
        for (user, question) in world.questions where !asking.contains(where: { world.app($0) == question.app }) {
            world.questions[user] = nil
        }
        for session in asking {
            let app = world.app(session)
            if world.questions[app.id.user] != nil { continue }
            world.questions[app.id.user] = (app: app, until: world.now + Self.questionTime)
        }
    }

    mutating func endQuestions() {
        for (user, question) in world.questions where question.until <= world.now {
            world.questions[user] = nil
            for (id, session) in world.sessions where session.started != nil && world.app(session) == question.app {
                stop(id)
            }
        }
    }
}
