import ArbiterProtocol

/// One look at all cameras: the bid that has each, and the outcomes of all others.
struct Round {
    let world: ReferenceWorld
    let policy: Policy
    let occasion: ReferenceArbiter.Occasion
    /// Cameras before their first frame.
    let opening: Set<CameraID>
    let bids: [Bid]
    let contenders: [CameraID: [Bid]]
    /// The sessions that ran before this moment, and of these the holders of cameras.
    let running, formerHolders: Set<SessionID>
    var allocations: [Allocation] = []
    var outcomes: [SessionID: Outcome] = [:]
    var warnings: [CameraID: ReferenceWorld.Warning] = [:]
    /// Only places inside an app, or between watching and control, changed hands: the next look decides the rest.
    var isSuccession = false
    /// Cameras whose control a commit took, and the takers' apps.
    var taken: [CameraID: ReferenceWorld.App] = [:]
    /// Whether the last challenger exceeds the budget beside all others.
    var exceeds = false

    struct Allocation {
        enum Kind {
            /// Held since an earlier moment, or won in this one.
            case held, won
            /// Kept for a stronger bid that waits and is not passed over.
            case kept
        }
        var kind: Kind
        var bid: Bid
        var exceeds = false
    }

    enum Outcome: Equatable {
        case has, evicted, replaced
        /// `isWinning`: only a holder's time keeps it from its camera.
        case waits(isWinning: Bool = false, watches: Bool = false)
    }

    init(_ reference: ReferenceArbiter, _ occasion: ReferenceArbiter.Occasion) {
        let (world, policy) = (reference.world, reference.policy)
        (self.world, self.policy, self.occasion, opening) = (world, policy, occasion, reference.opening)
        running = Set(reference.judgement.sessions.filter { if case .running = $0.value { true } else { false } }.keys)
        formerHolders = Set(reference.judgement.holders.values)
        let bids = world.sessions.keys.sorted().compactMap { world.bid($0, policy) }
        self.bids = bids
        contenders = Dictionary(grouping: bids) { $0.camera }.mapValues { Self.contenders($0, world, policy) }
    }

    /// After a restart the camera is kept for the app that had it: the vouched app, where it is there.
    static func admits(_ bid: Bid, _ world: ReferenceWorld, _ policy: Policy) -> Bool {
        guard let camera = world.cameras[bid.camera], camera.holding?.session != bid.id else { return true }
        // A survivor's camera, and each that it excludes, is only its session's.
        let survivors = world.cameras.filter { $0.value.survivor != nil }.keys
        if survivors.contains(where: { $0 == bid.camera || policy.excludes($0, bid.camera) }) { return false }
        guard let kept = camera.keptFor else { return true }
        return bid.app.id == kept.app && world.isReached(bid.app)
    }

    mutating func decide() {
        for camera in world.cameras.keys.sorted() { succeed(on: camera) }
        if isSuccession { return letWatch() }
        var challengers: [Bid] = []
        for camera in world.cameras.keys.sorted() {
            for bid in contenders[camera] ?? [] {
                let speaker = speaker(of: bid)
                if speaker.id != bid.id, !(isHolder(bid) && opensAnew(speaker, over: bid)) {
                    let isReplaced =
                        policy.contention.sameApp == .replace && bid.started < speaker.started
                        && !goesOn(bid, beside: speaker)
                    outcomes[bid.id] = isReplaced ? .replaced : .waits()
                } else if let holding = world.cameras[camera]?.holding, holding.session == bid.id {
                    outcomes[bid.id] = .has
                    let kind = holding.granted == nil ? Allocation.Kind.won : .held
                    allocations.append(Allocation(kind: kind, bid: bid, exceeds: bid.exceeds))
                } else {
                    challengers.append(bid)
                }
            }
        }
        if isOverspent() || occasion.isReload { expel() }
        bindAllButStrongest()
        // A bid whose cool-down runs comes after all that wait.
        for bid in challengers.sorted(by: { $0.cools != $1.cools ? $1.cools : $0.isBefore($1) }) { admit(bid) }
        for bid in bids where outcomes[bid.id] == nil { outcomes[bid.id] = .waits() }
        // Also beside new holders.
        bindAllButStrongest()
        letWatch()
    }

    /// Of an app's contenders for one camera the one with the best rank, then the newest.
    private func speaker(of bid: Bid) -> Bid {
        (contenders[bid.camera] ?? []).filter { $0.app == bid.app }.min {
            $0.rule.rank != $1.rule.rank ? $0.rule.rank < $1.rule.rank : $0.started > $1.started
        } ?? bid
    }

    /// An app's better session takes its place at once, and so does a session that wants control from one that only watches, or that
    /// takes it by a commit.
    private mutating func succeed(on camera: CameraID) {
        guard let holding = world.cameras[camera]?.holding, let holder = bids.first(where: { $0.id == holding.session })
        else { return }
        let contending = contenders[camera] ?? []
        let isContending = contending.contains { $0.id == holder.id }
        let taker = taker(from: holder)
        let strongest =
            isContending
            ? speaker(of: holder)
            : contending.filter { speaker(of: $0).id == $0.id }.min {
                $0.cools != $1.cools ? $1.cools : $0.isBefore($1)
            }
        guard let successor = taker ?? strongest, successor.id != holder.id, !opensAnew(successor, over: holder)
        else { return }
        isSuccession = true
        if let taker { taken[camera] = taker.app }
        let isReplaced =
            policy.contention.sameApp == .replace && successor.app == holder.app
            && successor.watches == holder.watches && !goesOn(holder, beside: successor)
        outcomes[holder.id] = isReplaced ? .replaced : .waits()
        outcomes[successor.id] = .has
        allocations.append(Allocation(kind: .won, bid: successor, exceeds: holder.exceeds))
    }

    private func isHolder(_ bid: Bid) -> Bool { world.cameras[bid.camera]?.holding?.session == bid.id }

    /// Where the longest held gives way and newcomers are refused, a start on its own app's camera is decided like any newcomer's; its
    /// app's older session always loses to it.
    func opensAnew(_ bid: Bid, over holder: Bid) -> Bool {
        policy.contention.budget != nil && policy.contention.givesWay == .longestHeld
            && policy.contention.newcomer == .refuse && occasion.isStart && occasion.starter == bid.id
            && bid.app == holder.app && bid.camera == holder.camera && bid.id != holder.id && !bid.watches
    }
}
