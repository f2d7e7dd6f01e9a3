import Arbiter
import ArbiterProtocol
import Scenario

/// Looks in one world for a course of events that goes on for ever while somebody asks all along and never runs.
///
/// Such a course in a finite world comes back to a state in which it has been, so it is a way there and a loop; or it ends
/// where nothing has to happen any more. In the loop time has to pass: a client that starts and stops within one moment
/// keeps nobody waiting. Mirror images are told apart here, and what is left of leases is counted: folded, two apps
/// that wait by turns would look like one that waits for ever, and a lease that has just begun would be over.
struct FairSearch {
    /// Somebody who starves, and how.
    struct Found {
        var statement: Statement
        var session: SessionID
        /// The choices from the world's beginning to where the loop begins.
        var stem: [Int]
        /// Empty: nothing has to happen any more.
        var loop: [Int]
    }

    let world: SmallWorld
    private let cast: FoldedCast
    private let scope: WalkScope
    private let statesMax: Int
    private let starving: [Starving]
    private(set) var graph: KeptGraph
    private(set) var depth = 0
    private(set) var cutOffBy: SearchBound?
    private(set) var found: Found?
    private var numbers: [Fingerprint: UInt32] = [:]
    private var next: [ExploredState] = []
    private var fold = StateFold()
    private var after: ExploredState
    private var memory: StepMemory

    /// - Parameter statesMax: more states than this are not looked at.
    init(_ walk: PolicyWalk, _ world: SmallWorld, statesMax: Int) {
        self.world = world
        self.statesMax = statesMax
        scope = walk.scope
        cast = world.cast.unfolded
        after = world.beginning(walk.policy)
        memory = StepMemory(for: after.arbiter)
        let arbiter = after.arbiter
        starving = walk.policy.statements.compactMap { Starving($0, in: arbiter) }
        graph = KeptGraph(statements: starving.count)
        after.fold(world, cast, into: &fold)
        numbers[fold.fingerprint(cast)] = 0
        _ = note(parent: 0, choice: 0)
        next = [after]
    }

    /// So rarely that it costs nothing, and often enough that a bound is met within some milliseconds.
    private static let statesBetweenLooks = 512

    mutating func run(_ limiter: SearchLimiter) {
        var state = 0
        while !next.isEmpty, found == nil, cutOffBy == nil {
            depth += 1
            let level = next
            next = []
            for index in level.indices {
                graph.beginState()
                expand(level[index], state)
                state += 1
                if state % Self.statesBetweenLooks == 0, cutOffBy == nil { cutOffBy = limiter(progress) }
                if found != nil || cutOffBy != nil { break }
            }
        }
        // Also in what a bound left: a loop that was found is one.
        if found == nil { findLoop() }
    }

    private var progress: SearchProgress {
        SearchProgress(states: graph.ways.count, transitions: graph.steps, depth: depth)
    }

    private mutating func expand(_ state: ExploredState, _ number: Int) {
        _ = world.forEachChoice(in: state, answers: scope.lateRecorders) { choice, events, now in
            step(state, number, choice, events, now)
        }
    }

    /// False ends the walk.
    private mutating func step(
        _ state: ExploredState, _ number: Int, _ choice: Int, _ events: [Event], _ now: Moment
    ) -> Bool {
        after.become(state)
        after.now = now
        var bits = starving.indices.map { graph.masks[$0][number] }
        // Whoever runs for a moment within the step does not starve.
        for event in events {
            _ = after.take(event, in: &memory)
            keep(&bits)
        }
        if !scope.lateRecorders {
            for _ in 0..<Self.answersMax {
                guard let answer = after.duties.firstAnswer else { break }
                _ = after.take(answer, in: &memory)
                keep(&bits)
            }
        }
        after.fold(world, cast, into: &fold)
        let fingerprint = fold.fingerprint(cast)
        if let known = numbers[fingerprint] {
            graph.add(choice: choice, to: Int(known), starving: bits)
            return true
        }
        let fresh = note(parent: number, choice: choice)
        numbers[fingerprint] = UInt32(truncatingIfNeeded: fresh)
        graph.add(choice: choice, to: fresh, starving: bits)
        next.append(after)
        if found == nil, graph.ways.count >= statesMax { cutOffBy = .states }
        return found == nil && cutOffBy == nil
    }

    /// Two recorders that answer each other's orders for ever are another walk's finding.
    private static let answersMax = 200

    private func keep(_ bits: inout [Starving.Bits]) {
        for index in starving.indices where bits[index] != 0 { bits[index] &= starving[index].bits(in: after.arbiter) }
    }

    /// The state that the walk is at now, and whoever starves there for ever.
    private mutating func note(parent: Int, choice: Int) -> Int {
        let number = graph.ways.append(parent: parent, choice: choice)
        let isStill = after.duties.areDone && after.arbiter.deadline ?? .distantFuture == .distantFuture
        for index in starving.indices {
            let bits = starving[index].bits(in: after.arbiter)
            graph.masks[index].append(bits)
            if isStill, bits != 0, found == nil {
                found = Found(
                    statement: starving[index].statement,
                    session: starving[index].session(bits.trailingZeroBitCount),
                    stem: graph.ways.path(to: number), loop: [])
            }
        }
        return number
    }

    private mutating func findLoop() {
        for index in starving.indices {
            for bit in starving[index].bits {
                let part = KeptGraph.Part(statement: index, bit: bit)
                guard let loop = graph.loop(in: part, timePasses: SmallWorld.timePasses) else { continue }
                let stem = graph.ways.path(to: loop.entry)
                let isShorter = found.map { stem.count + loop.choices.count < $0.stem.count + $0.loop.count } ?? true
                guard isShorter else { continue }
                found = Found(
                    statement: starving[index].statement, session: starving[index].session(bit), stem: stem,
                    loop: loop.choices)
            }
        }
    }
}
