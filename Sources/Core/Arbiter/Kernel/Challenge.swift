import Vocabulary

/// Who wins a seat: by camera, conflict and budget, and when the session that has it must go.
extension Seating {
    /// One challenger, strongest first: it takes a free seat, beats everybody in its way, or waits.
    /// - Parameter returns: it holds its camera, whose device is to be tried again; it must beat what it now meets on
    ///   other cameras.
    mutating func seat(_ look: Int, returns: Bool) {
        let camera = stage(of: look)
        guard findRivals(of: look, on: camera) else {
            lose(look, to: nil, .law(.budget))
            return
        }
        // Loops and no closures in what every challenger goes through: a closure would copy the whole seating.
        comparisons.clear()
        var due = now
        for place in rivals.indices {
            let rival = seats[rivals[place]]
            let comparison = challenge(look, rival)
            guard comparison.isWon else {
                wait(look, behind: rival, comparison.rule)
                noteOpponents(rivals, of: look)
                return
            }
            comparisons.append(comparison)
            due = max(due, earliestCut(rival, by: look))
        }
        guard due <= now else {
            if !follow(look, on: camera) { contest(look, on: camera, due) }
            return
        }
        // Each victim hears the rule that beat it.
        for (rival, comparison) in zip(rivals, comparisons) { remove(seats[rival], for: look, comparison.rule) }
        if rivals.count > 1 { rivals.sort(by: >) }
        for rival in rivals { seats.remove(at: rival) }
        let promised = returns ? promise(to: look, on: camera) : nil
        sit(look, on: camera, comparisons.last?.rule ?? promised ?? .law(.noOtherBid), returns: returns)
    }

    /// It beats everybody in its way, and they have their time first.
    private mutating func contest(_ look: Int, on camera: Int, _ due: Moment) {
        for (rival, comparison) in zip(rivals, comparisons) {
            contests[seats[rival].camera] = contest(seats[rival], by: look, due: due, comparison.rule)
        }
        lose(look, to: seats[rivals[0]].look, (comparisons.last?.rule ?? .law(.noOtherBid)).afterItsTime)
        rulings[look].isWinning = true
        seats.append(Seat(kind: .kept, look: look, camera: camera, rule: .law(.notPassedOver)))
    }

    private mutating func sit(_ look: Int, on camera: Int, _ rule: Rule, returns: Bool) {
        if returns, let held = cameras[camera].held {
            self.rule(look, .holds, held.rule)
            seats.append(Seat(kind: .held, look: look, camera: camera, rule: held.rule, exceeds: exceeds))
            return
        }
        self.rule(look, .comesNext, rule)
        seats.append(
            Seat(kind: isDormant(camera) ? .dormant : .won, look: look, camera: camera, rule: rule, exceeds: exceeds))
    }

    func stage(of look: Int) -> Int { cameras.count == 1 ? 0 : cameras.firstIndex { $0.looks.contains(look) } ?? 0 }

    private mutating func remove(_ seat: Seat, for winner: Int, _ rule: Rule) {
        contests[seat.camera] = nil
        if opensAnew(winner, over: seat.look) {
            takesOwnPlace = true
            return lose(seat.look, replaces(winner, seat.look) ? .replaced : .waits, to: winner, rule)
        }
        let isEvicted = isHolder(seat) && policy.contention.loser == .evict
        lose(seat.look, isEvicted ? .evicted : .waits, to: winner, rule)
    }

    /// A bid that would have to wait for others still takes its own app's place, and no other app's.
    private mutating func follow(_ look: Int, on camera: Int) -> Bool {
        guard let own = seats.firstIndex(where: { $0.kind != .kept && opensAnew(look, over: $0.look) }) else {
            return false
        }
        remove(seats.remove(at: own), for: look, sameAppRule)
        sit(look, on: camera, sameAppRule, returns: false)
        return true
    }

    /// Nobody is passed over: weaker bids stay off what this one waits for. Where it waits for the holder of its own
    /// camera, they have to beat the same holder anyway.
    private mutating func wait(_ look: Int, behind seat: Seat, _ rule: Rule) {
        lose(look, to: seat.look, rule)
        let camera = stage(of: look)
        // The interrupter that is named has a camera in its way now, also where a stronger bid waits for that.
        if seat.kind == .kept, let first = rivals.first, seats[first].kind != .kept {
            rulings[look].interrupter = looks[seats[first].look].app
        }
        guard seat.camera != camera, !policy.contention.backfill else { return }
        seats.append(Seat(kind: .kept, look: look, camera: camera, rule: .law(.notPassedOver)))
    }

    /// The seat of the session that has a camera or has won it.
    func sitting(on camera: Int) -> Seat? {
        for place in seats.indices where seats[place].camera == camera && seats[place].kind != .kept {
            return seats[place]
        }
        return nil
    }

    /// The seats that a bid cannot sit beside: by camera, by conflict, by budget. Indexes: holders before bids that
    /// only wait, because the client should hear of a holder, and then the strongest first. False when the budget has
    /// no room for the bid, whatever goes.
    mutating func findRivals(of look: Int, on camera: Int) -> Bool {
        rivals.clear()
        exceeds = false
        for index in seats.indices where seats[index].camera == camera || excludes(seats[index], camera) {
            rivals.append(index)
        }
        if policy.budget != nil, !isDormant(camera) {
            var all = rivals
            guard addBudgetRivals(&all, look, on: camera) else { return false }
            rivals = all
        }
        guard rivals.count > 1 else { return true }
        rivals = rivals.sorted { a, b in
            if (seats[a].kind == .kept) != (seats[b].kind == .kept) { return seats[b].kind == .kept }
            return looks[seats[a].look].standing < looks[seats[b].look].standing
        }
        return true
    }

    /// Two cameras that cannot run together; one whose device is not tried is in nobody's way.
    private func excludes(_ seat: Seat, _ camera: Int) -> Bool {
        policy.hasConflicts && seat.kind != .dormant && !isDormant(camera)
            && policy.conflict(cameras[seat.camera].place, cameras[camera].place)
    }

    /// Whether a bid beats the one that has the seat.
    func challenge(_ look: Int, _ seat: Seat) -> Comparison {
        if seat.kind == .kept { return Comparison(winner: .second, rule: .law(.notPassedOver)) }
        if opensAnew(look, over: seat.look) { return Comparison(winner: .first, rule: sameAppRule) }
        // A bid that just lost the camera makes way for those that waited, and so for the one that has the camera since.
        if looks[look].coolsDown { return Comparison(winner: .second, rule: .law(.coolDown)) }
        let session = looks[look].session
        if policy.contention.reDecide == .open, occasion.starter != session, occasion.asker != session {
            let isWinningAlready = contest(of: seat)?.beneficiary == session
            if !isWinningAlready { return Comparison(winner: .second, rule: .law(.reDecideOpen)) }
        }
        return compareWithTie(look, seat)
    }

    func compareWithTie(_ look: Int, _ seat: Seat) -> Comparison {
        let comparison = compare(look, seat.look)
        guard comparison.winner == .tie else { return comparison }
        return Comparison(winner: winsTie(look, over: seat) ? .first : .second, rule: comparison.rule)
    }

    /// Ranks first, then the order list from left to right.
    func compare(_ a: Int, _ b: Int) -> Comparison {
        policy.compare((looks[a].strength, looks[a].rank.rule), (looks[b].strength, looks[b].rank.rule))
    }

    /// A bid lost to a holder that a later bid beat, or a later bid took a seat that is in its way, too: for whom it waits is
    /// found in the next round. There that holder has no camera any more, and nobody won that seat anew.
    var namesLosers: Bool {
        guard seats.contains(where: { $0.kind == .won }) else { return false }
        return rulings.indices.contains { look in
            guard rulings[look].kind == .waits else { return false }
            let opponent = rulings[look].opponent
            if opponent >= 0, rulings[opponent].hasLost, hadCamera(opponent) { return true }
            guard policy.hasConflicts else { return false }
            return seats.contains { $0.kind == .won && $0.look != opponent && excludes($0, stage(of: look)) }
        }
    }

    private func hadCamera(_ look: Int) -> Bool {
        let camera = cameras[stage(of: look)]
        return camera.holder == looks[look].session || camera.promise?.session == looks[look].session
    }

    // MARK: Another policy, or a dearer format

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

    func isHolder(_ seat: Seat) -> Bool { cameras[seat.camera].holder == looks[seat.look].session }

    // MARK: What can be opened

    /// Which of the winners get their camera now: nothing that excludes it is being cut or will be cut in this step,
    /// and its recorder may be started. A holder whose recorder was lost is opened anew when its wait is over.
    mutating func open() {
        for seat in seats where seat.kind != .kept && seat.kind != .dormant {
            if seat.kind == .held {
                if cameras[seat.camera].isLost, isOpenable(seat.camera) { rule(seat.look, .gets, seat.rule) }
            } else if isOpenable(seat.camera) {
                rule(seat.look, .gets, seat.rule)
            }
        }
    }

    private func isOpenable(_ camera: Int) -> Bool {
        if cameras[camera].backsOff { return false }
        // It is open, and stays so: what excludes it was cut before it was opened.
        if canPassInPlace(camera) { return true }
        for other in cameras.indices where isInUse(other) {
            let (place, othersPlace) = (cameras[camera].place, cameras[other].place)
            if other == camera || policy.conflict(othersPlace, place) { return false }
            // A camera that is being cut still costs what it cost. One that is never let go is not waited for.
            if policy.budget != nil, policy.cost(othersPlace) > 0, policy.cost(place) > 0, !cameras[other].isStuck {
                return false
            }
        }
        return true
    }

    /// It is being cut, or will be in this step. A camera whose holder stays is no obstacle: seats were weighed already.
    private func isInUse(_ camera: Int) -> Bool {
        if cameras[camera].isBeingCut { return true }
        guard cameras[camera].isCapturing else { return false }
        guard let session = cameras[camera].holder, let holder = look(of: session, on: camera) else {
            // Its holder has left: it goes on for the next one, and is cut where there is none.
            let hasHeir = seats.contains { $0.camera == camera && $0.kind != .kept && $0.kind != .dormant }
            return !(canPassInPlace(camera) && hasHeir)
        }
        return !rulings[holder].keepsItsCamera
    }

    /// The camera can pass to its next holder as it is, without a cut.
    private func canPassInPlace(_ camera: Int) -> Bool { policy.shares && cameras[camera].isCapturing }
}
