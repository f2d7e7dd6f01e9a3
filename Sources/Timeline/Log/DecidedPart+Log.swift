package import ArbiterProtocol

extension DecidedPart {
    /// What a log and a picture have of it; nil where they have it by its consequences.
    package func entry(of decision: DecisionID, at moment: Moment) -> LogEntry? {
        switch self {
        case .event(let event, let about, let note, _):
            TimelineFact(event: event, about: about, note: note).map { .fact(moment, $0) }
        case .notice(let app, _, let signal): .event(moment, app: app, signal)
        case .refused(let error, let rule):
            .fact(moment, .note("refused \(error.kind.shortName) because \(rule)"))
        case .other: nil
        }
    }
}

extension TimelineFact {
    /// What a picture shows of an event by its name; nil for what it shows by its consequences.
    /// - Parameters:
    ///   - about: what the session that it is about is called, or else the client.
    ///   - note: what the event's description says for pictures.
    package init?(event: String, about: String?, note: String?) {
        switch (event, about) {
        case ("created", let session?): self = .appeared(lane: session)
        case ("closed", let name?), ("disconnected", let name?): self = .left(lane: name)
        default:
            guard let note else { return nil }
            self = .note(note)
        }
    }
}
