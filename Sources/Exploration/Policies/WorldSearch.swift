import Arbiter
import ArbiterProtocol
import Scenario

/// The walk of one world.
struct WorldSearch {
    let world: SmallWorld
    let cast: FoldedCast
    let scope: WalkScope
    let leases: Leases?
    let bounds: SearchBounds
    /// Walked before this world.
    let statesBefore: Int
    var ways = Ways()
    var transitions = 0
    var depth = 0
    var cutOffBy: SearchBound?
    var found: (state: Int, message: String, statement: String?)?
    /// A deadline was met that is not where `leases` take deadlines to be.
    var isOffStep = false
    private var seen = VisitedSet()
    private var frontier: [(state: ExploredState, number: Int)] = []
    private var next: [(state: ExploredState, number: Int)] = []
    private var fold = StateFold()
    private let statements: StatementCheck
    /// In how many states each statement applied.
    private(set) var applied: [Int]
    /// The state that the walk looks at just now, in memory that is used again and again: most are known already.
    private var after: ExploredState
    private var memory: StepMemory

    init(
        _ walk: PolicyWalk, _ world: SmallWorld, _ leases: Leases?, _ bounds: SearchBounds,
        statesBefore: Int
    ) {
        self.world = world
        self.leases = leases
        self.bounds = bounds
        self.statesBefore = statesBefore
        scope = walk.scope
        cast = walk.cast(of: world, leases)
        let start = world.beginning(walk.policy)
        after = start
        memory = StepMemory(for: start.arbiter)
        statements = StatementCheck(start.arbiter)
        applied = walk.policy.statements.map { _ in 0 }
        start.fold(world, cast, into: &fold)
        _ = seen.insert(fold.fingerprint(cast))
        frontier = [(start, ways.append(parent: 0, choice: 0))]
        if let message = promise(start) { found = (0, message.message, message.statement) }
    }

    /// So rarely that it costs nothing, and often enough that a bound is met within some milliseconds.
    private static let transitionsBetweenLooks = 4096

    mutating func run(_ limiter: SearchLimiter) {
        guard found == nil else { return }
        while !frontier.isEmpty {
            guard depth < bounds.depthMax else {
                cutOffBy = .depth
                return
            }
            depth += 1
            // Taken out, so that its states are read where they are while the next ones are gathered.
            let level = frontier
            frontier = []
            for index in level.indices {
                guard expand(level[index].state, level[index].number, limiter) else { return }
            }
            swap(&frontier, &next)
        }
    }

    /// Every step from one state; false ends the walk.
    private mutating func expand(_ state: ExploredState, _ number: Int, _ limiter: SearchLimiter) -> Bool {
        world.forEachChoice(in: state, answers: scope.lateRecorders) { choice, events, now in
            guard let leases, choice == SmallWorld.timePasses else {
                return advance(state, number, choice, events, now, limiter)
            }
            let passed = leases.forEachPassing(from: state) { choice, state, now in
                advance(state, number, choice, events, now, limiter)
            }
            isOffStep = passed == nil
            return passed ?? false
        }
    }

    private mutating func advance(
        _ state: ExploredState, _ number: Int, _ choice: Int, _ events: [Event], _ now: Moment, _ limiter: SearchLimiter
    ) -> Bool {
        after.become(state)
        after.now = now
        for event in events {
            if let message = after.take(event, in: &memory).first { return fail(message, nil, number, choice) }
        }
        if !scope.lateRecorders, let message = after.answerAll(in: &memory) {
            return fail(message, nil, number, choice)
        }
        transitions += 1
        after.fold(world, cast, into: &fold)
        if seen.insert(fold.fingerprint(cast)) {
            if let broken = promise(after) { return fail(broken.message, broken.statement, number, choice) }
            next.append((after, ways.append(parent: number, choice: choice)))
            if statesBefore + ways.count >= min(bounds.statesMax, Ways.countMax) {
                cutOffBy = .states
                return false
            }
        }
        if transitions % Self.transitionsBetweenLooks == 0, let cut = limiter(progress) {
            cutOffBy = cut
            return false
        }
        return true
    }

    private mutating func fail(_ message: String, _ statement: String?, _ parent: Int, _ choice: Int) -> Bool {
        found = (ways.append(parent: parent, choice: choice), message, statement)
        return false
    }

    private var progress: SearchProgress {
        SearchProgress(states: ways.count, transitions: transitions, depth: depth)
    }

    private mutating func promise(_ state: ExploredState) -> (message: String, statement: String?)? {
        if let message = state.arbiter.violations().first ?? state.lostWakeUp { return (message, nil) }
        guard let (statement, sessions) = statements.broken(in: state.arbiter, counting: &applied) else { return nil }
        let culprits = statements.words(statement, sessions, in: state.arbiter) { world.names.name(of: $0) }
        return ("the statement “\(statement.name)” is broken by \(culprits)", statement.name)
    }
}
