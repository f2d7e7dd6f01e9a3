public import Arbiter
import ArbiterProtocol
import PolicyFile
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
        /// The first difference of a kind that is not allowed; nil: there is none so far.
        public var forbidden: DifferenceKind?
        /// The most frequent first.
        public var kinds: [Kind] = []
        /// One for each kind that was found, in the order of the vocabulary.
        public var differences: [Difference] = []
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

    /// The shortest way to a difference.
    public struct Witness: Sendable {
        /// Steps; each is one or several lines.
        public var length: Int
        /// A scenario: the machine, the inputs, and what clients are told on the way, the same under both.
        public var inputs: [String]
        /// What the last input leads to, under the first policy and under the second.
        public var outcomes: [[String]]
    }

    /// One way in which the two differ, in words.
    public struct Kind: Sendable {
        public var kind: DifferenceKind
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

    /// The same of two policies for which no worlds were made. Nil: it cannot be said without a walk. Else the ranks that
    /// no rule gives and only one of them has.
    public static func idleRanksOfEquals(_ first: Policy, _ second: Policy) -> [String]? {
        if first.hash == second.hash { return [] }
        let equality = PolicyEquality(first, second)
        return equality.holds ? equality.idleRanks : nil
    }

    /// - Parameters:
    ///   - stepsBehind: how many steps are walked on behind the first difference that is not allowed, for the kinds.
    ///   - allowed: kinds behind which the walk goes on as if there had been none.
    public func run(
        _ bounds: SearchBounds = SearchBounds(), stepsBehind: Int = 2, allowed: Set<DifferenceKind> = [],
        limiter: @escaping SearchLimiter = { _ in nil }
    ) -> Report {
        var report = Report()
        (report.worlds, report.castsInAll) = (worlds.count, castsInAll)
        report.casts = Set(worlds.map(\.castNumber)).count
        var counted = Counted(bounds: bounds, worlds: worlds.count, limiter: limiter)
        var searches = worlds.enumerated().map { PairSearch($0.element, $0.offset, policies, isFolded: isFolded) }
        var last = bounds.depthMax
        while report.depth < last, !searches.allSatisfy(\.isDone) {
            for index in searches.indices {
                counted.world = index + 1
                searches[index].walkOneStep(&counted)
                if counted.cut != nil { break }
            }
            // A step that was cut off was not walked, but what was found on the way was.
            if counted.cut == nil { report.depth += 1 }
            if report.witness == nil, let first = counted.first(besides: []) {
                report.witness = searches[first.example.world].witness(first.example, policies)
            }
            if report.forbidden == nil, let first = counted.first(besides: allowed) {
                report.forbidden = first.kind
                last = min(last, report.depth + stepsBehind)
            }
            if counted.cut != nil { break }
        }
        report.differences = DifferenceKind.allCases.compactMap { kind in
            counted.examples[kind].map { example in
                searches[example.world].difference(kind, example, policies, counted.situations[kind] ?? 0)
            }
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
    /// Of each kind how many steps came to it, and the first of them.
    var situations: [DifferenceKind: Int] = [:]
    var examples: [DifferenceKind: DifferenceExample] = [:]

    /// The shortest example; of several, that of the kind which stands first in the list, and not of the one that a table
    /// happens to give first.
    func first(besides allowed: Set<DifferenceKind>) -> (kind: DifferenceKind, example: DifferenceExample)? {
        var first: (kind: DifferenceKind, example: DifferenceExample)?
        for kind in DifferenceKind.allCases where !allowed.contains(kind) {
            guard let example = examples[kind] else { continue }
            if let known = first?.example, !(example < known) { continue }
            first = (kind, example)
        }
        return first
    }

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

    mutating func note(_ outcomes: [[String]], _ kind: DifferenceKind, _ example: DifferenceExample) {
        situations[kind, default: 0] += 1
        if examples[kind] == nil { examples[kind] = example }
        for outcome in outcomes {
            if let index = kinds.firstIndex(where: { $0.kind == kind && $0.outcomes == outcome }) {
                kinds[index].situations += 1
            } else {
                kinds.append(
                    PolicyDifference.Kind(kind: kind, outcomes: outcome, situations: 1, shortest: example.depth))
            }
        }
    }
}

/// Where the first step of a kind was taken.
struct DifferenceExample: Comparable {
    var depth: Int
    /// Which of the worlds, from 0.
    var world: Int
    /// The state in which it was taken, and the choice.
    var parent: Int
    var choice: Int

    static func < (a: DifferenceExample, b: DifferenceExample) -> Bool { (a.depth, a.world) < (b.depth, b.world) }
}

/// The walk of one world under two policies.
struct PairSearch {
    let world: SmallWorld
    let cast: FoldedCast
    private let number: Int
    private var depth = 0
    private(set) var ways = Ways()
    private var seen = VisitedSet()
    private var frontier: [(first: ExploredState, second: ExploredState, number: Int)] = []
    private var folds = (StateFold(), StateFold())

    var isDone: Bool { frontier.isEmpty }

    fileprivate init(_ world: SmallWorld, _ number: Int, _ policies: [Policy], isFolded: Bool) {
        self.world = world
        self.number = number
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

    fileprivate mutating func walkOneStep(_ counted: inout Counted) {
        depth += 1
        var next: [(first: ExploredState, second: ExploredState, number: Int)] = []
        for (first, second, number) in frontier {
            world.forEachJointChoice(first, second) { choice, events, now in
                var one = first
                var other = second
                let news = (one.live(events, at: now), other.live(events, at: now))
                counted.look(depth)
                if news.0 != news.1, let outcomes = Outcomes.compare(news, events, one, other) {
                    let verdict = DifferenceVerdict(before: first, (one, other), news: news, events)
                    counted.note(
                        outcomes, verdict.kind,
                        DifferenceExample(depth: depth, world: self.number, parent: number, choice: choice))
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
