import Arbiter
import ArbiterProtocol
import Scenario

/// The walk of all worlds of one size, side by side, until nothing is wanted any more.
struct CoverageWalk {
    private(set) var states = 0
    private(set) var transitions = 0
    private(set) var cutOffBy: SearchBound?
    private let policy: Policy
    private let size: ScenarioSearch.Size
    private let bounds: SearchBounds
    private let statesBefore: Int
    private var places: [Place]
    private var recorder = CoverageRecorder()

    /// How far the walk of one world has come.
    private struct Place {
        let world: SmallWorld
        var ways = Ways()
        var seen = VisitedSet()
        var frontier: [(state: ExploredState, number: Int)]
        var fold = StateFold()

        init(_ world: SmallWorld, _ policy: Policy) {
            self.world = world
            let start = world.beginning(policy)
            start.fold(world, world.cast, into: &fold)
            _ = seen.insert(fold.fingerprint(world.cast))
            frontier = [(start, ways.append(parent: 0, choice: 0))]
        }
    }

    init(
        _ policy: Policy, _ worlds: [SmallWorld], _ size: ScenarioSearch.Size, _ bounds: SearchBounds, statesBefore: Int
    ) {
        self.policy = policy
        self.size = size
        self.bounds = bounds
        self.statesBefore = statesBefore
        places = worlds.map { Place($0, policy) }
        states = places.count
    }

    /// So rarely that it costs nothing, and often enough that a bound is met within some milliseconds.
    private static let transitionsBetweenLooks = 512

    mutating func run(_ found: inout FoundScenarios, _ limiter: SearchLimiter) {
        var depth = 0
        while places.contains(where: { !$0.frontier.isEmpty }), depth < bounds.depthMax {
            depth += 1
            for index in places.indices {
                let level = places[index].frontier
                places[index].frontier = []
                for (state, number) in level {
                    guard expand(state, number, in: index, &found, limiter) else { return }
                }
            }
        }
        if depth == bounds.depthMax, places.contains(where: { !$0.frontier.isEmpty }) { cutOffBy = .depth }
    }

    /// Every step from one state; false ends the walk.
    private mutating func expand(
        _ state: ExploredState, _ number: Int, in index: Int, _ found: inout FoundScenarios, _ limiter: SearchLimiter
    ) -> Bool {
        let world = places[index].world
        recorder.begin(at: state.arbiter)
        return world.forEachChoice(in: state, answers: false) { choice, events, now in
            let reached = recorder.reached
            let after = step(state, events, now)
            transitions += 1
            after.fold(world, world.cast, into: &places[index].fold)
            if places[index].seen.insert(places[index].fold.fingerprint(world.cast)) {
                places[index].frontier.append((after, places[index].ways.append(parent: number, choice: choice)))
                states += 1
                if statesBefore + states >= bounds.statesMax { cutOffBy = .states }
            }
            if recorder.reached > reached, let coverage = recorder.coverages.first(where: { $0.policy == policy }) {
                let path = places[index].ways.path(to: number) + [choice]
                if !found.note(coverage, path, world, size) {
                    // It was no way there after all: what comes next may be one.
                    recorder = CoverageRecorder()
                    recorder.begin(at: state.arbiter)
                }
                if found.wanted(in: size).isEmpty { return false }
            }
            recorder.rewind()
            if transitions % Self.transitionsBetweenLooks == 0 {
                cutOffBy = cutOffBy ?? limiter(progress)
            }
            return cutOffBy == nil
        }
    }

    private var progress: SearchProgress {
        SearchProgress(
            world: places.count, worlds: places.count, states: statesBefore + states, transitions: transitions)
    }

    /// What happens, and everything that recorders answer to it, noted step by step.
    private mutating func step(_ state: ExploredState, _ events: [Event], _ now: Moment) -> ExploredState {
        var after = state
        after.now = now
        var rest = events[...]
        // As many answers as a walk allows one step.
        for _ in 0..<ExploredState.answersMax {
            guard let event = rest.popFirst() ?? after.duties.firstAnswer else { break }
            recorder.expect(event, at: now, after.arbiter)
            let (effects, verdicts) = after.observe(event)
            recorder.note(event, effects, verdicts, after.arbiter)
        }
        return after
    }
}
