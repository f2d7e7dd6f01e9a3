public import Arbiter
import Vocabulary

extension Arbiter {
    /// Every broken invariant of semantics.md §8 that a state can show, as sentences; for tests and walks. Sequences of notices (3,
    /// 7, the order of 8) show in effects, and `TraceChecker` checks those.
    public func violations() -> [String] {
        let found = Sentences()
        InvariantCheck(state: state, found: found).run()
        return found.list
    }
}

/// Gathered while the state is only read.
private final class Sentences { var list: [String] = [] }

private struct InvariantCheck {
    let state: State
    let found: Sentences

    func run() {
        for (index, camera) in state.cameraOrder.enumerated() {
            checkHolder(camera, before: state.cameraOrder[(index + 1)...])
            checkList(camera)
        }
        state.forEachDeadline { moment in
            check(moment >= state.now, "4: a deadline is overdue since \(moment.nanoseconds) ns")
        }
        for slot in state.sessionSlots.slots where !state.sessions[slot].has.contains(.closing) {
            checkShown(slot)
            checkRecording(slot)
            checkMicrophone(slot)
            checkPicture(slot)
        }
        for slot in state.clientSlots.slots {
            check(
                state.right(of: slot) == state.clients[slot].right,
                "12: the right of client \(state.clients[slot].id) is not what its facts give")
        }
        let severalAsk = state.users.count { $0.requests > 0 } > 1
        check(
            state.world.severalUsersAsk == severalAsk,
            "12: \(severalAsk ? "several users ask" : "one user asks at most"), and apps are placed as if otherwise")
        checkWords()
        checkQuestions()
        checkSharers()
        checkBudget()
        checkWakeUps()
    }

    private func check(_ holds: Bool, _ sentence: @autoclosure () -> String) {
        if !holds { found.list.append(sentence()) }
    }

    private func name(_ camera: Slot<Camera>) -> String { state.id(camera).name }

    // MARK: Cameras

    private func checkHolder(_ slot: Slot<Camera>, before others: ArraySlice<Slot<Camera>>) {
        let camera = state.cameras[slot]
        for timer in state.timers where timer.kind == .closing && timer.camera == slot {
            check(camera.tenancy.isCapturing, "8: \(name(slot)) is not open, and a stream of it is being closed")
        }
        if camera.tenancy.survivor != nil { checkSurvivor(slot, camera) }
        if let contest = camera.contest {
            check(state.sessions[contest.beneficiary].request != nil, "4: \(name(slot)) is contested by nobody")
        }
        guard let held = camera.tenancy.held else { return }
        let session = state.sessions[held.session]
        check(session.camera == slot, "1: \(name(slot)) is held by a session on another camera")
        check(session.request != nil, "1: \(name(slot)) is held by a session without a start request")
        // Between tries a camera whose device was lost excludes no other.
        guard !camera.tenancy.isLost else { return }
        for other in others where state.cameras[other].tenancy.held != nil && !state.cameras[other].tenancy.isLost {
            check(
                !state.policy.conflict(camera.place, state.cameras[other].place),
                "1: \(name(slot)) and \(name(other)) conflict, and both are held")
        }
    }

    /// A survivor ends by itself, its camera is promised to nobody, and no excluded camera is in use.
    private func checkSurvivor(_ slot: Slot<Camera>, _ camera: Camera) {
        check(state.reservation(of: slot) != nil, "1: \(name(slot)) is captured from for nobody, without an end")
        check(camera.promise == nil, "1: \(name(slot)) is promised while it is captured from for another grant")
        check(!state.barsSurvivor(slot), "1: \(name(slot)) is captured from although something keeps everybody off")
        for other in state.cameraOrder where other != slot {
            let beside = state.cameras[other]
            check(
                beside.tenancy.held == nil && beside.tenancy.survivor == nil && beside.promise == nil
                    || !state.policy.conflict(camera.place, beside.place),
                "1: \(name(slot)) and \(name(other)) conflict, and both are in use")
        }
    }

    /// A camera has a bounded number of sharers, and of recordings.
    private func checkSharers() {
        for slot in state.cameraOrder {
            let sharers = state.requests(on: slot).count { state.sessions[$0].waits?.isSharing == true }
            check(sharers <= Bound.sharersMax, "2: \(name(slot)) has \(sharers) sharers")
            let recordings = state.requests(on: slot).count { state.sessions[$0].has.contains(.recording) }
            check(recordings <= Bound.recordingsMax, "2: \(name(slot)) makes \(recordings) recordings")
        }
    }

    // MARK: Users' answers

    /// Each row has the word of its name, and no app that its user denies asks to run.
    private func checkWords() {
        for slot in state.namedApps {
            let name = state.id(slot)
            for isClaimed in [false, true] {
                let app = state.ref(slot, isClaimed: isClaimed)
                let word = state.word(of: name, isClaimed: isClaimed)
                check(state.apps[slot][app].word == word, "12: what is said of \(name.name) is not what its row has")
                let isDenied = word == .denied || word == .deniedInStore
                check(
                    !isDenied || state.apps[slot][app].requests == 0,
                    "12: \(name.name) asks for a camera, and its user said no")
            }
        }
    }

    /// A user is asked one question at most, about an app that asks, with an end; where an app waits for a word, its user is asked.
    private func checkQuestions() {
        let asking = state.whoAsks.map { state.app(of: $0) }
        func user(_ app: AppRef) -> UInt32 { state.apps[app.slot].user }
        let questions = state.ledger.questions
        for question in questions {
            check(asking.contains(question.app), "4: a user is asked about an app that does not ask")
            check(
                state.timers.count { $0.kind == .question && $0.app == question.app } == 1,
                "4: a question has no end, or two")
            check(
                questions.count { user($0.app) == user(question.app) } == 1,
                "4: user \(user(question.app)) is asked two things at once")
        }
        for app in asking where !questions.contains(where: { user($0.app) == user(app) }) {
            check(false, "4: an app of user \(user(app)) waits for a word, and nobody is asked")
        }
    }

    private func checkList(_ slot: Slot<Camera>) {
        var last: UInt64 = 0
        var place = state.cameras[slot].firstRequest
        while let request = place {
            let session = state.sessions[request]
            check(last <= session.id, "9: the requests on \(name(slot)) are not in order")
            check(
                session.request != nil && session.camera == slot,
                "4: a session without a start request is asked on \(name(slot))")
            last = session.id
            place = session.nextOnCamera
        }
    }

    private func checkBudget() {
        guard let budget = state.policy.budget else { return }
        let holders = state.cameraOrder.compactMap { slot -> Held? in
            state.cameras[slot].tenancy.isLost ? nil : state.cameras[slot].tenancy.held
        }
        let sum = cost(holders)
        if sum <= budget { return }
        guard state.policy.contention.strongestMayExceed else {
            return check(false, "1: the held cameras cost \(sum), and the budget is \(budget)")
        }
        let bound = cost(holders.filter { !state.sessions[$0.session].has.contains(.exceeds) })
        check(
            bound <= budget,
            "1: the held cameras but those that may exceed it cost \(bound), and the budget is \(budget)")
        // A winner that waits for a cut counts as a holder.
        let winners = state.cameraOrder.compactMap { slot in
            state.cameras[slot].promise.flatMap { $0.isDormant ? nil : Grant($0.session, .max) }
        }
        guard state.policy.contention.reDecide == .facts,
            let strongest = (holders.map { Grant($0.session, $0.granted) } + winners).min(by: staysBefore)
        else { return }
        // Holders that go for its sake have their time.
        let others = cost(
            holders.filter { state.app(of: $0.session) != state.app(of: strongest.session) && $0.contest == nil })
        check(others <= budget, "1: all but the strongest app's cameras cost \(others), and the budget is \(budget)")
    }

    private func cost(_ holders: [Held]) -> Int { holders.reduce(0) { $0 + state.cost(of: $1.session) } }

    /// The stronger first, and of equals the one that ties favour; winners are granted in the order of their ids.
    private func staysBefore(_ a: Grant, _ b: Grant) -> Bool {
        let (x, y) = (state.look(at: a.session).strength, state.look(at: b.session).strength)
        if x != y { return x < y }
        let isEarlier = (a.granted, state.sessions[a.session].id) < (b.granted, state.sessions[b.session].id)
        return isEarlier == (state.policy.contention.tie == .holder)
    }

    private typealias Grant = (session: Slot<Session>, granted: Ordinal)

    // MARK: Sessions

    private func checkShown(_ slot: Slot<Session>) {
        let session = state.sessions[slot]
        let id = session.id
        let tenancy = state.cameras[session.camera].tenancy
        let isHolder = tenancy.held?.session == slot
        let open = session.ledger.open
        switch session.shown {
        case .running(let access): checkRunning(slot, access, isHolder)
        case .interrupted(let causes, let by):
            checkTold(slot, causes, by)
            check(open != nil, "3: session \(id) is interrupted without an interruption")
            check(!causes.isEmpty, "3: session \(id) is interrupted for nothing")
            check(session.request != nil, "3: session \(id) is interrupted without a start request")
            if tenancy.isStreaming { check(!isHolder, "2: session \(id) streams while it is interrupted") }
        case .pending, .stopped:
            check(open == nil, "3: session \(id) has an open interruption and was not told so")
            if session.shown == .stopped {
                check(session.request == nil, "4: session \(id) asks to run, and nothing was said")
            }
        }
    }

    /// An interrupted client was told the causes of now. A session that has won receives no notice before its first frame, and none
    /// about an interrupter that is unknown by now.
    private func checkTold(_ slot: Slot<Session>, _ causes: CauseSet, _ by: AppRef?) {
        let (session, look) = (state.sessions[slot], state.look(at: slot))
        guard look.bids ? session.waits?.isSharing == false : session.waits == nil else { return }
        let now = look.causes(session.waits)
        check(causes == now, "3: session \(session.id) was told \(causes.ordered), and there are \(now.ordered)")
        let interrupter = state.interrupter(of: look, session.waits, now)
        check(
            interrupter == nil || interrupter == by,
            "3: session \(session.id) was not told which app it is interrupted for")
    }

    private func checkRunning(_ slot: Slot<Session>, _ access: Access, _ isHolder: Bool) {
        let session = state.sessions[slot]
        let id = session.id
        let isSharing = session.waits?.isSharing == true
        check(isHolder || isSharing, "2: session \(id) runs without the camera")
        let sharers = state.policy.contention.sharers
        check(
            isHolder || access.isSubset(of: sharers),
            "2: session \(id) is beside the holder and may \(access.names), and sharers may \(sharers.names)")
        check(
            state.cameras[session.camera].tenancy.isStreaming, "2: session \(id) runs while its camera does not stream")
        check(!access.isEmpty, "2: session \(id) runs without any access")
        check(
            state.mayUse(session.camera, session.client),
            "12: session \(id) runs without a right to \(name(session.camera))")
        check(state.hasLeave(state.clients[session.client]), "12: session \(id) runs without its user's leave")
        let allowed = state.look(at: slot).access(session.waits)
        check(access == allowed, "2: session \(id) may \(access.names), and its causes leave \(allowed.names)")
        check(session.ledger.open == nil, "3: session \(id) runs inside an interruption")
    }

    private func checkRecording(_ slot: Slot<Session>) {
        let session = state.sessions[slot]
        if session.has.contains(.recording) {
            if case .running(let access) = session.shown {
                check(access.contains(.record), "5: session \(session.id) records without the right to")
            } else {
                check(false, "5: session \(session.id) records while it does not run")
            }
        }
        check(
            session.has.contains(.recording) == (session.ledger.recording != nil),
            "5: session \(session.id)'s recording is not the ledger's")
    }

    /// Sound comes only with the grant, and a preview is black only where the rule says so.
    private func checkMicrophone(_ slot: Slot<Session>) {
        let session = state.sessions[slot]
        let tenancy = state.cameras[session.camera].tenancy
        if session.has.contains(.microphone) {
            check(
                tenancy.holder == slot && tenancy.isCapturing,
                "13: session \(session.id) has a microphone without the camera")
            check(session.has.contains(.audio), "13: session \(session.id) has a microphone and uses no audio")
        }
        check(
            !session.has.contains(.paused) || session.has.contains(.recording),
            "13: session \(session.id) is paused and does not record")
        let isDue =
            if case .running(let access) = session.shown { state.isSlateDue(state.look(at: slot), access) } else {
                false
            }
        check(
            session.has.contains(.slate) == isDue,
            "14: session \(session.id) \(isDue ? "sees a picture, and may not record it" : "sees black for nothing")")
    }

    /// A session's own picture is scaled down and thinned out from the camera's, once that is settled.
    private func checkPicture(_ slot: Slot<Session>) {
        let session = state.sessions[slot]
        let settings = state.cameraSettings[Int(session.camera.index)]
        guard let picture = state.sessionSettings[Int(slot.index)].picture, case .running = session.shown,
            settings.asked.isEmpty
        else { return }
        let model = ConfigurationCheck(capabilities: settings.capabilities)
        // A camera that is plugged in over itself may lack the format of its grant.
        guard let own = model.format(picture[.activeFormat]), let whole = model.format(settings.inForce[.activeFormat]),
            case .number(let rate)? = picture[.frameRate], case .number(let most)? = settings.inForce[.frameRate]
        else { return }
        check(
            own.width <= whole.width && own.height <= whole.height
                && rate <= most * (1 + ConfigurationCheck.roundingShare),
            "2: session \(session.id) has \(own.name) at \(rate), and its camera has \(whole.name) at \(most)")
    }

    /// No lost wake-up: a fresh look would decide nothing new.
    private func checkWakeUps() {
        for slot in state.cameraOrder {
            let camera = state.cameras[slot]
            guard camera.tenancy == .free, camera.promise == nil, camera.firstRequest != nil else { continue }
            // Only its own requests can keep the camera from being granted.
            let isAlone = !state.policy.linksCameras && !state.timers.contains { $0.camera == slot }
            for request in state.requests(on: slot) where state.look(at: request).bids {
                check(
                    state.sessions[request].waits != nil && !isAlone,
                    "4: \(name(slot)) is free, and session \(state.sessions[request].id) could have it")
            }
        }
    }
}
