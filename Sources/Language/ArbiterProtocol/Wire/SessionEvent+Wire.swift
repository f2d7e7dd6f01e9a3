extension SessionEvent {
    public func wireArguments(sequence: UInt64, decision: DecisionID) -> [WireValue] {
        var arguments: [WireValue] = []
        described.forEachArgument(of: self, sequence: sequence, decision: decision) { arguments.append($0) }
        return arguments
    }

    package var described: NoticeDescription {
        guard let description = NoticeDescription.named(wireName) else { preconditionFailure("\(self) has no signal") }
        return description
    }
}

extension CauseSet {
    public var wire: WireValue { .strings(ordered.map(\.wireName)) }
}
