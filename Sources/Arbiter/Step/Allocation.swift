import ArbiterProtocol

/// What one look at linked cameras decided, before anything is carried out.
struct Allocation {
    /// Who may run, and asks to.
    var claims: [SessionID: Claim] = [:]
    /// Sessions that get a camera now, and by which rule.
    var grants: [SessionID: String] = [:]
    /// Winners that wait for a cut or a restart, by camera: nothing is said to them yet.
    var promises: [CameraID: Camera.Promise] = [:]
    /// Everybody else with a claim, and why.
    var waiting: [SessionID: Loss] = [:]
    /// Holders that lose their camera in this step, in the order of their cameras.
    var removals: [Removal] = []
    var evictions: [Removal] = []
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

    /// Those who wait for a camera: whoever has it could have lost it to one of them.
    func others(on camera: CameraID) -> [Verdict.Opponent] {
        waiting.keys.sorted().compactMap { claims[$0] }.filter { $0.camera == camera }
            .map { Verdict.Opponent(facts: $0.facts, standing: $0.standing) }
    }
}

/// A camera that is spoken for while the challengers are looked at.
private struct Seat {
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
        if state.policy.linksCameras, case .policyLoaded = turn.event { seats = expelled(seats, &allocation) }
        let sitting = Set(seats.map(\.claim.session))
        let challengers = allocation.claims.values
            .filter { !sitting.contains($0.session) && allocation.waiting[$0.session] == nil }
            .sorted { a, b in
                a.comesBefore(b, under: state.policy)
                    || (!b.comesBefore(a, under: state.policy) && a.session < b.session)
            }
        var contests: [CameraID: Contest] = [:]
        for challenger in challengers { seat(challenger, &seats, &contests, &allocation, turn) }
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
        return allocation
    }

    // MARK: Who contends

    private mutating func gatherClaims(_ cameras: [CameraID], _ allocation: inout Allocation) {
        var newest: [AppID: Claim] = [:]
        for camera in cameras {
            newest.removeAll()
            for id in requests(on: camera) {
                guard let session = state.sessions[id], let request = session.request else { continue }
                let facts = facts(of: session)
                guard mayClaim(session, facts) else {
                    state.sessions[id]?.request?.claimed = nil
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
                    standing: Standing(rank: rank, started: request.started, coolsDown: cools && !rank.override),
                    claimed: state.sessions[id]?.request?.claimed ?? request.started)
                allocation.claims[id] = claim
                // One app speaks with one voice on one camera: the newest of its sessions claims for it.
                if let other = newest[session.app] {
                    let loser = other.standing.started < request.started ? other : claim
                    let winner = other.standing.started < request.started ? claim : other
                    newest[session.app] = winner
                    // Who has the camera, or is promised it, keeps it until the newest has won it.
                    if !isSeated(loser.session, on: camera) {
                        allocation.waiting[loser.session] = Allocation.Loss(
                            opponent: winner, rule: Self.sameAppNewest, interrupter: session.app)
                    }
                } else {
                    newest[session.app] = claim
                }
            }
        }
    }

    private static let sameAppNewest = "same-app: newest"

    private func isSeated(_ session: SessionID, on camera: CameraID) -> Bool {
        state.cameras[camera]?.tenancy.held?.session == session || state.cameras[camera]?.promise?.session == session
    }

    /// Its causes leave it something, but for those that only a grant ends.
    private func mayClaim(_ session: Session, _ facts: Facts) -> Bool {
        // A device that the recorder holds on to is not to be had, whatever the cause is called.
        if isStuck(session.camera) { return false }
        if builtInCauses(of: session).contains(where: { !$0.cause.endsWithGrant }) { return false }
        var access = Access.all
        for live in state.policy.liveCauses(facts) { access.formIntersection(live.access) }
        return !access.isEmpty
    }

    /// Holders that still claim keep their seat for now; the others leave it.
    private func keepHolders(_ cameras: [CameraID], _ allocation: inout Allocation) -> [Seat] {
        var seats: [Seat] = []
        for camera in cameras {
            guard let tenancy = state.cameras[camera]?.tenancy, let held = tenancy.held else { continue }
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
    private func expelled(_ seats: [Seat], _ allocation: inout Allocation) -> [Seat] {
        var kept: [Seat] = []
        for seat in seats.sorted(by: staysBefore) {
            let rivals = rivals(of: seat.claim, kept)
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
            guard let promise = state.cameras[camera]?.promise, let claim = allocation.claims[promise.session],
                claim.camera == camera
            else { continue }
            seats.append(Seat(claim: claim, held: nil, isCapturing: false, isVirtual: false))
            allocation.grants[promise.session] = promise.rule
        }
        return seats
    }

    // MARK: Challenges

    /// One challenger, strongest first: it takes a free seat, beats everybody in its way, or waits.
    private func seat(
        _ claim: Claim, _ seats: inout [Seat], _ contests: inout [CameraID: Contest], _ allocation: inout Allocation,
        _ turn: Turn
    ) {
        if let reservation = state.cameras[claim.camera]?.reservation, reservation.app != claim.app {
            wait(
                claim,
                Allocation.Loss(
                    opponent: nil, rule: BuiltInRule.reserved, interrupter: reservation.app),
                &seats, &allocation, turn)
            return
        }
        guard let rivals = rivals(of: claim, seats) else {
            wait(
                claim, Allocation.Loss(opponent: nil, rule: "budget", interrupter: nil), &seats,
                &allocation, turn)
            return
        }
        var rule = "no other claim"
        for rival in rivals {
            let comparison = challenge(claim, seats[rival], allocation, turn)
            if comparison.winner != .first {
                let opponent = seats[rival].claim
                wait(
                    claim,
                    Allocation.Loss(
                        opponent: opponent,
                        opponents: rivals.map {
                            Verdict.Opponent(facts: seats[$0].claim.facts, standing: seats[$0].claim.standing)
                        }, rule: comparison.rule,
                        interrupter: opponent.app), &seats, &allocation, turn)
                return
            }
            rule = comparison.rule
        }
        let due = rivals.map { earliestCut(seats[$0], by: claim) }.max() ?? state.now
        guard due <= state.now else {
            for rival in rivals {
                contests[seats[rival].claim.camera] = contest(seats[rival], by: claim, due: due, rule: rule)
            }
            let opponent = seats[rivals[0]].claim
            wait(
                claim,
                Allocation.Loss(
                    opponent: opponent, rule: "\(rule), after its time", interrupter: opponent.app,
                    isWinning: true), &seats, &allocation, turn)
            return
        }
        for rival in rivals.sorted(by: >) { remove(seats.remove(at: rival), for: claim, rule, &contests, &allocation) }
        seats.append(Seat(claim: claim, held: nil, isCapturing: false, isVirtual: false))
        allocation.grants[claim.session] = rule
    }

    private func remove(
        _ seat: Seat, for winner: Claim, _ rule: String, _ contests: inout [CameraID: Contest],
        _ allocation: inout Allocation
    ) {
        contests[seat.claim.camera] = nil
        let evicts = state.policy.contention.loser == .evict && seat.held != nil && !isSucceeding(winner, seat)
        let removal = Allocation.Removal(session: seat.claim.session, camera: seat.claim.camera, rule: rule)
        if evicts {
            allocation.evictions.append(removal)
        } else if seat.held != nil {
            allocation.removals.append(removal)
        }
        allocation.grants[seat.claim.session] = nil
        allocation.waiting[seat.claim.session] = Allocation.Loss(
            opponent: winner, rule: rule, interrupter: winner.app)
    }

    private func wait(
        _ claim: Claim, _ loss: Allocation.Loss, _ seats: inout [Seat], _ allocation: inout Allocation, _ turn: Turn
    ) {
        allocation.waiting[claim.session] = loss
        // A request that is about to be refused waits for nothing.
        let isRefused = claim.session == turn.starter && state.policy.contention.newcomer == .refuse
        if isRefused && !loss.isWinning { return }
        // Nobody is passed over: weaker claims stay off what this one waits for. Where it waits for the holder of
        // its own camera, they have to beat the same holder anyway.
        let waitsElsewhere = loss.opponent.map { $0.camera != claim.camera } ?? false
        guard loss.isWinning || (waitsElsewhere && !state.policy.contention.backfill) else { return }
        seats.append(Seat(claim: claim, held: nil, isCapturing: false, isVirtual: true))
    }

    /// The seats that a claim cannot sit beside: by camera, by conflict, by budget. Indexes, the strongest first.
    /// Nil when the camera alone costs more than the budget.
    private func rivals(of claim: Claim, _ seats: [Seat]) -> [Int]? {
        var rivals = seats.indices.filter {
            seats[$0].claim.camera == claim.camera || state.policy.conflict(seats[$0].claim.camera, claim.camera)
        }
        if let budget = state.policy.contention.budget, !addBudgetRivals(&rivals, claim, seats, budget) { return nil }
        return rivals.sorted { a, b in
            // Those who hold a camera before those who only wait for one: they are who the client should hear of.
            if seats[a].isVirtual != seats[b].isVirtual { return seats[b].isVirtual }
            return seats[a].claim.comesBefore(seats[b].claim, under: state.policy)
        }
    }

    /// False when there is nobody left to give way.
    private func addBudgetRivals(_ rivals: inout [Int], _ claim: Claim, _ seats: [Seat], _ budget: Int) -> Bool {
        let cost = state.policy.cost(claim.camera)
        let mayExceed =
            state.policy.contention.strongestMayExceed
            && seats.allSatisfy {
                $0.claim.app == claim.app || claim.compare($0.claim, under: state.policy).winner == .first
            }
        guard cost > 0, !mayExceed else { return true }
        let others = seats.indices.filter { !rivals.contains($0) && state.policy.cost(seats[$0].claim.camera) > 0 }
        var sum = cost + others.reduce(0) { $0 + state.policy.cost(seats[$1].claim.camera) }
        // The weakest give way first, until the sum fits.
        for seat in others.sorted(by: { seats[$1].claim.comesBefore(seats[$0].claim, under: state.policy) })
        where sum > budget {
            sum -= state.policy.cost(seats[seat].claim.camera)
            rivals.append(seat)
        }
        return sum <= budget
    }

    /// Whether a claim beats who sits there.
    private func challenge(_ claim: Claim, _ seat: Seat, _ allocation: Allocation, _ turn: Turn) -> Comparison {
        if seat.isVirtual { return Comparison(winner: .second, rule: "nobody is passed over") }
        if isSucceeding(claim, seat) {
            // It speaks for its app from now on, unless its app would thereby lose the camera to one who waits.
            for id in allocation.waiting.keys.sorted() {
                // Who lost to a session of its own app does not contend: that one speaks for both.
                guard let other = allocation.claims[id], other.camera == claim.camera, other.app != claim.app,
                    allocation.waiting[id]?.opponent?.app != other.app
                else { continue }
                let comparison = claim.compare(other, under: state.policy)
                if comparison.winner == .second { return comparison }
            }
            return Comparison(winner: .first, rule: Self.sameAppNewest)
        }
        if claim.standing.coolsDown { return Comparison(winner: .second, rule: "cool-down") }
        let isWinningAlready = seat.held?.contest?.beneficiary == claim.session
        if state.policy.contention.reDecide == .open, !isWinningAlready, turn.starter != claim.session {
            return Comparison(winner: .second, rule: "re-decide: open")
        }
        let comparison = claim.compare(seat.claim, under: state.policy)
        guard comparison.winner == .tie else { return comparison }
        // Between two claims that the policy does not tell apart, a newcomer is one that began after the holder
        // was granted: who waited already when the holder got the camera does not turn on it later.
        let isNewer = seat.held.map { claim.claimed > $0.granted } ?? false
        return Comparison(
            winner: state.policy.contention.tie == .newcomer && isNewer ? .first : .second, rule: comparison.rule)
    }

    /// An app's newest session follows its older one: no grace, min-hold or tie stands between the two.
    private func isSucceeding(_ claim: Claim, _ seat: Seat) -> Bool {
        seat.claim.app == claim.app && seat.claim.camera == claim.camera
    }

    // MARK: Grace and min-hold

    /// When the seat can be cut for a claim that beats it.
    private func earliestCut(_ seat: Seat, by claim: Claim) -> Moment {
        guard let held = seat.held, !claim.standing.rank.override, !isSucceeding(claim, seat) else { return state.now }
        let kept = held.minHoldUntil.map { max($0, state.now) } ?? state.now
        if let announced = held.contest?.announced { return announced.isReady ? state.now : announced.deadline }
        // A grace is for finishing something: there is nothing to finish before the first frame.
        guard seat.isCapturing, case .streaming? = state.cameras[seat.claim.camera]?.tenancy else { return kept }
        let grace = seat.claim.standing.rank.grace
        return grace > .zero ? max(kept, state.now + grace) : kept
    }

    private func contest(_ seat: Seat, by claim: Claim, due: Moment, rule: String) -> Contest {
        var contest = Contest(
            beneficiary: claim.session, due: due, rule: rule, announced: seat.held?.contest?.announced)
        let grace = seat.claim.standing.rank.grace
        guard contest.announced == nil, grace > .zero, case .streaming? = state.cameras[seat.claim.camera]?.tenancy
        else {
            return contest
        }
        let announceAt = Moment(nanoseconds: due.nanoseconds - grace.wholeNanoseconds)
        if announceAt <= state.now {
            contest.announced = Contest.Announced(deadline: due)
        } else {
            contest.due = announceAt
        }
        return contest
    }

    /// Nothing that excludes this camera is still being cut, or will be in this step, and its recorder may be started.
    private func isOpenable(_ id: CameraID, _ cameras: [CameraID], _ allocation: Allocation) -> Bool {
        guard let camera = state.cameras[id], camera.restartAt == nil else { return false }
        let leaving = allocation.removals + allocation.evictions
        for other in cameras {
            switch state.cameras[other]?.tenancy {
            case .revoking, .resetting(_, _, .some): break
            case .starting, .streaming: if !leaving.contains(where: { $0.camera == other }) { continue }
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
