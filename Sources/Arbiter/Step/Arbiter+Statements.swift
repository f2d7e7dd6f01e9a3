public import Vocabulary

extension Arbiter {
    /// The first of the policy's statements that this state breaks, and by whom; nil when all hold.
    ///
    /// For `camclient policy verify` and tests: no decision asks.
    public func brokenStatement() -> (statement: Statement, sessions: [SessionID])? {
        for statement in state.policy.statements {
            let culprits =
                switch statement.claim {
                case .never(let players): culprits(players)
                case .always(let when, let part): culprit(when, part).map { [$0] }
                }
            if let culprits { return (statement, culprits) }
        }
        return nil
    }

    /// Sessions on one camera that together play all these parts, each of another app.
    private func culprits(_ players: [Statement.Player]) -> [SessionID]? {
        let asking = state.requesting
        /// Fills the parts from the first on; each session fits or not, so the search is as long as the parts are many.
        func fill(_ index: Int, _ chosen: [Session]) -> [SessionID]? {
            guard index < players.count else { return chosen.map(\.id) }
            for id in asking {
                guard let session = state.sessions[id],
                    chosen.allSatisfy({ $0.camera == session.camera && $0.app != session.app }),
                    plays(players[index].part, session), holds(players[index].when, session)
                else { continue }
                if let found = fill(index + 1, chosen + [session]) { return found }
            }
            return nil
        }
        return fill(0, [])
    }

    private func culprit(_ when: [FactTest], _ part: Statement.Part) -> SessionID? {
        guard isSettled else { return nil }
        return state.requesting.first { id in
            guard let session = state.sessions[id], holds(when, session), builtInCauses(of: session).isEmpty,
                !hasLoweredItself(session)
            else { return false }
            return !requests(on: session.camera).contains {
                state.sessions[$0].map { $0.app == session.app && plays(part, $0) } ?? false
            }
        }
    }

    private func holds(_ when: [FactTest], _ session: Session) -> Bool {
        guard !when.isEmpty else { return true }
        let facts = facts(of: session)
        return when.allSatisfy { $0.holds(for: facts) }
    }

    private func plays(_ part: Statement.Part, _ session: Session) -> Bool {
        let camera = state.cameras[session.camera]
        switch (part, session.shown) {
        case (.holder, _): return camera?.tenancy.held?.session == session.id
        case (.running, .running): return true
        case (.restricted, .running(let access)): return access != .all
        case (.recording, _): return session.isRecording
        case (.sharer, .running): return session.waits?.isSharing == true
        case (.waiting, _):
            // A contest or a promise is a claim that has won.
            guard let interrupter = session.waits?.interrupter, interrupter != session.app, !hasLoweredItself(session)
            else { return false }
            return session.waits?.isSharing != true && camera?.promise?.session != session.id
                && !state.cameraOrder.contains {
                    state.cameras[$0]?.tenancy.held?.contest?.beneficiary == session.id
                }
        case (.interrupted, .interrupted): return true
        case (.running, _), (.restricted, _), (.sharer, _), (.interrupted, _): return false
        }
    }

    /// Nobody keeps from a client what it gave away.
    private func hasLoweredItself(_ session: Session) -> Bool {
        guard let client = state.clients[session.client] else { return false }
        return client.loweredTo != nil || !client.loweredAttributes.isEmpty
    }

    /// Every camera is free or streams, and nothing that was decided is still to be carried out.
    private var isSettled: Bool {
        state.cameraOrder.allSatisfy {
            guard let camera = state.cameras[$0], camera.promise == nil, camera.restartAt == nil else { return false }
            return switch camera.tenancy {
            case .free: true
            case .streaming(let held): held.contest == nil
            case .starting, .resetting, .revoking: false
            }
        }
    }
}
