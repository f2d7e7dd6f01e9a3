public import Arbiter
import ArbiterProtocol
public import Scenario

/// Walks two policies in step over the same events, breadth first, and finds where clients notice which of them
/// is in force: what they are told, and which session holds which camera. Names of rules are no difference.
///
/// Recorders answer at once: a step is something that happens, and everything that follows from it. All worlds are
/// walked side by side, one step at a time, so that the first difference is the shortest there is in any of them.
public struct PolicyDifference: Sendable {
    public let policies: [Policy]
    let worlds: [SmallWorld]
    let castsInAll: Int
    let scope: WalkScope
    let isFolded: Bool

    public struct Report: Sendable {
        /// Nothing had to be walked: in all that either policy says, names apart, the other says the same.
        public var isSame = false
        public var worlds = 0
        /// Choices of kinds of clients whose worlds were walked, and how many there are.
        public var casts = 0
        public var castsInAll = 0
        public var states = 0
        public var transitions = 0
        /// How many steps all worlds were walked.
        public var depth = 0
        /// Nil: every state in which the two still look alike was walked, or the steps that were asked for.
        public var cutOffBy: SearchBound?
        /// No state was left to walk on from.
        public var isExhausted = false
        public var witness: Witness?
        /// The most frequent first.
        public var kinds: [Kind] = []

        /// Of two policies that say the same.
        public static let nothingToWalk = Report(isSame: true, isExhausted: true)
    }

    /// The shortest way to a difference.
    public struct Witness: Sendable {
        /// Steps; each is one or several lines.
        public var length: Int
        /// A scenario: the machine, the inputs, and what clients are told on the way, the same under both.
        public var inputs: [String]
        /// What the last input leads to, under the first policy and under the second.
        public var outcomes: [[String]]
    }

    /// One way in which the two differ.
    public struct Kind: Sendable {
        /// What the first policy does, and what the second.
        public var outcomes: [String]
        public var situations: Int
        public var shortest: Int
    }

    public init(
        _ first: Policy, _ second: Policy, clients: Int, cameras: Int, pairsOnly: Bool = false,
        scope: WalkScope = .everything, isFolded: Bool = true
    ) throws(ScenarioError) {
        policies = [first, second]
        self.isFolded = isFolded
        self.scope = scope
        let casting = Casting(PolicyReads(policies), clients: clients, pairsOnly: pairsOnly)
        castsInAll = casting.castsInAll
        worlds = try SmallWorld.worlds(policies, casting, cameras: cameras, scope: scope)
    }

    /// The worlds as text, for a search that shares nothing with this one.
    package var worldTexts: [(cameras: [String], setup: [String], moves: [[String]])] {
        worlds.map { ($0.cameraLines, $0.setupLines, $0.moves.map(\.lines)) }
    }

    /// Whether the two say the same, names apart, so that no walk could find a difference.
    public var isSame: Bool { PolicyEquality(policies[0], policies[1]).holds }

    /// - Parameter stepsBehind: how many steps are walked on behind the first difference, for the kinds.
    public func run(
        _ bounds: SearchBounds = SearchBounds(), stepsBehind: Int = 2, limiter: @escaping SearchLimiter = { _ in nil }
    ) -> Report {
        var report = Report(worlds: worlds.count, castsInAll: castsInAll)
        report.casts = Set(worlds.map(\.castNumber)).count
        var counted = Counted(bounds: bounds, worlds: worlds.count, limiter: limiter)
        var searches = worlds.map { PairSearch($0, policies, isFolded: isFolded) }
        var last = bounds.depthMax
        while report.depth < last, !searches.allSatisfy(\.isDone) {
            for index in searches.indices {
                counted.world = index + 1
                searches[index].walkOneStep(&counted)
                if counted.cut != nil { break }
            }
            // A step that was cut off was not walked, but what was found on the way was.
            if counted.cut == nil { report.depth += 1 }
            if report.witness == nil, let search = searches.first(where: { $0.found != nil }), let found = search.found
            {
                report.witness = search.witness(found, policies)
                last = min(last, report.depth + stepsBehind)
            }
            if counted.cut != nil { break }
        }
        report.isExhausted = searches.allSatisfy(\.isDone)
        report.states = counted.states
        report.transitions = counted.transitions
        report.cutOffBy = counted.cut
        report.kinds = counted.kinds.sorted { a, b in
            (b.situations, a.shortest, a.outcomes.joined()) < (a.situations, b.shortest, b.outcomes.joined())
        }
        return report
    }
}

/// What all worlds count together.
private struct Counted {
    let bounds: SearchBounds
    let worlds: Int
    let limiter: SearchLimiter
    var world = 0
    var states = 0
    var transitions = 0
    var cut: SearchBound?
    var kinds: [PolicyDifference.Kind] = []

    init(bounds: SearchBounds, worlds: Int, limiter: @escaping SearchLimiter) {
        self.bounds = bounds
        self.worlds = worlds
        self.limiter = limiter
    }

    mutating func look(_ depth: Int) {
        transitions += 1
        if states >= bounds.statesMax { cut = .states }
        if transitions % 2048 == 0 {
            cut =
                cut
                ?? limiter(
                    SearchProgress(
                        world: world, worlds: worlds, states: states, transitions: transitions, depth: depth))
        }
    }

    mutating func note(_ outcomes: [String], at depth: Int) {
        if let index = kinds.firstIndex(where: { $0.outcomes == outcomes }) {
            kinds[index].situations += 1
        } else {
            kinds.append(PolicyDifference.Kind(outcomes: outcomes, situations: 1, shortest: depth))
        }
    }
}

/// The walk of one world under two policies.
private struct PairSearch {
    let world: SmallWorld
    let cast: FoldedCast
    private(set) var found: (parent: Int, choice: Int)?
    private var depth = 0
    private var ways = Ways()
    private var seen = VisitedSet()
    private var frontier: [(first: ExploredState, second: ExploredState, number: Int)] = []
    private var folds = (StateFold(), StateFold())

    var isDone: Bool { frontier.isEmpty }

    init(_ world: SmallWorld, _ policies: [Policy], isFolded: Bool) {
        self.world = world
        cast = isFolded ? world.cast : world.cast.unfolded
        let first = world.beginning(policies[0])
        let second = world.beginning(policies[1])
        frontier = [(first, second, ways.append(parent: 0, choice: 0))]
        _ = isNew(first, second)
    }

    private mutating func isNew(_ first: ExploredState, _ second: ExploredState) -> Bool {
        first.fold(world, cast, into: &folds.0)
        second.fold(world, cast, into: &folds.1)
        return seen.insert(folds.0.fingerprint(cast, beside: folds.1))
    }

    mutating func walkOneStep(_ counted: inout Counted) {
        depth += 1
        var next: [(first: ExploredState, second: ExploredState, number: Int)] = []
        for (first, second, number) in frontier {
            world.forEachJointChoice(first, second) { choice, events, now in
                var one = first
                var other = second
                let news = (one.live(events, at: now), other.live(events, at: now))
                counted.look(depth)
                if news.0 != news.1, let outcomes = Outcomes.compare(news, events, one, other) {
                    for outcome in outcomes { counted.note(outcome, at: depth) }
                    if found == nil { found = (number, choice) }
                } else if isNew(one, other) {
                    counted.states += 1
                    next.append((one, other, ways.append(parent: number, choice: choice)))
                }
                return counted.cut == nil
            }
            if counted.cut != nil { return }
        }
        frontier = next
    }

    func witness(_ found: (parent: Int, choice: Int), _ policies: [Policy]) -> PolicyDifference.Witness {
        var states = policies.map { world.beginning($0) }
        var inputs: [(event: Event, moment: Moment)] = []
        var outcomes: [[String]] = []
        let path = ways.path(to: found.parent) + [found.choice]
        for (index, choice) in path.enumerated() {
            world.forEachJointChoice(states[0], states[1]) { candidate, events, now in
                guard candidate == choice else { return true }
                inputs += events.map { ($0, now) }
                let writer = ScenarioWriter(names: world.names)
                outcomes = states.indices.map { which in
                    let effects = states[which].live(events, at: now)
                    return index == path.count - 1 ? effects.compactMap { writer.notice($0) } : []
                }
                return false
            }
        }
        let story = Story(world, policyLine: "", policies: "")
        if let told = story.contrast(inputs, policies) {
            return PolicyDifference.Witness(length: path.count, inputs: told.common, outcomes: told.ends)
        }
        let lines = story.inputLines(inputs, policies[0])
        return PolicyDifference.Witness(length: path.count, inputs: lines, outcomes: outcomes)
    }
}

extension SmallWorld {
    /// Every choice under two policies that look alike so far: what may happen may happen under both.
    func forEachJointChoice(
        _ first: ExploredState, _ second: ExploredState,
        _ body: (_ choice: Int, _ events: [Event], _ now: Moment) -> Bool
    ) {
        for index in moves.indices {
            guard let events = events(of: index, in: first) ?? events(of: index, in: second) else {
                continue
            }
            if !body(index, events, first.now) { return }
        }
        let deadline = min(first.arbiter.deadline ?? .distantFuture, second.arbiter.deadline ?? .distantFuture)
        if deadline < .distantFuture { _ = body(Self.timePasses, [.timePassed], max(deadline, first.now)) }
    }
}

extension ExploredState {
    /// Takes the events of one moment and lets recorders answer; everything that comes of it.
    mutating func live(_ events: [Event], at moment: Moment) -> [Effect] {
        now = moment
        var effects: [Effect] = []
        for event in events { effects += take(event).effects }
        return effects + answerAll().effects
    }
}
