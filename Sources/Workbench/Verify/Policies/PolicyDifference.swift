import Arbiter
public import ArbiterProtocol
import Explain
import PolicyFile
public import Scenario

/// Walks two policies in step over the same events, breadth first, and finds where clients notice which of them
/// is in force: what they are told, and which session holds which camera. Names of rules are no difference.
///
/// Recorders answer at once: a step is something that happens, and everything that follows from it. All worlds are
/// walked side by side, one step at a time, so that the first difference is the shortest there is in any of them.
public struct PolicyDifference: Sendable {
    public let policies: [Policy]
    package let worlds: [SmallWorld]
    let castsInAll: Int
    let scope: WalkScope
    let reducesSymmetry: Bool
    package let leases: LeaseAbstraction?

    public struct Report: Sendable {
        /// Nothing had to be walked: in all that either policy says, names apart, the other says the same.
        public var isSame = false
        public var worlds = 0
        /// Choices of kinds of clients whose worlds were walked, and how many there are.
        public var casts = 0
        public var castsInAll = 0
        public var states = 0
        public var transitions = 0
        public var depth = 0
        /// Nil: every state in which the two still look alike was walked, or the steps that were asked for.
        public var cutOffBy: SearchBound?
        public var isExhausted = false
        public var witness: Witness?
        /// The first difference of a kind that is not allowed; nil: there is none so far.
        public var forbidden: DifferenceKind?
        public var kinds: [Kind] = []
        /// One for each kind that was found, in the order of the vocabulary.
        public var differences: [Difference] = []
        /// Kinds for which no way was found, and which may come about where nearly all of a lease is used up. All are allowed.
        public var perhaps: [DifferenceKind] = []
        /// Ranks that no rule gives and only one of the two has, where they are the same otherwise.
        public var idleRanks: [String] = []

        public init() {}

        /// Of two policies that say the same.
        /// - Parameter idleRanks: what only a program could notice that lowers itself to one of them by its name.
        public static func nothingToWalk(_ idleRanks: [String] = []) -> Report {
            var report = Report()
            (report.isSame, report.isExhausted, report.idleRanks) = (true, true, idleRanks)
            return report
        }
    }

    public struct Witness: Sendable {
        /// Steps; each is one or several lines.
        public var length: Int
        /// A scenario: the machine, the inputs, and what clients are told on the way, the same under both.
        public var inputs: [String]
        /// What the last input leads to, under the first policy and under the second.
        public var outcomes: [[String]]
    }

    public struct Kind: Sendable {
        public var kind: DifferenceKind
        /// What the first policy does, and what the second.
        public var outcomes: [String]
        public var situations: Int
        public var shortest: Int
    }

    /// - Parameter countsLeases: no walk goes ahead that does not. Slow, and only of use where the other way is doubted.
    public init(
        _ first: Policy, _ second: Policy, clients: Int, cameras: Int, pairsOnly: Bool = false,
        scope: WalkScope = .everything, reducesSymmetry: Bool = true, countsLeases: Bool = false
    ) throws(ScenarioError) {
        policies = [first, second]
        leases = countsLeases ? nil : LeaseAbstraction(policies, isReplaced: scope.machineEvents)
        self.reducesSymmetry = reducesSymmetry
        self.scope = scope
        let reads = PolicyReads(policies)
        let populations = Populations(reads, clients: clients, pairsOnly: pairsOnly)
        castsInAll = populations.countInAll
        worlds = try SmallWorld.worlds(reads, populations, cameras: cameras, scope: scope)
    }

    /// The worlds as text, for a search that shares nothing with this one.
    package var worldTexts: [(cameras: [String], setup: [String], moves: [[String]])] {
        worlds.map { ($0.cameraLines, $0.setupLines, $0.moves.map(\.lines)) }
    }

    /// Whether the two say the same, names apart, so that no walk could find a difference.
    public var isSame: Bool { PolicyEquality(first: policies[0], second: policies[1]).holds }

    /// The same of two policies for which no worlds were made. Nil: it cannot be said without a walk. Else the ranks that
    /// no rule gives and only one of them has.
    public static func idleRanksOfEquals(_ first: Policy, _ second: Policy) -> [String]? {
        if first.hash == second.hash { return [] }
        let equality = PolicyEquality(first: first, second: second)
        return equality.holds ? equality.idleRanks : nil
    }

    /// Where both policies have the same leases, a walk goes ahead that does not count what is left of them: it meets every
    /// kind of difference that there is, in far fewer states. LeaseAbstraction are counted behind it, because only what is found so has
    /// a shortest way, but no more steps than it takes to find all again, or than the first walk took. Where a kind is met
    /// that is not allowed, leases are counted to the end.
    /// - Parameters:
    ///   - stepsBehind: how many steps are walked on behind the first difference that is not allowed, for the kinds.
    ///   - allowed: kinds behind which the walk goes on as if there had been none.
    public func run(
        _ bounds: SearchBounds = SearchBounds(), stepsBehind: Int = 2, allowed: Set<DifferenceKind> = [],
        limiter: @escaping SearchLimiter = { _ in nil }
    ) -> Report {
        var report = Report()
        (report.worlds, report.castsInAll) = (worlds.count, castsInAll)
        report.casts = Set(worlds.map(\.populationNumber)).count
        var effort = WalkEffort(bounds: bounds, worlds: worlds.count, limiter: limiter)
        var walk = JointWalk(self, nil)
        var ahead = leases.map { JointWalk(self, $0) }
        var last = bounds.depthMax
        while effort.cut == nil {
            ahead?.walkOneStep(upTo: last, &effort)
            if ahead?.isOffStep == true || ahead?.first(besides: allowed) != nil { ahead = nil }
            let follows = ahead.map { walk.depth < $0.depth && !walk.knows($0) } ?? true
            if walk.isDone(at: last) || !follows && ahead?.isDone(at: last) ?? false { break }
            if !follows { continue }
            walk.walkOneStep(upTo: last, &effort)
            if report.witness == nil, let first = walk.first(besides: []) {
                report.witness = walk.searches[first.example.world].witness(first.example, policies)
            }
            if report.forbidden == nil, let first = walk.first(besides: allowed) {
                report.forbidden = first.kind
                last = min(last, walk.depth + stepsBehind)
            }
        }
        report.differences = DifferenceKind.allCases.compactMap { kind in
            walk.examples[kind].map { example in
                walk.searches[example.world].difference(kind, example, policies, walk.situations[kind] ?? 0)
            }
        }
        report.depth = max(walk.depth, ahead?.depth ?? 0)
        report.isExhausted = walk.isExhausted
        if let ahead, effort.cut == nil, !walk.isExhausted {
            report.isExhausted = ahead.isExhausted
            report.perhaps = DifferenceKind.allCases.filter { ahead.examples[$0] != nil && walk.examples[$0] == nil }
        }
        report.states = effort.states
        report.transitions = effort.transitions
        report.cutOffBy = effort.cut
        report.kinds = walk.kinds.sorted { a, b in
            (b.situations, a.shortest, a.outcomes.joined()) < (a.situations, b.shortest, b.outcomes.joined())
        }
        return report
    }

    public struct Difference: Sendable {
        public var kind: DifferenceKind
        public var situations: Int
        public var witness: Witness
        public var apps: [String]
        /// The rules behind what they have, under the first policy and under the second; empty where no rule speaks.
        public var rules: [[String]]
        /// The witness as two whole scenarios with their policies in them: each comes out as written. Nil: with the recorders
        /// that scenarios have by themselves, the difference does not show.
        public var scenarios: [String]?
    }
}

extension PairSearch {
    private struct Lived {
        var inputs: [(event: Event, moment: Moment)] = []
        var before: [ExploredState]
        var after: [ExploredState]
        var events: [Event] = []
        var news: [[Effect]] = [[], []]
    }

    private func live(_ example: DifferenceExample, _ policies: [Policy]) -> Lived {
        let states = policies.map { world.beginning($0) }
        var lived = Lived(before: states, after: states)
        for choice in tree.path(to: example.parent) + [example.choice] {
            lived.before = lived.after
            world.forEachJointChoice(lived.before[0], lived.before[1]) { candidate, events, now in
                guard candidate == choice else { return true }
                lived.inputs += events.map { ($0, now) }
                lived.events = events
                for which in lived.after.indices { lived.news[which] = lived.after[which].perform(events, at: now) }
                return false
            }
        }
        return lived
    }

    func witness(_ example: DifferenceExample, _ policies: [Policy]) -> PolicyDifference.Witness {
        witness(live(example, policies), example, policies)
    }

    private func witness(
        _ lived: Lived, _ example: DifferenceExample, _ policies: [Policy]
    ) -> PolicyDifference.Witness {
        let story = PathScenario(world: world, policyLine: "", policies: "")
        if let told = story.contrast(lived.inputs, policies) {
            return PolicyDifference.Witness(length: example.depth, inputs: told.common, outcomes: told.ends)
        }
        let writer = ScenarioWriter(names: world.names)
        let outcomes = lived.news.map { effects in effects.compactMap { writer.notice($0) } }
        let lines = story.lines(lived.inputs, policies[0], isManual: false, isWhole: false)
        return PolicyDifference.Witness(length: example.depth, inputs: lines, outcomes: outcomes)
    }

    func difference(
        _ kind: DifferenceKind, _ example: DifferenceExample, _ policies: [Policy], _ situations: Int
    ) -> PolicyDifference.Difference {
        let lived = live(example, policies)
        let verdict = DifferenceVerdict(
            before: lived.before[0], (lived.after[0], lived.after[1]), news: (lived.news[0], lived.news[1]),
            lived.events)
        let apps = unique(verdict.sessions.compactMap { lived.after[0].arbiter.status(of: $0)?.app.name })
        let rules = lived.after.indices.map { which in
            unique(
                verdict.sessions.compactMap {
                    Self.rule(behind: $0, lived.after[which], lived.news[which], lived.events)
                })
        }
        let titles = policies.indices.map { which in
            let because =
                rules[which].isEmpty ? "" : ", because \(rules[which].map { "“\($0)”" }.joined(separator: ", "))"
            let whose = ["the first policy", "the second policy"][which]
            return
                "\(kind.rawValue) (\(kind.direction.rawValue)): \(apps.joined(separator: ", ")) under \(whose)\(because)."
        }
        let story = PathScenario(world: world, policyLine: "", policies: "")
        return PolicyDifference.Difference(
            kind: kind, situations: situations, witness: witness(lived, example, policies), apps: apps, rules: rules,
            scenarios: story.scenarios(lived.inputs, policies, titles: titles))
    }

    private static func rule(
        behind session: SessionID, _ state: ExploredState, _ news: [Effect], _ events: [Event]
    ) -> String? {
        if Outcomes.asker(events) == session {
            for case .refused(let refusal) in news where !refusal.rule.isEmpty { return refusal.rule }
        }
        for case .notify(_, session, _, let event) in news.reversed() {
            if let rule = event.rule, !rule.isEmpty { return rule }
        }
        if let rule = state.arbiter.status(of: session)?.rule { return rule }
        return state.arbiter.overview().cameras.first { $0.holder == session }?.rule
    }
}
