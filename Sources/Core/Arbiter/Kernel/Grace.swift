import Vocabulary

/// Time as a bid meets it: how long a holder is spared for its grace and its min-hold.
extension Seating {
    /// When the seat can be cut for a bid that beats it.
    func earliestCut(_ seat: Seat, by look: Int) -> Moment {
        guard !looks[look].rank.isImmediate, !opensAnew(look, over: seat.look) else { return now }
        if let announced = contest(of: seat)?.announced { return announced.isReady ? now : announced.deadline }
        guard seat.kind == .held || seat.kind == .dormant, let held = cameras[seat.camera].held else { return now }
        let kept = held.minHoldUntil.map { max($0, now) } ?? now
        let grace = grace(of: seat)
        return grace > 0 ? max(kept, now + .nanoseconds(grace)) : kept
    }

    /// The bid that the seat has to make way for, as it was found before.
    func contest(of seat: Seat) -> Contest? {
        if isHolder(seat) { return cameras[seat.camera].held?.contest }
        return seat.kind == .promised ? cameras[seat.camera].promise?.contest : nil
    }

    /// A grace is for finishing something: there is nothing to finish before the first frame.
    private func grace(of seat: Seat) -> Int64 { cameras[seat.camera].isStreaming ? looks[seat.look].rank.grace : 0 }

    /// The bid that a holder has to make way for at `due`; the holder is told its grace before that.
    func contest(_ seat: Seat, by look: Int, due: Moment, _ rule: Rule) -> Contest {
        var contest = Contest(
            beneficiary: looks[look].session, due: due, rule: rule, announced: self.contest(of: seat)?.announced)
        let grace = grace(of: seat)
        guard contest.announced == nil, grace > 0 else { return contest }
        let announceAt = Moment(nanoseconds: due.nanoseconds - grace)
        if announceAt <= now {
            contest.announced = Contest.Announced(deadline: due)
        } else {
            contest.due = announceAt
        }
        return contest
    }
}
