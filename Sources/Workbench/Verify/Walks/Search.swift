import Arbiter
import ArbiterProtocol
import Scenario

/// How far a search of one world has come, and the state that it looks at, in memory that is used again: most states are known.
struct SearchCursor {
    let world: SmallWorld
    let symmetry: AppSymmetry
    /// Recorders answer in steps of their own; else at once, within the step.
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

    /// Takes the events of one moment, and the answers of recorders that answer at once.
    /// - Returns: the first violation.
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

    /// - Parameter mark: what the search remembers of a session.
    mutating func fingerprint(mark: ((SessionID) -> UInt64)? = nil) -> Fingerprint {
        state.canonicalize(symmetry, into: &canonical, mark: mark)
        return canonical.fingerprint(symmetry)
    }

    /// A bound is met within some milliseconds.
    private static let transitionsBetweenLooks = 4096

    mutating func mayGoOn(_ limiter: SearchLimiter) -> Bool {
        if transitions % Self.transitionsBetweenLooks == 0, cutOffBy == nil {
            cutOffBy = limiter(SearchProgress(states: tree.count, transitions: transitions, depth: depth))
        }
        return cutOffBy == nil
    }
}

/// A search level by level.
protocol LevelSearch {
    associatedtype Reached
    var cursor: SearchCursor { get set }
    var next: [Reached] { get set }
    /// - Returns: false where the search is over.
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
            // Taken out, so that its states are not copied while the next are gathered.
            let level = next
            next = []
            for index in level.indices { guard expand(level[index], limiter) else { return } }
        }
    }
}

public enum SearchBound: String, Sendable, Hashable, CaseIterable {
    case states, time, memory, depth

    /// As the end of “it was cut off …”.
    public var sentence: String { self == .depth ? "by the bound on steps" : "by the bound on \(rawValue)" }
}

/// A search has no clock: its `SearchLimiter` looks at time and memory.
public struct SearchBounds: Sendable {
    /// Of all worlds together.
    public var statesMax: Int
    public var depthMax: Int

    public init(statesMax: Int = .max, depthMax: Int = .max) { (self.statesMax, self.depthMax) = (statesMax, depthMax) }
}

public struct SearchProgress: Sendable {
    /// From 1.
    public var world = 0
    public var worlds = 0
    public var states = 0
    public var transitions = 0
    public var depth = 0
    /// Of several walks that are run together, from 0.
    public var walk = 0
    /// Worlds of all walks that are walked at this moment.
    public var worldsAtOnce = 1
    /// By the caller's clock.
    public var elapsed = Duration.zero

    /// The progress through all worlds, of which some were walked before this one.
    func inWorld(_ world: Int, of worlds: Int, behind states: Int, _ transitions: Int) -> SearchProgress {
        var all = self
        (all.world, all.worlds) = (world, worlds)
        all.states += states
        all.transitions += transitions
        return all
    }
}

/// Called every few thousand transitions; `nil` lets the search go on.
public typealias SearchLimiter = (SearchProgress) -> SearchBound?

/// Fingerprints in one flat table of 16 bytes a place, with open addressing, at most two thirds full: no allocation for an element,
/// and one cache line for most look-ups.
struct VisitedSet {
    private var places: [Fingerprint]
    private var mask: Int
    private var count = 0

    /// Marks a free place; a fingerprint that happens to equal it is moved by one.
    private static let free = Fingerprint(first: 0, second: 0)

    init() {
        places = Array(repeating: Self.free, count: 1 << 12)
        mask = places.count - 1
    }

    /// - Returns: false where it is there already.
    mutating func insert(_ fingerprint: Fingerprint) -> Bool {
        let wanted = fingerprint == Self.free ? Fingerprint(first: 0, second: 1) : fingerprint
        if 3 * count >= 2 * places.count { grow() }
        guard let place = place(for: wanted) else { return false }
        places[place] = wanted
        count += 1
        return true
    }

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

/// Each state's parent, and the choice that led from there: six bytes a state. The states themselves are not kept.
struct SearchTree {
    private var parents: [UInt32] = []
    private var choices: [UInt16] = []

    var count: Int { parents.count }

    static let countMax = Int(UInt32.max) - 1

    mutating func append(parent: Int, choice: Int) -> Int {
        parents.append(UInt32(truncatingIfNeeded: parent))
        choices.append(UInt16(truncatingIfNeeded: choice))
        return parents.count - 1
    }

    func choice(of state: Int) -> Int { Int(choices[state]) }

    func path(to state: Int) -> [Int] { states(to: state).map { Int(choices[$0]) } }

    /// The states on the path, without the first.
    func states(to state: Int) -> [Int] {
        sequence(first: state) { Int(parents[$0]) }.prefix { $0 > 0 }.reversed()
    }
}
