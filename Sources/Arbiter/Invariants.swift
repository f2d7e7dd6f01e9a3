import Vocabulary

extension Arbiter {
    /// Every broken invariant of semantics.md §8 that a state can show, as sentences; empty when all hold.
    ///
    /// Checks the whole state: for tests and exploration. What concerns sequences of notices (3, 7, the
    /// order of 8) is seen on the effects, and `Scenario` and `Exploration` look at those.
    public func violations() -> [String] {
        var found: [String] = []
        func check(_ holds: Bool, _ sentence: @autoclosure () -> String) {
            if !holds { found.append(sentence()) }
        }
        for (index, id) in state.cameraOrder.enumerated() {
            guard let camera = state.cameras[id] else { continue }
            if let held = camera.tenancy.held {
                let session = state.sessions[held.session]
                check(session != nil, "1: \(id.name) is held by a session that is gone")
                check(session?.camera == id, "1: \(id.name) is held by a session on another camera")
                check(session?.request != nil, "1: \(id.name) is held by a session without a start request")
                for other in state.cameraOrder[(index + 1)...] where state.cameras[other]?.tenancy.held != nil {
                    check(
                        !state.policy.conflict(id, other), "1: \(id.name) and \(other.name) conflict, and both are held"
                    )
                }
                if let contest = held.contest {
                    check(state.sessions[contest.beneficiary]?.request != nil, "4: \(id.name) is contested by nobody")
                    check(contest.due >= state.now, "4: the contest of \(id.name) is overdue")
                }
            }
            check(camera.tenancy.held?.isVacant != true, "1: \(id.name) goes on, and nobody holds it")
            for closing in camera.closing {
                check(closing.until >= state.now, "8: a stream of \(id.name) is overdue to be closed")
                check(camera.tenancy.isCapturing, "8: \(id.name) is not open, and a stream of it is being closed")
            }
            if let cut = camera.tenancy.cut {
                check(cut.until >= state.now, "4: the cut of \(id.name) is overdue")
            }
            check(camera.requests == camera.requests.sorted(), "9: the requests on \(id.name) are not in order")
        }
        for id in state.sessions.keys.sorted() {
            guard let session = state.sessions[id] else { continue }
            check(
                state.clients[session.client]?.sessions.contains(id) == true,
                "6: session \(id.rawValue) has lost its client")
            check(
                state.requesting.containsSorted(id) == (session.request != nil),
                "4: session \(id.rawValue) is in the wrong list")
            checkShown(session, check)
        }
        checkBudget(check)
        checkWakeUps(check)
        return found
    }

    private func checkShown(_ session: Session, _ check: (Bool, @autoclosure () -> String) -> Void) {
        let id = session.id.rawValue
        let tenancy = state.cameras[session.camera]?.tenancy
        let isHolder = tenancy?.held?.session == session.id
        let open = ledger.sessions[session.id]?.open
        switch session.shown {
        case .running(let access):
            check(isHolder || isSharing(session), "2: session \(id) runs without the camera")
            check(
                isHolder || access.isSubset(of: .watching),
                "2: session \(id) is beside the holder and may do more than watch"
            )
            if case .streaming? = tenancy {
            } else {
                check(false, "2: session \(id) runs while its camera does not stream")
            }
            check(!access.isEmpty, "2: session \(id) runs without any access")
            let allowed = self.access(of: session)
            check(access == allowed, "2: session \(id) may \(access.names), and its causes leave \(allowed.names)")
            check(open == nil, "3: session \(id) runs inside an interruption")
        case .interrupted(let causes):
            check(open != nil, "3: session \(id) is interrupted without an interruption")
            check(!causes.isEmpty, "3: session \(id) is interrupted for nothing")
            check(session.request != nil, "3: session \(id) is interrupted without a start request")
            if case .streaming? = tenancy { check(!isHolder, "2: session \(id) streams while it is interrupted") }
        case .pending, .stopped:
            check(open == nil, "3: session \(id) has an open interruption and was not told so")
            if case .stopped = session.shown {
                check(session.request == nil, "4: session \(id) asks to run, and nothing was said")
            }
        }
        if session.isRecording {
            guard case .running(let access) = session.shown else {
                return check(false, "5: session \(id) records while it does not run")
            }
            check(access.contains(.record), "5: session \(id) records without the right to")
        }
        check(
            session.isRecording == (ledger.sessions[session.id]?.recording != nil),
            "5: session \(id)'s recording is not the ledger's")
    }

    private func checkBudget(_ check: (Bool, @autoclosure () -> String) -> Void) {
        guard let budget = state.policy.contention.budget, !state.policy.contention.strongestMayExceed else { return }
        let sum = state.cameraOrder.reduce(0) {
            $0 + (state.cameras[$1]?.tenancy.held != nil ? state.policy.cost($1) : 0)
        }
        check(sum <= budget, "1: the held cameras cost \(sum), and the budget is \(budget)")
    }

    /// No lost wake-up: what a fresh look would decide has been decided.
    private func checkWakeUps(_ check: (Bool, @autoclosure () -> String) -> Void) {
        for id in state.cameraOrder {
            guard let camera = state.cameras[id], camera.tenancy == .free, camera.promise == nil,
                !camera.requests.isEmpty
            else { continue }
            for request in camera.requests {
                guard let session = state.sessions[request] else { continue }
                let causes = liveCauses(of: session)
                let access = causes.access
                guard !access.isEmpty else { continue }
                check(
                    session.waits != nil && !isAlone(id),
                    "4: \(id.name) is free, and session \(request.rawValue) could have it")
            }
        }
    }

    /// Nothing but its own requests can keep a camera from being granted.
    private func isAlone(_ id: CameraID) -> Bool {
        !state.policy.linksCameras && state.cameras[id]?.reservation == nil
    }
}
