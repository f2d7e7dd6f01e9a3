public import Vocabulary

extension Arbiter {
    /// All that later decisions depend on, to be kept and restored: a copy that goes on exactly as the original would.
    ///
    /// `Codable`, with synthesized members throughout, so that whatever is added to the state is in it. The policy is not:
    /// it is kept beside it as text that people read too. Its form follows the state and has no promise of its own: the
    /// version of a trace counts.
    public struct Snapshot: Sendable, Codable {
        var state: State
        var decision: DecisionID

        /// The last step's.
        public var now: Moment { state.now }
        public var policy: Policy { state.policy.source }

    }

    public func snapshot() -> Snapshot { Snapshot(state: state, decision: lastDecision) }

    /// - Throws: a sentence, where the snapshot contradicts itself: nothing the core wrote does.
    public init(restoring snapshot: Snapshot) throws(BrokenSnapshot) {
        if let wrong = snapshot.state.contradiction { throw BrokenSnapshot(message: wrong) }
        self.init(state: snapshot.state, decision: snapshot.decision)
        if let wrong = violations().first { throw BrokenSnapshot(message: wrong) }
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
