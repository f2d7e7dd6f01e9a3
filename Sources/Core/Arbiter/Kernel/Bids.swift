import Vocabulary

/// Who contends for each camera, and for whom: control before watching is a filter here, so that bids compare as numbers.
extension Seating {
    /// The bids that count on a camera: of the sessions that want control, or, where there are none, of those that watch.
    mutating func noteContenders(on camera: Int) {
        var isControlled = false
        for look in cameras[camera].looks where looks[look].bids && admits(look, on: camera) {
            looks[look].contends = true
            isControlled = isControlled || !looks[look].watches
        }
        guard policy.shares else { return }
        if isControlled {
            for look in cameras[camera].looks where looks[look].watches { looks[look].contends = false }
        }
        guard policy.contention.sharing == .all, let holder = holder(on: camera), looks[holder].contends else { return }
        // A session that may share leaves control to the last commit.
        for look in cameras[camera].looks where look != holder && mayWatch(look, beside: holder) {
            looks[look].contends = false
        }
    }

    /// The sharer whose commit takes control of a camera.
    private func committer(on camera: Int, from holder: Int) -> Int? {
        guard policy.contention.sharing == .all, looks[holder].contends,
            let committer = look(of: occasion.committer, on: camera), committer != holder, !looks[committer].watches,
            mayWatch(committer, beside: holder)
        else { return nil }
        return committer
    }

    /// Whether the camera is not kept for another app, nor for the one session that had it.
    private func admits(_ look: Int, on camera: Int) -> Bool {
        if isHolder(look, on: camera) { return true }
        return cameras[camera].keptFor.map { $0 == looks[look].app && !cameras[camera].isClosed } ?? true
    }

    /// The survivor's holder may still come back. Of several survivors the first camera's app is named.
    mutating func keepSurvivorsNeighboursFree() {
        for survivor in cameras.indices where cameras[survivor].hasSurvivor {
            for other in cameras.indices
            where !cameras[other].isClosed && policy.conflict(cameras[survivor].place, cameras[other].place) {
                (cameras[other].keptFor, cameras[other].isClosed) = (cameras[survivor].keptFor, true)
            }
        }
    }

    /// Of its app's sessions on the camera the one of the best rank, then the newest: the order list compares apps.
    private func speaker(for look: Int, on camera: Int) -> Int {
        if looks[look].isAlone { return look }
        var best = look
        for other in cameras[camera].looks where looks[other].contends && looks[other].app == looks[look].app {
            let (x, y) = (looks[other], looks[best])
            let isBetter = x.rank.rank != y.rank.rank ? x.rank.rank < y.rank.rank : x.started > y.started
            if isBetter { best = other }
        }
        return best
    }

    /// An app's better session takes over its app's seat, and a session that wants control takes the seat of one that
    /// only watches.
    mutating func succeed(on camera: Int) {
        guard let holder = holder(on: camera), looks[holder].bids else { return }
        let committer = committer(on: camera, from: holder)
        let successor =
            looks[holder].contends
            ? committer ?? speaker(for: holder, on: camera)
            : strongest(on: camera) { speaker(for: $0, on: camera) == $0 }
        guard let successor, successor != holder, !opensAnew(successor, over: holder) else { return }
        let isOwn = looks[successor].app == looks[holder].app
        let loses = isOwn && replaces(successor, holder) ? Ruling.Kind.replaced : .waits
        if committer != nil {
            lose(holder, loses, to: successor, .law(.lastCommit))
            // Who commits takes the place with its deadline: sessions that commit in turn keep nobody waiting.
            cameras[camera].next = cameras[camera].held?.contest
            cameras[camera].next?.announced?.isReady = false
            return sit(successor, on: camera, .won, .law(.lastCommit), exceeds: looks[holder].exceeds)
        }
        let rule = isOwn ? policy.sameAppRule : .law(.controlFirst)
        lose(holder, loses, to: successor, rule)
        // A lost device counts for nothing on other cameras: the successor must win there again.
        let isDormant = policy.linksCameras && cameras[camera].isLost
        sit(successor, on: camera, isDormant ? .dormant : .won, rule, exceeds: looks[holder].exceeds)
        // A warning is the app's: its new speaker gets the rest of the grace, and a notice of it.
        guard isOwn, var contest = cameras[camera].held?.contest, contest.announced != nil else { return }
        contest.announced?.isReady = false
        cameras[camera].next = contest
    }

    /// The app's older session loses to such a start in any case, and its cost counts until that session is looked at.
    /// A start that is not refused, since it may watch, follows in its app's place.
    func opensAnew(_ look: Int, over holder: Int) -> Bool {
        policy.opensAnew && occasion.starter == looks[look].session && looks[look].app == looks[holder].app
            && looks[look].camera == looks[holder].camera && look != holder && !looks[look].watches
    }

    /// Seats the holder or the promised session; other bids challenge, or wait for their own app or for the camera's.
    mutating func bid(on camera: Int) {
        for look in cameras[camera].looks {
            if !looks[look].bids {
                rule(look, .barred, .law(.nothingLeft))
            } else if looks[look].contends {
                bid(look, on: camera)
            } else if !admits(look, on: camera) {
                lose(look, to: nil, .law(.reserved))
                rulings[look].interrupter = cameras[camera].keptFor
            }
        }
    }

    private mutating func bid(_ look: Int, on camera: Int) {
        let isHolder = isHolder(look, on: camera)
        let speaker = speaker(for: look, on: camera)
        guard speaker == look || isHolder && opensAnew(speaker, over: look) else {
            let isReplaced =
                policy.contention.sameApp == .replace && looks[look].started < looks[speaker].started
                && !looks[look].mayJoin(policy)
            return lose(look, isReplaced ? .replaced : .waits, to: speaker, policy.sameAppRule)
        }
        let (isLost, backsOff) = (cameras[camera].isLost, cameras[camera].backsOff)
        if isHolder, let rule = cameras[camera].held?.rule, !isLost || backsOff || !policy.linksCameras {
            return sit(look, on: camera, isLost && backsOff ? .dormant : .held, rule, exceeds: looks[look].exceeds)
        }
        let promised = promise(to: look, on: camera)
        if let promised, let promise = cameras[camera].promise, !promise.isDormant || isDormant(camera) {
            let exceeds = looks[self.look(of: promise.session, on: camera) ?? look].exceeds
            return sit(look, on: camera, isDormant(camera) ? .dormant : .promised, promised, exceeds: exceeds)
        }
        challengers.append(Bid(looks[look], at: look, returns: isHolder || promised != nil))
    }

    /// The rule by which a camera is promised to a session, or to a session of its app that it speaks for now.
    func promise(to look: Int, on camera: Int) -> Rule? {
        guard let promise = cameras[camera].promise, cameras[camera].holder == nil else { return nil }
        if promise.session == looks[look].session { return promise.rule }
        guard !looks[look].isAlone, let promised = self.look(of: promise.session, on: camera),
            looks[promised].app == looks[look].app, looks[promised].contends
        else { return nil }
        return policy.sameAppRule
    }

    /// A camera whose device is not tried before its wait is over: until then it counts for nothing on other cameras.
    func isDormant(_ camera: Int) -> Bool { policy.linksCameras && cameras[camera].backsOff }

    /// A watcher and a session with control do not end each other.
    func replaces(_ successor: Int, _ predecessor: Int) -> Bool {
        policy.contention.sameApp == .replace && looks[predecessor].watches == looks[successor].watches
            && !looks[predecessor].mayJoin(policy)
    }

    // MARK: Sharing

    /// Sessions that only watch wait for the holder of a camera that another session wants to control.
    mutating func ruleWatchers(on camera: Int) {
        for look in cameras[camera].looks where rulings[look].kind == .undecided {
            let opponent = sitting(on: camera)?.look ?? strongest(on: camera)
            let isOwn = opponent.map { looks[$0].app == looks[look].app } ?? false
            let isOthers = opponent.map { !isOpenTo(look, beside: $0) } ?? false
            lose(look, to: opponent, isOthers ? .law(.anotherUser) : isOwn ? policy.sameAppRule : .law(.controlFirst))
        }
    }

    /// Sessions that lost to the holder of a camera may watch it. A camera that is only promised has no pictures yet.
    mutating func seatSharers() {
        guard policy.shares else { return }
        for seat in seats where seat.counts {
            let ruling = rulings[seat.look].kind
            guard ruling == .holds || ruling == .gets else { continue }
            let looks = cameras[seat.camera].looks
            var places = Bound.sharersMax
            if looks.count <= places {
                seatSharers(looks, beside: seat.look, &places)
                continue
            }
            // A session that shares already keeps its place; the next one is the former holder's, which runs, too.
            seatSharers(looks.filter { self.looks[$0].isSharing }, beside: seat.look, &places)
            seatSharers(looks.filter { isHolder($0, on: seat.camera) }, beside: seat.look, &places)
            seatSharers(looks.filter { !rulings[$0].watches }, beside: seat.look, &places)
        }
    }

    private mutating func seatSharers(_ waiting: some Sequence<Int>, beside holder: Int, _ places: inout Int) {
        for look in waiting where rulings[look].kind == .waits && places > 0 && mayWatch(look, beside: holder) {
            places -= 1
            // As in a round in which it no longer contends.
            if policy.contention.sharing == .all {
                lose(look, to: holder, .law(looks[look].watches ? .controlFirst : .lastCommit))
            }
            rulings[look].watches = true
        }
    }

    /// Sharers are of the holder's user, unless the policy allows everybody; and their causes leave them something to
    /// watch.
    func mayWatch(_ look: Int, beside holder: Int) -> Bool {
        policy.shares && looks[look].bids && isOpenTo(look, beside: holder) && looks[look].hasShare
    }

    private func isOpenTo(_ look: Int, beside holder: Int) -> Bool {
        policy.contention.isOpen(to: looks[look].user, besideUser: looks[holder].user)
    }
}
