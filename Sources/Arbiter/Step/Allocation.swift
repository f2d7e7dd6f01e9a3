import Vocabulary

/// What one look at linked cameras decided, before anything is carried out.
struct Allocation {
    /// Who may run, and asks to.
    var claims: SmallMap<SessionID, Claim> = [:]
    /// Sessions that get a camera now, and by which rule.
    var grants: [SessionID: String] = [:]
    /// Winners that wait for a cut or a restart, by camera: nothing is said to them yet.
    var promises: SmallMap<CameraID, Camera.Promise> = [:]
    /// Everybody else with a claim, and why.
    var waiting: SmallMap<SessionID, Loss> = [:]
    /// Of those who wait, who watches beside the holder.
    var sharers: Set<SessionID> = []
    /// Cameras that went on for a next holder, and there is none.
    var abandoned: [CameraID] = []
    /// Holders that lose their camera in this step, in the order of their cameras.
    var removals: [Removal] = []
    var evictions: [Removal] = []
    /// Sessions that a newer one of their app took the place of, for good.
    var replaced: [Removal] = []
    /// For each camera that stays held: the claim that will take it, or nil.
    var contests: [(CameraID, Contest?)] = []

    struct Loss {
        var opponent: Claim?
        /// All whom it would have to beat, for `explain`.
        var opponents: [Verdict.Opponent] = []
        var rule: String
        var interrupter: AppID?
        /// It has won, and only waits for the holder's grace or min-hold.
        var isWinning = false
    }

    struct Removal {
        var session: SessionID
        var camera: CameraID
        var rule: String
    }

    /// Whether its holder loses it in this step.
    func leaves(_ camera: CameraID) -> Bool {
        removals.contains { $0.camera == camera } || evictions.contains { $0.camera == camera }
            || replaced.contains { $0.camera == camera } || abandoned.contains(camera)
    }

    /// Those who wait for a camera: whoever has it could have lost it to one of them.
    func others(on camera: CameraID) -> [Verdict.Opponent] {
        waiting.keys.sorted().compactMap { claims[$0] }.filter { $0.camera == camera }
            .map { Verdict.Opponent(facts: $0.facts, standing: $0.standing) }
    }
}

/// A camera that is spoken for while the challengers are looked at.
struct Seat {
    var claim: Claim
    /// What it holds already; nil: won in this look.
    var held: Held?
    var isCapturing: Bool
    /// Not held at all: a stronger waiter that is not passed over.
    var isVirtual: Bool
}

extension Arbiter {
    /// Decides who holds these cameras. Changes nothing but the moment from which a session contends.
    mutating func allocate(_ cameras: [CameraID], _ turn: Turn) -> Allocation {
        var allocation = Allocation()
        gatherClaims(cameras, &allocation)
        var seats = keepHolders(cameras, &allocation) + keepPromises(cameras, &allocation)
        if state.policy.linksCameras, case .policyLoaded = turn.event { seats = expelled(seats, &allocation, turn) }
        var challengers = allocation.claims.values.filter { claim in
            allocation.waiting[claim.session] == nil && !seats.contains { $0.claim.session == claim.session }
        }
        if challengers.count > 1 {
            let policy = state.policy
            challengers.sort { a, b in
                a.comesBefore(b, under: policy) || (!b.comesBefore(a, under: policy) && a.session < b.session)
            }
        }
        var contests: SmallMap<CameraID, Contest> = [:]
        for challenger in challengers { seat(challenger, &seats, &contests, &allocation, turn) }
        replaceWaiting(&allocation, turn)
        allocation.abandoned = cameras.filter { camera in
            state.cameras[camera]?.tenancy.held?.isVacant == true
                && !seats.contains { !$0.isVirtual && $0.claim.camera == camera }
        }
        for seat in seats where !seat.isVirtual {
            let camera = seat.claim.camera
            if let held = seat.held {
                allocation.contests.append((camera, contests[camera]))
                // A holder whose recorder was lost keeps its seat, and is opened for anew when the backoff is over.
                if !seat.isCapturing, isOpenable(camera, cameras, allocation) {
                    allocation.grants[seat.claim.session] = held.rule
                }
            } else if isOpenable(camera, cameras, allocation) {
                // Granted now, by the rule under which it won its seat.
            } else if let rule = allocation.grants.removeValue(forKey: seat.claim.session) {
                allocation.promises[camera] = Camera.Promise(session: seat.claim.session, rule: rule)
            }
        }
        seatSharers(seats, &allocation)
        return allocation
    }

    // MARK: Who contends

    private mutating func gatherClaims(_ cameras: [CameraID], _ allocation: inout Allocation) {
        var newest: SmallMap<AppID, Claim> = [:]
        for camera in cameras {
            newest = [:]
            for id in requests(on: camera) {
                guard let session = state.sessions[id], let request = session.request else { continue }
                let facts = facts(of: session)
                guard mayClaim(session, facts) else {
                    if request.claimed != nil { state.sessions[id]?.request?.claimed = nil }
                    continue
                }
                if request.claimed == nil {
                    let ordinal = state.nextOrdinal()
                    state.sessions[id]?.request?.claimed = ordinal
                }
                let cools = state.world.coolDowns.contains { $0.app == session.app && $0.camera == camera }
                let rank = rankRule(of: session, facts)
                let claim = Claim(
                    session: id, app: session.app, camera: camera, facts: facts,
                    standing: Standing(
                        rank: rank, started: request.started, coolsDown: cools && !rank.override,
                        watches: watches(session)),
                    claimed: state.sessions[id]?.request?.claimed ?? request.started)
                allocation.claims[id] = claim
                // One app speaks with one voice on one camera: the newest of its sessions claims for it, and one that
                // only watches for none but itself.
                if let other = newest[session.app] {
                    let isOlder =
                        other.standing.watches == claim.standing.watches
                        ? other.standing.started < request.started : other.standing.watches
                    let (loser, winner) = isOlder ? (other, claim) : (claim, other)
                    newest[session.app] = winner
                    // Who has the camera, or is promised it, keeps it until the newest has won it.
                    if !isSeated(loser.session, on: camera) {
                        allocation.waiting[loser.session] = Allocation.Loss(
                            opponent: winner, rule: sameAppRule, interrupter: session.app)
                    }
                } else {
                    newest[session.app] = claim
                }
            }
        }
    }

    var sameAppRule: String { "same-app: \(state.policy.contention.sameApp.rawValue)" }

    private func isSeated(_ session: SessionID, on camera: CameraID) -> Bool {
        state.cameras[camera]?.tenancy.held?.session == session || state.cameras[camera]?.promise?.session == session
    }

    /// Its causes leave it something, but for those that only a grant ends.
    private func mayClaim(_ session: Session, _ facts: Facts) -> Bool {
        // A device that the recorder holds on to is not to be had, whatever the cause is called.
        if isStuck(session.camera) { return false }
        if builtInCauses(of: session).contains(where: { !$0.cause.endsWithGrant }) { return false }
        return !state.policy.liveCauses(facts).access.isEmpty
    }

    /// Holders that still claim keep their seat for now; the others leave it.
    private func keepHolders(_ cameras: [CameraID], _ allocation: inout Allocation) -> [Seat] {
        var seats: [Seat] = []
        for camera in cameras {
            guard let tenancy = state.cameras[camera]?.tenancy, let held = tenancy.held, !held.isVacant else {
                continue
            }
            if let claim = allocation.claims[held.session] {
                seats.append(Seat(claim: claim, held: held, isCapturing: tenancy.isCapturing, isVirtual: false))
            } else {
                allocation.removals.append(
                    Allocation.Removal(session: held.session, camera: camera, rule: "its causes leave it nothing"))
            }
        }
        return seats
    }

    /// A policy that was just loaded may exclude cameras that are held or promised side by side: the stronger stay.
    private func expelled(_ seats: [Seat], _ allocation: inout Allocation, _ turn: Turn) -> [Seat] {
        var kept: [Seat] = []
        for seat in seats.sorted(by: staysBefore) {
            let rivals = rivals(of: seat.claim, kept, allocation, turn)
            if let rivals, rivals.isEmpty {
                kept.append(seat)
                continue
            }
            let opponent = rivals?.first.map { kept[$0].claim }
            let rule = opponent == nil ? "budget" : "cameras exclude each other"
            if seat.held != nil {
                allocation.removals.append(
                    Allocation.Removal(session: seat.claim.session, camera: seat.claim.camera, rule: rule))
            }
            allocation.grants[seat.claim.session] = nil
            allocation.waiting[seat.claim.session] = Allocation.Loss(
                opponent: opponent, rule: rule, interrupter: opponent?.app)
        }
        return kept
    }

    /// Of two that the policy does not tell apart, who came later or who was there first, as it says of ties.
    private func staysBefore(_ a: Seat, _ b: Seat) -> Bool {
        switch a.claim.compare(b.claim, under: state.policy).winner {
        case .first: return true
        case .second: return false
        case .tie: break
        }
        // Whoever waits for a cut came after all who hold.
        let last = Ordinal(value: .max)
        let (x, y) = (a.held?.granted ?? last, b.held?.granted ?? last)
        guard x != y else { return a.claim.standing.started < b.claim.standing.started }
        return state.policy.contention.tie == .holder ? x < y : x > y
    }

    /// Winners that were waiting for a cut keep their seat too, unless somebody strictly stronger comes.
    private func keepPromises(_ cameras: [CameraID], _ allocation: inout Allocation) -> [Seat] {
        var seats: [Seat] = []
        for camera in cameras {
            guard let promise = state.cameras.read(camera, { $0.promise }),
                let claim = allocation.claims[promise.session], claim.camera == camera
            else { continue }
            seats.append(Seat(claim: claim, held: nil, isCapturing: false, isVirtual: false))
            allocation.grants[promise.session] = promise.rule
        }
        return seats
    }

    /// With same-app = "replace" an app has one session on a camera: older ones do not wait behind the newest, unless that
    /// one is about to be refused.
    private func replaceWaiting(_ allocation: inout Allocation, _ turn: Turn) {
        guard state.policy.contention.sameApp == .replace else { return }
        for id in allocation.waiting.keys.sorted() {
            guard let claim = allocation.claims[id], let loss = allocation.waiting[id],
                let newer = loss.opponent, newer.app == claim.app, newer.camera == claim.camera,
                newer.standing.started > claim.standing.started, newer.standing.watches == claim.standing.watches,
                !allocation.replaced.contains(where: { $0.session == id }), !isRefused(newer.session, allocation, turn)
            else { continue }
            allocation.replaced.append(Allocation.Removal(session: id, camera: claim.camera, rule: loss.rule))
        }
    }

    /// A newcomer that loses, where it may not wait: its request is about to be taken back.
    func isRefused(_ session: SessionID, _ allocation: Allocation, _ turn: Turn) -> Bool {
        guard let loss = allocation.waiting[session] else { return false }
        return session == turn.starter && state.policy.contention.newcomer == .refuse && !loss.isWinning
    }

    /// Nothing that excludes this camera is still being cut, or will be in this step, and its recorder may be started.
    private func isOpenable(_ id: CameraID, _ cameras: [CameraID], _ allocation: Allocation) -> Bool {
        guard let camera = state.cameras[id], camera.restartAt == nil else { return false }
        // It is open, and stays so: what excludes it was cut before it was opened.
        if canPassInPlace(id) { return true }
        for other in cameras {
            switch state.cameras[other]?.tenancy {
            case .revoking, .resetting(_, _, .some): break
            case .starting, .streaming:
                if !allocation.leaves(other) { continue }
            case .free, .resetting(_, _, nil), nil: continue
            }
            if other == id || state.policy.conflict(other, id) { return false }
            // A camera that is being cut still costs what it cost. One that is never let go is not waited for.
            if state.policy.contention.budget != nil, state.policy.cost(other) > 0, state.policy.cost(id) > 0,
                state.cameras[other]?.isStuck == false
            {
                return false
            }
        }
        return true
    }
}
