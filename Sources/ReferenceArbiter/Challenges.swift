import ArbiterProtocol

/// Which claim wins a camera: against its holder, against cameras that it excludes, and within the budget.
extension Round {
    /// One challenger, the strongest first: it beats everybody in its way, or nobody is interrupted.
    mutating func seat(_ claim: Claim) {
        // No room in the budget, whoever goes. The contract leaves open whether weaker ones may then pass: they do.
        outcomes[claim.id] = .waits()
        guard let rivals = rivals(of: claim) else { return }
        if let lost = rivals.first(where: { !wins(claim, against: $0) }) {
            // Nobody is passed over. Behind the holder of its own camera everybody else stands anyway.
            let isElsewhere = lost.claim.camera != claim.camera
            if isElsewhere, !policy.contention.backfill { seats.append(Seat(kind: .kept, claim: claim)) }
            return
        }
        let due = rivals.map { earliest($0, by: claim) }.max() ?? world.now
        if due > world.now {
            // It takes its own app's place all the same, and nobody else's.
            if let own = rivals.first(where: { opensAnew(claim, over: $0.claim) }) { return take(claim, from: [own]) }
            for rival in rivals { warnings[rival.claim.camera] = warning(rival, by: claim, due) }
            outcomes[claim.id] = .waits(isWinning: true)
            return seats.append(Seat(kind: .kept, claim: claim))
        }
        take(claim, from: rivals)
    }

    private mutating func take(_ claim: Claim, from rivals: [Seat]) {
        for rival in rivals {
            warnings[rival.claim.camera] = nil
            let isEvicted = rival.kind == .held && policy.contention.evictsLosers
            outcomes[rival.claim.id] = isEvicted ? .evicted : .waits()
            if opensAnew(claim, over: rival.claim) {
                let isReplaced = policy.contention.sameApp == .replace && rival.claim.watches == claim.watches
                outcomes[rival.claim.id] = isReplaced ? .replaced : .waits()
            }
        }
        let gone = rivals.map(\.claim.id)
        seats.removeAll { gone.contains($0.claim.id) }
        outcomes[claim.id] = .has
        seats.append(Seat(kind: .won, claim: claim))
    }

    private func isSame(_ a: Seat, _ b: Seat) -> Bool { a.claim.id == b.claim.id }

    private func holding(_ seat: Seat) -> WholeWorld.Holding? {
        seat.kind == .held ? world.cameras[seat.claim.camera]?.holding : nil
    }

    /// Whether a claim beats the seat's, times apart.
    private func wins(_ claim: Claim, against seat: Seat) -> Bool {
        if seat.kind == .kept { return false }
        if opensAnew(claim, over: seat.claim) { return true }
        if claim.cools { return false }
        let isDecided = occasion.starter == claim.id || holding(seat)?.warning?.winner == claim.id
        if policy.contention.decidesAtOpen, !isDecided { return false }
        if claim.strength != seat.claim.strength { return claim.beats(seat.claim) }
        // A newcomer is one that began to contend after the holder was granted.
        return policy.contention.tie == .newcomer && holding(seat)?.granted.map { $0 < claim.claimed } ?? false
    }

    // MARK: What is in its way

    /// Holders before claims that only wait, and then the strongest first; nil: the budget has no room.
    private func rivals(of claim: Claim) -> [Seat]? {
        let excluded = seats.filter {
            $0.claim.camera == claim.camera || policy.excludes($0.claim.camera, claim.camera)
        }
        let all: [Seat]?
        if let whole = policy.contention.budget {
            // A survivor's camera costs what it cost, and nobody there can be beaten.
            let budget = world.cameras.filter { $0.value.survivor != nil }.reduce(whole) { $0 - policy.cost($1.key) }
            switch policy.contention.givesWay {
            case .weakest: all = weakest(excluded, claim, budget)
            case .longestHeld: all = longestHeld(excluded, claim, budget)
            }
        } else {
            all = excluded
        }
        return all?.sorted { a, b in
            (a.kind == .kept) != (b.kind == .kept) ? b.kind == .kept : a.claim.isBefore(b.claim)
        }
    }

    /// A camera costs once, and one that is kept for a waiting claim cannot be won.
    private func cost(_ seat: Seat) -> Int {
        let counted = seats.first { $0.kind == .kept && $0.claim.camera == seat.claim.camera } ?? seat
        return counted.claim.id == seat.claim.id ? policy.cost(seat.claim.camera) : 0
    }

    /// As few as it takes, the weakest first; the strongest app may exceed the budget.
    private func weakest(_ excluded: [Seat], _ claim: Claim, _ budget: Int) -> [Seat]? {
        let cost = policy.cost(claim.camera)
        let isStrongest = seats.allSatisfy { $0.claim.app == claim.app || claim.beats($0.claim) }
        if cost == 0 || (policy.contention.strongestMayExceed && isStrongest) { return excluded }
        var rivals = excluded
        let others = seats.filter { seat in self.cost(seat) > 0 && !excluded.contains { isSame($0, seat) } }
        var sum = cost + others.reduce(0) { $0 + self.cost($1) }
        for seat in others.sorted(by: { $1.claim.isBefore($0.claim) }) where sum > budget {
            sum -= self.cost(seat)
            rivals.append(seat)
        }
        return sum <= budget ? rivals : nil
    }

    /// One look at each, the longest held first: a seat that costs something and is beaten goes, until the sum fits.
    /// One with a conflict stops counting when it is looked at. The strongest app is beaten by none, and spares its own
    /// cameras.
    private func longestHeld(_ excluded: [Seat], _ claim: Claim, _ budget: Int) -> [Seat]? {
        let isStrongest =
            policy.contention.strongestMayExceed
            && seats.allSatisfy { $0.claim.app == claim.app || wins(claim, against: $0) }
        var rivals = excluded
        var sum = policy.cost(claim.camera) + seats.reduce(0) { $0 + cost($1) }
        for seat in seats.sorted(by: isHeldLonger) {
            if excluded.contains(where: { isSame($0, seat) }) {
                sum -= cost(seat)
            } else if sum > budget, cost(seat) > 0, !(isStrongest && seat.claim.app == claim.app),
                wins(claim, against: seat)
            {
                sum -= cost(seat)
                rivals.append(seat)
            }
        }
        return sum <= budget || isStrongest ? rivals : nil
    }

    /// A claim that only won its camera in this moment comes after all that hold one.
    private func isHeldLonger(_ a: Seat, _ b: Seat) -> Bool {
        let (x, y) = (holding(a)?.granted ?? .max, holding(b)?.granted ?? .max)
        return x != y ? x < y : a.claim.started < b.claim.started
    }

    // MARK: Grace and min-hold

    /// When the seat's claim has to go for a claim that beats it.
    private func earliest(_ seat: Seat, by claim: Claim) -> Moment {
        guard let holding = holding(seat), !claim.manners.overrides, !opensAnew(claim, over: seat.claim) else {
            return world.now
        }
        if let told = holding.warning?.toldUntil { return holding.warning?.isReady == true ? world.now : told }
        return max(holding.protectedUntil ?? world.now, world.now + seat.claim.manners.grace)
    }

    /// A holder with a grace is told as long before it has to go; the deadline never moves later.
    private func warning(_ seat: Seat, by claim: Claim, _ due: Moment) -> WholeWorld.Warning? {
        guard let holding = holding(seat) else { return nil }
        let grace = seat.claim.manners.grace
        var warning = WholeWorld.Warning(winner: claim.id, due: due, toldUntil: holding.warning?.toldUntil)
        warning.isReady = holding.warning?.isReady ?? false
        guard warning.toldUntil == nil, grace > .zero else { return warning }
        let tellAt = Moment(nanoseconds: due.nanoseconds - grace.wholeNanoseconds)
        if tellAt <= world.now { warning.toldUntil = due } else { warning.due = tellAt }
        return warning
    }

    // MARK: A policy that was just loaded

    /// It may exclude cameras that are held side by side: the stronger stay, and among equals the one that ties favour.
    mutating func expel() {
        let all = seats.sorted { a, b in
            if a.claim.strength != b.claim.strength { return a.claim.beats(b.claim) }
            let isLonger = isHeldLonger(a, b)
            return policy.contention.tie == .holder ? isLonger : !isLonger && isHeldLonger(b, a)
        }
        seats = []
        for seat in all {
            if rivals(of: seat.claim)?.isEmpty == true {
                seats.append(seat)
            } else {
                outcomes[seat.claim.id] = .waits()
            }
        }
    }
}
