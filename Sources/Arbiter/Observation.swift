package import Vocabulary

/// What a look from outside finds in the core between two steps: what rules read, who holds, and what the last
/// step decided. For measuring which rules a scenario reaches; nothing here decides.
package struct Observation: Sendable {
    package var at: Moment
    /// Every session that asks to run, in the order of ids, with what rules read about it now.
    package var asking: [Reading]
    /// In the order of the cameras.
    package var tenancies: [Tenure]
    /// What the last decision said, of all its steps so far.
    package var verdicts: [Decided]

    package struct Reading: Sendable {
        package var session: SessionID
        package var facts: Facts
    }

    /// One held camera.
    package struct Tenure: Sendable {
        package var camera: CameraID
        package var session: SessionID
        package var isStreaming: Bool
        /// Stronger claims wait until then.
        package var minHoldUntil: Moment?
        package var contest: Contested?

        package enum Contested: Sendable {
            /// A stronger claim waits for the holder's min-hold.
            case unannounced
            /// The holder was told, and may finish.
            case announced(isReady: Bool)
        }
    }

    package struct Decided: Sendable {
        package var session: SessionID
        package var outcome: Explanation.Outcome
        package var rule: String
        /// Nil where the decision read nothing about the session.
        package var facts: Facts?
        /// The cameras of those that stand in its way.
        package var opponents: [CameraID]
    }

    /// The one who has a camera, or nil.
    package func tenure(of camera: CameraID) -> Tenure? { tenancies.first { $0.camera == camera } }
}

extension Arbiter {
    package func observation() -> Observation {
        Observation(
            at: state.now,
            asking: state.requesting.compactMap { id in
                state.sessions[id].map { Observation.Reading(session: id, facts: facts(of: $0)) }
            },
            tenancies: state.cameraOrder.compactMap(tenure(of:)),
            verdicts: (ledger.decisions.find(lastDecision)?.verdicts ?? []).map {
                Observation.Decided(
                    session: $0.session, outcome: $0.outcome, rule: $0.rule, facts: $0.facts,
                    opponents: $0.opponents.map(\.facts.camera))
            })
    }

    private func tenure(of id: CameraID) -> Observation.Tenure? {
        guard let tenancy = state.cameras[id]?.tenancy, let held = tenancy.held else { return nil }
        let isStreaming = if case .streaming = tenancy { true } else { false }
        let contest = held.contest.map { contest in
            contest.announced.map { .announced(isReady: $0.isReady) } ?? Observation.Tenure.Contested.unannounced
        }
        return Observation.Tenure(
            camera: id, session: held.session, isStreaming: isStreaming, minHoldUntil: held.minHoldUntil,
            contest: contest)
    }
}
