import ArbiterProtocol

/// One look at all cameras: which claim has each, and what becomes of all others.
struct Round {
    let world: WholeWorld
    let policy: any HousePolicy
    let occasion: ReferenceArbiter.Occasion
    let claims: [Claim]
    /// Whose claims count on each camera.
    let contenders: [CameraID: [Claim]]
    var seats: [Seat] = []
    var outcomes: [SessionID: Outcome] = [:]
    var warnings: [CameraID: WholeWorld.Warning] = [:]
    /// Only places inside an app, or between watching and control, changed hands: all else is for the next look.
    var isSuccession = false

    struct Seat {
        enum Kind {
            /// Its holder's since an earlier moment; `nil` grants of a holding are `won`.
            case held, won
            /// Nobody's: a stronger claim waits for it that is not passed over.
            case kept
        }
        var kind: Kind
        var claim: Claim
    }

    enum Outcome: Equatable {
        case has, evicted, replaced
        /// `isWinning`: it only waits for a holder's times.
        case waits(isWinning: Bool = false, watches: Bool = false)
    }

    init(_ world: WholeWorld, _ policy: any HousePolicy, _ occasion: ReferenceArbiter.Occasion) {
        (self.world, self.policy, self.occasion) = (world, policy, occasion)
        let claims = world.sessions.keys.sorted().compactMap { world.claim($0, policy) }
        self.claims = claims
        contenders = Dictionary(grouping: claims) { $0.camera }.mapValues { claims in
            let admitted = claims.filter { Self.admits($0, world, policy) }
            // On a camera that a session wants to control, those that only watch do not contend.
            let controlling = admitted.filter { !$0.watches }
            return controlling.isEmpty ? admitted : controlling
        }
    }

    /// After a restart the camera is kept for the app that had it: the vouched-for one, where it is there.
    private static func admits(_ claim: Claim, _ world: WholeWorld, _ policy: any HousePolicy) -> Bool {
        guard let camera = world.cameras[claim.camera], camera.holding?.session != claim.id else { return true }
        // What a survivor has is its session's alone, and so is what cannot run beside it.
        let survivors = world.cameras.filter { $0.value.survivor != nil }.keys
        if survivors.contains(where: { $0 == claim.camera || policy.excludes($0, claim.camera) }) { return false }
        guard let kept = camera.keptFor else { return true }
        return claim.app.id == kept.app && world.isReached(claim.app)
    }

    mutating func decide() {
        for camera in world.cameras.keys.sorted() { succeed(on: camera) }
        if isSuccession { return letWatch() }
        var challengers: [Claim] = []
        for camera in world.cameras.keys.sorted() {
            for claim in contenders[camera] ?? [] {
                let speaker = speaker(of: claim)
                if speaker.id != claim.id, !(isHolder(claim) && opensAnew(speaker, over: claim)) {
                    let isReplaced = policy.contention.sameApp == .replace && claim.started < speaker.started
                    outcomes[claim.id] = isReplaced ? .replaced : .waits()
                } else if let holding = world.cameras[camera]?.holding, holding.session == claim.id {
                    outcomes[claim.id] = .has
                    seats.append(Seat(kind: holding.granted == nil ? .won : .held, claim: claim))
                } else {
                    challengers.append(claim)
                }
            }
        }
        if occasion.isReload { expel() }
        // A claim that was just cut comes behind all that wait.
        for claim in challengers.sorted(by: { $0.cools != $1.cools ? $1.cools : $0.isBefore($1) }) { seat(claim) }
        for claim in claims where outcomes[claim.id] == nil { outcomes[claim.id] = .waits() }
        letWatch()
    }

    // MARK: One app, one claim

    /// Of an app's contenders for one camera the one of the best rank, then the newest.
    private func speaker(of claim: Claim) -> Claim {
        (contenders[claim.camera] ?? []).filter { $0.app == claim.app }.min {
            $0.manners.rank != $1.manners.rank ? $0.manners.rank < $1.manners.rank : $0.started > $1.started
        } ?? claim
    }

    /// An app's better session takes its place over, and one that wants control does from one that only watches:
    /// nothing stands between.
    private mutating func succeed(on camera: CameraID) {
        guard let holding = world.cameras[camera]?.holding,
            let holder = claims.first(where: { $0.id == holding.session })
        else { return }
        let contending = contenders[camera] ?? []
        let isContending = contending.contains { $0.id == holder.id }
        let successor =
            isContending
            ? speaker(of: holder)
            : contending.filter { speaker(of: $0).id == $0.id }.min {
                $0.cools != $1.cools ? $1.cools : $0.isBefore($1)
            }
        guard let successor, successor.id != holder.id, !opensAnew(successor, over: holder) else { return }
        isSuccession = true
        let isReplaced =
            policy.contention.sameApp == .replace && successor.app == holder.app && successor.watches == holder.watches
        outcomes[holder.id] = isReplaced ? .replaced : .waits()
        outcomes[successor.id] = .has
        seats.append(Seat(kind: .won, claim: successor))
    }

    private func isHolder(_ claim: Claim) -> Bool { world.cameras[claim.camera]?.holding?.session == claim.id }

    /// A start on its own app's camera is looked at like every other newcomer's where those held longest give way and
    /// newcomers are refused. Its app's older session always loses to it.
    func opensAnew(_ claim: Claim, over holder: Claim) -> Bool {
        policy.contention.budget != nil && policy.contention.givesWay == .longestHeld
            && policy.contention.refusesNewcomers && occasion.starter == claim.id && claim.app == holder.app
            && claim.camera == holder.camera && claim.id != holder.id
    }

    // MARK: Watching

    /// A session that lost a camera to a holder on it may watch, where the policy shares cameras with it.
    private mutating func letWatch() {
        for claim in claims where outcomes[claim.id] == .waits() {
            if let seat = seats.first(where: { $0.kind != .kept && $0.claim.camera == claim.camera }),
                outcomes[seat.claim.id] == .has, mayWatch(claim, beside: seat.claim)
            {
                outcomes[claim.id] = .waits(watches: true)
            }
        }
        for claim in claims where outcomes[claim.id] == .waits(isWinning: true) {
            if let seat = seats.first(where: { $0.kind != .kept && $0.claim.camera == claim.camera }),
                mayWatch(claim, beside: seat.claim)
            {
                outcomes[claim.id] = .waits(isWinning: true, watches: true)
            }
        }
    }

    private func mayWatch(_ claim: Claim, beside holder: Claim) -> Bool {
        policy.contention.shares && !claim.watching.isEmpty
            && (policy.contention.sharesWithEveryone || claim.app.id.user == holder.app.id.user)
    }

    /// A newcomer that loses may not wait; one that asked only to watch may, while there is something to watch.
    func refuses(_ starter: SessionID) -> Bool {
        guard case .waits(isWinning: false, let watches) = outcomes[starter],
            let claim = claims.first(where: { $0.id == starter })
        else { return false }
        return !(claim.watches && watches)
    }
}
