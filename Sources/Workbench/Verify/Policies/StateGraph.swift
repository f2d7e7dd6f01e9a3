import Arbiter
public import ArbiterProtocol
import Explain
import Scenario

/// The states of one small world up to what a person sees: who has the camera, who waits or is held back, who was warned. The world's
/// moves lead from one such situation to another.
public struct StateGraph: Sendable {
    /// As many as a reader can follow on one page.
    public static let situationsMax = 40
    /// As many as read as one picture: of such worlds the richest is shown.
    private static let situationsLiked = 16
    /// Trying the worlds takes a second or two.
    private static let statesTried = 2000
    private static let worldsTried = 24
    private static let statesMax = 40_000

    public struct Situation: Sendable {
        public var sessions: [(name: String, does: Doing)]
        /// The fewest moves from the beginning.
        public var depth: Int
    }

    public enum Doing: Hashable, Sendable {
        case off, begins
        case has(note: String)
        case watches
        case waits
        case heldBack(String)

        public var words: String {
            switch self {
            case .off: "off"
            case .begins: "begins"
            case .has(let note): note.isEmpty ? "has the camera" : "has the camera, \(note)"
            case .watches: "watches"
            case .waits: "waits"
            case .heldBack(let cause): "held back: \(cause)"
            }
        }
    }

    /// From one situation to another, by their places.
    public struct Step: Sendable {
        public var from: Int
        public var to: Int
        /// Scenario lines, in the order of the world's moves.
        public var moves: [String]
    }

    public private(set) var setup: [String] = []
    /// Breadth first.
    public private(set) var situations: [Situation] = []
    public private(set) var steps: [Step] = []
    /// The states that these situations stand for.
    public private(set) var states = 0
    /// Situations beyond `situationsMax`.
    public private(set) var leftOut = 0
    public private(set) var isCutOff = false

    /// The graph of one world of two clients and one camera, where the policy has one.
    /// - Parameter mayGoOn: asked between two states; a clock belongs to the caller.
    public init?(_ policy: Policy, while mayGoOn: () -> Bool = { true }) {
        guard let walk = try? PolicyWalk(policy, clients: 2, cameras: 1, scope: .policy) else { return nil }
        var best: (graph: StateGraph, world: SmallWorld)?
        // Worlds that statements need have more clients.
        for world in walk.worlds.filter({ $0.sessionCount <= 2 }).prefix(Self.worldsTried) {
            let graph = StateGraph(world, policy, statesMax: Self.statesTried, while: mayGoOn)
            if best.map({ graph.isBetter(than: $0.graph) }) ?? true { best = (graph, world) }
        }
        guard let best else { return nil }
        self =
            best.graph.isCutOff
            ? StateGraph(best.world, policy, statesMax: Self.statesMax, while: mayGoOn) : best.graph
    }

    /// The most situations that are one picture; beyond that the fewest.
    private func isBetter(than other: StateGraph) -> Bool {
        let (mine, others) = (situations.count + leftOut, other.situations.count + other.leftOut)
        let (fits, othersFits) = (mine <= Self.situationsLiked, others <= Self.situationsLiked)
        if fits != othersFits { return fits }
        return fits ? mine > others : mine < others
    }

    private struct Pair: Hashable {
        var from: Int
        var to: Int
    }

    private init(_ world: SmallWorld, _ policy: Policy, statesMax: Int, while mayGoOn: () -> Bool) {
        setup = world.cameraLines + world.setupLines
        var known: [[Doing]: Int] = [:]
        var moves: [Pair: Set<Int>] = [:]
        var seen = VisitedSet()
        var canonical = CanonicalState()
        let symmetry = world.symmetry.withoutReduction
        func isNew(_ state: ExploredState) -> Bool {
            state.canonicalize(symmetry, into: &canonical)
            return seen.insert(canonical.fingerprint(symmetry))
        }
        let start = world.beginning(policy)
        _ = isNew(start)
        var frontier = [(state: start, place: place(of: start, world, depth: 0, &known))]
        var depth = 0
        states = 1
        while !frontier.isEmpty, !isCutOff {
            depth += 1
            var next: [(ExploredState, Int?)] = []
            for (state, from) in frontier {
                _ = world.forEachChoice(in: state, answers: false) { choice, events, now in
                    var after = state
                    after.perform(events, at: now)
                    let to = place(of: after, world, depth: depth, &known)
                    if let from, let to, from != to { moves[Pair(from: from, to: to), default: []].insert(choice) }
                    guard isNew(after) else { return true }
                    states += 1
                    if states >= statesMax { isCutOff = true }
                    next.append((after, to))
                    return !isCutOff
                }
                if !mayGoOn() { isCutOff = true }
                if isCutOff { break }
            }
            frontier = next
        }
        leftOut = known.count - situations.count
        steps = moves.map { pair, choices in
            Step(from: pair.from, to: pair.to, moves: choices.sorted().map { world.words(of: $0) })
        }.sorted { ($0.from, $0.to) < ($1.from, $1.to) }
    }

    /// The situation's place, which is made where there is room.
    private mutating func place(
        of state: ExploredState, _ world: SmallWorld, depth: Int, _ known: inout [[Doing]: Int]
    ) -> Int? {
        let seen = Self.look(state.arbiter, world.names)
        let doings = seen.map(\.does)
        if let place = known[doings] { return place < situations.count ? place : nil }
        guard situations.count < Self.situationsMax else {
            known[doings] = Int.max
            return nil
        }
        known[doings] = situations.count
        situations.append(Situation(sessions: seen, depth: depth))
        return situations.count - 1
    }

    private static func look(_ arbiter: Arbiter, _ names: Names) -> [(name: String, does: Doing)] {
        let status = arbiter.status()
        return status.sessions.map { session in
            let camera = status.cameras.first { $0.id == session.camera }
            return (names.name(of: session.id), doing(session, camera, names))
        }
    }

    private static func doing(
        _ session: Status.SessionStatus, _ camera: Status.CameraStatus?, _ names: Names
    ) -> Doing {
        switch session.state {
        case .stopped: return .off
        case .starting: return .begins
        case .interrupted:
            if session.causes.contains(.videoDeviceInUseByAnotherClient) { return .waits }
            return .heldBack(session.causes.reason?.shortName ?? "for no cause of its own")
        case .running where !session.isHolder: return .watches
        case .running:
            var notes: [String] = []
            if session.access != .all { notes.append("\(session.access.names.joined(separator: "+")) only") }
            if session.isRecording { notes.append("records") }
            if let next = camera?.next, next != session.id { notes.append("told to yield to \(names.name(of: next))") }
            return .has(note: notes.joined(separator: ", "))
        }
    }
}

extension SmallWorld {
    fileprivate var sessionCount: Int {
        setup.reduce(0) { count, action in
            if case .event(.created) = action { count + 1 } else { count }
        }
    }

    fileprivate func words(of choice: Int) -> String {
        choice == Self.timePasses ? "time passes" : moves[choice].lines.joined(separator: "; ")
    }
}
