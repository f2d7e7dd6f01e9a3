import ArbiterProtocol

/// What a session's client was not told of its broker's end, since the next broker may give the session back as it was.
///
///     none ──the end──▶ running ──Reclaim──▶ reclaiming ──given back──▶ none, and nothing is told
///      │                   └───── time over, or refused ─────▶ none, and the loss is told
///      └──the end──▶ waiting ──the next broker has said the same, or runs it──▶ none
///
/// A session that ran without a secret, or was about to, is told at once.
enum SessionHold {
    /// Clearly longer than a service manager takes to start another broker, and as long as a recorder core goes on without
    /// one. A client that hears nothing for longer would show a picture that stands still.
    static let holdMax = Duration.seconds(3)

    case none
    /// It runs, as far as the client knows, and there is a secret to go on by.
    case running(until: ContinuousClock.Instant)
    /// The next broker is being asked for it.
    case reclaiming(until: ContinuousClock.Instant)
    /// It was interrupted. Once it is back, what the broker says of that is kept: while others come back, it changes.
    case waiting(until: ContinuousClock.Instant, isBack: Bool, said: Said?)

    struct Said {
        var causes: CauseSet
        var interrupter: Interrupter?
        var rule: String
    }

    var until: ContinuousClock.Instant? {
        switch self {
        case .none: nil
        case .running(let until), .reclaiming(let until), .waiting(let until, _, _): until
        }
    }

    /// Another broker has ended before anything was settled: time goes on.
    var lostAgain: SessionHold {
        switch self {
        case .none: .none
        case .running(let until), .reclaiming(let until): .running(until: until)
        case .waiting(let until, _, _): .waiting(until: until, isBack: false, said: nil)
        }
    }

    /// Takes in what a broker says of an interruption.
    /// - Returns: whether it is not told now.
    mutating func notes(_ causes: CauseSet, _ interrupter: Interrupter?, _ rule: String) -> Bool {
        guard case .waiting(let until, _, _) = self else { return false }
        self = .waiting(until: until, isBack: true, said: Said(causes: causes, interrupter: interrupter, rule: rule))
        return true
    }
}
