public import Arbiter
public import Vocabulary

extension Arbiter {
    /// All that later decisions depend on, to be kept and restored: a copy that goes on exactly as the original would.
    ///
    /// The policy is not in it: it is kept beside it as text that people read too, and comes back under
    /// `CodingUserInfoKey.policy`. Its form follows the state and has no promise of its own: the version of a trace counts.
    public struct Snapshot: Sendable, Codable {
        var state: State
        var decision: DecisionID

        /// The last step's.
        public var now: Moment { state.now }
        public var policy: Policy { state.policy.source }

        init(state: State, decision: DecisionID) {
            self.state = state
            self.decision = decision
        }

        public init(from decoder: any Decoder) throws {
            guard let policy = decoder.userInfo[.policy] as? Policy else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "a snapshot is read with its policy"))
            }
            let members = try decoder.container(keyedBy: CodingKeys.self)
            state = try members.decode(State.self, forKey: .state)
            state.policy = CompiledPolicy(policy)
            decision = try members.decode(DecisionID.self, forKey: .decision)
        }
    }

    public func snapshot() -> Snapshot { Snapshot(state: state, decision: lastDecision) }

    /// - Throws: a sentence, where the snapshot contradicts itself: nothing the core wrote does.
    public init(restoring snapshot: Snapshot) throws(BrokenSnapshot) {
        if let wrong = snapshot.state.contradiction { throw BrokenSnapshot(message: wrong) }
        self.init(state: snapshot.state, decision: snapshot.decision)
        if let wrong = violations().first { throw BrokenSnapshot(message: wrong) }
    }

    public struct BrokenSnapshot: Error { public var message: String }

    /// Why `configure` would be refused at this moment; nil: the batch would be taken.
    ///
    /// A copy lives it, so that a trial and the thing itself cannot differ; nothing changes.
    /// - Parameter now: never earlier than in the last step.
    public func refusal(of batch: Configuration, by session: SessionID, at now: Moment) -> Refusal? {
        var copy = self
        var memory = StepMemory(for: self)
        copy.step(.configure(session, batch), at: now, in: &memory)
        for case .refused(let refusal) in memory.effects { return refusal }
        return nil
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
