import Arbiter
import ArbiterProtocol
import Scenario

/// The walk of all worlds under two policies in step, one level at a time.
struct JointWalk {
    private(set) var searches: [PairSearch]
    private(set) var depth = 0
    private(set) var kinds: [PolicyDifference.Kind] = []
    private(set) var situations: [DifferenceKind: Int] = [:]
    private(set) var examples: [DifferenceKind: DifferenceExample] = [:]

    init(_ difference: PolicyDifference, _ leases: LeaseAbstraction?) {
        searches = difference.worlds.enumerated().map {
            PairSearch(
                $0.element, $0.offset, difference.policies, leases, reducesSymmetry: difference.reducesSymmetry)
        }
    }

    var isExhausted: Bool { searches.allSatisfy(\.isDone) }
    /// The policies' leases differ, so that the walk is worth nothing.
    var isOffStep: Bool { searches.contains(where: \.isOffStep) }

    func isDone(at last: Int) -> Bool { depth >= last || isExhausted }

    /// Whether it has every kind of difference of another walk.
    func knows(_ other: JointWalk) -> Bool {
        other.kinds.allSatisfy { kind in kinds.contains { $0.kind == kind.kind && $0.outcomes == kind.outcomes } }
    }

    mutating func walkOneStep(upTo last: Int, _ effort: inout WalkEffort) {
        guard !isDone(at: last) else { return }
        for index in searches.indices {
            effort.world = index + 1
            for difference in searches[index].walkOneStep(&effort) { note(difference) }
            // The step is not complete, but its differences count.
            if effort.cut != nil { return }
        }
        depth += 1
    }

    /// The shortest example; of several, the kind that is listed first, which no table's order may decide.
    func first(besides allowed: Set<DifferenceKind>) -> (kind: DifferenceKind, example: DifferenceExample)? {
        DifferenceKind.allCases.filter { !allowed.contains($0) }
            .compactMap { kind in examples[kind].map { (kind: kind, example: $0) } }.min { $0.example < $1.example }
    }

    private mutating func note(_ found: FoundDifference) {
        let (kind, example) = (found.kind, found.example)
        situations[kind, default: 0] += 1
        if examples[kind] == nil { examples[kind] = example }
        for outcome in found.outcomes {
            if let index = kinds.firstIndex(where: { $0.kind == kind && $0.outcomes == outcome }) {
                kinds[index].situations += 1
            } else {
                kinds.append(
                    PolicyDifference.Kind(kind: kind, outcomes: outcome, situations: 1, shortest: example.depth))
            }
        }
    }
}

struct WalkEffort {
    let bounds: SearchBounds
    let worlds: Int
    let limiter: SearchLimiter
    var world = 0
    var states = 0
    private(set) var transitions = 0
    private(set) var cut: SearchBound?

    init(_ bounds: SearchBounds, worlds: Int, _ limiter: @escaping SearchLimiter) {
        (self.bounds, self.worlds, self.limiter) = (bounds, worlds, limiter)
    }

    mutating func look(_ depth: Int) {
        transitions += 1
        if states >= bounds.statesMax { cut = .states }
        guard transitions % 2048 == 0, cut == nil else { return }
        cut = limiter(
            SearchProgress(world: world, worlds: worlds, states: states, transitions: transitions, depth: depth))
    }
}

struct DifferenceExample: Comparable {
    var depth: Int
    var world: Int
    var parent: Int
    var choice: Int

    static func < (a: DifferenceExample, b: DifferenceExample) -> Bool { (a.depth, a.world) < (b.depth, b.world) }
}

struct FoundDifference {
    let outcomes: [[String]]
    let kind: DifferenceKind
    let example: DifferenceExample
}

struct JointState {
    var first: ExploredState
    var second: ExploredState
}

struct PairSearch {
    let world: SmallWorld
    private let symmetry: AppSymmetry
    private let number: Int
    private let leases: LeaseAbstraction?
    private var depth = 0
    private(set) var tree = SearchTree()
    private(set) var isOffStep = false
    private var seen = VisitedSet()
    private var frontier: [(state: JointState, number: Int)] = []
    private var next: [(state: JointState, number: Int)] = []
    private var canonical = (CanonicalState(), CanonicalState())

    var isDone: Bool { frontier.isEmpty }

    init(
        _ world: SmallWorld, _ number: Int, _ policies: [Policy], _ leases: LeaseAbstraction?, reducesSymmetry: Bool
    ) {
        (self.world, self.number, self.leases) = (world, number, leases)
        symmetry = world.symmetry.under([], isReduced: reducesSymmetry, countsLeases: leases == nil)
        let start = JointState(first: world.beginning(policies[0]), second: world.beginning(policies[1]))
        frontier = [(start, tree.append(parent: 0, choice: 0))]
        _ = isNew(start)
    }

    private mutating func isNew(_ state: JointState) -> Bool {
        state.first.canonicalize(symmetry, into: &canonical.0)
        state.second.canonicalize(symmetry, into: &canonical.1)
        return seen.insert(canonical.0.fingerprint(symmetry, beside: canonical.1))
    }

    mutating func walkOneStep(_ effort: inout WalkEffort) -> [FoundDifference] {
        var found: [FoundDifference] = []
        depth += 1
        // Taken out, so that its states are not copied while the next are gathered.
        let level = frontier
        for (state, number) in level where !isOffStep {
            world.forEachJointChoice(state.first, state.second) { choice, events, now in
                guard let leases, choice == SmallWorld.timePasses else {
                    return advance(state, number, choice, events, now, &effort, &found)
                }
                let passed = leases.forEachPassing(from: state) { choice, state, now in
                    advance(state, number, choice, events, now, &effort, &found)
                }
                isOffStep = passed == nil
                return passed ?? false
            }
            if effort.cut != nil { return found }
        }
        (frontier, next) = (next, [])
        return found
    }

    private mutating func advance(
        _ before: JointState, _ number: Int, _ choice: Int, _ events: [Event], _ now: Moment,
        _ effort: inout WalkEffort, _ found: inout [FoundDifference]
    ) -> Bool {
        var after = before
        let news = (after.first.perform(events, at: now), after.second.perform(events, at: now))
        effort.look(depth)
        if news.0 != news.1, let outcomes = Outcomes.compare(news, events, after.first, after.second) {
            let verdict = DifferenceVerdict(before: before.first, (after.first, after.second), news: news, events)
            found.append(
                FoundDifference(
                    outcomes: outcomes, kind: verdict.kind,
                    example: DifferenceExample(depth: depth, world: self.number, parent: number, choice: choice)))
        } else if isNew(after) {
            effort.states += 1
            next.append((after, tree.append(parent: number, choice: choice)))
        }
        return effort.cut == nil
    }
}

extension SmallWorld {
    /// Every choice in two states that look alike: an event that is possible in one happens in both.
    func forEachJointChoice(
        _ first: ExploredState, _ second: ExploredState,
        _ body: (_ choice: Int, _ events: [Event], _ now: Moment) -> Bool
    ) {
        for index in moves.indices {
            guard let events = events(of: index, in: first) ?? events(of: index, in: second) else { continue }
            if !body(index, events, first.now) { return }
        }
        let deadline = min(first.arbiter.deadline ?? .distantFuture, second.arbiter.deadline ?? .distantFuture)
        if deadline < .distantFuture { _ = body(Self.timePasses, [.timePassed], max(deadline, first.now)) }
    }
}
