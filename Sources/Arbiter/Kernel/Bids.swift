import Vocabulary

/// Who speaks for each app on one camera, before anybody is compared with another app.
///
/// Control before watching is a filter here: on a camera that somebody wants to control, those who only watch do not
/// contend. So comparing two contenders is comparing two numbers, whatever they want.
extension Seating {
    /// Those whose claims count on a camera: who wants control, or, where nobody does, who only watches.
    func contenders(on camera: Int) -> [Int] {
        let stage = cameras[camera]
        let holder = stage.held?.session
        let eligible = stage.looks.filter { look in
            looks[look].claims && (stage.admits(looks[look].app) || looks[look].session == holder)
        }
        guard policy.shares, eligible.contains(where: { !looks[$0].watches }) else { return eligible }
        return eligible.filter { !looks[$0].watches }
    }

    /// Of an app's sessions on one camera the one of the best rank, then the newest. The order list is not asked: it
    /// compares apps.
    func speaker(of app: AppRef, on camera: Int) -> Int? {
        var best: Int?
        for look in contending[camera] where looks[look].app == app {
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

    // MARK: Succession

    /// An app's better session takes its app's seat over, and who wants control takes it from who only watches: nothing
    /// stands between the two, and whoever else wants the camera is weighed against the new one in a round of its own.
    mutating func succeed(on camera: Int) {
        guard let held = cameras[camera].held, let holder = look(of: held.session, on: camera), looks[holder].claims,
            let successor = successor(of: holder, on: camera)
        else { return }
        let isOwn = looks[successor].app == looks[holder].app
        let rule = isOwn ? sameAppRule : Rule.law(.controlFirst)
        let isReplaced =
            isOwn && policy.contention.sameApp == .replace && looks[holder].watches == looks[successor].watches
        lose(holder, isReplaced ? .replaced : .waits, to: successor, rule)
        self.rule(successor, .comesNext, rule)
        seats.append(Seat(kind: .won, look: successor, camera: camera, rule: rule))
    }

    private func successor(of holder: Int, on camera: Int) -> Int? {
        guard contending[camera].contains(holder) else {
            return sorted(contending[camera].filter { isSpeaker($0, on: camera) }).first
        }
        if looks[holder].isAlone { return nil }
        let speaker = speaker(of: looks[holder].app, on: camera)
        return speaker == holder ? nil : speaker
    }

    mutating func letPredecessorsWatch() {
        for seat in seats where rulings[seat.look].kind == .gets {
            guard let held = cameras[seat.camera].held, let holder = look(of: held.session, on: seat.camera) else {
                continue
            }
            if rulings[holder].kind == .waits { rulings[holder].watches = mayWatch(holder, beside: seat.look) }
        }
    }

    // MARK: Seats and challengers

    /// Seats those who have the camera or are promised it, and sorts the rest into challengers and those who wait for
    /// their own app. What is ruled about watchers beside a contender comes later.
    mutating func bid(on camera: Int, _ challengers: inout [Int], _ returning: inout [Int]) {
        let stage = cameras[camera]
        for look in stage.looks {
            if !looks[look].claims {
                rule(look, .barred, .law(.nothingLeft))
            } else if !stage.admits(looks[look].app), looks[look].session != stage.held?.session {
                var ruling = Ruling(kind: .waits, rule: .law(.reserved))
                ruling.interrupter = stage.reservation
                rulings[look] = ruling
            }
        }
        for look in contending[camera] {
            if !looks[look].isAlone, let speaker = speaker(of: looks[look].app, on: camera), speaker != look {
                let isReplaced = policy.contention.sameApp == .replace && looks[look].started < looks[speaker].started
                lose(look, isReplaced ? .replaced : .waits, to: speaker, sameAppRule)
            } else if let held = stage.held, held.session == looks[look].session {
                seatHolder(look, held, camera, &returning)
            } else if let rule = promise(to: look, on: camera) {
                self.rule(look, .comesNext, rule)
                seats.append(Seat(kind: .promised, look: look, camera: camera, rule: rule))
            } else {
                challengers.append(look)
            }
        }
    }

    /// The rule by which a camera is promised to a session, or to one of its app that it speaks for now.
    private func promise(to look: Int, on camera: Int) -> Rule? {
        let stage = cameras[camera]
        guard stage.held == nil, let promise = stage.camera.promise else { return nil }
        if promise.session == looks[look].session { return promise.rule }
        guard !looks[look].isAlone, let promised = self.look(of: promise.session, on: camera),
            looks[promised].app == looks[look].app, contending[camera].contains(promised)
        else { return nil }
        return sameAppRule
    }

    private mutating func seatHolder(_ look: Int, _ held: Held, _ camera: Int, _ returning: inout [Int]) {
        let stage = cameras[camera]
        if stage.camera.tenancy.isLost, !stage.backsOff, policy.linksCameras {
            returning.append(look)
            return
        }
        rule(look, .holds, held.rule)
        let kind: Seat.Kind = stage.camera.tenancy.isLost && stage.backsOff ? .dormant : .held
        seats.append(Seat(kind: kind, look: look, camera: camera, rule: held.rule))
    }

    var sameAppRule: Rule {
        switch policy.contention.sameApp {
        case .newest: .law(.sameAppNewest)
        case .replace: .law(.sameAppReplace)
        case .refuse: .law(.sameAppRefuse)
        }
    }

    // MARK: Watching

    /// Those who only watch a camera that somebody wants to control wait for whoever has it.
    mutating func ruleWatchers(on camera: Int) {
        let sitting = seats.first { $0.camera == camera && $0.kind != .kept }?.look
        for look in cameras[camera].looks where rulings[look].kind == .undecided {
            let opponent = sitting ?? sorted(contending[camera]).first
            let isOwn = opponent.map { looks[$0].app == looks[look].app } ?? false
            let isOthers = opponent.map { !isOpenTo(look, beside: $0) } ?? false
            lose(look, to: opponent, isOthers ? .law(.anotherUser) : isOwn ? sameAppRule : .law(.controlFirst))
        }
    }

    /// Those who lost their camera to a holder on it, and may watch: decided after all seats are taken. A camera that is
    /// only promised shows nothing yet.
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
        policy.shares && looks[look].claims && isOpenTo(look, beside: holder)
            && !looks[look].limits.access.isDisjoint(with: .watching)
    }

    private func isOpenTo(_ look: Int, beside holder: Int) -> Bool {
        policy.contention.shareWith == .everyone || looks[look].user == looks[holder].user
    }
}

extension Seating.Stage {
    /// Whether the camera is not kept for another app.
    func admits(_ app: AppRef) -> Bool {
        reservation.map { $0.slot == app.slot && $0.isClaimed == app.isClaimed } ?? true
    }

    /// The camera can pass to its next holder as it is, without a cut.
    func canPassInPlace(_ policy: CompiledPolicy) -> Bool { policy.shares && camera.tenancy.isCapturing }
}
