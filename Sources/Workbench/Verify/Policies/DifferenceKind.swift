import Arbiter
import ArbiterProtocol
import Explain

/// In which way a second policy treats apps otherwise than a first one: a closed vocabulary, so that a rollout can say
/// which tree it allows.
///
/// What counts is what sessions have once everything that was decided has had its time, so that a longer grace is no other
/// winner.
public enum DifferenceKind: String, Hashable, Sendable, CaseIterable {
    // An app gets less than under the first policy, and no other gets more.
    case refused, stopped, interrupted, waits, restricted
    // An app gets more, and no other gets less.
    case admitted, kept, served, widened
    // Neither can be said.
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

    /// Those that a word stands for: a kind, or a direction.
    public static func meant(by word: String) -> [DifferenceKind]? {
        if let kind = DifferenceKind(rawValue: word) { return [kind] }
        return Direction(rawValue: word).map { direction in allCases.filter { $0.direction == direction } }
    }
}

/// What a step came to for each session under two policies, and so which kind of difference it is.
struct DifferenceVerdict {
    let kind: DifferenceKind
    /// Those that have something else; those that were told something else, where all have the same.
    let sessions: [SessionID]

    /// - Parameters:
    ///   - before: the first policy's state before the step; the second's looked the same.
    ///   - news: what the step led to, under each.
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
            let had = Standing(old, isRefused: isAsker && refused.0)
            let has = Standing(new, isRefused: isAsker && refused.1)
            let ran = before.arbiter.status(of: old.id).map { $0.state == .running || $0.state == .starting } ?? false
            if has < had {
                less.append(old.id)
                kinds.append(has.lesserKind(ran: ran))
            } else if had < has {
                more.append(old.id)
                kinds.append(had.greaterKind(ran: ran))
            }
        }
        if !isStart, less.isEmpty, more.isEmpty, refused.0 != refused.1, let asker {
            if refused.1 { less = [asker] } else { more = [asker] }
            kinds = [refused.1 ? .restricted : .widened]
        }
        if !less.isEmpty, !more.isEmpty {
            (kind, sessions) = (.winner, less + more)
        } else if let first = kinds.min(by: { Self.place($0) < Self.place($1) }) {
            (kind, sessions) = (first, less + more)
        } else {
            let isTiming =
                Self.standings(states.first) != Self.standings(states.second)
                || Self.deadlines(news.first) != Self.deadlines(news.second)
            kind = isTiming ? .timing : .told
            sessions = Outcomes.toldOtherwise(news, events)
        }
    }

    private static func place(_ kind: DifferenceKind) -> Int { DifferenceKind.allCases.firstIndex(of: kind) ?? 0 }

    private static func standings(_ state: ExploredState) -> [Standing] {
        state.arbiter.sessions(after: SessionID(0), atMost: .max).map { Standing($0, isRefused: false) }
    }

    private static func deadlines(_ news: [Effect]) -> [Moment] {
        news.compactMap {
            if case .notify(_, _, _, .willBeInterrupted(let warning)) = $0 { warning.deadline } else { nil }
        }
    }
}

private enum Standing: Equatable {
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

    private var level: Int {
        switch self {
        case .refused: 0
        case .stopped: 1
        case .waits: 2
        case .runs: 3
        }
    }

    static func < (one: Standing, other: Standing) -> Bool {
        // Of two rights of which neither holds the other nobody can say which is more.
        if case .runs(let few) = one, case .runs(let many) = other { return few != many && many.isSuperset(of: few) }
        return one.level < other.level
    }

    func lesserKind(ran: Bool) -> DifferenceKind {
        ran && self == .waits ? .interrupted : [.refused, .stopped, .waits, .restricted][level]
    }

    func greaterKind(ran: Bool) -> DifferenceKind {
        ran && self == .waits ? .kept : [.admitted, .kept, .served, .widened][level]
    }
}
