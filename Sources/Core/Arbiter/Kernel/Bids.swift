import Vocabulary

/// Who speaks for each app on one camera, before anybody is compared with another app. Control before watching is a
/// filter here: on a camera that some session wants to control, sessions that only watch do not contend. So comparing
/// two contenders is comparing two numbers, whatever they want.
extension Seating {
    /// The bids that count on a camera: of the sessions that want control, or, where there are none, of those that watch.
    mutating func noteContenders(on camera: Int) {
        let holder = cameras[camera].holder
        var isControlled = false
        for look in cameras[camera].looks where looks[look].bids {
            guard cameras[camera].admits(looks[look].app) || looks[look].session == holder else { continue }
            looks[look].contends = true
            isControlled = isControlled || !looks[look].watches
        }
        guard policy.shares, isControlled else { return }
        for look in cameras[camera].looks where looks[look].watches { looks[look].contends = false }
    }

    /// A camera that cannot run beside a survivor is kept for the survivor's app like its own camera: its holder may
    /// still come back. Of several survivors the first camera's is named.
    mutating func keepSurvivorsNeighboursFree() {
        for survivor in cameras.indices where cameras[survivor].hasSurvivor {
            for other in cameras.indices
            where cameras[other].survivorsApp == nil && policy.conflict(cameras[survivor].place, cameras[other].place) {
                cameras[other].survivorsApp = cameras[survivor].reservation
            }
        }
    }

    /// Of an app's sessions on one camera the one of the best rank, then the newest. The order list is not asked: it
    /// compares apps.
    func speaker(of app: AppRef, on camera: Int) -> Int? {
        var best: Int?
        for look in cameras[camera].looks where looks[look].contends && looks[look].app == app {
            guard let other = best else {
                best = look
                continue
            }
            let (x, y) = (looks[look], looks[other])
            let isBetter = x.rank.rank != y.rank.rank ? x.rank.rank < y.rank.rank : x.started > y.started
            if isBetter { best = look }
        }
        return best
    }

    private func isSpeaker(_ look: Int, on camera: Int) -> Bool {
        looks[look].isAlone || speaker(of: looks[look].app, on: camera) == look
    }

    /// An app's better session takes over its app's seat, and a session that wants control takes the seat from one that only
    /// watches. Nothing stands between the two; all other bids are weighed against the new holder in the next round.
    mutating func succeed(on camera: Int) {
        guard let session = cameras[camera].holder, let holder = look(of: session, on: camera), looks[holder].bids,
            let successor = successor(of: holder, on: camera), !opensAnew(successor, over: holder)
        else { return }
        let isOwn = looks[successor].app == looks[holder].app
        let rule = isOwn ? sameAppRule : Rule.law(.controlFirst)
        lose(holder, isOwn && replaces(successor, holder) ? .replaced : .waits, to: successor, rule)
        self.rule(successor, .comesNext, rule)
        // A lost device counts for nothing on other cameras: the successor must win there again.
        let isDormant = policy.linksCameras && cameras[camera].isLost
        seats.append(
            Seat(
                kind: isDormant ? .dormant : .won, look: successor, camera: camera, rule: rule,
                exceeds: looks[holder].exceeds))
        // A warning is the app's: its new speaker has what is left of the grace, and is to be told.
        guard isOwn, var contest = cameras[camera].held?.contest, contest.announced != nil else { return }
        contest.announced?.isReady = false
        contests[camera] = contest
    }

    private func successor(of holder: Int, on camera: Int) -> Int? {
        guard looks[holder].contends else { return strongest(on: camera) { isSpeaker($0, on: camera) } }
        if looks[holder].isAlone { return nil }
        let speaker = speaker(of: looks[holder].app, on: camera)
        return speaker == holder ? nil : speaker
    }

    /// Where newcomers that lose are refused and the longest held give way, a session that starts on its own app's
    /// camera is treated like any other newcomer. Its app's older session loses to it in any case, and its cost counts
    /// until that session is looked at.
    func opensAnew(_ look: Int, over holder: Int) -> Bool {
        policy.budget != nil && policy.contention.givesWay == .longestHeld && policy.contention.newcomer == .refuse
            && occasion.starter == looks[look].session && looks[look].app == looks[holder].app
            && looks[look].camera == looks[holder].camera && look != holder
    }

    mutating func letPredecessorsWatch() {
        for seat in seats where rulings[seat.look].kind == .gets {
            guard let session = cameras[seat.camera].holder, let holder = look(of: session, on: seat.camera) else {
                continue
            }
            if rulings[holder].kind == .waits { rulings[holder].watches = mayWatch(holder, beside: seat.look) }
        }
    }

    /// Seats the sessions that have the camera or are promised it, and sorts the rest into challengers and sessions
    /// that wait for their own app. Watchers beside a contender are ruled later.
    mutating func bid(on camera: Int, _ challengers: inout [Int], _ returning: inout [Int]) {
        let (all, holder) = (cameras[camera].looks, cameras[camera].holder)
        for look in all {
            if !looks[look].bids {
                rule(look, .barred, .law(.nothingLeft))
            } else if !cameras[camera].admits(looks[look].app), looks[look].session != holder {
                var ruling = Ruling(kind: .waits, rule: .law(.reserved))
                ruling.interrupter = cameras[camera].survivorsApp ?? cameras[camera].reservation
                rulings[look] = ruling
            }
        }
        for look in all where looks[look].contends {
            let isHolder = holder == looks[look].session
            if !looks[look].isAlone, let speaker = speaker(of: looks[look].app, on: camera), speaker != look,
                !(isHolder && opensAnew(speaker, over: look))
            {
                let isReplaced = policy.contention.sameApp == .replace && looks[look].started < looks[speaker].started
                lose(look, isReplaced ? .replaced : .waits, to: speaker, sameAppRule)
            } else if isHolder {
                seatHolder(look, camera, &returning)
            } else if holder == nil, let rule = promise(to: look, on: camera) {
                seatPromised(look, rule, camera, &returning)
            } else {
                challengers.append(look)
            }
        }
    }

    /// The rule by which a camera is promised to a session, or to one of its app that it speaks for now.
    func promise(to look: Int, on camera: Int) -> Rule? {
        guard let promise = cameras[camera].promise, cameras[camera].holder == nil else { return nil }
        if promise.session == looks[look].session { return promise.rule }
        guard !looks[look].isAlone, let promised = self.look(of: promise.session, on: camera),
            looks[promised].app == looks[look].app, looks[promised].contends
        else { return nil }
        return sameAppRule
    }

    private mutating func seatHolder(_ look: Int, _ camera: Int, _ returning: inout [Int]) {
        guard let rule = cameras[camera].held?.rule else { return }
        let (isLost, backsOff) = (cameras[camera].isLost, cameras[camera].backsOff)
        if isLost, !backsOff, policy.linksCameras {
            returning.append(look)
            return
        }
        self.rule(look, .holds, rule)
        seats.append(
            Seat(
                kind: isLost && backsOff ? .dormant : .held, look: look, camera: camera, rule: rule,
                exceeds: looks[look].exceeds))
    }

    private mutating func seatPromised(_ look: Int, _ rule: Rule, _ camera: Int, _ returning: inout [Int]) {
        if cameras[camera].promise?.isDormant == true, !isDormant(camera) {
            returning.append(look)
            return
        }
        self.rule(look, .comesNext, rule)
        let promised = cameras[camera].promise.flatMap { self.look(of: $0.session, on: camera) } ?? look
        seats.append(
            Seat(
                kind: isDormant(camera) ? .dormant : .promised, look: look, camera: camera, rule: rule,
                exceeds: looks[promised].exceeds))
    }

    /// Its device is not tried before its wait is over: until then it counts for nothing on other cameras.
    func isDormant(_ camera: Int) -> Bool { policy.linksCameras && cameras[camera].backsOff }

    /// Whether a session that takes its own app's place ends the one that had it: a watcher and one that controls do not end
    /// each other.
    func replaces(_ successor: Int, _ predecessor: Int) -> Bool {
        policy.contention.sameApp == .replace && looks[predecessor].watches == looks[successor].watches
    }

    var sameAppRule: Rule {
        switch policy.contention.sameApp {
        case .newest: .law(.sameAppNewest)
        case .replace: .law(.sameAppReplace)
        case .refuse: .law(.sameAppRefuse)
        }
    }

    /// Sessions that only watch wait for the holder of a camera that another session wants to control.
    mutating func ruleWatchers(on camera: Int) {
        let sitting = sitting(on: camera)?.look
        for look in cameras[camera].looks where rulings[look].kind == .undecided {
            let opponent = sitting ?? strongest(on: camera)
            let isOwn = opponent.map { looks[$0].app == looks[look].app } ?? false
            let isOthers = opponent.map { !isOpenTo(look, beside: $0) } ?? false
            lose(look, to: opponent, isOthers ? .law(.anotherUser) : isOwn ? sameAppRule : .law(.controlFirst))
        }
    }

    /// Sessions that lost their camera to a holder on it, and may watch: decided after all seats are taken. A camera
    /// that is only promised shows nothing yet.
    mutating func seatSharers() {
        guard policy.shares else { return }
        for seat in seats where seat.kind != .kept && seat.kind != .dormant {
            let ruling = rulings[seat.look].kind
            guard ruling == .holds || ruling == .gets else { continue }
            for look in cameras[seat.camera].looks where rulings[look].kind == .waits {
                rulings[look].watches = mayWatch(look, beside: seat.look)
            }
        }
    }

    /// Sharers are of the holder's user, unless the policy says otherwise; and something to watch has to be left.
    func mayWatch(_ look: Int, beside holder: Int) -> Bool {
        policy.shares && looks[look].bids && isOpenTo(look, beside: holder)
            && !looks[look].limits.access.isDisjoint(with: .watching)
    }

    private func isOpenTo(_ look: Int, beside holder: Int) -> Bool {
        policy.contention.shareWith == .everyone || looks[look].user == looks[holder].user
    }
}

extension Seating.Stage {
    /// Whether the camera is not kept for another app, nor for the one session that had it.
    func admits(_ app: AppRef) -> Bool {
        if survivorsApp != nil { return false }
        return reservation.map { $0.slot == app.slot && $0.isClaimed == app.isClaimed } ?? true
    }
}
