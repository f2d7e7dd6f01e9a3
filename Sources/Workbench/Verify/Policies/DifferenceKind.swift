import Arbiter
import ArbiterProtocol
import Explain

/// In which way a second policy treats apps otherwise than a first one, so that a rollout can allow some kinds. What sessions have
/// once every decision has had its time counts: a longer grace is no other winner.
public enum DifferenceKind: String, Hashable, Sendable, CaseIterable {
    // An app gets less than under the first policy, and no app gets more.
    case refused, stopped, interrupted, waits, restricted
    // An app gets more, and no app gets less.
    case admitted, kept, served, widened
    case winner, timing, told

    public enum Direction: String, Hashable, Sendable, CaseIterable { case stricter, laxer, other }

    public var direction: Direction { described.direction }
    public var sentence: String { described.sentence }

    private var described: (direction: Direction, sentence: String) {
        switch self {
        case .refused: (.stricter, "it is refused what it was given, or waited for")
        case .stopped: (.stricter, "it is stopped for good, and has to start again")
        case .interrupted: (.stricter, "it ran, and is interrupted")
        case .waits: (.stricter, "it waits for what it was given at once")
        case .restricted: (.stricter, "it may do less")
        case .admitted: (.laxer, "it is given, or waits for, what it was refused")
        case .kept: (.laxer, "it goes on where it was interrupted or stopped")
        case .served: (.laxer, "it runs where it had to wait")
        case .widened: (.laxer, "it may do more")
        case .winner: (.other, "one app has a camera in the place of another")
        case .timing: (.other, "the same comes of it, at another time")
        case .told: (.other, "clients have the same, and are told something else on the way")
        }
    }

    /// - Parameter word: a kind, or a direction for all its kinds.
    public static func meant(by word: String) -> [DifferenceKind]? {
        if let kind = DifferenceKind(rawValue: word) { return [kind] }
        return Direction(rawValue: word).map { direction in allCases.filter { $0.direction == direction } }
    }
}

/// The kind of difference of one step under two policies.
struct DifferenceVerdict {
    let kind: DifferenceKind
    /// The sessions that have something else; or those with other notices, where all have the same.
    let sessions: [SessionID]

    /// - Parameters:
    ///   - before: the first policy's state before the step.
    ///   - news: the effects of the step under each policy.
    init(
        before: ExploredState, _ states: (first: ExploredState, second: ExploredState),
        news: (first: [Effect], second: [Effect]), _ events: [Event]
    ) {
        let settled = (states.first.settled(), states.second.settled())
        let refused = (Outcomes.refusal(news.first, events), Outcomes.refusal(news.second, events))
        let asker = Outcomes.asker(events)
        let isStart = if case .startRunning? = events.first { true } else { false }
        var (less, more): ([SessionID], [SessionID]) = ([], [])
        var kinds: [DifferenceKind] = []
        for old in settled.0.arbiter.sessions(after: SessionID(0), atMost: .max) {
            guard let new = settled.1.arbiter.status(of: old.id) else { continue }
            let isAsker = old.id == asker && isStart
            let had = Service(old, isRefused: isAsker && refused.0)
            let has = Service(new, isRefused: isAsker && refused.1)
            let ran = before.arbiter.status(of: old.id).map { $0.state == .running || $0.state == .starting } ?? false
            if has < had {
                less.append(old.id)
                kinds.append(
                    ran && has == .waits ? .interrupted : [.refused, .stopped, .waits, .restricted][has.level])
            } else if had < has {
                more.append(old.id)
                kinds.append(ran && had == .waits ? .kept : [.admitted, .kept, .served, .widened][had.level])
            }
        }
        if !isStart, less.isEmpty, more.isEmpty, refused.0 != refused.1, let asker {
            if refused.1 { less = [asker] } else { more = [asker] }
            kinds = [refused.1 ? .restricted : .widened]
        }
        if !less.isEmpty, !more.isEmpty {
            (kind, sessions) = (.winner, less + more)
        } else if let first = DifferenceKind.allCases.first(where: kinds.contains) {
            (kind, sessions) = (first, less + more)
        } else {
            let isTiming =
                Self.services(states.first) != Self.services(states.second)
                || Self.deadlines(news.first) != Self.deadlines(news.second)
            (kind, sessions) = (isTiming ? .timing : .told, Outcomes.toldOtherwise(news, events))
        }
    }

    private static func services(_ state: ExploredState) -> [Service] {
        state.arbiter.sessions(after: SessionID(0), atMost: .max).map { Service($0, isRefused: false) }
    }

    private static func deadlines(_ news: [Effect]) -> [Moment] {
        news.compactMap {
            if case .notify(_, _, _, .willBeInterrupted(let warning)) = $0 { warning.deadline } else { nil }
        }
    }
}

/// The service that a session gets.
private enum Service: Equatable {
    case refused, stopped, waits
    case runs(Access)

    init(_ status: Status.SessionStatus, isRefused: Bool) {
        self =
            switch status.state {
            case .stopped: isRefused ? .refused : .stopped
            case .interrupted: .waits
            case .starting, .running: .runs(status.access)
            }
    }

    var level: Int {
        switch self {
        case .refused: 0
        case .stopped: 1
        case .waits: 2
        case .runs: 3
        }
    }

    static func < (one: Service, other: Service) -> Bool {
        // Of two accesses of which neither contains the other, neither is more.
        if case .runs(let few) = one, case .runs(let many) = other { return few != many && many.isSuperset(of: few) }
        return one.level < other.level
    }
}
