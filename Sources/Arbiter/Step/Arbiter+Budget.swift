import Vocabulary

/// Who gives way when the cameras in use would cost more than the budget.
extension Arbiter {
    /// Adds those who give way to the budget; false when the sum stays above it all the same.
    func addBudgetRivals(
        _ rivals: inout [Int], _ claim: Claim, _ seats: [Seat], _ allocation: Allocation, _ turn: Turn
    ) -> Bool {
        guard let budget = state.policy.contention.budget else { return true }
        return switch state.policy.contention.givesWay {
        case .weakest: addWeakest(&rivals, claim, seats, budget)
        case .longestHeld: addLongestHeld(&rivals, claim, seats, budget, allocation, turn)
        }
    }

    /// As few as it takes, the weakest first. Whether the claim beats them is asked later, and of all of them.
    private func addWeakest(_ rivals: inout [Int], _ claim: Claim, _ seats: [Seat], _ budget: Int) -> Bool {
        let cost = state.policy.cost(claim.camera)
        let mayExceed =
            state.policy.contention.strongestMayExceed
            && seats.allSatisfy {
                $0.claim.app == claim.app || claim.compare($0.claim, under: state.policy).winner == .first
            }
        guard cost > 0, !mayExceed else { return true }
        let others = seats.indices.filter { !rivals.contains($0) && state.policy.cost(seats[$0].claim.camera) > 0 }
        var sum = cost + others.reduce(0) { $0 + state.policy.cost(seats[$1].claim.camera) }
        for seat in others.sorted(by: { seats[$1].claim.comesBefore(seats[$0].claim, under: state.policy) })
        where sum > budget {
            sum -= state.policy.cost(seats[seat].claim.camera)
            rivals.append(seat)
        }
        return sum <= budget
    }

    /// One look at each seat, the longest held first: who costs something and is beaten gives way while the sum is
    /// above the budget. A seat that the claim conflicts with stops counting only when its turn comes, so that one
    /// held for longer may give way although the conflict alone would have made room.
    ///
    /// An app that may exceed the budget because nobody is stronger spares its own cameras, and is let in even if
    /// the sum stays above.
    private func addLongestHeld(
        _ rivals: inout [Int], _ claim: Claim, _ seats: [Seat], _ budget: Int, _ allocation: Allocation, _ turn: Turn
    ) -> Bool {
        let isStrongest =
            state.policy.contention.strongestMayExceed
            && seats.allSatisfy { $0.claim.app == claim.app || isBeaten($0, by: claim, allocation, turn) }
        let conflicting = rivals
        var sum = seats.reduce(state.policy.cost(claim.camera)) { $0 + state.policy.cost($1.claim.camera) }
        for index in seats.indices.sorted(by: { isHeldLonger(seats[$0], seats[$1]) }) {
            let seat = seats[index]
            let cost = state.policy.cost(seat.claim.camera)
            if conflicting.contains(index) {
                sum -= cost
                continue
            }
            let isSpared = isStrongest && seat.claim.app == claim.app
            guard sum > budget, cost > 0, !isSpared, isBeaten(seat, by: claim, allocation, turn) else { continue }
            sum -= cost
            rivals.append(index)
        }
        return sum <= budget || isStrongest
    }

    private func isBeaten(_ seat: Seat, by claim: Claim, _ allocation: Allocation, _ turn: Turn) -> Bool {
        challenge(claim, seat, allocation, turn).winner == .first
    }

    /// Whoever only won a camera and waits for its cut comes after all who hold one, by the start requests.
    private func isHeldLonger(_ a: Seat, _ b: Seat) -> Bool {
        let last = Ordinal(value: .max)
        let (x, y) = (a.held?.granted ?? last, b.held?.granted ?? last)
        return x != y ? x < y : a.claim.standing.started < b.claim.standing.started
    }
}
