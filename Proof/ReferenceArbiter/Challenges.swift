import ArbiterProtocol

/// Which bid wins a camera: against its holder, against cameras that it excludes, and within the budget.
extension Round {
    /// One challenger, the strongest first: it beats everybody in its way, or nobody is interrupted.
    mutating func seat(_ bid: Bid) {
        // No room in the budget, whoever goes. The contract leaves open whether weaker ones may then pass: they do.
        outcomes[bid.id] = .waits()
        guard let rivals = rivals(of: bid) else { return }
        if let lost = rivals.first(where: { !wins(bid, against: $0) }) {
            // Nobody is passed over. Behind the holder of its own camera everybody else stands anyway.
            let isElsewhere = lost.bid.camera != bid.camera
            if isElsewhere, !policy.contention.backfill { seats.append(Seat(kind: .kept, bid: bid)) }
            return
        }
        let due = rivals.map { earliest($0, by: bid) }.max() ?? world.now
        if due > world.now {
            // It takes its own app's place all the same, and nobody else's.
            if let own = rivals.first(where: { opensAnew(bid, over: $0.bid) }) { return take(bid, from: [own]) }
            for rival in rivals {
                let new = warning(rival, by: bid, due)
                // The stronger bid's it stays, where the weaker one waits no shorter.
                if let old = warnings[rival.bid.camera], outcomes[old.winner] == .waits(isWinning: true),
                    new.map({ old.due <= $0.due }) ?? true
                {
                    continue
                }
                warnings[rival.bid.camera] = new
            }
            outcomes[bid.id] = .waits(isWinning: true)
            return seats.append(Seat(kind: .kept, bid: bid))
        }
        take(bid, from: rivals)
    }

    private mutating func take(_ bid: Bid, from rivals: [Seat]) {
        for rival in rivals {
            warnings[rival.bid.camera] = nil
            let isEvicted = rival.kind == .held && policy.contention.loser == .evict
            outcomes[rival.bid.id] = isEvicted ? .evicted : .waits()
            if opensAnew(bid, over: rival.bid) {
                let isReplaced = policy.contention.sameApp == .replace && rival.bid.watches == bid.watches
                outcomes[rival.bid.id] = isReplaced ? .replaced : .waits()
            }
        }
        let gone = rivals.map(\.bid.id)
        seats.removeAll { gone.contains($0.bid.id) }
        outcomes[bid.id] = .has
        seats.append(Seat(kind: .won, bid: bid, exceeds: exceeds))
    }

    private func isSame(_ a: Seat, _ b: Seat) -> Bool { a.bid.id == b.bid.id }

    private func holding(_ seat: Seat) -> WholeWorld.Holding? {
        seat.kind == .held ? world.cameras[seat.bid.camera]?.holding : nil
    }

    private func wins(_ bid: Bid, against seat: Seat) -> Bool {
        if seat.kind == .kept { return false }
        if opensAnew(bid, over: seat.bid) { return true }
        if bid.cools { return false }
        let isDecided = occasion.starter == bid.id || warning(of: seat)?.winner == bid.id
        if policy.contention.decidesAtOpen, !isDecided { return false }
        return isBefore(bid, seat)
    }

    private func isBefore(_ bid: Bid, _ seat: Seat) -> Bool {
        if bid.strength != seat.bid.strength { return bid.beats(seat.bid) }
        // A newcomer is one that began to contend after the holder was granted.
        return policy.contention.tie == .newcomer && holding(seat)?.granted.map { $0 < bid.bidSince } ?? false
    }

    // MARK: What is in its way

    /// Holders before bids that only wait, and then the strongest first; nil: the budget has no room.
    private mutating func rivals(of bid: Bid) -> [Seat]? {
        exceeds = false
        let excluded = seats.filter { $0.bid.camera == bid.camera || policy.excludes($0.bid.camera, bid.camera) }
        let all: [Seat]?
        if let budget {
            switch policy.contention.givesWay {
            case .weakest: all = weakest(excluded, bid, budget)
            case .longestHeld: all = longestHeld(excluded, bid, budget)
            }
        } else {
            all = excluded
        }
        return all?.sorted { a, b in (a.kind == .kept) != (b.kind == .kept) ? b.kind == .kept : a.bid.isBefore(b.bid) }
    }

    /// A survivor's camera costs what it cost, and nobody there can be beaten.
    private var budget: Int? {
        policy.contention.budget.map { whole in
            world.cameras.filter { $0.value.survivor != nil }.reduce(whole) { $0 - policy.dearest($1.key) }
        }
    }

    /// A camera costs once, and one that is kept for a waiting bid cannot be won.
    private func cost(_ seat: Seat) -> Int {
        let counted = seats.first { $0.kind == .kept && $0.bid.camera == seat.bid.camera } ?? seat
        guard counted.bid.id == seat.bid.id else { return 0 }
        // Of a camera that is kept, its holder's pictures count, too.
        return seats.filter { $0.bid.camera == seat.bid.camera }.map(\.bid.cost).max() ?? 0
    }

    /// As few as it takes, the weakest first; the strongest app may exceed the budget.
    private mutating func weakest(_ excluded: [Seat], _ bid: Bid, _ budget: Int) -> [Seat]? {
        let isStrongest = seats.allSatisfy { $0.bid.app == bid.app || bid.beats($0.bid) }
        if bid.cost == 0 { return excluded }
        var rivals = excluded
        let others = seats.filter { seat in self.cost(seat) > 0 && !excluded.contains { isSame($0, seat) } }
        var sum = bid.cost + others.reduce(0) { $0 + self.cost($1) }
        if policy.contention.strongestMayExceed, isStrongest {
            exceeds = sum > budget
            return excluded
        }
        for seat in others.sorted(by: { $1.bid.isBefore($0.bid) }) where sum > budget {
            sum -= self.cost(seat)
            rivals.append(seat)
        }
        return sum <= budget ? rivals : nil
    }

    /// One look at each, the longest held first: a seat that costs something and is beaten goes, until the sum fits. One with a
    /// conflict stops counting when it is looked at. The strongest app is beaten by none, and spares its own cameras.
    private mutating func longestHeld(_ excluded: [Seat], _ bid: Bid, _ budget: Int) -> [Seat]? {
        // A start that was decided stays so while it waits, also where only starts are.
        let hasWon = world.cameras[bid.camera]?.holding?.warning?.winner == bid.id
        let isStrongest =
            policy.contention.strongestMayExceed
            && seats.allSatisfy { seat in
                seat.bid.app == bid.app || wins(bid, against: seat)
                    || hasWon && seat.kind != .kept && isBefore(bid, seat)
            }
        var rivals = excluded
        var sum = bid.cost + seats.reduce(0) { $0 + cost($1) }
        for seat in seats.sorted(by: isHeldLonger) {
            if excluded.contains(where: { isSame($0, seat) }) {
                sum -= cost(seat)
            } else if sum > budget, cost(seat) > 0, !(isStrongest && seat.bid.app == bid.app), wins(bid, against: seat)
            {
                sum -= cost(seat)
                rivals.append(seat)
            }
        }
        exceeds = sum > budget
        return sum <= budget || isStrongest ? rivals : nil
    }

    /// A bid that only won its camera in this moment comes after all that hold one.
    private func isHeldLonger(_ a: Seat, _ b: Seat) -> Bool {
        let (x, y) = (holding(a)?.granted ?? .max, holding(b)?.granted ?? .max)
        return x != y ? x < y : a.bid.started < b.bid.started
    }

    // MARK: Grace and min-hold

    /// The warning that runs for it: an app's place may have gone to a session of the app that has not got the camera yet.
    private func warning(of seat: Seat) -> WholeWorld.Warning? {
        let holding = world.cameras[seat.bid.camera]?.holding
        return holding?.session == seat.bid.id ? holding?.warning : nil
    }

    /// When the seat's bid has to go for a bid that beats it.
    private func earliest(_ seat: Seat, by bid: Bid) -> Moment {
        if bid.rule.isImmediate || opensAnew(bid, over: seat.bid) { return world.now }
        if let warning = warning(of: seat), let told = warning.toldUntil { return warning.isReady ? world.now : told }
        guard let holding = holding(seat) else { return world.now }
        return max(holding.protectedUntil ?? world.now, world.now + grace(of: seat))
    }

    /// There is nothing to finish before the first frame.
    private func grace(of seat: Seat) -> Duration {
        opening.contains(seat.bid.camera) ? .zero : seat.bid.rule.grace
    }

    /// A holder with a grace is told as long before it has to go; the deadline never moves later.
    private func warning(_ seat: Seat, by bid: Bid, _ due: Moment) -> WholeWorld.Warning? {
        let before = self.warning(of: seat)
        if holding(seat) == nil, before?.toldUntil == nil { return nil }
        let grace = grace(of: seat)
        var warning = (winner: bid.id, due: due, toldUntil: before?.toldUntil, isReady: before?.isReady ?? false)
        guard warning.toldUntil == nil, grace > .zero else { return warning }
        let tellAt = Moment(nanoseconds: due.nanoseconds - grace.wholeNanoseconds)
        if tellAt <= world.now { warning.toldUntil = due } else { warning.due = tellAt }
        return warning
    }

    // MARK: Who may not stay

    /// The stronger first, and among equals the one that ties favour. Of two that both wait for their cameras, none of
    /// which is a holder, the one that asked first; once both hold, they were granted in the order of their ids.
    private func bySeniority(onceBothHold: Bool = false) -> [Seat] {
        seats.sorted { a, b in
            if a.bid.strength != b.bid.strength { return a.bid.beats(b.bid) }
            if a.kind == .won, b.kind == .won {
                guard onceBothHold else { return a.bid.started < b.bid.started }
                return (a.bid.id < b.bid.id) == (policy.contention.tie == .holder)
            }
            let isLonger = isHeldLonger(a, b)
            return policy.contention.tie == .holder ? isLonger : !isLonger && isHeldLonger(b, a)
        }
    }

    /// Pictures of somebody's camera have become dearer than what it was weighed with.
    mutating func isOverspent() -> Bool {
        guard policy.weighsPictures || policy.contention.strongestMayExceed, let budget else { return false }
        if seats.map(cost).reduce(0, +) <= budget {
            for index in seats.indices { seats[index].exceeds = false }
            return false
        }
        return seats.filter { !$0.exceeds }.map(cost).reduce(0, +) > max(0, budget)
    }

    /// The budget does not bind the strongest app, whichever is that now. What all others have fits by itself: the
    /// weaker of them go, with their time. Where only starts are decided, nobody goes between them.
    mutating func bindAllButStrongest() {
        guard policy.contention.strongestMayExceed, !policy.contention.decidesAtOpen, let budget,
            let strongest = bySeniority(onceBothHold: true).first(where: { $0.kind != .kept })?.bid
        else { return }
        var sum = 0
        for seat in bySeniority(onceBothHold: true) where seat.kind != .kept && seat.bid.app != strongest.app {
            let cost = seat.bid.cost
            if cost == 0 || sum + cost <= budget {
                sum += cost
                continue
            }
            let due = earliest(seat, by: strongest)
            if due > world.now {
                // Who goes for another bid by then goes for that one.
                guard warnings[seat.bid.camera].map({ due < $0.due }) ?? true else { continue }
                warnings[seat.bid.camera] = warning(seat, by: strongest, due)
            } else {
                seats.removeAll { $0.bid.id == seat.bid.id }
                outcomes[seat.bid.id] = .waits()
            }
        }
    }

    /// Another policy may exclude cameras that are held side by side: the stronger stay.
    mutating func expel() {
        let all = bySeniority()
        seats = []
        for seat in all {
            if rivals(of: seat.bid)?.isEmpty == true {
                seats.append(Seat(kind: seat.kind, bid: seat.bid, exceeds: exceeds))
            } else {
                outcomes[seat.bid.id] = .waits()
            }
        }
    }
}
