import Vocabulary

/// Who wins a seat: by camera, conflict and budget, and when the one who sits there has to go.
extension Seating {
    /// One challenger, strongest first: it takes a free seat, beats everybody in its way, or waits.
    /// - Parameter returns: it holds its camera, whose device is to be tried again; what it met on other cameras meanwhile it
    ///   has to beat.
    mutating func seat(_ look: Int, returns: Bool) {
        let camera = stage(of: look)
        guard let rivals = rivals(of: look, on: camera) else {
            lose(look, to: nil, .law(.budget))
            return
        }
        var comparisons: [Comparison] = []
        for rival in rivals {
            let comparison = challenge(look, seats[rival])
            guard comparison.isWon else {
                wait(look, behind: seats[rival], comparison.rule)
                note(rivals.map { seats[$0].look }, against: look)
                return
            }
            comparisons.append(comparison)
        }
        let due = rivals.map { earliestCut(seats[$0], by: look) }.max() ?? now
        guard due <= now else {
            for (rival, comparison) in zip(rivals, comparisons) {
                contests[seats[rival].camera] = contest(seats[rival], by: look, due: due, comparison.rule)
            }
            lose(look, to: seats[rivals[0]].look, (comparisons.last?.rule ?? .law(.noOtherClaim)).afterItsTime)
            rulings[look].isWinning = true
            seats.append(Seat(kind: .kept, look: look, camera: camera, rule: .law(.notPassedOver)))
            return
        }
        // Each victim hears the rule that beat it.
        for (rival, comparison) in zip(rivals, comparisons) { remove(seats[rival], for: look, comparison.rule) }
        for rival in rivals.sorted(by: >) { seats.remove(at: rival) }
        if returns, let held = cameras[camera].held {
            rule(look, .holds, held.rule)
            seats.append(Seat(kind: .held, look: look, camera: camera, rule: held.rule))
            return
        }
        let rule = comparisons.last?.rule ?? .law(.noOtherClaim)
        self.rule(look, .comesNext, rule)
        seats.append(Seat(kind: .won, look: look, camera: camera, rule: rule))
    }

    func stage(of look: Int) -> Int { cameras.firstIndex { $0.looks.contains(look) } ?? 0 }

    private mutating func remove(_ seat: Seat, for winner: Int, _ rule: Rule) {
        contests[seat.camera] = nil
        let isHolder = seat.kind == .held || seat.kind == .dormant
        let isEvicted = isHolder && policy.contention.loser == .evict
        lose(seat.look, isEvicted ? .evicted : .waits, to: winner, rule)
    }

    /// Nobody is passed over: weaker claims stay off what this one waits for. Where it waits for the holder of its own
    /// camera, they have to beat the same holder anyway.
    private mutating func wait(_ look: Int, behind seat: Seat, _ rule: Rule) {
        lose(look, to: seat.look, rule)
        let camera = stage(of: look)
        // Who has the camera now is who is named, also where somebody stronger waits for it.
        if seat.kind == .kept, let sitting = seats.first(where: { $0.camera == camera && $0.kind != .kept }) {
            rulings[look].interrupter = looks[sitting.look].app
        }
        guard seat.camera != camera, !policy.contention.backfill else { return }
        seats.append(Seat(kind: .kept, look: look, camera: camera, rule: .law(.notPassedOver)))
    }

    /// The seats that a claim cannot sit beside: by camera, by conflict, by budget. Indexes, who holds a camera before who
    /// only waits for one, because that is whom the client should hear of, and then the strongest first. Nil when the budget
    /// has no room for it, whoever goes.
    func rivals(of look: Int, on camera: Int) -> [Int]? {
        var rivals = seats.indices.filter { index in
            let seat = seats[index]
            if seat.camera == camera { return true }
            guard policy.hasConflicts, seat.kind != .dormant else { return false }
            return policy.conflict(cameras[seat.camera].camera.place, cameras[camera].camera.place)
        }
        if policy.budget != nil, !addBudgetRivals(&rivals, look, on: camera) { return nil }
        guard rivals.count > 1 else { return rivals }
        return rivals.sorted { a, b in
            if (seats[a].kind == .kept) != (seats[b].kind == .kept) { return seats[b].kind == .kept }
            return isStronger(looks[seats[a].look], looks[seats[b].look])
        }
    }

    /// Whether a claim beats who sits there.
    func challenge(_ look: Int, _ seat: Seat) -> Comparison {
        if seat.kind == .kept { return Comparison(winner: .second, rule: .law(.notPassedOver)) }
        let claim = looks[look]
        // Who was just sent away makes way for who waited, and so for who has the camera since.
        if claim.coolsDown { return Comparison(winner: .second, rule: .law(.coolDown)) }
        let held = seat.kind == .held || seat.kind == .dormant ? cameras[seat.camera].held : nil
        let isWinningAlready = held?.contest?.beneficiary == claim.session
        let asks = occasion.starter == claim.session || occasion.asker == claim.session
        if policy.contention.reDecide == .open, !isWinningAlready, !asks {
            return Comparison(winner: .second, rule: .law(.reDecideOpen))
        }
        let comparison = policy.compare(claim, looks[seat.look])
        guard comparison.winner == .tie else { return comparison }
        // Between two claims that the policy does not tell apart, a newcomer is one that began to contend after the holder
        // was granted: who waited already then does not become one later.
        let isNewer = held.map { claim.claimed > $0.granted } ?? false
        return Comparison(
            winner: policy.contention.tie == .newcomer && isNewer ? .first : .second, rule: comparison.rule)
    }

    // MARK: A policy that was just loaded

    /// It may exclude cameras that are held or promised side by side: the stronger stay.
    mutating func expel() {
        let all = seats.sorted(by: staysBefore)
        seats = []
        for seat in all {
            let rivals = seat.kind == .dormant ? [] : rivals(of: seat.look, on: seat.camera)
            if let rivals, rivals.isEmpty {
                seats.append(seat)
                continue
            }
            let opponent = rivals?.first.map { seats[$0].look }
            lose(seat.look, to: opponent, .law(opponent == nil ? .budget : .excluded))
        }
    }

    /// Of two that the policy does not tell apart, who came later or who was there first, as it says of ties.
    private func staysBefore(_ a: Seat, _ b: Seat) -> Bool {
        switch policy.compare(looks[a.look], looks[b.look]).winner {
        case .first: return true
        case .second: return false
        case .tie: break
        }
        let (x, y) = (granted(a), granted(b))
        guard x != y else { return looks[a.look].started < looks[b.look].started }
        return policy.contention.tie == .holder ? x < y : x > y
    }

    /// Whoever waits for a cut came after all who hold.
    func granted(_ seat: Seat) -> Ordinal {
        seat.kind == .held || seat.kind == .dormant ? cameras[seat.camera].held?.granted ?? .max : .max
    }

    // MARK: What can be opened

    /// Of those who have won a camera, who gets it now: nothing that excludes it is still being cut, or will be in this step,
    /// and its recorder may be started. A holder whose recorder was lost is opened for anew when its time has come.
    mutating func open() {
        for seat in seats where seat.kind != .kept && seat.kind != .dormant {
            let stage = cameras[seat.camera]
            if seat.kind == .held {
                if stage.camera.tenancy.isLost, isOpenable(seat.camera) { rule(seat.look, .gets, seat.rule) }
            } else if isOpenable(seat.camera) {
                rule(seat.look, .gets, seat.rule)
            }
        }
    }

    private func isOpenable(_ camera: Int) -> Bool {
        let stage = cameras[camera]
        if stage.backsOff { return false }
        // It is open, and stays so: what excludes it was cut before it was opened.
        if stage.canPassInPlace(policy) { return true }
        for (index, other) in cameras.enumerated() where isInUse(other) {
            if index == camera || policy.conflict(other.camera.place, stage.camera.place) { return false }
            // A camera that is being cut still costs what it cost. One that is never let go is not waited for.
            if policy.budget != nil, policy.cost(other.camera.place) > 0, policy.cost(stage.camera.place) > 0,
                !other.camera.isStuck
            {
                return false
            }
        }
        return true
    }

    /// It is being cut, or will be in this step. A camera whose holder stays is no obstacle: seats were weighed already.
    private func isInUse(_ stage: Stage) -> Bool {
        if stage.camera.tenancy.cut != nil { return true }
        guard stage.camera.tenancy.isCapturing else { return false }
        guard let held = stage.held, let holder = look(of: held.session, on: index(of: stage)) else { return true }
        return !rulings[holder].keepsItsCamera
    }

    private func index(of stage: Stage) -> Int { cameras.firstIndex { $0.slot == stage.slot } ?? 0 }
}
