import Arbiter
import ArbiterProtocol
import Explain
import Scenario

/// The walk of one world: every state, breadth first, each looked at once.
struct WorldWalk {
    let world: SmallWorld
    package let cast: FoldedCast
    let scope: WalkScope
    package let leases: Leases?
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
    private(set) var applied: [Int]
    /// The state that the walk looks at just now, in memory that is used again and again: most are known already.
    private var after: ExploredState
    private var memory: StepMemory

    init(_ walk: PolicyWalk, _ world: SmallWorld, _ leases: Leases?, _ bounds: SearchBounds, statesBefore: Int) {
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

    private var progress: SearchProgress { SearchProgress(states: ways.count, transitions: transitions, depth: depth) }

    private mutating func promise(_ state: ExploredState) -> (message: String, statement: String?)? {
        if let message = state.arbiter.violations().first ?? state.lostWakeUp { return (message, nil) }
        guard let (statement, sessions) = statements.broken(in: state.arbiter, counting: &applied) else { return nil }
        let culprits = statements.words(statement, sessions, in: state.arbiter) { world.names.name(of: $0) }
        return ("the statement “\(statement.name)” is broken by \(culprits)", statement.name)
    }
}

/// What ends a search before it is complete.
public enum SearchBound: String, Sendable, Hashable, CaseIterable {
    case states, time, memory, depth

    /// As the end of “it was cut off …”.
    public var sentence: String {
        switch self {
        case .states: "by the bound on states"
        case .time: "by the bound on time"
        case .memory: "by the bound on memory"
        case .depth: "by the bound on steps"
        }
    }
}

/// How far a search may go. It has no clock: whoever started it looks at time and memory, and says when to stop.
public struct SearchBounds: Sendable {
    /// Over all worlds together.
    public var statesMax: Int
    /// Steps from the beginning of a world.
    public var depthMax: Int

    public init(statesMax: Int = .max, depthMax: Int = .max) {
        self.statesMax = statesMax
        self.depthMax = depthMax
    }
}

/// How far a search has come.
public struct SearchProgress: Sendable {
    /// From 1.
    public var world = 0
    public var worlds = 0
    public var states = 0
    public var transitions = 0
    public var depth = 0
    /// Of several walks that are done together, which one this is about, from 0 on.
    public var walk = 0
    /// Worlds of all walks that are walked at this moment.
    public var worldsAtOnce = 1
    /// Since it began, as the clock has it that whoever began it gave.
    public var elapsed = Duration.zero

    /// The same of all worlds, of which some were walked before this one.
    func inWorld(_ world: Int, of worlds: Int, behind states: Int, _ transitions: Int) -> SearchProgress {
        var all = self
        (all.world, all.worlds) = (world, worlds)
        all.states += states
        all.transitions += transitions
        return all
    }
}

/// Asked every few thousand transitions: nil goes on.
public typealias SearchLimiter = (SearchProgress) -> SearchBound?

/// The states that a walk has been to: their fingerprints, in one flat table. 16 bytes a place, open addressing, at
/// most two thirds full: no allocation for an element, and one cache line for most look-ups.
struct VisitedSet {
    private var places: [Fingerprint]
    private var mask: Int
    private var count = 0

    /// What stands in a place that is free; a fingerprint that happens to be it is moved by one.
    private static let free = Fingerprint(first: 0, second: 0)

    init() {
        places = Array(repeating: Self.free, count: 1 << 12)
        mask = places.count - 1
    }

    /// False: it was there.
    mutating func insert(_ fingerprint: Fingerprint) -> Bool {
        let wanted = fingerprint == Self.free ? Fingerprint(first: 0, second: 1) : fingerprint
        if 3 * count >= 2 * places.count { grow() }
        var index = Int(truncatingIfNeeded: wanted.first) & mask
        while places[index] != Self.free {
            if places[index] == wanted { return false }
            index = (index + 1) & mask
        }
        places[index] = wanted
        count += 1
        return true
    }

    private mutating func grow() {
        let old = places
        places = Array(repeating: Self.free, count: 2 * old.count)
        mask = places.count - 1
        for fingerprint in old where fingerprint != Self.free {
            var index = Int(truncatingIfNeeded: fingerprint.first) & mask
            while places[index] != Self.free { index = (index + 1) & mask }
            places[index] = fingerprint
        }
    }
}

/// How each state of a walk was reached: from which, and by which of the things that may happen there.
/// Six bytes a state; the states themselves are not kept.
struct Ways {
    private var parents: [UInt32] = []
    private var choices: [UInt16] = []

    var count: Int { parents.count }

    /// More do not fit into the numbers; it is far beyond any memory that a walk is given.
    static let countMax = Int(UInt32.max) - 1

    /// The first has no parent.
    mutating func append(parent: Int, choice: Int) -> Int {
        parents.append(UInt32(truncatingIfNeeded: parent))
        choices.append(UInt16(truncatingIfNeeded: choice))
        return parents.count - 1
    }

    func parent(of state: Int) -> Int { Int(parents[state]) }
    func choice(of state: Int) -> Int { Int(choices[state]) }

    func path(to state: Int) -> [Int] {
        var path: [Int] = []
        var index = state
        while index > 0 {
            path.append(Int(choices[index]))
            index = Int(parents[index])
        }
        return path.reversed()
    }
}
