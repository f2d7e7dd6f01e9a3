import Vocabulary

/// Two bids that the policy does not tell apart: `[contention] tie` says which one wins.
extension Seating {
    /// Whether a bid that ties with the one on a seat takes it. With `tie = "newcomer"` it does if it is newer than the
    /// holder's grant: a bid that was already waiting at that time does not become a newcomer later.
    func winsTie(_ look: Int, over seat: Seat) -> Bool {
        guard policy.contention.tie == .newcomer, isHolder(seat) else { return false }
        guard let held = cameras[seat.camera].held else { return false }
        return looks[look].bidSince > held.granted
    }

    /// Of two bids that the policy does not tell apart, the later or the earlier one, as it says of ties.
    func staysBefore(_ a: Seat, _ b: Seat, onceBothHold: Bool = false) -> Bool {
        switch compare(a.look, b.look).winner {
        case .first: return true
        case .second: return false
        case .tie: break
        }
        let (x, y) = (granted(a), granted(b))
        guard x != y else {
            // Two that are granted in one step are so in the order of their ids.
            if !onceBothHold { return looks[a.look].started < looks[b.look].started }
            return (looks[a.look].id < looks[b.look].id) == (policy.contention.tie == .holder)
        }
        return policy.contention.tie == .holder ? x < y : x > y
    }

    /// A bid that waits for a cut came after all that hold.
    func granted(_ seat: Seat) -> Ordinal { isHolder(seat) ? cameras[seat.camera].held?.granted ?? .max : .max }
}

extension CompiledPolicy {
    /// The rule that a verdict names when nothing but the tie decided.
    package var tieRule: Rule { .law(contention.tie == .newcomer ? .tieNewcomer : .tieHolder) }
}
