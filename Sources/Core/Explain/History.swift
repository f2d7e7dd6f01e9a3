public import Arbiter
public import Vocabulary

/// The last steps of a running arbiter, so that a recent decision can be replayed.
///
/// The arbiter remembers neither its decisions nor its former states. It is a value, and the same events give the same decisions: a
/// copy now and then, and the events since, give back the state before any of them.
///
///     copy ── event ── event ── event ── copy ── event ── event ──▶ now
///
/// Noting an event costs its own size and, once in `eventsBetweenCopies`, the bytes of the arbiter's tables. An explanation replays
/// one stretch where a decision was one step, and another for each answer of a recorder: a few milliseconds at most, which is less
/// than the search for the smallest changes (`AlterationSearch`).
public struct History: Sendable {
    /// semantics.md §9, row 21: enough for a quarter of an hour of a busy desktop.
    public static let decisionsMax: DecisionID = 1024
    /// A copy costs as much as the arbiter is large, replaying an event some microseconds: both stay below a millisecond.
    package static let eventsBetweenCopies = 128
    /// Four steps for each decision, and the stretch under way: a handover that cuts a recording is the event, its cut, the
    /// winner's first frame and the loser's file. Where decisions have more steps, fewer are explained.
    static let stretchesMax = 4 * Int(decisionsMax) / eventsBetweenCopies + 1
    package static let stepsMax = stretchesMax * eventsBetweenCopies

    private struct Entry: Sendable {
        let event: Event
        let at: Moment
        /// 0 until the step has been taken.
        var decision: DecisionID = 0
    }

    private struct Stretch: Sendable {
        let start: Arbiter
        var entries: [Entry] = []
    }

    private struct ReplayedStep {
        let before: Arbiter
        let after: Arbiter
        let event: Event
        let at: Moment
        let verdicts: [Verdict]
    }

    private var stretches: [Stretch] = []
    /// The latest decision whose step was noted.
    private var latest: DecisionID = 0
    /// The latest decision of which a step was dropped.
    private var forgotten: DecisionID = 0

    public init() {}

    /// Notes an event right before the arbiter is stepped with it.
    public mutating func note(_ event: Event, at moment: Moment, before arbiter: Arbiter) {
        note(event, at: moment, after: arbiter.lastDecision) { arbiter }
    }

    /// The same, with the arbiter read only when a copy is due, for callers that copy it by reading.
    /// - Parameter last: the arbiter's last decision.
    public mutating func note(_ event: Event, at moment: Moment, after last: DecisionID, before arbiter: () -> Arbiter)
    {
        complete(last)
        if stretches.last.map({ $0.entries.count >= Self.eventsBetweenCopies }) ?? true {
            forget()
            stretches.append(Stretch(start: arbiter()))
        }
        stretches[stretches.count - 1].entries.append(Entry(event: event, at: moment))
    }

    private mutating func complete(_ decision: DecisionID) {
        guard let stretch = stretches.indices.last, let entry = stretches[stretch].entries.indices.last else { return }
        stretches[stretch].entries[entry].decision = decision
        latest = max(latest, decision)
    }

    /// Makes room for another stretch: expired ones go, and the oldest where there are too many.
    private mutating func forget() {
        while let oldest = stretches.first {
            let last = oldest.entries.map(\.decision).max() ?? 0
            guard !isKept(last) || stretches.count >= Self.stretchesMax else { return }
            forgotten = max(forgotten, last)
            stretches.removeFirst()
        }
    }

    private func isKept(_ id: DecisionID) -> Bool { id > forgotten && id <= latest && latest - id < Self.decisionsMax }

    /// Why a decision was made, and what would have changed it.
    ///
    /// An old decision costs no more than the last one. The search takes `AlterationSearch.attemptsMax` steps of a copy at most,
    /// however many sessions the decision is about.
    /// - Parameters:
    ///   - id: 0: the latest decision with a verdict.
    ///   - arbiter: the arbiter whose steps were noted, as it is now.
    ///   - mayGoOn: asked between replayed steps and between attempts; once it says no, what was found is the answer, with the
    ///     number of attempts (`Searched.first`). A clock belongs to the caller.
    /// - Returns: `nil` where there is no such decision, it has no verdict, or it is older than the last `decisionsMax` or than
    ///   the first noted event.
    public func explain(_ id: DecisionID, of arbiter: Arbiter, while mayGoOn: () -> Bool = { true }) -> Explanation? {
        var whole = self
        whole.complete(arbiter.lastDecision)
        guard let id = id == 0 ? whole.latestWithVerdicts(while: mayGoOn) : id, whole.isKept(id) else { return nil }
        let steps = whole.steps(of: id)
        guard let first = steps.first else { return nil }
        var verdicts: [Explanation.Verdict] = []
        let attempts = max(1, AlterationSearch.attemptsMax / max(1, steps.reduce(0) { $0 + $1.verdicts.count }))
        for (place, step) in steps.enumerated() {
            for verdict in step.verdicts {
                var explained = Explanation.Verdict(verdict, under: step.after.policy)
                // The session may have ended with the step.
                explained.app = step.before.app(of: verdict.session) ?? step.after.app(of: verdict.session)
                if let search = Self.search(explained, steps[...place]) {
                    (explained.changedBy, explained.searched) = search.search(attempts: attempts, while: mayGoOn)
                    explained.stops = search.stops(while: mayGoOn)
                }
                verdicts.append(explained)
            }
        }
        if verdicts.isEmpty { return nil }
        var explanation = Explanation(decision: id, at: first.at, event: first.event, verdicts: verdicts)
        explanation.silenced = first.before.state.source(silencedBefore: first.after.state)
        return explanation
    }

    /// The search begins with the first of the decision's steps that ended as the verdict says: a session that got a camera after
    /// another's cut had won it before.
    private static func search(_ verdict: Explanation.Verdict, _ steps: ArraySlice<ReplayedStep>) -> AlterationSearch? {
        for step in steps {
            let search = AlterationSearch(
                before: step.before, after: step.after, event: step.event, at: step.at, session: verdict.session,
                outcome: verdict.outcome)
            if search.fell { return search }
        }
        return nil
    }

    /// A handover is one decision in several steps.
    private func steps(of id: DecisionID) -> [ReplayedStep] {
        var steps: [ReplayedStep] = []
        for stretch in stretches {
            guard let last = stretch.entries.lastIndex(where: { $0.decision == id }) else { continue }
            var arbiter = stretch.start
            for entry in stretch.entries[...last] {
                guard entry.decision == id else {
                    _ = arbiter.step(entry.event, at: entry.at)
                    continue
                }
                let before = arbiter
                let verdicts = arbiter.observedStep(entry.event, at: entry.at).verdicts
                steps.append(
                    ReplayedStep(before: before, after: arbiter, event: entry.event, at: entry.at, verdicts: verdicts))
            }
        }
        return steps
    }

    /// From the last stretch back, until no later decision can be found.
    private func latestWithVerdicts(while mayGoOn: () -> Bool) -> DecisionID? {
        var found: DecisionID?
        for stretch in stretches.reversed() {
            guard stretch.entries.contains(where: { isKept($0.decision) && $0.decision > found ?? 0 }) else { continue }
            var arbiter = stretch.start
            for entry in stretch.entries where mayGoOn() {
                let verdicts = arbiter.observedStep(entry.event, at: entry.at).verdicts
                if !verdicts.isEmpty, isKept(entry.decision) { found = max(found ?? 0, entry.decision) }
            }
        }
        return found
    }
}
