/// A session's event with its place in the session's order, and its decision.
public struct SessionSignal: Hashable, Sendable {
    /// Counts the session's events from 1, without gaps.
    public var sequence: UInt64
    /// For `Explain`. Events of one decision share it.
    public var decision: DecisionID
    public var event: SessionEvent

    public init(sequence: UInt64, decision: DecisionID, event: SessionEvent) {
        (self.sequence, self.decision, self.event) = (sequence, decision, event)
    }

    /// Reads a signal of `org.camarb.Session1`.
    /// - Throws: `.invalidArguments` with what is wrong. An unknown signal is wrong too, since skipping it would hide a
    ///   gap.
    public init(signal: WireSignal) throws(BrokerError) {
        var reader = WireReader(signal.member, signal.arguments)
        sequence = try reader.uint64("sequence")
        decision = try reader.uint64("decision")
        guard let description = NoticeDescription.named(signal.member) else {
            throw BrokerError(
                .invalidArguments,
                "\(signal.member.quotedShort) is not a signal of \(InterfaceName.session) that this library knows.")
        }
        event = try description.read(&reader)
    }

    public func signal(of session: SessionID) -> WireSignal {
        WireSignal(
            path: ObjectPath.session(session), interface: InterfaceName.session, member: event.wireName,
            arguments: event.wireArguments(sequence: sequence, decision: decision))
    }
}
