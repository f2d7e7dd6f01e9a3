import Arbiter
package import ArbiterProtocol
import Explain
import ReferenceArbiter
package import Scenario

/// Compares the arbiter with the reference after each line of a case: the holder of each camera, the state of each session, and the
/// recordings.
///
/// After a recorder failed, was late or refused, or a camera came back without what a session needs, the judge only notes facts until
/// the fault is over. It does not compare between an order and its answer.
package struct ReferenceJudge: FuzzJudge {
    private var reference = ReferenceArbiter(policy: .firstCome)
    private var recordings: [RecordingID: SessionID] = [:]
    private var questions: [QuestionID: ReferenceWorld.App] = [:]
    /// Recordings of grants from before a restart.
    private var survivors: [GrantID: RecordingID] = [:]
    /// The time of each recorder's unanswered order.
    private var orders: [CameraID: Moment] = [:]
    private var isSilent = false
    package private(set) var comparisons = 0
    /// The last judgement on which both agreed, unless something happened since.
    private var agreed: ReferenceArbiter.Judgement?

    package init() {}

    package var judgedAll: Bool { !isSilent }

    package mutating func begin(_ policy: Policy) {
        self = ReferenceJudge()
        reference = ReferenceArbiter(policy: policy)
    }

    package mutating func judge(_ step: Stage.Step) -> String? {
        agreed = nil
        for case .notify(_, let session, _, let notice) in step.effects {
            if case .recordingStarted(let id) = notice { recordings[id] = session }
            if case .sessionStopped(let stop) = notice, stop.reason == .configurationLost { isSilent = true }
        }
        for case .announce(.question(let question)) in step.effects {
            questions[question.id] = ReferenceWorld.App(question.app, isClaimed: question.isClaimed)
        }
        if isLate(step) { isSilent = true }
        switch step.event {
        case .recorderGone, .deviceFailed, .recorderRefusedConfiguration: isSilent = true
        default: break
        }
        if isSilent {
            note(step)
            return nil
        }
        switch step.event {
        case .recorderTrouble, .timePassed, .openStream, .capturePhoto, .capturePhotoBracket: return nil
        case _ where step.event.described.traits.contains(.answer): return nil
        default: break
        }
        reference.pass(to: step.moment)
        return take(step)
    }

    /// The judgement of the reference during a fault is forgotten.
    private mutating func note(_ step: Stage.Step) {
        switch step.event {
        case .reserved(_, _, let survivor?): survivors[survivor.grant] = survivor.recording
        case .recordingFinished(let id, _, _, _, _, _, _): recordings[id] = nil
        default: break
        }
        let isRefused = step.effects.contains { if case .refused = $0 { true } else { false } }
        reference.pass(to: step.moment)
        switch step.event {
        // A refused commit closes its batch, too.
        case .commitConfiguration(let session) where isRefused: reference.closeBatch(session)
        case _ where isRefused: break
        default: _ = reference.take(step.event)
        }
    }

    /// The times of a grant with a late answer run longer than in the reference.
    private mutating func isLate(_ step: Stage.Step) -> Bool {
        var isLate = false
        switch step.event {
        case .recorderStreaming(let camera, _, _), .recorderCut(let camera, _):
            isLate = orders.removeValue(forKey: camera).map { $0 < step.moment } ?? false
        default: break
        }
        for effect in step.effects {
            switch effect {
            case .open(let camera, _, _, _), .resume(let camera, _, _, _), .cut(let camera, _, _, _, _):
                orders[camera] = step.moment
            default: break
            }
        }
        return isLate
    }

    private mutating func take(_ step: Stage.Step) -> String? {
        let refusal = step.effects.lazy.compactMap { if case .refused(let refusal) = $0 { refusal } else { nil } }.first
        let isRefused = refusal != nil
        if let refusal, let objection = objection(to: refusal, of: step.event) { return objection }
        switch step.event {
        case .reserved(_, _, let survivor?): survivors[survivor.grant] = survivor.recording
        case .reclaimed(let session, let grant) where !isRefused:
            if let recording = survivors.removeValue(forKey: grant) { recordings[recording] = session }
        case .recordingFinished(let id, _, _, _, _, _, _):
            for (camera, state) in reference.world.cameras where state.survivor?.recording == id {
                reference.world.cameras[camera]?.survivor?.recording = nil
            }
            // It ended by itself: a recording that was ordered to end is none any more.
            guard let session = recordings.removeValue(forKey: id), reference.judgement.recording.contains(session)
            else { return nil }
            if recordings.contains(where: { $0.key > id && $0.value == session }) { return nil }
            reference.world.sessions[session]?.isRecording = false
            reference.world.sessions[session]?.isPaused = false
            reference.judge()
            return nil
        // The core knows the cameras' capabilities and the last interruption.
        case .commitConfiguration(let session) where isRefused:
            reference.closeBatch(session)
            return nil
        case .created, .configure, .beginConfiguration, .ready, .questionAnswered: if isRefused { return nil }
        default: break
        }
        if case .questionAnswered(let id, let answer) = step.event {
            guard let app = questions[id], reference.answer(app, answer) else {
                return "the reference asks nothing about question \(id), and the core took an answer"
            }
            reference.judge()
            return nil
        }
        let isTaken = reference.take(step.event)
        if isTaken != isRefused { return nil }
        return "the reference \(isTaken ? "took" : "refused") what the core \(isRefused ? "refused" : "took")"
    }

    /// The core checks batches, and the reference whether it may refuse them for other sessions.
    private func objection(to refusal: Refusal, of event: Event) -> String? {
        if refusal.error.kind == .unsupportedConfiguration, refusal.rule == Law.budget.text,
            reference.hasRoom(for: event)
        {
            return "the reference has room for a configuration where the core has none"
        }
        switch event {
        case .configure(let id, _), .commitConfiguration(let id):
            if refusal.rule == Law.recordingOfAnother.text, !reference.isRecording(beside: id) {
                return "the reference knows no recording of another session, for which the core refused a batch"
            }
            if refusal.rule == Law.exactMatch.text, !reference.isSharer(id) {
                return "the reference knows no holder beside the session that takes no other format"
            }
        default: break
        }
        return nil
    }

    package mutating func rest(_ stage: Stage) -> String? {
        // Deadlines of this moment fire with the next line, on both sides.
        if stage.nextMoment.map({ $0 <= stage.now }) == true { return nil }
        reference.pass(to: stage.now)
        if isSilent {
            guard reference.resume(from: stage.arbiter) else { return nil }
            (isSilent, orders) = (false, [:])
        }
        if reference.judgement == agreed { return nil }
        let status = stage.arbiter.status()
        guard status.cameras.allSatisfy({ [.free, .streaming, .reserved].contains($0.tenancy) }) else {
            isSilent = true
            return nil
        }
        comparisons += 1
        agreed = reference.judgement
        return difference(status)
    }

    private func difference(_ status: Status) -> String? {
        let judgement = reference.judgement
        for camera in status.cameras where camera.holder != judgement.holders[camera.id] {
            return
                "the reference differs: camera \(camera.id.name) is \(spoken(camera.holder)), by the reference \(spoken(judgement.holders[camera.id]))"
        }
        for session in status.sessions where shown(session) != judgement.sessions[session.id] {
            return
                "the reference differs: session \(session.id.rawValue) is \(spoken(shown(session))), by the reference \(spoken(judgement.sessions[session.id]))"
        }
        for session in status.sessions where session.isRecording != judgement.recording.contains(session.id) {
            return
                "the reference differs: session \(session.id.rawValue) \(session.isRecording ? "records" : "does not record")"
        }
        return nil
    }

    private func shown(_ session: Status.SessionStatus) -> ReferenceArbiter.Shown? {
        switch session.state {
        case .stopped: .stopped
        case .running: .running(session.access)
        case .interrupted: .interrupted(Set(session.causes.ordered))
        // Recorders that behave answer at once.
        case .starting: nil
        }
    }

    private func spoken(_ holder: SessionID?) -> String { holder.map { "held by \($0.rawValue)" } ?? "free" }

    private func spoken(_ shown: ReferenceArbiter.Shown?) -> String {
        switch shown {
        case nil: "starting or unknown"
        case .stopped: "stopped"
        case .running(let access): "running, may \(access.names.joined(separator: " "))"
        case .interrupted(let causes):
            "interrupted by \(causes.sorted { $0.rawValue < $1.rawValue }.map(\.shortName).joined(separator: " "))"
        }
    }
}

/// After a fault the reference takes over the core's holders, their order and the running times.
extension ReferenceArbiter {
    /// - Returns: false where the fault is not over yet.
    mutating func resume(from arbiter: Arbiter) -> Bool {
        let state = arbiter.state
        guard state.isWhole else { return false }
        world.ticks = max(world.ticks, Int(state.lastOrdinal))
        var sessions: [SessionID: ReferenceWorld.Session] = [:]
        var running: [SessionID] = []
        state.forEachSession { slot in
            let id = state.id(slot)
            let row = state.sessions.rows[Int(slot.index)]
            guard !row.has.contains(.closing) else { return }
            var session =
                world.sessions[id] ?? ReferenceWorld.Session(client: state.id(row.client), camera: state.id(row.camera))
            session.take(row, state)
            session.asked[session.camera] = state.sessionSettings[Int(slot.index)].wanted
            sessions[id] = session
            if row.shown.isRunning { running.append(id) }
        }
        world.sessions = sessions
        for slot in state.cameraOrder {
            let (camera, row) = (state.id(slot), state.cameras.rows[Int(slot.index)])
            lookAtPictures(on: camera)
            world.cameras[camera]?.holding = row.tenancy.held.map { ReferenceWorld.Holding($0, state) }
            world.cameras[camera]?.survivor = nil
            world.cameras[camera]?.keptFor = state.kept(slot)
            world.cameras[camera]?.wasGiven = row.grant != GrantID(0)
        }
        note(running: running)
        state.forEachClient { slot in
            world.clients[state.id(slot)]?.loweredTo = state.clientTexts[Int(slot.index)].loweredTo
        }
        (world.answers, world.denied) = ([:], [])
        for word in state.words {
            world.answers[ReferenceWorld.App(word.app, isClaimed: word.isClaimed)] = word.answer
            if word.isDenied { world.denied.insert(word.app) }
        }
        takeTimes(state)
        settle()
        return true
    }

    private mutating func takeTimes(_ state: State) {
        (world.coolDowns, world.pauses, world.leases, world.falling, world.questions) = ([], [], [], [], [:])
        world.pressure = state.world.pressure
        for timer in state.timers {
            let app = timer.app.map { ReferenceWorld.App(state.id($0), isClaimed: $0.isClaimed) }
            let camera = timer.camera.map { state.id($0) }
            switch timer.kind {
            case .coolDown:
                guard let app, let camera else { continue }
                world.coolDowns.append((app, camera, timer.due))
            case .pause:
                guard let app, let camera else { continue }
                world.pauses.append((app, camera, timer.due))
            case .leaseUsed:
                guard let app, let camera else { continue }
                let until = timer.due < .distantFuture ? timer.due : nil
                world.leases.append((app: app, camera: camera, used: .nanoseconds(timer.amount), until: until))
            case .falling:
                guard let level = SystemPressure(rawValue: UInt8(timer.amount)) else { continue }
                world.falling.append((level, timer.due))
            case .question:
                guard let app else { continue }
                world.questions[app.id.user] = (app: app, until: timer.due)
            case .reservation, .backoff, .noRoom, .closing, .resuming, .formatKept: break
            }
        }
    }
}

extension ReferenceWorld.Session {
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

extension ReferenceWorld.Holding {
    fileprivate init(_ held: Held, _ state: State) {
        self.init(state.id(held.session))
        (granted, since, protectedUntil) = (Int(held.granted), held.since, held.minHoldUntil)
        (leaseUntil, leaseSince) = (held.leaseUntil, held.leaseSince)
        lease = held.leaseOfRank.map { .nanoseconds($0) }
        warning = held.contest.map { contest in
            (
                winner: state.id(contest.beneficiary), due: contest.due, toldUntil: contest.announced?.deadline,
                isReady: contest.announced?.isReady ?? false
            )
        }
    }
}

extension State {
    /// No fault is left: every camera is free or streams, no retry or answer is pending, and no file of a closed session, which counts
    /// as its client's until then.
    fileprivate var isWhole: Bool {
        cameraOrder.allSatisfy { slot in
            let camera = cameras.rows[Int(slot.index)]
            let isSettled = camera.tenancy == .free || camera.tenancy.isStreaming
            return isSettled && camera.promise == nil && !camera.isStuck
                && cameraSettings[Int(slot.index)].asked.isEmpty
        }
            && sessionSlots.slots.allSatisfy { slot in
                let session = sessions.rows[Int(slot.index)]
                return session.lost == nil && !session.has.contains(.closing)
            }
            && !timers.contains { [.backoff, .noRoom, .closing, .resuming].contains($0.kind) }
    }

    fileprivate func kept(_ camera: Slot<Camera>) -> (app: AppID, until: Moment)? {
        timers.first { $0.kind == .reservation && $0.camera == camera }.flatMap { timer in
            timer.app.map { (id($0), timer.due) }
        }
    }
}
