import Vocabulary

/// Who gives way when the cameras in use would cost more than the budget.
extension Seating {
    /// Adds the seats that give way to the budget; false when the sum stays above it all the same.
    mutating func addBudgetRivals(_ rivals: inout [Int], _ look: Int, on camera: Int) -> Bool {
        guard let whole = policy.budget else { return true }
        let budget = besidesSurvivors(whole)
        exceeds = false
        return switch policy.contention.givesWay {
        case .weakest: addWeakest(&rivals, look, on: camera, budget)
        case .longestHeld: addLongestHeld(&rivals, look, on: camera, budget)
        }
    }

    /// Between tries, a camera whose device was lost costs nothing. One that is kept for a waiting bid costs once, as
    /// that bid's: nobody can win it meanwhile. What its holder's format costs still counts where that is more.
    private func cost(_ seat: Int) -> Int {
        let (kind, camera) = (seats[seat].kind, seats[seat].camera)
        if kind == .dormant { return 0 }
        if let kept = seats.firstIndex(where: { $0.kind == .kept && $0.camera == camera }), kept != seat { return 0 }
        guard kind == .kept, policy.weighsFormats else { return looks[seats[seat].look].cost }
        return seats.reduce(0) { $1.camera == camera && $1.kind != .dormant ? max($0, looks[$1.look].cost) : $0 }
    }

    /// A session has its camera with a dearer format than it was weighed with: a session of its app followed it with one,
    /// its recorder took a batch back, or its camera came back with other formats. Then the weakest go, as under another
    /// policy. A seat that was let in beyond the budget does not count among the others.
    mutating func isOverspent() -> Bool {
        guard policy.weighsFormats || policy.contention.strongestMayExceed, let whole = policy.budget else {
            return false
        }
        let budget = besidesSurvivors(whole)
        if seats.indices.reduce(0, { $0 + cost($1) }) <= budget {
            for index in seats.indices { seats[index].exceeds = false }
            return false
        }
        // A survivor may cost more than the budget; what costs nothing gives none of it back.
        return seats.indices.reduce(0) { seats[$1].exceeds ? $0 : $0 + cost($1) } > max(0, budget)
    }

    /// Which app may exceed the budget is judged at every step: what all others have fits by itself, or the weaker of
    /// them go as for any stronger bid, with their time.
    mutating func giveWayToStrongest() {
        guard let (strongest, beyond) = beyondBudget() else { return }
        for index in beyond.sorted(by: >) {
            let seat = seats[index]
            let due = earliestCut(seat, by: strongest)
            if due > now {
                contests[seat.camera] = contest(seat, by: strongest, due: due, .law(.budget))
            } else {
                contests[seat.camera] = nil
                lose(seat.look, to: nil, .law(.budget))
                seats.remove(at: index)
            }
        }
    }

    /// A holder that has no room beside whoever came in this round makes way in the same round: a round that dropped the
    /// warning it was given would let the next one set another deadline. A challenger that waits for others, too, does not
    /// lengthen its time.
    mutating func warnBeyondBudget() {
        guard let (strongest, beyond) = beyondBudget() else { return }
        for index in beyond where seats[index].kind == .held {
            let seat = seats[index]
            let due = earliestCut(seat, by: strongest)
            guard due > now, contests[seat.camera].map({ due < $0.due }) ?? true else { continue }
            contests[seat.camera] = contest(seat, by: strongest, due: due, .law(.budget))
        }
    }

    /// Somebody took a seat in this round beside whom another one may not exceed the budget any more.
    var isBeyondBudget: Bool {
        beyondBudget().map { $0.seats.contains { contests[seats[$0].camera] == nil } } ?? false
    }

    /// The seats for which there is no room beside the others when the strongest app's are not counted. Where only starts
    /// are decided, who was let in stays.
    private func beyondBudget() -> (strongest: Int, seats: [Int])? {
        guard policy.contention.strongestMayExceed, policy.contention.reDecide == .facts, let whole = policy.budget
        else { return nil }
        let sitting = seats.indices.filter { seats[$0].kind != .kept && seats[$0].kind != .dormant }
            .sorted { staysBefore(seats[$0], seats[$1], onceBothHold: true) }
        guard let strongest = sitting.first.map({ seats[$0].look }) else { return nil }
        let budget = besidesSurvivors(whole)
        var sum = 0
        var beyond: [Int] = []
        for index in sitting where !isOwn(index, strongest) {
            let cost = looks[seats[index].look].cost
            if cost > 0, sum + cost > budget { beyond.append(index) } else { sum += cost }
        }
        return beyond.isEmpty ? nil : (strongest, beyond)
    }

    /// A camera that a survivor captures from is as good as held, and nobody there can be beaten.
    private func besidesSurvivors(_ budget: Int) -> Int {
        cameras.reduce(budget) { $1.hasSurvivor ? $0 - policy.cost($1.place) : $0 }
    }

    private func isOwn(_ seat: Int, _ look: Int) -> Bool { looks[seats[seat].look].app == looks[look].app }

    /// As few as it takes, the weakest first. Whether the bid beats them is asked later, and of all of them.
    private mutating func addWeakest(_ rivals: inout [Int], _ look: Int, on camera: Int, _ budget: Int) -> Bool {
        let cost = looks[look].cost
        let mayExceed =
            policy.contention.strongestMayExceed
            && seats.indices.allSatisfy { seat in isOwn(seat, look) || compare(look, seats[seat].look).isWon }
        guard cost > 0 else { return true }
        let others = seats.indices.filter { !rivals.contains($0) && self.cost($0) > 0 }
        var sum = cost + others.reduce(0) { $0 + self.cost($1) }
        if mayExceed {
            exceeds = sum > budget
            return true
        }
        for seat in others.sorted(by: { looks[seats[$1].look].standing < looks[seats[$0].look].standing })
        where sum > budget {
            sum -= self.cost(seat)
            rivals.append(seat)
        }
        return sum <= budget
    }

    /// One look at each seat, the longest held first: a seat that costs something and is beaten gives way while the sum
    /// is above the budget. A seat that the bid conflicts with stops counting only when it is looked at, so one held
    /// for longer may give way although the conflict alone would have made room. An app that may exceed the budget
    /// because nobody is stronger spares its own cameras, and is let in even if the sum stays above.
    private mutating func addLongestHeld(_ rivals: inout [Int], _ look: Int, on camera: Int, _ budget: Int) -> Bool {
        // A start that was decided stays so while it waits for the holder's time, also where only starts are.
        let hasWon = cameras[camera].contest?.beneficiary == looks[look].session
        let isStrongest =
            policy.contention.strongestMayExceed
            && seats.indices.allSatisfy { index in
                let comparison =
                    hasWon && seats[index].kind != .kept
                    ? compareWithTie(look, seats[index]) : challenge(look, seats[index])
                return isOwn(index, look) || comparison.isWon
            }
        let conflicting = rivals
        var sum = seats.indices.reduce(looks[look].cost) { $0 + cost($1) }
        for index in seats.indices.sorted(by: { isHeldLonger(seats[$0], seats[$1]) }) {
            let cost = cost(index)
            if conflicting.contains(index) {
                sum -= cost
                continue
            }
            let isSpared = isStrongest && isOwn(index, look)
            guard sum > budget, cost > 0, !isSpared, challenge(look, seats[index]).isWon else { continue }
            sum -= cost
            rivals.append(index)
        }
        exceeds = sum > budget
        return !exceeds || isStrongest
    }

    /// A seat that was only won and waits for its cut comes after all that are held, by the start requests.
    private func isHeldLonger(_ a: Seat, _ b: Seat) -> Bool {
        let (x, y) = (granted(a), granted(b))
        return x != y ? x < y : looks[a.look].started < looks[b.look].started
    }
}
