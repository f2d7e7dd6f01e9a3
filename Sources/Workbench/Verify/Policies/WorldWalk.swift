import Arbiter
import ArbiterProtocol
import Explain
import Scenario

/// The walk of one world: every state once, breadth first.
struct WorldWalk: LevelSearch {
    var cursor: SearchCursor
    var next: [(state: ExploredState, number: Int)] = []
    let leases: LeaseAbstraction?
    private let bounds: SearchBounds
    private let statesBefore: Int
    private(set) var found: (state: Int, message: String, statement: String?)?
    /// A deadline was met that is no multiple of the leases' step.
    private(set) var isOffStep = false
    private var seen = VisitedSet()
    private let statements: StatementCheck
    private(set) var applied: [Int]

    /// - Parameter statesBefore: the states of the worlds before this one.
    init(
        _ walk: PolicyWalk, _ world: SmallWorld, _ leases: LeaseAbstraction?, _ bounds: SearchBounds, statesBefore: Int
    ) {
        (self.leases, self.bounds, self.statesBefore) = (leases, bounds, statesBefore)
        cursor = SearchCursor(
            world, walk.symmetry(of: world, leases), walk.policy, lateRecorders: walk.scope.lateRecorders)
        statements = StatementCheck(cursor.state.arbiter)
        applied = walk.policy.statements.map { _ in 0 }
        _ = seen.insert(cursor.fingerprint())
        next = [(cursor.state, cursor.tree.append(parent: 0, choice: 0))]
        if let broken = violation() { found = (0, broken.message, broken.statement) }
    }

    mutating func run(_ limiter: SearchLimiter) { if found == nil { walk(depthMax: bounds.depthMax, limiter) } }

    mutating func expand(_ one: (state: ExploredState, number: Int), _ limiter: SearchLimiter) -> Bool {
        cursor.world.forEachChoice(in: one.state, answers: cursor.lateRecorders) { choice, events, now in
            guard let leases, choice == SmallWorld.timePasses else {
                return advance(one.state, one.number, choice, events, now, limiter)
            }
            let passed = leases.forEachPassing(from: one.state) { choice, state, now in
                advance(state, one.number, choice, events, now, limiter)
            }
            isOffStep = passed == nil
            return passed ?? false
        }
    }

    private mutating func advance(
        _ state: ExploredState, _ number: Int, _ choice: Int, _ events: [Event], _ now: Moment, _ limiter: SearchLimiter
    ) -> Bool {
        if let message = cursor.step(from: state, events, now) { return fail(message, nil, number, choice) }
        cursor.transitions += 1
        if seen.insert(cursor.fingerprint()) {
            if let broken = violation() { return fail(broken.message, broken.statement, number, choice) }
            next.append((cursor.state, cursor.tree.append(parent: number, choice: choice)))
            if statesBefore + cursor.tree.count >= min(bounds.statesMax, SearchTree.countMax) {
                cursor.cutOffBy = .states
            }
        }
        return cursor.mayGoOn(limiter)
    }

    private mutating func fail(_ message: String, _ statement: String?, _ parent: Int, _ choice: Int) -> Bool {
        found = (cursor.tree.append(parent: parent, choice: choice), message, statement)
        return false
    }

    private mutating func violation() -> (message: String, statement: String?)? {
        let arbiter = cursor.state.arbiter
        if let message = arbiter.violations().first ?? cursor.state.lostWakeUp { return (message, nil) }
        guard let (statement, sessions) = statements.broken(in: arbiter, counting: &applied) else { return nil }
        let culprits = statements.words(statement, sessions, in: arbiter, cursor.world.names.name(of:))
        return ("the statement “\(statement.name)” is broken by \(culprits)", statement.name)
    }
}
