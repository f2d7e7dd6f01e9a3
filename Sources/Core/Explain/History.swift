public import Arbiter
public import Vocabulary

/// The last steps of an arbiter that runs, so that a decision of late can be lived through again.
///
/// The arbiter remembers neither what it decided nor what it was before. It is a value, and the same events give the
/// same decisions: so a copy now and then, and the events since, are enough to have it as it was before any of them.
///
///     copy ── event ── event ── event ── copy ── event ── event ──▶ now
///
/// Noting an event costs its own size and, once in `eventsBetweenCopies`, the bytes of the arbiter's tables. Whoever asks
/// pays for living events again: one stretch of them where a decision was one step, another stretch for each in which a
/// recorder answered to it, and all that is kept where the latest decision is asked for and none of late said anything.
/// That is a few milliseconds at most, and the search for the smallest changes (`AlterationSearch`) is more.
public struct History: Sendable {
    /// semantics.md §9, row 21: enough for a quarter of an hour of a busy desktop.
    public static let decisionsMax: DecisionID = 1024
    /// A copy costs as much as the arbiter is large, living an event again some microseconds: together they stay
    /// below a millisecond, and nobody waits for either.
    package static let eventsBetweenCopies = 128
    /// Four steps for each decision, the stretch under way beside them: a handover that cuts a recording is the event, its
    /// cut, the winner's first frame and the loser's file. Where every decision has more, fewer are explained.
    static let stretchesMax = 4 * Int(decisionsMax) / eventsBetweenCopies + 1
    package static let stepsMax = stretchesMax * eventsBetweenCopies

    private struct Entry: Sendable {
        let event: Event
        let at: Moment
        /// Known once the step has been taken; 0 until then.
        var decision: DecisionID = 0
    }

    private struct Stretch: Sendable {
        let start: Arbiter
        var entries: [Entry] = []
    }

    private struct Lived {
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

    /// The same for whoever has the arbiter where reading it copies it: it is asked for only when a copy is due.
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

    /// The step of the last event has been taken, under this decision.
    private mutating func complete(_ decision: DecisionID) {
        guard let stretch = stretches.indices.last, let entry = stretches[stretch].entries.indices.last else { return }
        stretches[stretch].entries[entry].decision = decision
        latest = max(latest, decision)
    }

    /// Makes room for another stretch: what has expired goes, and the oldest in any case where there are too many.
    private mutating func forget() {
        while let oldest = stretches.first {
            let last = oldest.entries.map(\.decision).max() ?? 0
            guard !isKept(last) || stretches.count >= Self.stretchesMax else { return }
            forgotten = max(forgotten, last)
            stretches.removeFirst()
        }
    }

    private func isKept(_ id: DecisionID) -> Bool { id > forgotten && id <= latest && latest - id < Self.decisionsMax }

    /// Why a decision fell as it did, and what would have changed it.
    ///
    /// A decision of a thousand steps ago costs no more than the last one. The search for what would have changed it
    /// takes `AlterationSearch.attemptsMax` steps of a copy at most, however many sessions the decision is about.
    /// - Parameters:
    ///   - id: 0: the latest that said something about a session.
    ///   - arbiter: the one whose steps were noted, as it is now.
    ///   - mayGoOn: asked between steps that are lived again and between attempts; once it says no, what has been found is
    ///     the answer, which says after how many attempts (`Searched.first`). A clock belongs to the caller.
    /// - Returns: nil: no such decision; or it said nothing about any session; or it is older than the last
    ///   `decisionsMax`, or than the first event that was noted.
    public func explain(_ id: DecisionID, of arbiter: Arbiter, while mayGoOn: () -> Bool = { true }) -> Explanation? {
        var whole = self
        whole.complete(arbiter.lastDecision)
        guard let id = id == 0 ? whole.latestWithVerdicts(while: mayGoOn) : id, whole.isKept(id) else { return nil }
        let steps = whole.steps(of: id)
        guard let first = steps.first else { return nil }
        var verdicts: [Explanation.Verdict] = []
        // However many a decision is about, the answer comes in the same time.
        let attempts = max(1, AlterationSearch.attemptsMax / max(1, steps.reduce(0) { $0 + $1.verdicts.count }))
        for (place, step) in steps.enumerated() {
            for verdict in step.verdicts {
                var explained = Explanation.Verdict(verdict, under: step.after.policy)
                // It may have ended with the step.
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

    /// The search begins with the first of the decision's steps that ended as the verdict says: a session that was
    /// given a camera when another one's cut was done had won it before.
    private static func search(_ verdict: Explanation.Verdict, _ steps: ArraySlice<Lived>) -> AlterationSearch? {
        for step in steps {
            let search = AlterationSearch(
                before: step.before, after: step.after, event: step.event, at: step.at, session: verdict.session,
                outcome: verdict.outcome)
            if search.fell { return search }
        }
        return nil
    }

    /// Every step of a decision, in order; a handover is one decision in several steps.
    private func steps(of id: DecisionID) -> [Lived] {
        var steps: [Lived] = []
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
                    Lived(before: before, after: arbiter, event: entry.event, at: entry.at, verdicts: verdicts))
            }
        }
        return steps
    }

    /// From the last stretch back, until nothing later can be found.
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
