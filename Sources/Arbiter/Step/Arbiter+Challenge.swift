import Vocabulary

/// Who wins a seat: by camera, conflict and budget, and when the one who sits there has to go.
extension Arbiter {
    /// One challenger, strongest first: it takes a free seat, beats everybody in its way, or waits.
    func seat(
        _ claim: Claim, _ seats: inout [Seat], _ contests: inout SmallMap<CameraID, Contest>,
        _ allocation: inout Allocation,
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
        guard let rivals = rivals(of: claim, seats, allocation, turn) else {
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
        _ seat: Seat, for winner: Claim, _ rule: String, _ contests: inout SmallMap<CameraID, Contest>,
        _ allocation: inout Allocation
    ) {
        contests[seat.claim.camera] = nil
        // Who only watches goes on watching.
        let goes = seat.claim.standing.watches == winner.standing.watches
        let evicts = state.policy.contention.loser == .evict && seat.held != nil && !isSucceeding(winner, seat) && goes
        let removal = Allocation.Removal(session: seat.claim.session, camera: seat.claim.camera, rule: rule)
        if state.policy.contention.sameApp == .replace, isSucceeding(winner, seat), goes {
            allocation.replaced.append(removal)
        } else if evicts {
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
    /// Nil when the budget has no room for it, whoever goes.
    func rivals(of claim: Claim, _ seats: [Seat], _ allocation: Allocation, _ turn: Turn) -> [Int]? {
        var rivals = seats.indices.filter {
            seats[$0].claim.camera == claim.camera || state.policy.conflict(seats[$0].claim.camera, claim.camera)
        }
        guard addBudgetRivals(&rivals, claim, seats, allocation, turn) else { return nil }
        guard rivals.count > 1 else { return rivals }
        let policy = state.policy
        return rivals.sorted { a, b in
            // Those who hold a camera before those who only wait for one: they are who the client should hear of.
            if seats[a].isVirtual != seats[b].isVirtual { return seats[b].isVirtual }
            return seats[a].claim.comesBefore(seats[b].claim, under: policy)
        }
    }

    /// Whether a claim beats who sits there.
    func challenge(_ claim: Claim, _ seat: Seat, _ allocation: Allocation, _ turn: Turn) -> Comparison {
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
            return Comparison(winner: .first, rule: sameAppRule)
        }
        if seat.claim.standing.watches, !claim.standing.watches, seat.claim.camera == claim.camera {
            return Comparison(winner: .first, rule: Self.controlBeforeWatching)
        }
        if claim.standing.coolsDown { return Comparison(winner: .second, rule: "cool-down") }
        let isWinningAlready = seat.held?.contest?.beneficiary == claim.session
        let asks = turn.starter == claim.session || turn.asker == claim.session
        if state.policy.contention.reDecide == .open, !isWinningAlready, !asks {
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
        guard let held = seat.held, !claim.standing.rank.override, !isSucceeding(claim, seat),
            seat.claim.standing.watches == claim.standing.watches
        else { return state.now }
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
}
