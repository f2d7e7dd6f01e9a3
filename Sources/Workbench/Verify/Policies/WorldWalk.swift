import Arbiter
import ArbiterProtocol
import Explain
import Scenario

/// The walk of one world: every state, breadth first, each looked at once.
struct WorldWalk: LevelSearch {
    var scout: Scout
    var next: [(state: ExploredState, number: Int)] = []
    let leases: Leases?
    private let bounds: SearchBounds
    /// Walked before this world.
    private let statesBefore: Int
    private(set) var found: (state: Int, message: String, statement: String?)?
    /// A deadline was met that is not where `leases` take deadlines to be.
    private(set) var isOffStep = false
    private var seen = VisitedSet()
    private let statements: StatementCheck
    private(set) var applied: [Int]

    init(_ walk: PolicyWalk, _ world: SmallWorld, _ leases: Leases?, _ bounds: SearchBounds, statesBefore: Int) {
        (self.leases, self.bounds, self.statesBefore) = (leases, bounds, statesBefore)
        scout = Scout(world, walk.cast(of: world, leases), walk.policy, lateRecorders: walk.scope.lateRecorders)
        statements = StatementCheck(scout.state.arbiter)
        applied = walk.policy.statements.map { _ in 0 }
        _ = seen.insert(scout.fingerprint())
        next = [(scout.state, scout.ways.append(parent: 0, choice: 0))]
        if let message = promise() { found = (0, message.message, message.statement) }
    }

    mutating func run(_ limiter: SearchLimiter) { if found == nil { walk(depthMax: bounds.depthMax, limiter) } }

    mutating func expand(_ one: (state: ExploredState, number: Int), _ limiter: SearchLimiter) -> Bool {
        scout.world.forEachChoice(in: one.state, answers: scout.lateRecorders) { choice, events, now in
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
        if let message = scout.step(from: state, events, now) { return fail(message, nil, number, choice) }
        scout.transitions += 1
        if seen.insert(scout.fingerprint()) {
            if let broken = promise() { return fail(broken.message, broken.statement, number, choice) }
            next.append((scout.state, scout.ways.append(parent: number, choice: choice)))
            if statesBefore + scout.ways.count >= min(bounds.statesMax, Ways.countMax) { scout.cutOffBy = .states }
        }
        return scout.mayGoOn(limiter)
    }

    private mutating func fail(_ message: String, _ statement: String?, _ parent: Int, _ choice: Int) -> Bool {
        found = (scout.ways.append(parent: parent, choice: choice), message, statement)
        return false
    }

    private mutating func promise() -> (message: String, statement: String?)? {
        if let message = scout.state.arbiter.violations().first ?? scout.state.lostWakeUp { return (message, nil) }
        guard let (statement, sessions) = statements.broken(in: scout.state.arbiter, counting: &applied) else {
            return nil
        }
        let names = scout.world.names
        let culprits = statements.words(statement, sessions, in: scout.state.arbiter, names.name(of:))
        return ("the statement “\(statement.name)” is broken by \(culprits)", statement.name)
    }
}
