import Vocabulary

/// Which bid wins a seat, by camera, conflict and budget, and when the seat's session must go.
extension Seating {
    /// One challenger, strongest first: it takes a free seat, beats everybody in its way, or waits.
    mutating func seat(_ look: Int) {
        let camera = stage(of: look)
        guard findRivals(of: look, on: camera) else { return lose(look, to: nil, .law(.budget)) }
        // Loops and no closures on every challenger's path: a closure would copy the whole seating.
        comparisons.clear()
        var due = now
        for place in rivals.indices {
            let rival = seats[rivals[place]]
            let comparison = challenge(look, rival)
            guard comparison.isWon else { return wait(look, behind: rival, comparison.rule) }
            comparisons.append(comparison)
            due = max(due, earliestCut(rival, by: look))
        }
        if due > now { return contest(look, on: camera, due) }
        // Each victim's verdict names the rule that beat it.
        for (rival, comparison) in zip(rivals, comparisons) { remove(seats[rival], for: look, comparison.rule) }
        if rivals.count > 1 { rivals.sort(by: >) }
        for rival in rivals { seats.remove(at: rival) }
        if isHolder(look, on: camera), let rule = cameras[camera].held?.rule {
            return sit(look, on: camera, .held, rule, exceeds: exceeds)
        }
        win(look, on: camera, comparisons.last?.rule ?? promise(to: look, on: camera) ?? .law(.noOtherBid))
    }

    private mutating func win(_ look: Int, on camera: Int, _ rule: Rule) {
        sit(look, on: camera, isDormant(camera) ? .dormant : .won, rule, exceeds: exceeds)
    }

    /// The bid beats everybody in its way, and they have their time first. It still takes its own app's place, and no
    /// other app's.
    private mutating func contest(_ look: Int, on camera: Int, _ due: Moment) {
        if let own = seats.firstIndex(where: { $0.isTaken && opensAnew(look, over: $0.look) }) {
            remove(seats.remove(at: own), for: look, policy.sameAppRule)
            return win(look, on: camera, policy.sameAppRule)
        }
        for (rival, comparison) in zip(rivals, comparisons) {
            let contest = contest(seats[rival], by: look, due: due, comparison.rule)
            // A weaker bid that waits for the same holder, and no shorter, does not take it from the stronger one.
            if let next = cameras[seats[rival].camera].next, next.due <= contest.due, isWinning(next.beneficiary) {
                continue
            }
            cameras[seats[rival].camera].next = contest
        }
        lose(look, to: seats[rivals[0]].look, (comparisons.last?.rule ?? .law(.noOtherBid)).afterItsTime)
        rulings[look].isWinning = true
        seats.append(Seat(kind: .kept, look: look, camera: camera, rule: .law(.notPassedOver)))
    }

    private func isWinning(_ session: Slot<Session>) -> Bool {
        looks.indices.contains { looks[$0].session == session && rulings[$0].isWinning }
    }

    func stage(of look: Int) -> Int { cameras.count == 1 ? 0 : cameras.firstIndex { $0.looks.contains(look) } ?? 0 }

    private mutating func remove(_ seat: Seat, for winner: Int, _ rule: Rule) {
        cameras[seat.camera].next = nil
        var kind = Ruling.Kind.waits
        if opensAnew(winner, over: seat.look) {
            weighsAgain = true
            if replaces(winner, seat.look) { kind = .replaced }
        } else if isHolder(seat), policy.contention.loser == .evict {
            kind = .evicted
        }
        lose(seat.look, kind, to: winner, rule)
    }

    /// Weaker bids stay off the cameras that this bid waits for; on its own camera they have to beat the same holder
    /// anyway.
    private mutating func wait(_ look: Int, behind seat: Seat, _ rule: Rule) {
        lose(look, to: seat.look, rule)
        if occasion.isObserved { opponents[look] = rivals.map { seats[$0].look } }
        let camera = stage(of: look)
        // The interrupter that is named has a camera in this bid's way now, also where a stronger bid waits for that
        // camera.
        if seat.kind == .kept, let first = rivals.first, seats[first].isTaken {
            rulings[look].interrupter = looks[seats[first].look].app
        }
        guard seat.camera != camera, !policy.contention.backfill else { return }
        seats.append(Seat(kind: .kept, look: look, camera: camera, rule: .law(.notPassedOver)))
    }

    /// The seat of the session that has a camera or has won it.
    func sitting(on camera: Int) -> Seat? {
        for place in seats.indices where seats[place].camera == camera && seats[place].isTaken { return seats[place] }
        return nil
    }

    /// The seats that a bid cannot sit beside: holders first, since the client's notice names one, and then the
    /// strongest.
    /// - Returns: false when the budget has no room for the bid, whoever goes.
    mutating func findRivals(of look: Int, on camera: Int) -> Bool {
        rivals.clear()
        exceeds = false
        for index in seats.indices where seats[index].camera == camera || excludes(seats[index], camera) {
            rivals.append(index)
        }
        guard isDormant(camera) || addBudgetRivals(of: look, on: camera) else { return false }
        guard rivals.count > 1 else { return true }
        rivals = rivals.sorted { a, b in
            if seats[a].isTaken != seats[b].isTaken { return seats[a].isTaken }
            return looks[seats[a].look].standing < looks[seats[b].look].standing
        }
        return true
    }

    /// Two cameras that cannot run together; a camera whose device is not tried is in nobody's way.
    private func excludes(_ seat: Seat, _ camera: Int) -> Bool {
        policy.hasConflicts && seat.kind != .dormant && !isDormant(camera)
            && policy.conflict(cameras[seat.camera].place, cameras[camera].place)
    }

    // MARK: Two bids

    /// Whether a bid beats a seat's bid.
    func challenge(_ look: Int, _ seat: Seat) -> Comparison {
        if seat.kind == .kept { return Comparison(winner: .second, rule: .law(.notPassedOver)) }
        if opensAnew(look, over: seat.look) { return Comparison(winner: .first, rule: policy.sameAppRule) }
        // After a cool-down begins, a bid makes way for the bids that waited, and so for the present holder.
        if looks[look].coolsDown { return Comparison(winner: .second, rule: .law(.coolDown)) }
        let session = looks[look].session
        if policy.contention.reDecide == .open, occasion.starter != session, occasion.asker != session,
            contest(of: seat)?.beneficiary != session
        {
            return Comparison(winner: .second, rule: .law(.reDecideOpen))
        }
        return compareWithTie(look, seat)
    }

    /// With `tie = "newcomer"` a bid wins a tie if it is newer than the holder's grant: a bid that waited is no
    /// newcomer.
    func compareWithTie(_ look: Int, _ seat: Seat) -> Comparison {
        var comparison = compare(look, seat.look)
        guard comparison.winner == .tie else { return comparison }
        let isNewer = isHolder(seat) && cameras[seat.camera].held.map { looks[look].bidSince > $0.granted } ?? false
        comparison.winner = policy.contention.tie == .newcomer && isNewer ? .first : .second
        return comparison
    }

    /// Ranks first, then the order list from left to right.
    func compare(_ a: Int, _ b: Int) -> Comparison {
        policy.compare((looks[a].strength, looks[a].rank.rule), (looks[b].strength, looks[b].rank.rule))
    }

    /// Of two bids that the policy does not tell apart, the later or the earlier one, by the policy's `tie`.
    func staysBefore(_ a: Seat, _ b: Seat, onceBothHold: Bool = false) -> Bool {
        let winner = compare(a.look, b.look).winner
        if winner != .tie { return winner == .first }
        let (x, y) = (granted(a), granted(b))
        if x != y { return policy.contention.tie == .holder ? x < y : x > y }
        // Two grants of one step are in the order of their ids.
        if !onceBothHold { return looks[a.look].started < looks[b.look].started }
        return (looks[a.look].id < looks[b.look].id) == (policy.contention.tie == .holder)
    }

    /// A bid that waits for a cut comes after all holders.
    func granted(_ seat: Seat) -> Ordinal { isHolder(seat) ? cameras[seat.camera].held?.granted ?? .max : .max }

    // MARK: Time: how long a holder is spared for its grace and its min-hold

    /// When the seat can be cut for a bid that beats it.
    func earliestCut(_ seat: Seat, by look: Int) -> Moment {
        guard !looks[look].rank.isImmediate, !opensAnew(look, over: seat.look) else { return now }
        if let announced = contest(of: seat)?.announced { return announced.isReady ? now : announced.deadline }
        guard seat.kind == .held || seat.kind == .dormant, let held = cameras[seat.camera].held else { return now }
        let kept = held.minHoldUntil.map { max($0, now) } ?? now
        let grace = grace(of: seat)
        return grace > 0 ? max(kept, now + .nanoseconds(grace)) : kept
    }

    /// The contest of the seat, from an earlier round or step.
    private func contest(of seat: Seat) -> Contest? {
        if isHolder(seat) { return cameras[seat.camera].held?.contest }
        return seat.kind == .promised ? cameras[seat.camera].promise?.contest : nil
    }

    /// A grace is for finishing something: before the first frame a session has nothing to finish.
    private func grace(of seat: Seat) -> Int64 { cameras[seat.camera].isStreaming ? looks[seat.look].rank.grace : 0 }

    /// The bid that a holder has to make way for at `due`; the holder is warned its grace before that.
    func contest(_ seat: Seat, by look: Int, due: Moment, _ rule: Rule) -> Contest {
        var contest = Contest(
            beneficiary: looks[look].session, due: due, rule: rule, announced: self.contest(of: seat)?.announced)
        let grace = grace(of: seat)
        guard contest.announced == nil, grace > 0 else { return contest }
        contest.due = Moment(nanoseconds: due.nanoseconds - grace)
        if contest.due <= now { (contest.due, contest.announced) = (due, Contest.Announced(deadline: due)) }
        return contest
    }

    // MARK: After other bids, another policy, or a dearer format

    /// A bid lost to a holder that a later bid beat, or a later bid took a seat in its way: the next round finds for
    /// whom the bid waits now.
    var namesLosers: Bool {
        guard seats.contains(where: { $0.kind == .won }) else { return false }
        return rulings.indices.contains { look in
            guard rulings[look].kind == .waits else { return false }
            let opponent = rulings[look].opponent
            if opponent >= 0,
                rulings[opponent].kind == .waits && !rulings[opponent].isWinning || rulings[opponent].isStopped
            {
                let camera = stage(of: opponent)
                if isHolder(opponent, on: camera) || cameras[camera].promise?.session == looks[opponent].session {
                    return true
                }
            }
            guard policy.hasConflicts else { return false }
            return seats.contains { $0.kind == .won && $0.look != opponent && excludes($0, stage(of: look)) }
        }
    }

    /// Cameras that are held or promised side by side may exclude each other now: the stronger stay.
    mutating func expel() {
        let all = seats.sorted { staysBefore($0, $1) }
        seats = []
        for var seat in all {
            let hasRoom = seat.kind == .dormant || findRivals(of: seat.look, on: seat.camera)
            if hasRoom, seat.kind == .dormant || rivals.isEmpty {
                seat.exceeds = seat.kind != .dormant && exceeds
                seats.append(seat)
                continue
            }
            let opponent = hasRoom ? rivals.first.map { seats[$0].look } : nil
            lose(seat.look, to: opponent, .law(opponent == nil ? .budget : .excluded))
        }
    }

    // MARK: What can be opened

    /// Which of the winners get their camera now. A holder whose recorder was lost is opened anew when its wait is
    /// over.
    mutating func open() {
        for seat in seats where seat.counts && (seat.kind != .held || cameras[seat.camera].isLost) {
            if isOpenable(seat.camera) { rule(seat.look, .gets, seat.rule) }
        }
    }

    private func isOpenable(_ camera: Int) -> Bool {
        if cameras[camera].backsOff { return false }
        // An open camera stays open: the cameras that it excludes were cut before it was opened.
        if canPassInPlace(camera) { return true }
        for other in cameras.indices where isInUse(other) {
            let (place, othersPlace) = (cameras[camera].place, cameras[other].place)
            if other == camera || policy.conflict(othersPlace, place) { return false }
            // A camera under its cut still costs its price. A camera that is never let go is not waited for.
            if policy.budget != nil, policy.cost(othersPlace) > 0, policy.cost(place) > 0, !cameras[other].isStuck {
                return false
            }
        }
        return true
    }

    /// The camera is under a cut, or will be in this step. A camera whose holder stays is no obstacle: its seat was
    /// weighed already.
    private func isInUse(_ camera: Int) -> Bool {
        guard cameras[camera].isCapturing else { return cameras[camera].isBeingCut }
        if let holder = holder(on: camera) { return !rulings[holder].keepsItsCamera }
        // The holder has left: the camera goes on for the next one, and is cut where there is none.
        return !(canPassInPlace(camera) && seats.contains { $0.camera == camera && $0.counts })
    }

    /// The camera can pass to its next holder without a cut.
    private func canPassInPlace(_ camera: Int) -> Bool { policy.shares && cameras[camera].isCapturing }
}
