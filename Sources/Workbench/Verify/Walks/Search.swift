import Arbiter
import ArbiterProtocol
import Scenario

/// What each search of one world has in hand: how far it has come, and the state that it looks at just now, in memory that
/// is used again and again, since most states are known already.
struct SearchCursor {
    let world: SmallWorld
    let symmetry: AppSymmetry
    /// Recorders answer as steps of their own; else at once, within the step.
    let lateRecorders: Bool
    private(set) var state: ExploredState
    var tree = SearchTree()
    var transitions = 0
    var depth = 0
    var cutOffBy: SearchBound?
    private var memory: StepMemory
    private var canonical = CanonicalState()

    init(_ world: SmallWorld, _ symmetry: AppSymmetry, _ policy: Policy, lateRecorders: Bool) {
        (self.world, self.symmetry, self.lateRecorders) = (world, symmetry, lateRecorders)
        state = world.beginning(policy)
        memory = StepMemory(for: state.arbiter)
    }

    mutating func leave(_ before: ExploredState, at now: Moment) {
        state.become(before)
        state.now = now
    }

    mutating func take(_ event: Event) -> String? { state.take(event, in: &memory).first }

    /// Goes on from a state: the events of one moment, and what recorders answer at once.
    /// - Returns: what went wrong first.
    mutating func step(from before: ExploredState, _ events: [Event], _ now: Moment) -> String? {
        leave(before, at: now)
        var wrong: String?
        for event in events { if let mistake = take(event) { wrong = wrong ?? mistake } }
        if lateRecorders { return wrong }
        for _ in 0..<ExploredState.answersMax {
            guard let answer = state.duties.firstAnswer else { return wrong }
            if let mistake = take(answer) { wrong = wrong ?? mistake }
        }
        return wrong ?? ExploredState.endless
    }

    /// - Parameter mark: what a cursor remembers of a session besides.
    mutating func fingerprint(mark: ((SessionID) -> UInt64)? = nil) -> Fingerprint {
        state.canonicalize(symmetry, into: &canonical, mark: mark)
        return canonical.fingerprint(symmetry)
    }

    /// So rarely that it costs nothing, and often enough that a bound is met within some milliseconds.
    private static let transitionsBetweenLooks = 4096

    mutating func mayGoOn(_ limiter: SearchLimiter) -> Bool {
        if transitions % Self.transitionsBetweenLooks == 0, cutOffBy == nil {
            cutOffBy = limiter(SearchProgress(states: tree.count, transitions: transitions, depth: depth))
        }
        return cutOffBy == nil
    }
}

protocol LevelSearch {
    associatedtype Reached
    var cursor: SearchCursor { get set }
    var next: [Reached] { get set }
    /// - Returns: false where the cursor is over.
    mutating func expand(_ one: Reached, _ limiter: SearchLimiter) -> Bool
}

extension LevelSearch {
    mutating func walk(depthMax: Int, _ limiter: SearchLimiter) {
        while !next.isEmpty {
            guard cursor.depth < depthMax else {
                cursor.cutOffBy = .depth
                return
            }
            cursor.depth += 1
            // Taken out, so that its states are read where they are while the next ones are gathered.
            let level = next
            next = []
            for index in level.indices { guard expand(level[index], limiter) else { return } }
        }
    }
}

/// What ends a cursor before it is complete.
public enum SearchBound: String, Sendable, Hashable, CaseIterable {
    case states, time, memory, depth

    /// As the end of “it was cut off …”.
    public var sentence: String { self == .depth ? "by the bound on steps" : "by the bound on \(rawValue)" }
}

/// How far a cursor may go. It has no clock: whoever started it looks at time and memory, and says when to stop.
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
    /// By the clock that whoever began it gave.
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
        guard let place = place(for: wanted) else { return false }
        places[place] = wanted
        count += 1
        return true
    }

    /// Nil: it is there.
    private func place(for fingerprint: Fingerprint) -> Int? {
        var index = Int(truncatingIfNeeded: fingerprint.first) & mask
        while places[index] != Self.free {
            if places[index] == fingerprint { return nil }
            index = (index + 1) & mask
        }
        return index
    }

    private mutating func grow() {
        let old = places
        places = Array(repeating: Self.free, count: 2 * old.count)
        mask = places.count - 1
        for fingerprint in old where fingerprint != Self.free {
            if let place = place(for: fingerprint) { places[place] = fingerprint }
        }
    }
}

/// How each state of a walk was reached: from which, and by which of the things that may happen there.
/// Six bytes a state; the states themselves are not kept.
struct SearchTree {
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

    func choice(of state: Int) -> Int { Int(choices[state]) }

    func path(to state: Int) -> [Int] { states(to: state).map { Int(choices[$0]) } }

    /// The states on the way, without the first.
    func states(to state: Int) -> [Int] {
        var path: [Int] = []
        var index = state
        while index > 0 {
            path.append(index)
            index = Int(parents[index])
        }
        return path.reversed()
    }
}
