import ArbiterProtocol

/// Which bid wins a camera: against its holder, against excluded cameras, and within the budget.
extension Round {
    /// A challenger beats every bid in its way, or nobody is interrupted.
    mutating func admit(_ bid: Bid) {
        // The budget has no room, whoever goes. The contract leaves open whether weaker bids may then pass: they do.
        outcomes[bid.id] = .waits()
        guard let rivals = rivals(of: bid) else { return }
        if let lost = rivals.first(where: { !wins(bid, against: $0) }) {
            // No bid is passed over. All other bids on its own camera are behind the holder anyway.
            let isElsewhere = lost.bid.camera != bid.camera
            if isElsewhere, !policy.contention.backfill { allocations.append(Allocation(kind: .kept, bid: bid)) }
            return
        }
        let due = rivals.map { earliest($0, by: bid) }.max() ?? world.now
        if due > world.now {
            // It takes only its own app's place.
            if let own = rivals.first(where: { opensAnew(bid, over: $0.bid) }) { return take(bid, from: [own]) }
            for rival in rivals {
                let new = warning(rival, by: bid, due)
                // The warning stays the stronger bid's, where the weaker one waits no shorter.
                if let old = warnings[rival.bid.camera], outcomes[old.winner] == .waits(isWinning: true),
                    new.map({ old.due <= $0.due }) ?? true
                {
                    continue
                }
                warnings[rival.bid.camera] = new
            }
            outcomes[bid.id] = .waits(isWinning: true)
            return allocations.append(Allocation(kind: .kept, bid: bid))
        }
        take(bid, from: rivals)
    }

    private mutating func take(_ bid: Bid, from rivals: [Allocation]) {
        for rival in rivals {
            warnings[rival.bid.camera] = nil
            let isEvicted = rival.kind == .held && policy.contention.loser == .evict
            outcomes[rival.bid.id] = isEvicted ? .evicted : .waits()
            if opensAnew(bid, over: rival.bid) {
                let isReplaced =
                    policy.contention.sameApp == .replace && rival.bid.watches == bid.watches
                    && !goesOn(rival.bid, beside: bid)
                outcomes[rival.bid.id] = isReplaced ? .replaced : .waits()
            }
        }
        let gone = rivals.map(\.bid.id)
        allocations.removeAll { gone.contains($0.bid.id) }
        outcomes[bid.id] = .has
        allocations.append(Allocation(kind: .won, bid: bid, exceeds: exceeds))
    }

    private func isSame(_ a: Allocation, _ b: Allocation) -> Bool { a.bid.id == b.bid.id }

    private func holding(_ allocation: Allocation) -> ReferenceWorld.Holding? {
        allocation.kind == .held ? world.cameras[allocation.bid.camera]?.holding : nil
    }

    private func wins(_ bid: Bid, against allocation: Allocation) -> Bool {
        if allocation.kind == .kept { return false }
        if opensAnew(bid, over: allocation.bid) { return true }
        if bid.cools { return false }
        let isDecided = occasion.starter == bid.id || warning(of: allocation)?.winner == bid.id
        if policy.contention.decidesAtOpen, !isDecided { return false }
        return isBefore(bid, allocation)
    }

    private func isBefore(_ bid: Bid, _ allocation: Allocation) -> Bool {
        if bid.strength != allocation.bid.strength { return bid.beats(allocation.bid) }
        // A newcomer began to contend after the holder's grant.
        return policy.contention.tie == .newcomer && holding(allocation)?.granted.map { $0 < bid.bidSince } ?? false
    }

    // MARK: Rivals

    /// Holders before waiting bids, the strongest first; `nil` where the budget has no room.
    private mutating func rivals(of bid: Bid) -> [Allocation]? {
        exceeds = false
        let excluded = allocations.filter { $0.bid.camera == bid.camera || policy.excludes($0.bid.camera, bid.camera) }
        let all: [Allocation]?
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

    /// A survivor cannot be beaten, so that its cost is spent.
    private var budget: Int? {
        policy.contention.budget.map { whole in
            world.cameras.filter { $0.value.survivor != nil }.reduce(whole) { $0 - policy.dearest($1.key) }
        }
    }

    /// A camera costs once, and a camera that is kept for a waiting bid cannot be won.
    private func cost(_ allocation: Allocation) -> Int {
        let counted = allocations.first { $0.kind == .kept && $0.bid.camera == allocation.bid.camera } ?? allocation
        guard counted.bid.id == allocation.bid.id else { return 0 }
        // The pictures of a kept camera's holder count, too.
        return allocations.filter { $0.bid.camera == allocation.bid.camera }.map(\.bid.cost).max() ?? 0
    }

    /// As few as it takes, the weakest first; the strongest app may exceed the budget.
    private mutating func weakest(_ excluded: [Allocation], _ bid: Bid, _ budget: Int) -> [Allocation]? {
        let isStrongest = allocations.allSatisfy { $0.bid.app == bid.app || bid.beats($0.bid) }
        if bid.cost == 0 { return excluded }
        var rivals = excluded
        let others = allocations.filter { allocation in
            self.cost(allocation) > 0 && !excluded.contains { isSame($0, allocation) }
        }
        var sum = bid.cost + others.reduce(0) { $0 + self.cost($1) }
        if policy.contention.strongestMayExceed, isStrongest {
            exceeds = sum > budget
            return excluded
        }
        for allocation in others.sorted(by: { $1.bid.isBefore($0.bid) }) where sum > budget {
            sum -= self.cost(allocation)
            rivals.append(allocation)
        }
        return sum <= budget ? rivals : nil
    }

    /// The longest held first: an allocation that costs something and is beaten goes, until the sum fits. A conflicting one stops
    /// counting when it is reached. The strongest app is never beaten, and keeps its own cameras.
    private mutating func longestHeld(_ excluded: [Allocation], _ bid: Bid, _ budget: Int) -> [Allocation]? {
        // A start that was decided stays decided while it waits.
        let hasWon = world.cameras[bid.camera]?.holding?.warning?.winner == bid.id
        let isStrongest =
            policy.contention.strongestMayExceed
            && allocations.allSatisfy { allocation in
                allocation.bid.app == bid.app || wins(bid, against: allocation)
                    || hasWon && allocation.kind != .kept && isBefore(bid, allocation)
            }
        var rivals = excluded
        var sum = bid.cost + allocations.reduce(0) { $0 + cost($1) }
        for allocation in allocations.sorted(by: isHeldLonger) {
            if excluded.contains(where: { isSame($0, allocation) }) {
                sum -= cost(allocation)
            } else if sum > budget, cost(allocation) > 0, !(isStrongest && allocation.bid.app == bid.app),
                wins(bid, against: allocation)
            {
                sum -= cost(allocation)
                rivals.append(allocation)
            }
        }
        exceeds = sum > budget
        return sum <= budget || isStrongest ? rivals : nil
    }

    /// A bid that won its camera in this moment comes after all holders.
    private func isHeldLonger(_ a: Allocation, _ b: Allocation) -> Bool {
        let (x, y) = (holding(a)?.granted ?? .max, holding(b)?.granted ?? .max)
        return x != y ? x < y : a.bid.started < b.bid.started
    }

    // MARK: Grace and min-hold

    /// The running warning: the app's place may have gone to a session that has not got the camera yet.
    private func warning(of allocation: Allocation) -> ReferenceWorld.Warning? {
        let holding = world.cameras[allocation.bid.camera]?.holding
        return holding?.session == allocation.bid.id ? holding?.warning : nil
    }

    /// When the allocation has to go for a bid that beats it.
    private func earliest(_ allocation: Allocation, by bid: Bid) -> Moment {
        if bid.rule.isImmediate || opensAnew(bid, over: allocation.bid) { return world.now }
        if let warning = warning(of: allocation), let told = warning.toldUntil {
            return warning.isReady ? world.now : told
        }
        guard let holding = holding(allocation) else { return world.now }
        return max(holding.protectedUntil ?? world.now, world.now + grace(of: allocation))
    }

    /// Before the first frame there is nothing to finish.
    private func grace(of allocation: Allocation) -> Duration {
        opening.contains(allocation.bid.camera) ? .zero : allocation.bid.rule.grace
    }

    /// A holder is warned by its grace before it has to go; the deadline never moves later.
    private func warning(_ allocation: Allocation, by bid: Bid, _ due: Moment) -> ReferenceWorld.Warning? {
        let before = self.warning(of: allocation)
        if holding(allocation) == nil, before?.toldUntil == nil { return nil }
        let grace = grace(of: allocation)
        var warning = (winner: bid.id, due: due, toldUntil: before?.toldUntil, isReady: before?.isReady ?? false)
        guard warning.toldUntil == nil, grace > .zero else { return warning }
        let tellAt = Moment(nanoseconds: due.nanoseconds - grace.wholeNanoseconds)
        if tellAt <= world.now { warning.toldUntil = due } else { warning.due = tellAt }
        return warning
    }

    // MARK: Expulsions

    /// The stronger first, and among equals the one that ties favour. Of two that wait for their cameras the one that asked first;
    /// once both hold, they were granted in the order of their ids.
    private func bySeniority(onceBothHold: Bool = false) -> [Allocation] {
        allocations.sorted { a, b in
            if a.bid.strength != b.bid.strength { return a.bid.beats(b.bid) }
            if a.kind == .won, b.kind == .won {
                guard onceBothHold else { return a.bid.started < b.bid.started }
                return (a.bid.id < b.bid.id) == (policy.contention.tie == .holder)
            }
            let isLonger = isHeldLonger(a, b)
            return policy.contention.tie == .holder ? isLonger : !isLonger && isHeldLonger(b, a)
        }
    }

    /// Pictures have become dearer since their session was admitted.
    mutating func isOverspent() -> Bool {
        guard policy.weighsPictures || policy.contention.strongestMayExceed, let budget else { return false }
        if allocations.map(cost).reduce(0, +) <= budget {
            for index in allocations.indices { allocations[index].exceeds = false }
            return false
        }
        return allocations.filter { !$0.exceeds }.map(cost).reduce(0, +) > max(0, budget)
    }

    /// The budget does not bind the strongest app. The cameras of all others fit by themselves: the weaker ones go, with their time.
    /// Where only starts are decided, nobody goes between them.
    mutating func bindAllButStrongest() {
        guard policy.contention.strongestMayExceed, !policy.contention.decidesAtOpen, let budget,
            let strongest = bySeniority(onceBothHold: true).first(where: { $0.kind != .kept })?.bid
        else { return }
        var sum = 0
        for allocation in bySeniority(onceBothHold: true)
        where allocation.kind != .kept && allocation.bid.app != strongest.app {
            let cost = allocation.bid.cost
            if cost == 0 || sum + cost <= budget {
                sum += cost
                continue
            }
            let due = earliest(allocation, by: strongest)
            if due > world.now {
                // A holder that goes for another bid by then goes for that one.
                guard warnings[allocation.bid.camera].map({ due < $0.due }) ?? true else { continue }
                warnings[allocation.bid.camera] = warning(allocation, by: strongest, due)
            } else {
                allocations.removeAll { $0.bid.id == allocation.bid.id }
                outcomes[allocation.bid.id] = .waits()
            }
        }
    }

    /// Another policy may exclude cameras that are held side by side: the stronger stay.
    mutating func expel() {
        let all = bySeniority()
        allocations = []
        for allocation in all {
            if rivals(of: allocation.bid)?.isEmpty == true {
                allocations.append(Allocation(kind: allocation.kind, bid: allocation.bid, exceeds: exceeds))
            } else {
                outcomes[allocation.bid.id] = .waits()
            }
        }
    }
}
