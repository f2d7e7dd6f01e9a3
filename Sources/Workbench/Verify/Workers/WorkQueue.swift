import Arbiter
import ArbiterProtocol

public struct PlannedWalk: Sendable {
    public var walk: PolicyWalk
    public var bounds: SearchBounds
    /// How a scenario names the policy: `kiosk.toml`, or a block of TOML.
    public var policyLine: String
    public var policies: String
    /// Worlds, by their numbers from 0, that an earlier run walked whole: they are not walked again.
    public var known: [Int: WalkedWorld]

    public init(
        _ walk: PolicyWalk, _ bounds: SearchBounds = SearchBounds(), policyLine: String, policies: String = ".",
        known: [Int: WalkedWorld] = [:]
    ) {
        (self.walk, self.bounds, self.policyLine, self.policies) = (walk, bounds, policyLine, policies)
        self.known = known.filter { number, world in
            walk.worlds.indices.contains(number) && world.applied.count == walk.policy.statements.count
        }
    }
}

/// The figures of a world that was walked to its end without a finding.
public struct WalkedWorld: Hashable, Sendable {
    public var states: Int
    public var transitions: Int
    public var depth: Int
    /// 1: the world was walked again with leases counted.
    public var recounted: Int
    /// For each statement, in how many states it applied.
    public var applied: [Int]

    public init(states: Int = 0, transitions: Int = 0, depth: Int = 0, recounted: Int = 0, applied: [Int]) {
        (self.states, self.transitions, self.depth) = (states, transitions, depth)
        (self.recounted, self.applied) = (recounted, applied)
    }

    mutating func count(_ walk: WorldWalk) {
        states += walk.cursor.tree.count
        transitions += walk.cursor.transitions
        depth = max(depth, walk.cursor.depth)
        // A second walk of a world has the same states.
        applied = walk.applied
    }
}

/// The result of one of the walks that were run together.
public struct WalkEnd: Sendable {
    /// The walk's place among the planned ones, from 0.
    public var walk: Int
    public var report: PolicyWalk.Report
    /// From the start of its first world to the end of its last, by the caller's clock.
    public var took: Duration
}

/// Which thread walks which world, and with what result. The queue has no threads and walks nothing.
struct WorkQueue {
    struct Place: Hashable, Comparable {
        var walk: Int
        var world: Int

        static func < (a: Place, b: Place) -> Bool { (a.walk, a.world) < (b.walk, b.world) }
    }

    struct Walked {
        var figures: WalkedWorld
        var cutOffBy: SearchBound?
        var finding: PolicyWalk.Finding?
        /// The states of the worlds before it, as known when it began; `nil` for a world of an earlier run.
        var statesBefore: Int?
    }

    enum Task {
        case walk(Place, statesBefore: Int)
        /// Nothing to do now, but a world may be given back.
        case wait
        case none
    }

    struct Walk {
        var statesMax: Int
        var walked: [Walked?]
        var next = 0
        /// Worlds after this one do not matter any more, since it has a finding.
        var last: Int
        var cut: SearchBound?
        var begun: Moment?
        var ended: Moment?

        func states(before world: Int) -> Int { walked[..<world].reduce(0) { $0 + ($1?.figures.states ?? 0) } }

        /// The next world to walk, unless the known states before it already end the walk.
        mutating func take() -> (world: Int, statesBefore: Int)? {
            while next <= last, walked[next] != nil { next += 1 }
            guard cut == nil, next <= last else { return nil }
            let states = states(before: next)
            guard states < statesMax else { return nil }
            defer { next += 1 }
            return (next, states)
        }

        var hasWorldsLeft: Bool {
            var copy = self
            return copy.take() != nil
        }

        var took: Duration { begun.flatMap { begun in ended.map { $0 - begun } } ?? .zero }
    }

    private(set) var walks: [Walk]
    private var underWay: [(place: Place, progress: SearchProgress)?]
    /// Threads that are to stop and give their worlds back, because memory is short.
    private var givingBack: Set<Int> = []
    /// Each of these worlds is walked while no other is.
    private var givenBack: [Place] = []
    private var isOneAlone = false
    private var fresh: [Place] = []

    init(_ plans: [PlannedWalk], threads: Int) {
        underWay = Array(repeating: nil, count: threads)
        walks = plans.map { plan in
            let count = plan.walk.worlds.count
            let walked = (0..<count).map { world in plan.known[world].map { Walked(figures: $0) } }
            return Walk(statesMax: plan.bounds.statesMax, walked: walked, last: count - 1)
        }
    }

    private var isAnybodyWalking: Bool { underWay.contains { $0 != nil } }

    mutating func begin(thread: Int, at now: Moment) -> Task {
        if isOneAlone || !givingBack.isEmpty { return .wait }
        givenBack = givenBack.filter(isNeeded)
        if let place = givenBack.first {
            if isAnybodyWalking { return .wait }
            givenBack.removeFirst()
            isOneAlone = true
            return begin(place, walks[place.walk].states(before: place.world), thread, now)
        }
        for index in walks.indices {
            guard let (world, states) = walks[index].take() else { continue }
            return begin(Place(walk: index, world: world), states, thread, now)
        }
        return isAnybodyWalking ? .wait : .none
    }

    private mutating func begin(_ place: Place, _ states: Int, _ thread: Int, _ now: Moment) -> Task {
        underWay[thread] = (place, SearchProgress())
        walks[place.walk].begun = walks[place.walk].begun ?? now
        return .walk(place, statesBefore: states)
    }

    private func isNeeded(_ place: Place) -> Bool {
        let walk = walks[place.walk]
        return walk.cut == nil && place.world <= walk.last && walk.states(before: place.world) < walk.statesMax
    }

    mutating func finish(thread: Int, _ walked: Walked, at now: Moment) {
        guard let place = underWay[thread]?.place else { return }
        underWay[thread] = nil
        isOneAlone = false
        if givingBack.remove(thread) != nil, walked.cutOffBy == .memory {
            givenBack = (givenBack + [place]).sorted()
        } else {
            walks[place.walk].walked[place.world] = walked
            if walked.finding != nil {
                walks[place.walk].last = min(walks[place.walk].last, place.world)
            } else if walked.cutOffBy == nil {
                fresh.append(place)
            }
        }
        if isOver(place.walk) { walks[place.walk].ended = now }
    }

    mutating func note(thread: Int, _ progress: SearchProgress) { underWay[thread]?.progress = progress }

    /// Why a thread is to stop; `nil` lets it go on.
    func stop(thread: Int) -> SearchBound? {
        guard let place = underWay[thread]?.place else { return nil }
        if givingBack.contains(thread) { return .memory }
        // Worlds after a finding do not matter; the bound that is given here is never shown.
        return walks[place.walk].cut ?? (place.world > walks[place.walk].last ? .time : nil)
    }

    /// Of each walk that is under way and not cut off: the worlds that are done, and those that are being walked.
    func progress(at now: Moment) -> [SearchProgress] {
        let busy = underWay.compactMap(\.self)
        return walks.indices.filter { index in busy.contains { $0.place.walk == index } && walks[index].cut == nil }.map
        {
            index in
            let walk = walks[index]
            var sum = SearchProgress(world: min(walk.next, walk.walked.count), worlds: walk.walked.count)
            (sum.walk, sum.worldsAtOnce, sum.elapsed) = (index, busy.count, now - (walk.begun ?? now))
            for figures in walk.walked.compactMap({ $0?.figures }) {
                sum.states += figures.states
                sum.transitions += figures.transitions
            }
            for one in busy where one.place.walk == index {
                sum.states += one.progress.states
                sum.transitions += one.progress.transitions
                sum.depth = max(sum.depth, one.progress.depth)
            }
            return sum
        }
    }

    /// A bound is met. Where several worlds together take too much memory, the largest goes on alone, and its walk is cut off
    /// only if that does not help.
    /// - Parameter worldsAtOnce: how many worlds were being walked when the bound was found to be met.
    mutating func meet(_ bound: SearchBound, in walk: Int, worldsAtOnce: Int) {
        guard bound == .memory else {
            walks[walk].cut = walks[walk].cut ?? bound
            return
        }
        // The memory of a world that is being given back is not free yet.
        guard givingBack.isEmpty else { return }
        let busy = underWay.indices.filter { underWay[$0] != nil }
        guard busy.count > 1 else {
            // Worlds that ended meanwhile freed their memory: the next look tells whether that is enough.
            if worldsAtOnce == 1 { walks[walk].cut = walks[walk].cut ?? .memory }
            return
        }
        func states(_ thread: Int) -> Int { underWay[thread]?.progress.states ?? 0 }
        let largest = busy.dropFirst().reduce(busy[0]) { states($1) > states($0) ? $1 : $0 }
        givingBack = Set(busy.filter { $0 != largest })
    }

    func isOver(_ walk: Int) -> Bool {
        !underWay.contains { $0?.place.walk == walk } && !givenBack.contains { $0.walk == walk && isNeeded($0) }
            && !walks[walk].hasWorldsLeft
    }

    mutating func takeFresh() -> [Place] {
        defer { fresh = [] }
        return fresh
    }
}
