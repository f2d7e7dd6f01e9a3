import Arbiter
import ArbiterProtocol
import ReferenceArbiter

/// After a fault the naive arbiter goes on from what the core made of it: who has which camera, in which order, and which
/// times run. What it knows of the world besides it has from the events.
extension ReferenceArbiter {
    /// - Returns: false: the fault is not over yet.
    mutating func resume(from arbiter: Arbiter) -> Bool {
        let state = arbiter.state
        guard state.isWhole else { return false }
        world.ticks = max(world.ticks, Int(state.lastOrdinal))
        var sessions: [SessionID: WholeWorld.Session] = [:]
        state.forEachSession { slot in
            let id = state.id(slot)
            let row = state.sessions.rows[Int(slot.index)]
            guard !row.has.contains(.closing) else { return }
            var session =
                world.sessions[id] ?? WholeWorld.Session(client: state.id(row.client), camera: state.id(row.camera))
            session.take(row, state)
            session.asked[session.camera] = state.sessionSettings[Int(slot.index)].wanted
            sessions[id] = session
        }
        world.sessions = sessions
        for slot in state.cameraOrder {
            let (camera, row) = (state.id(slot), state.cameras.rows[Int(slot.index)])
            lookAtPictures(on: camera)
            world.cameras[camera]?.holding = row.tenancy.held.map { WholeWorld.Holding($0, state) }
            world.cameras[camera]?.survivor = nil
            world.cameras[camera]?.keptFor = state.kept(slot)
            world.cameras[camera]?.wasGiven = row.grant != GrantID(0)
        }
        state.forEachClient { slot in
            world.clients[state.id(slot)]?.loweredTo = state.clientTexts[Int(slot.index)].loweredTo
        }
        (world.answers, world.denied) = ([:], [])
        for word in state.words {
            world.answers[WholeWorld.App(word.app, isClaimed: word.isClaimed)] = word.answer
            if word.isDenied { world.denied.insert(word.app) }
        }
        takeTimes(state)
        settle()
        return true
    }

    private mutating func takeTimes(_ state: State) {
        (world.coolDowns, world.leases, world.falling, world.questions) = ([], [], [], [:])
        world.pressure = state.world.pressure
        for timer in state.timers {
            let app = timer.app.map { WholeWorld.App(state.id($0), isClaimed: $0.isClaimed) }
            let camera = timer.camera.map { state.id($0) }
            switch timer.kind {
            case .coolDown:
                guard let app, let camera else { continue }
                world.coolDowns.append(WholeWorld.CoolDown(app: app, camera: camera, until: timer.due))
            case .leaseUsed:
                guard let app, let camera else { continue }
                world.leases.append(
                    WholeWorld.Lease(
                        app: app, camera: camera, used: .nanoseconds(timer.amount),
                        until: timer.due < .distantFuture ? timer.due : nil))
            case .falling:
                guard let level = SystemPressure(rawValue: UInt8(timer.amount)) else { continue }
                world.falling.append((level, timer.due))
            case .question:
                guard let app else { continue }
                world.questions[app.id.user] = WholeWorld.Question(app: app, until: timer.due)
            case .reservation, .backoff, .noRoom, .closing, .resuming: break
            }
        }
    }
}

extension WholeWorld.Session {
    fileprivate mutating func take(_ session: Session, _ state: State) {
        camera = state.id(session.camera)
        (usesAudio, watches) = (session.has.contains(.audio), session.has.contains(.asksToWatch))
        started = session.request.map { Int($0.started) }
        bidSince = session.request.flatMap { $0.bidSince.map { Int($0) } }
        hasRun = session.request?.hasHeld ?? false
        isReestablished = session.has.contains(.reestablished)
        isSensitive = session.has.contains(.sensitiveContent)
        (isRecording, isPaused) = (session.has.contains(.recording), session.has.contains(.paused))
        hasMicrophone = session.has.contains(.microphone)
        exceeds = session.has.contains(.exceeds)
    }
}

extension WholeWorld.Holding {
    fileprivate init(_ held: Held, _ state: State) {
        self.init(state.id(held.session))
        (granted, since, protectedUntil) = (Int(held.granted), held.since, held.minHoldUntil)
        (leaseUntil, leaseSince) = (held.leaseUntil, held.leaseSince)
        lease = held.leaseOfRank.map { .nanoseconds($0) }
        warning = held.contest.map { contest in
            WholeWorld.Warning(
                winner: state.id(contest.beneficiary), due: contest.due, toldUntil: contest.announced?.deadline,
                isReady: contest.announced?.isReady ?? false)
        }
    }
}

extension State {
    /// Nothing of a fault is left: every camera is free or streams, and nothing is tried again or waited for.
    fileprivate var isWhole: Bool {
        cameraOrder.allSatisfy { slot in
            let camera = cameras.rows[Int(slot.index)]
            let isSettled = camera.tenancy == .free || camera.tenancy.isStreaming
            return isSettled && camera.promise == nil && !camera.isStuck
                && cameraSettings[Int(slot.index)].asked.isEmpty
        } && sessions.rows.allSatisfy { $0.lost == nil }
            && !timers.contains { [.backoff, .noRoom, .closing, .resuming].contains($0.kind) }
    }

    fileprivate func kept(_ camera: Slot<Camera>) -> (app: AppID, until: Moment)? {
        timers.first { $0.kind == .reservation && $0.camera == camera }.flatMap { timer in
            timer.app.map { (id($0), timer.due) }
        }
    }
}
