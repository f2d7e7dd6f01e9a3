public import Vocabulary

extension Arbiter {
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
