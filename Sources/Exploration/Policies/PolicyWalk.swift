public import Arbiter
import ArbiterProtocol
public import Scenario

/// What may happen in the worlds that are walked.
public enum WalkScope: Sendable, Hashable {
    /// What a policy can see: apps, facts, claims and time. Recorders answer at once, and the machine is whole.
    case policy
    /// Besides, recorders answer whenever they like, cameras are unplugged and plugged in, and clients vanish. Most of
    /// that is nothing to a policy, and makes a world many times as large.
    case everything

    var lateRecorders: Bool { self == .everything }
    var machineEvents: Bool { self == .everything }
}

/// Walks every state that the small worlds of a policy can reach, breadth first, and holds each of them to the
/// invariants of the contract and to the policy's own statements.
public struct PolicyWalk: Sendable {
    public let policy: Policy
    public let clients: Int
    public let cameras: Int
    public let scope: WalkScope
    let worlds: [SmallWorld]
    /// Two states that are each other's mirror image are walked once.
    let isFolded: Bool
    /// Nil: what is left of leases is counted.
    let leases: Leases?

    public struct Report: Sendable {
        public var worlds = 0
        /// Those that there are; fewer were walked where a bound was met.
        public var worldsInAll = 0
        public var states = 0
        public var transitions = 0
        /// Worlds that were walked again with leases counted, to see whether what was found broken is.
        public var recounted = 0
        /// Steps of the longest way that had to be gone.
        public var depth = 0
        /// Nil: every state that can be reached was.
        public var cutOffBy: SearchBound?
        public var finding: Finding?
        public var isComplete: Bool { cutOffBy == nil && finding == nil }
    }

    /// A broken promise, and the shortest way to it.
    public struct Finding: Sendable {
        public var message: String
        /// The statement's name; nil where an invariant is broken.
        public var statement: String?
        /// Events, recorders' answers included.
        public var length: Int
        /// A scenario that `camclient test` runs; the broken promise stands in its first line.
        public var scenario: String
    }

    /// - Parameters:
    ///   - allCasts: every choice of kinds of clients, not only enough that every two kinds meet.
    ///   - countsLeases: states that differ in nothing but what is left of leases are walked each. Slow, and only of
    ///     use to those who doubt the other way.
    public init(
        _ policy: Policy, clients: Int, cameras: Int, scope: WalkScope = .everything, allCasts: Bool = false,
        isFolded: Bool = true, countsLeases: Bool = false
    ) throws(ScenarioError) {
        self.policy = policy
        self.clients = clients
        self.cameras = cameras
        self.scope = scope
        self.isFolded = isFolded
        leases = countsLeases ? nil : Leases(policy)
        worlds = try SmallWorld.worlds(
            [policy], clients: clients, cameras: cameras, scope: scope, allCasts: allCasts)
    }

    /// Who stands for whom, and what counts.
    func cast(of world: SmallWorld, _ leases: Leases?) -> FoldedCast {
        var cast = isFolded ? world.cast : world.cast.unfolded
        cast.countsLeases = leases == nil
        return cast
    }

    /// - Parameter policyLine: what a scenario calls the policy: `kiosk.toml`, or a block of TOML.
    public func run(
        _ bounds: SearchBounds = SearchBounds(), policyLine: String, policies: String = ".",
        watch: SearchWatch = { _ in nil }
    ) -> Report {
        var report = Report()
        report.worldsInAll = worlds.count
        for world in worlds {
            report.worlds += 1
            var search = WorldSearch(self, world, leases, bounds, report)
            search.run(watch)
            report.count(search)
            if search.leases != nil, search.found != nil || search.isOffStep {
                // Whether it is broken when leases last as long as they do, and how soon.
                report.recounted += 1
                search = WorldSearch(self, world, nil, bounds, report)
                search.run(watch)
                report.count(search)
            }
            if let found = search.found {
                let story = Story(world, policyLine: policyLine, policies: policies)
                report.finding = story.finding(found, search.ways, policy, scope)
                return report
            }
            report.cutOffBy = search.cutOffBy ?? report.cutOffBy
            // Depth is each world's own bound; the others are all worlds' together.
            if let cut = search.cutOffBy, cut != .depth { return report }
        }
        return report
    }
}

extension PolicyWalk.Report {
    fileprivate mutating func count(_ search: WorldSearch) {
        states += search.ways.count
        transitions += search.transitions
        depth = max(depth, search.depth)
    }
}

/// The walk of one world.
private struct WorldSearch {
    let world: SmallWorld
    let cast: FoldedCast
    let scope: WalkScope
    let leases: Leases?
    let bounds: SearchBounds
    let before: PolicyWalk.Report
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

    init(
        _ walk: PolicyWalk, _ world: SmallWorld, _ leases: Leases?, _ bounds: SearchBounds,
        _ before: PolicyWalk.Report
    ) {
        self.world = world
        self.leases = leases
        self.bounds = bounds
        self.before = before
        scope = walk.scope
        cast = walk.cast(of: world, leases)
        let start = world.beginning(walk.policy)
        start.fold(world, cast, into: &fold)
        _ = seen.insert(fold.fingerprint(cast))
        frontier = [(start, ways.append(parent: 0, choice: 0))]
        if let message = promise(start) { found = (0, message.message, message.statement) }
    }

    /// So rarely that it costs nothing, and often enough that a bound is met within some milliseconds.
    private static let transitionsBetweenLooks = 4096

    mutating func run(_ watch: SearchWatch) {
        guard found == nil else { return }
        while !frontier.isEmpty {
            guard depth < bounds.depthMax else {
                cutOffBy = .depth
                return
            }
            depth += 1
            for index in frontier.indices {
                guard expand(frontier[index].state, frontier[index].number, watch) else { return }
            }
            swap(&frontier, &next)
            next.removeAll(keepingCapacity: true)
        }
    }

    /// Every step from one state; false ends the walk.
    private mutating func expand(_ state: ExploredState, _ number: Int, _ watch: SearchWatch) -> Bool {
        world.forEachChoice(in: state, answers: scope.lateRecorders) { choice, events, now in
            guard let leases, choice == SmallWorld.timePasses else {
                return advance(state, number, choice, events, now, watch)
            }
            let passed = leases.forEachPassing(from: state) { choice, state, now in
                advance(state, number, choice, events, now, watch)
            }
            isOffStep = passed == nil
            return passed ?? false
        }
    }

    private mutating func advance(
        _ state: ExploredState, _ number: Int, _ choice: Int, _ events: [Event], _ now: Moment, _ watch: SearchWatch
    ) -> Bool {
        var after = state
        after.now = now
        for event in events {
            if let message = after.take(event).wrong.first {
                return fail(message, nil, number, choice)
            }
        }
        if !scope.lateRecorders, let message = after.answerAll().wrong.first {
            return fail(message, nil, number, choice)
        }
        transitions += 1
        after.fold(world, cast, into: &fold)
        if seen.insert(fold.fingerprint(cast)) {
            if let broken = promise(after) { return fail(broken.message, broken.statement, number, choice) }
            next.append((after, ways.append(parent: number, choice: choice)))
            if before.states + ways.count >= min(bounds.statesMax, Ways.countMax) {
                cutOffBy = .states
                return false
            }
        }
        if transitions % Self.transitionsBetweenLooks == 0, let cut = watch(progress) {
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
        SearchProgress(
            world: before.worlds, worlds: before.worldsInAll, states: before.states + ways.count,
            transitions: before.transitions + transitions, depth: depth)
    }

    private func promise(_ state: ExploredState) -> (message: String, statement: String?)? {
        if let message = state.arbiter.violations().first ?? state.lostWakeUp { return (message, nil) }
        return state.brokenStatement(world)
    }
}

extension ExploredState {
    func brokenStatement(_ world: SmallWorld) -> (message: String, statement: String?)? {
        guard let (statement, sessions) = arbiter.brokenStatement() else { return nil }
        let names = sessions.map { world.names.name(of: $0) }
        return ("the statement “\(statement.name)” is broken by \(names.joined(separator: " and "))", statement.name)
    }
}
