import Vocabulary

/// Which seats give way when the cameras in use would cost more than the budget.
extension Seating {
    /// The budget without the cameras of survivors, which count as held: no bid can beat a survivor.
    private var budget: Int? {
        guard let whole = policy.budget else { return nil }
        return cameras.reduce(whole) { $1.hasSurvivor ? $0 - policy.cost($1.place) : $0 }
    }

    /// A camera that is kept for a waiting bid costs once: as that bid's, or as its holder's where that is more.
    private func cost(_ seat: Int) -> Int {
        let (kind, camera) = (seats[seat].kind, seats[seat].camera)
        if kind == .dormant { return 0 }
        if let kept = seats.firstIndex(where: { $0.kind == .kept && $0.camera == camera }), kept != seat { return 0 }
        guard kind == .kept, policy.weighsFormats else { return looks[seats[seat].look].cost }
        return seats.reduce(0) { $1.camera == camera && $1.kind != .dormant ? max($0, looks[$1.look].cost) : $0 }
    }

    /// A session has a dearer format than at its weighing: it followed another session of its app, its recorder took a
    /// batch back, or its camera came back with other formats. Then the weakest go, as under another policy.
    mutating func isOverspent() -> Bool {
        guard policy.weighsFormats || policy.contention.strongestMayExceed, let budget else { return false }
        if seats.indices.reduce(0, { $0 + cost($1) }) <= budget {
            for index in seats.indices { seats[index].exceeds = false }
            return false
        }
        // A survivor may cost more than the budget; what costs nothing gives none of it back.
        return seats.indices.reduce(0) { seats[$1].exceeds ? $0 : $0 + cost($1) } > max(0, budget)
    }

    private func isOwn(_ seat: Int, _ look: Int) -> Bool { looks[seats[seat].look].app == looks[look].app }

    // MARK: Beside the strongest app, which may exceed it

    /// All apps but the strongest fit the budget by themselves, or the weaker of them go, with their time: also for a
    /// bid that came in this round, since the next round would set another deadline, and there the bid may have another
    /// rank. A camera that was won in this round is not opened only to be cut for a bid that was weighed later.
    mutating func giveWayToStrongest() {
        guard let (strongest, beyond) = beyondBudget() else { return }
        for index in beyond.sorted(by: >) {
            let seat = seats[index]
            let due = earliestCut(seat, by: strongest)
            if due > now {
                guard cameras[seat.camera].next.map({ due < $0.due }) ?? true else { continue }
                cameras[seat.camera].next = contest(seat, by: strongest, due: due, .law(.budget))
            } else {
                cameras[seat.camera].next = nil
                lose(seat.look, to: nil, .law(.budget))
                seats.remove(at: index)
                weighsAgain = true
            }
        }
    }

    /// A seat taken in this round leaves another seat without room beside the strongest app.
    var isBeyondBudget: Bool {
        beyondBudget().map { $0.seats.contains { cameras[seats[$0].camera].next == nil } } ?? false
    }

    /// The seats without room beside the others, the strongest app's not counted. Where only starts are decided, all
    /// stay.
    private func beyondBudget() -> (strongest: Int, seats: [Int])? {
        guard policy.contention.strongestMayExceed, policy.contention.reDecide == .facts, let budget else { return nil }
        let sitting = seats.indices.filter { seats[$0].counts }
            .sorted { staysBefore(seats[$0], seats[$1], onceBothHold: true) }
        guard let strongest = sitting.first.map({ seats[$0].look }) else { return nil }
        var sum = 0
        var beyond: [Int] = []
        for index in sitting where !isOwn(index, strongest) {
            let cost = looks[seats[index].look].cost
            if cost > 0, sum + cost > budget { beyond.append(index) } else { sum += cost }
        }
        return beyond.isEmpty ? nil : (strongest, beyond)
    }

    // MARK: Who makes room for a bid

    /// Adds the seats that give way to the budget; false when the sum stays above the budget all the same.
    mutating func addBudgetRivals(of look: Int, on camera: Int) -> Bool {
        guard let budget else { return true }
        return switch policy.contention.givesWay {
        case .weakest: addWeakest(look, budget)
        case .longestHeld: addLongestHeld(look, on: camera, budget)
        }
    }

    /// As few seats as possible, the weakest first. Whether the bid beats all of them is decided later.
    private mutating func addWeakest(_ look: Int, _ budget: Int) -> Bool {
        guard looks[look].cost > 0 else { return true }
        let mayExceed =
            policy.contention.strongestMayExceed
            && seats.indices.allSatisfy { isOwn($0, look) || compare(look, seats[$0].look).isWon }
        let others = seats.indices.filter { !rivals.contains($0) && cost($0) > 0 }
        var sum = others.reduce(looks[look].cost) { $0 + cost($1) }
        exceeds = mayExceed && sum > budget
        if mayExceed { return true }
        for seat in others.sorted(by: { looks[seats[$1].look].standing < looks[seats[$0].look].standing })
        where sum > budget {
            sum -= cost(seat)
            rivals.append(seat)
        }
        return sum <= budget
    }

    /// Visits each seat once, the longest held first. A seat that conflicts with the bid counts until its visit, so a
    /// seat held for longer may give way although the conflict alone would have made room, as on Android.
    private mutating func addLongestHeld(_ look: Int, on camera: Int, _ budget: Int) -> Bool {
        // A decided start stays decided while it waits for the holder's time, also where only starts are decided.
        let hasWon = cameras[camera].contest?.beneficiary == looks[look].session
        let isStrongest =
            policy.contention.strongestMayExceed
            && seats.indices.allSatisfy {
                let isDecided = hasWon && seats[$0].isTaken
                return isOwn($0, look)
                    || (isDecided ? compareWithTie(look, seats[$0]) : challenge(look, seats[$0])).isWon
            }
        let conflicting = rivals
        var sum = seats.indices.reduce(looks[look].cost) { $0 + cost($1) }
        for index in seats.indices.sorted(by: { isHeldLonger(seats[$0], seats[$1]) }) {
            let (cost, conflicts) = (cost(index), conflicting.contains(index))
            let isSpared = isStrongest && isOwn(index, look)
            guard conflicts || sum > budget && cost > 0 && !isSpared && challenge(look, seats[index]).isWon else {
                continue
            }
            sum -= cost
            if !conflicts { rivals.append(index) }
        }
        exceeds = sum > budget
        return !exceeds || isStrongest
    }

    /// A seat that was only won and waits for its cut comes after all held seats, by the start requests.
    private func isHeldLonger(_ a: Seat, _ b: Seat) -> Bool {
        let (x, y) = (granted(a), granted(b))
        return x != y ? x < y : looks[a.look].started < looks[b.look].started
    }
}
