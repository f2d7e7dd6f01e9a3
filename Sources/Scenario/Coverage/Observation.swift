import Arbiter
import ArbiterProtocol

/// What a look from outside finds in the core between two steps: what rules read, and the holders.
struct Observation: Sendable {
    let at: Moment
    /// Every session that asks to run, in the order of ids, with what rules read about it now.
    let asking: [(session: SessionID, facts: Facts)]
    /// In the order of the cameras.
    let tenancies: [Tenure]

    /// One held camera.
    struct Tenure: Sendable {
        let camera: CameraID
        let session: SessionID
        let isStreaming: Bool
        /// Stronger bids wait until then.
        let minHoldUntil: Moment?
        let contest: Contested?
        /// The camera of the session that a contest is for.
        let wanted: CameraID?

        enum Contested: Hashable, Sendable {
            /// A stronger bid waits for the holder's min-hold.
            case unannounced
            /// The holder was told, and may finish.
            case announced(isReady: Bool)
        }
    }

    init(_ arbiter: Arbiter) {
        let state = arbiter.state
        at = state.now
        asking = state.requesting.map { (state.id($0), state.words(for: $0)) }
        tenancies = state.cameraOrder.compactMap { camera in
            let tenancy = state.cameras[camera].tenancy
            guard let held = tenancy.held else { return nil }
            let contest = held.contest.map { contest in
                contest.announced.map { .announced(isReady: $0.isReady) } ?? Tenure.Contested.unannounced
            }
            return Tenure(
                camera: state.cameraNames[camera], session: state.id(held.session), isStreaming: tenancy.isStreaming,
                minHoldUntil: held.minHoldUntil, contest: contest,
                wanted: held.contest.map { state.cameraNames[state.sessions[$0.beneficiary].camera] })
        }
    }

    /// Who has which camera, who is to have it next, and how many ask: what a decision comes to.
    var picture: [[AnyHashable]] {
        tenancies.map { [$0.camera, $0.session, $0.contest, $0.wanted] } + [[asking.count]]
    }

    /// The tenure of a camera's holder, or nil.
    func tenure(of camera: CameraID) -> Tenure? { tenancies.first { $0.camera == camera } }
}
