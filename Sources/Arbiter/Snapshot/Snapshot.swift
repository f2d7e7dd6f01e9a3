public import Vocabulary

extension Arbiter {
    /// All that later decisions depend on, to be kept and restored: a copy that goes on exactly as the original would.
    ///
    /// `Codable`, with synthesized members throughout, so that whatever is added to the state is in it. Two things are
    /// not: the policy, which is kept beside it as text that people read too, and the decisions of the past, which
    /// only `explain` reads. Its form follows the state and has no promise of its own: the version of a trace counts.
    public struct Snapshot: Sendable, Codable {
        var state: State
        var ledger: Ledger
        var decision: DecisionID

        /// The last step's.
        public var now: Moment { state.now }
        public var policy: Policy { state.policy }

        /// Whether what decides, and what counts, is the same in both.
        public func agrees(with other: Snapshot) -> Bool {
            state == other.state && decision == other.decision && ledger.counters == other.ledger.counters
        }
    }

    public func snapshot() -> Snapshot { Snapshot(state: state, ledger: ledger, decision: lastDecision) }

    /// - Throws: a sentence, where the snapshot contradicts itself: nothing the core wrote does.
    public init(restoring snapshot: Snapshot) throws(BrokenSnapshot) {
        self.init(state: snapshot.state, ledger: snapshot.ledger, decision: snapshot.decision)
        if let wrong = snapshot.contradiction ?? violations().first { throw BrokenSnapshot(message: wrong) }
    }

    public struct BrokenSnapshot: Error {
        public var message: String
    }
}

extension CodingUserInfoKey {
    /// Where a snapshot's reader finds the policy that goes with it.
    public static var policy: CodingUserInfoKey {
        guard let key = CodingUserInfoKey(rawValue: "org.camarb.policy") else {
            preconditionFailure("any text is a key")
        }
        return key
    }
}

extension Arbiter.Snapshot {
    /// What the step takes for granted and a hand-made snapshot may not have; nil when it is all there.
    fileprivate var contradiction: String? {
        guard state.now >= .zero else { return "its moment is before the clock's origin" }
        for id in state.clients.keys.sorted() {
            guard let client = state.clients[id], client.id == id else { return "client \(id.rawValue) has another id" }
            guard state.apps[client.app]?.contains(id) == true else { return "client \(id.rawValue) has no app" }
        }
        for app in state.apps.keys.sorted() {
            for id in state.apps[app] ?? [] where state.clients[id]?.app != app {
                return "\(app.name) has a client that is not there"
            }
        }
        for id in state.sessions.keys.sorted() {
            guard let session = state.sessions[id], session.id == id else {
                return "session \(id.rawValue) has another id"
            }
            guard ledger.sessions[id] != nil else { return "session \(id.rawValue) has no ledger" }
            guard state.cameras[session.camera] != nil else { return "session \(id.rawValue) has no camera" }
            if session.request != nil, state.cameras[session.camera]?.requests.contains(id) != true {
                return "session \(id.rawValue) asks, and its camera does not know"
            }
        }
        guard state.cameraOrder == state.cameras.keys.sorted() else { return "the cameras are not in order" }
        let asking = state.sessions.values.filter { $0.request != nil }.map(\.id).sorted()
        return state.requesting == asking ? nil : "the sessions that ask are not in order"
    }
}

extension Ledger {
    fileprivate var counters: [UInt64] { [decision, grant, recording, photo] }
}

/// Past decisions are left out: nothing is decided by them, and they would be most of a snapshot.
extension DecisionRing: Codable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encodeNil()
    }

    init(from decoder: any Decoder) throws { self.init() }
}
