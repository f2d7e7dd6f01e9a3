import Vocabulary

extension Arbiter {
    /// Tells one session's client what changed for it, and nothing when nothing did.
    mutating func present(_ id: SessionID, _ allocation: Allocation, _ turn: inout Turn) {
        guard let session = state.sessions[id], session.request != nil else { return }
        if let loss = allocation.waiting[id] {
            let isSharing = allocation.sharers.contains(id)
            if id == turn.starter, state.policy.contention.newcomer == .refuse, !loss.isWinning, !watches(session) {
                refuseNewcomer(session, loss, allocation, &turn)
                return
            }
            let waits = Session.Waiting(interrupter: loss.interrupter, rule: loss.rule, isSharing: isSharing)
            if session.waits != waits { state.sessions[id]?.waits = waits }
            if isSharing { presentSharer(id, allocation, &turn) } else { interrupt(id, allocation, &turn) }
        } else if allocation.claims[id] == nil {
            // Its causes leave it nothing; who else may want the camera is no matter to it.
            if session.waits != nil { state.sessions[id]?.waits = nil }
            interrupt(id, allocation, &turn)
        } else if state.cameras[session.camera]?.tenancy.held?.session == id {
            presentHolder(id, allocation, &turn)
        } else if state.cameras[session.camera]?.promise?.session == id {
            presentWinner(id, &turn)
        }
    }

    /// It has won, and waits for a cut or a restart: nothing is said, but that the camera it watched is cut.
    private mutating func presentWinner(_ id: SessionID, _ turn: inout Turn) {
        guard let session = state.sessions[id] else { return }
        if session.waits?.isSharing == true { state.sessions[id]?.waits?.isSharing = false }
        switch session.shown {
        case .stopped: state.sessions[id]?.shown = .pending
        case .running:
            state.sessions[id]?.shown = .pending
            notify(id, .didStopRunning, &turn)
        case .pending, .interrupted: break
        }
    }

    // MARK: Interruptions

    mutating func interrupt(_ id: SessionID, _ allocation: Allocation, _ turn: inout Turn) {
        guard let session = state.sessions[id] else { return }
        closeIfSharing(session, &turn)
        let live = everyCause(of: session)
        let causes = CauseSet(live.map(\.cause))
        guard let reason = causes.reason, let rule = live.first(where: { $0.cause == reason })?.rule else {
            preconditionFailure("session \(id.rawValue) is interrupted for no cause")
        }
        switch session.shown {
        case .interrupted(let before):
            guard before != causes else { return }
            state.sessions[id]?.shown = .interrupted(causes)
            guard let open = ledger.sessions[id]?.open else {
                preconditionFailure("an interrupted session has an interruption")
            }
            ledger.sessions[id]?.open?.causes.formUnion(causes)
            notify(id, .interruptionChanged(id: open.id, causes: causes, rule: rule), &turn)
        case .running, .pending, .stopped:
            beginInterruption(id, causes, rule, &turn)
            if case .running = session.shown { notify(id, .didStopRunning, &turn) }
        }
        let loss = allocation.waiting[id]
        turn.verdicts.append(
            Verdict(
                session: id, outcome: .interrupted(causes), rule: rule,
                facts: allocation.claims[id]?.facts ?? facts(of: session), standing: allocation.claims[id]?.standing,
                against: loss?.opponent?.app, opponents: loss?.opponents ?? [],
                builtIn: builtInCauses(of: session).map(\.cause)))
    }

    private mutating func beginInterruption(_ id: SessionID, _ causes: CauseSet, _ rule: String, _ turn: inout Turn) {
        precondition(ledger.sessions[id]?.open == nil, "session \(id.rawValue) is interrupted twice")
        let interruption: InterruptionID
        if let announced = ledger.sessions[id]?.announced {
            interruption = announced
            ledger.sessions[id]?.announced = nil
        } else {
            interruption = ledger.nextInterruption(of: id)
        }
        ledger.sessions[id]?.open = Ledger.OpenInterruption(id: interruption, began: state.now, causes: causes)
        state.sessions[id]?.shown = .interrupted(causes)
        let cut = forgetRecording(id)
        // A rule may read that it records.
        if cut != nil { touch(id, &turn) }
        notify(
            id,
            .wasInterrupted(
                id: interruption, causes: causes, interrupter: interrupter(of: id, causes), cutting: cut, rule: rule),
            &turn)
    }

    /// Named to clients of the same user; to others it is another user's app.
    private func interrupter(of id: SessionID, _ causes: CauseSet) -> Interrupter? {
        guard let session = state.sessions[id] else { return nil }
        var app: AppID?
        if causes.contains(.videoDeviceInUseByAnotherClient) {
            app = session.waits?.interrupter
        } else if causes.contains(.videoDeviceNotAvailableWithMultipleForegroundApps) {
            // The one app beside it is the interrupter; of several, none is.
            let others = (state.world.inFront[session.app.user] ?? []).filter { $0 != session.app }
            app = others.count == 1 ? others[0] : nil
        } else if causes.contains(.audioDeviceInUseByAnotherClient) {
            app = microphoneTaker(against: session)
        }
        return app.map { $0.user == session.app.user ? .app($0.name) : .anotherUsersApp }
    }

    mutating func endInterruption(_ id: SessionID, willResume: Bool, _ turn: inout Turn) {
        if ledger.sessions[id]?.announced != nil { ledger.sessions[id]?.announced = nil }
        guard let open = ledger.sessions[id]?.open else { return }
        ledger.sessions[id]?.open = nil
        notify(
            id,
            .interruptionEnded(
                id: open.id, causesItHad: open.causes, duration: state.now - open.began, willResume: willResume),
            &turn)
    }

    // MARK: Holders

    private mutating func presentHolder(_ id: SessionID, _ allocation: Allocation, _ turn: inout Turn) {
        guard let session = state.sessions[id] else { return }
        if case .resetting? = state.cameras[session.camera]?.tenancy {
            interrupt(id, allocation, &turn)
            return
        }
        presentAccess(id, &turn)
    }

    /// What a session that runs may do now, if that changed.
    mutating func presentAccess(_ id: SessionID, _ turn: inout Turn) {
        guard let session = state.sessions[id], case .running(let before) = session.shown else { return }
        let live = everyCause(of: session)
        let access = access(of: session, live)
        guard access != before else { return }
        state.sessions[id]?.shown = .running(access)
        // Cut first, tell second.
        if before.contains(.record), !access.contains(.record), session.isRecording, let recording = forgetRecording(id)
        {
            turn.effects.append(.stopRecording(session.camera, recording, why: .accessLost))
            // A rule may read that it records.
            touch(id, &turn)
        }
        if before.contains(.preview), !access.contains(.preview) { closeStreams(of: id, on: session.camera, &turn) }
        let rule =
            live.first { $0.access != .all }?.rule ?? (watches(session) ? Self.asksToWatch : "no cause limits it")
        notify(id, .accessChanged(access, causes: CauseSet(live.map(\.cause)), rule: rule), &turn)
        turn.verdicts.append(
            Verdict(
                session: id, outcome: .restricted(access), rule: rule, facts: facts(of: session)))
    }

    /// Announces a contest, moves it to another beneficiary, or withdraws it.
    mutating func apply(_ contest: Contest?, on camera: CameraID, _ turn: inout Turn) {
        guard let held = state.cameras[camera]?.tenancy.held else { return }
        guard held.contest != contest else { return }
        state.cameras[camera]?.tenancy.update { $0.contest = contest }
        let session = held.session
        if held.contest?.announced == nil, let announced = contest?.announced, let rule = contest?.rule {
            let interruption = ledger.nextInterruption(of: session)
            ledger.sessions[session]?.announced = interruption
            notify(
                session,
                .willBeInterrupted(
                    id: interruption, cause: .videoDeviceInUseByAnotherClient, deadline: announced.deadline, rule: rule),
                &turn)
        } else if held.contest?.announced != nil, contest == nil, let interruption = ledger.sessions[session]?.announced
        {
            ledger.sessions[session]?.announced = nil
            notify(session, .interruptionWithdrawn(id: interruption), &turn)
        }
    }

    // MARK: Refusals and notices

    /// The newcomer does not queue: its request is taken back as if it had not been made.
    private mutating func refuseNewcomer(
        _ session: Session, _ loss: Allocation.Loss, _ allocation: Allocation, _ turn: inout Turn
    ) {
        withdrawRequest(session.id, why: .stopped, &turn)
        let holder: String =
            switch loss.interrupter {
            case .some(let app) where app.user == session.app.user: "\(app.name) has it"
            case .some: "another user's app has it"
            case nil: "it is not to be had now"
            }
        turn.refuse(
            .refusedByPolicy,
            "Camera \"\(session.camera.name)\" is not free: \(holder), because \"\(loss.rule)\". Try again when HolderChanged says so.",
            rule: loss.rule)
        turn.verdicts.append(
            Verdict(
                session: session.id, outcome: .refused, rule: loss.rule, facts: allocation.claims[session.id]?.facts,
                standing: allocation.claims[session.id]?.standing,
                against: loss.opponent?.app, opponents: loss.opponents))
    }

    mutating func notify(_ id: SessionID, _ event: SessionEvent, _ turn: inout Turn) {
        guard let client = state.sessions[id]?.client, var entry = ledger.sessions[id] else { return }
        entry.sequence += 1
        ledger.sessions[id] = entry
        turn.effects.append(.notify(client, id, sequence: entry.sequence, event))
    }
}
