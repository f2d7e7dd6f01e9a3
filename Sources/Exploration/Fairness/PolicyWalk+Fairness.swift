import Arbiter
import ArbiterProtocol

extension PolicyWalk {
    /// What a walk for fairness came to.
    public struct Fairness: Sendable {
        public var worlds = 0
        public var worldsInAll = 0
        public var states = 0
        public var transitions = 0
        /// Nil: every state that can be reached was looked at.
        public var cutOffBy: SearchBound?
        public var finding: Finding?
    }

    /// Whether some statement is about what goes on, and not about each moment.
    public var asksForFairness: Bool { policy.statements.contains(where: \.isFair) }

    /// Looks in all worlds for somebody who goes on asking and never runs: a walk of its own, since it tells mirror images
    /// apart, and keeps every step.
    /// - Returns: nil: no statement asks for it.
    public func fairness(
        _ bounds: SearchBounds = SearchBounds(), policyLine: String, policies: String = ".",
        limiter: SearchLimiter = { _ in nil }
    ) -> Fairness? {
        guard asksForFairness else { return nil }
        var fairness = Fairness(worldsInAll: worlds.count)
        for world in worlds {
            fairness.worlds += 1
            let (states, transitions, number) = (fairness.states, fairness.transitions, fairness.worlds)
            var search = FairSearch(self, world, statesMax: min(bounds.statesMax - states, Self.keptStatesMax))
            search.run { progress in
                var all = progress
                (all.world, all.worlds) = (number, worlds.count)
                all.states += states
                all.transitions += transitions
                return limiter(all)
            }
            fairness.states += search.graph.ways.count
            fairness.transitions += search.graph.steps
            if let found = search.found {
                let story = FairStory(Story(world, policyLine: policyLine, policies: policies), policy, scope)
                fairness.finding = story.finding(found)
                fairness.cutOffBy = nil
                return fairness
            }
            guard let cut = search.cutOffBy else { continue }
            fairness.cutOffBy = cut
            // A world that is too large to be kept says nothing of the others.
            if cut != .states || fairness.states >= bounds.statesMax { return fairness }
        }
        return fairness
    }

    /// States of one world that are kept with their steps: 200 MB or so.
    private static let keptStatesMax = 1_000_000
}
