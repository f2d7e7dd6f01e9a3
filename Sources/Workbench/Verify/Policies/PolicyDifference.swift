import Arbiter
public import ArbiterProtocol
import Explain
import PolicyFile
public import Scenario

/// Walks two policies in step over the same events, breadth first, and finds where clients notice which of them is in force: by their
/// notices, or by the holder of a camera. Names of rules are no difference.
///
/// Recorders answer at once: a step is an event with all that follows from it. All worlds are walked side by side, one step at a time,
/// so that the first difference is the shortest in any of them.
public struct PolicyDifference: Sendable {
    public let policies: [Policy]
    package let worlds: [SmallWorld]
    let populationsInAll: Int
    let scope: WalkScope
    let reducesSymmetry: Bool
    package let leases: LeaseAbstraction?

    public struct Report: Sendable {
        /// The policies say the same, but for names, so that nothing had to be walked.
        public var isSame = false
        public var worlds = 0
        /// Populations whose worlds were walked, and how many there are.
        public var populations = 0
        public var populationsInAll = 0
        public var states = 0
        public var transitions = 0
        public var depth = 0
        /// `nil`: every state in which the two look alike was walked, or as many steps as were asked for.
        public var cutOffBy: SearchBound?
        public var isExhausted = false
        public var witness: Witness?
        /// The first difference of a kind that is not allowed.
        public var forbidden: DifferenceKind?
        public var kinds: [Kind] = []
        /// One of each kind that was found, in the order of the kinds.
        public var differences: [Difference] = []
        /// Allowed kinds without an example, which may show where nearly all of a lease is used up.
        public var perhaps: [DifferenceKind] = []
        /// Ranks that no rule gives and only one of the two policies has.
        public var idleRanks: [String] = []

        public init() {}

        /// Of two policies that say the same.
        /// - Parameter idleRanks: only a program that lowers itself to one of them by its name could notice.
        public static func nothingToWalk(_ idleRanks: [String] = []) -> Report {
            var report = Report()
            (report.isSame, report.isExhausted, report.idleRanks) = (true, true, idleRanks)
            return report
        }
    }

    public struct Witness: Sendable {
        /// Steps, each of one or several lines.
        public var length: Int
        /// A scenario: the machine, the inputs and the notices, up to where the policies differ.
        public var inputs: [String]
        /// The outcome of the last input under each policy.
        public var outcomes: [[String]]
    }

    public struct Kind: Sendable {
        public var kind: DifferenceKind
        /// Under the first policy and under the second.
        public var outcomes: [String]
        public var situations: Int
        public var shortest: Int
    }

    public struct Difference: Sendable {
        public var kind: DifferenceKind
        public var situations: Int
        public var witness: Witness
        public var apps: [String]
        /// The rules behind the outcome under each policy.
        public var rules: [[String]]
        /// The witness as two whole scenarios with their policies, which pass as written; `nil` where the difference does not show
        /// with the recorders of scenarios.
        public var scenarios: [String]?
    }

    /// - Parameter countsLeases: walks only with leases counted: slow, and for tests.
    public init(
        _ first: Policy, _ second: Policy, clients: Int, cameras: Int, pairsOnly: Bool = false,
        scope: WalkScope = .everything, reducesSymmetry: Bool = true, countsLeases: Bool = false
    ) throws(ScenarioError) {
        policies = [first, second]
        leases = countsLeases ? nil : LeaseAbstraction(policies, isReplaced: scope.machineEvents)
        (self.reducesSymmetry, self.scope) = (reducesSymmetry, scope)
        let reads = PolicyReads(policies)
        let populations = Populations(reads, clients: clients, pairsOnly: pairsOnly)
        populationsInAll = populations.countInAll
        worlds = try SmallWorld.worlds(reads, populations, cameras: cameras, scope: scope)
    }

    /// The worlds as text, for a search that shares nothing with this one.
    package var worldTexts: [(cameras: [String], setup: [String], moves: [[String]])] {
        worlds.map { ($0.cameraLines, $0.setupLines, $0.moves.map(\.lines)) }
    }

    /// Whether the two say the same, but for names, so that no walk could find a difference.
    public var isSame: Bool { PolicyEquality(first: policies[0], second: policies[1]).holds }

    /// The ranks that no rule gives and only one of two equal policies has; `nil` where only a walk tells whether they are equal.
    public static func idleRanksOfEquals(_ first: Policy, _ second: Policy) -> [String]? {
        if first.hash == second.hash { return [] }
        let equality = PolicyEquality(first: first, second: second)
        return equality.holds ? equality.idleRanks : nil
    }

    /// Where both policies have the same leases, a walk that does not count them goes ahead: it meets every kind of difference in far
    /// fewer states. The walk that counts leases follows, since only its examples are real and shortest, until it has found all of
    /// these kinds or has as many steps. After a forbidden kind leases are counted to the end.
    /// - Parameters:
    ///   - stepsBehind: steps that are walked after the first forbidden difference.
    ///   - allowed: kinds after which the walk goes on.
    public func run(
        _ bounds: SearchBounds = SearchBounds(), stepsBehind: Int = 2, allowed: Set<DifferenceKind> = [],
        limiter: @escaping SearchLimiter = { _ in nil }
    ) -> Report {
        var report = Report()
        (report.worlds, report.populationsInAll) = (worlds.count, populationsInAll)
        report.populations = Set(worlds.map(\.populationNumber)).count
        var effort = WalkEffort(bounds, worlds: worlds.count, limiter)
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
        (report.states, report.transitions, report.cutOffBy) = (effort.states, effort.transitions, effort.cut)
        report.kinds = walk.kinds.sorted { a, b in
            (b.situations, a.shortest, a.outcomes.joined()) < (a.situations, b.shortest, b.outcomes.joined())
        }
        return report
    }
}

extension PairSearch {
    /// The path to an example under both policies, with the states around its last step.
    private struct Run {
        var inputs: PathScenario.Events = []
        var before: [ExploredState]
        var after: [ExploredState]
        var events: [Event] = []
        var news: [[Effect]] = [[], []]
    }

    private func run(_ example: DifferenceExample, _ policies: [Policy]) -> Run {
        let states = policies.map { world.beginning($0) }
        var run = Run(before: states, after: states)
        for choice in tree.path(to: example.parent) + [example.choice] {
            run.before = run.after
            world.forEachJointChoice(run.before[0], run.before[1]) { candidate, events, now in
                guard candidate == choice else { return true }
                run.inputs += events.map { ($0, now) }
                run.events = events
                for which in run.after.indices { run.news[which] = run.after[which].perform(events, at: now) }
                return false
            }
        }
        return run
    }

    private var scenario: PathScenario { PathScenario(world: world, policyLine: "", policies: "") }

    func witness(_ example: DifferenceExample, _ policies: [Policy]) -> PolicyDifference.Witness {
        witness(run(example, policies), example, policies)
    }

    private func witness(
        _ run: Run, _ example: DifferenceExample, _ policies: [Policy]
    ) -> PolicyDifference.Witness {
        if let contrast = scenario.contrast(run.inputs, policies) {
            return PolicyDifference.Witness(length: example.depth, inputs: contrast.common, outcomes: contrast.ends)
        }
        let writer = ScenarioWriter(names: world.names)
        return PolicyDifference.Witness(
            length: example.depth, inputs: scenario.lines(run.inputs, policies[0], isManual: false, isWhole: false),
            outcomes: run.news.map { effects in effects.compactMap { writer.notice($0) } })
    }

    func difference(
        _ kind: DifferenceKind, _ example: DifferenceExample, _ policies: [Policy], _ situations: Int
    ) -> PolicyDifference.Difference {
        let run = run(example, policies)
        let verdict = DifferenceVerdict(
            before: run.before[0], (run.after[0], run.after[1]), news: (run.news[0], run.news[1]), run.events)
        let apps = unique(verdict.sessions.compactMap { run.after[0].arbiter.status(of: $0)?.app.name })
        let rules = run.after.indices.map { which in
            unique(
                verdict.sessions.compactMap { Self.rule(behind: $0, run.after[which], run.news[which], run.events) })
        }
        let titles = zip(["the first policy", "the second policy"], rules).map { whose, rules in
            let because = rules.isEmpty ? "" : ", because \(rules.map { "“\($0)”" }.joined(separator: ", "))"
            return
                "\(kind.rawValue) (\(kind.direction.rawValue)): \(apps.joined(separator: ", ")) under \(whose)\(because)."
        }
        return PolicyDifference.Difference(
            kind: kind, situations: situations, witness: witness(run, example, policies), apps: apps, rules: rules,
            scenarios: scenario.scenarios(run.inputs, policies, titles: titles))
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
        return state.arbiter.status(of: session)?.rule
            ?? state.arbiter.overview().cameras.first { $0.holder == session }?.rule
    }
}
