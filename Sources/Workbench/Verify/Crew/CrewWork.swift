import ArbiterProtocol

/// Which worlds of which walks are walked by whom, and what came of them. It knows no threads and walks nothing: a crew
/// asks it what to do next, and tells it what was done.
struct CrewWork {
    struct Place: Hashable, Comparable {
        var walk: Int
        var world: Int

        static func < (a: Place, b: Place) -> Bool { (a.walk, a.world) < (b.walk, b.world) }
    }

    struct Walked {
        var figures: WalkedWorld
        var cutOffBy: SearchBound?
        var finding: PolicyWalk.Finding?
        /// The states that it was told were walked before it; nil: it was walked in an earlier run.
        var statesBefore: Int?
    }

    enum Task {
        case walk(Place, statesBefore: Int)
        /// Nothing now; it may be that a world is given back.
        case wait
        case none
    }

    struct Walk {
        var statesMax: Int
        var walked: [Walked?]
        var next = 0
        /// Worlds behind this one do not matter any more: in it something is broken.
        var last: Int
        var cut: SearchBound?
        var begun: Moment?
        var ended: Moment?

        func states(before world: Int) -> Int { walked[..<world].reduce(0) { $0 + ($1?.figures.states ?? 0) } }

        /// The next world to walk. None where what is known to come before it is enough to end the walk.
        package mutating func take() -> (world: Int, statesBefore: Int)? {
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
    }

    private struct UnderWay {
        var place: Place
        var progress = SearchProgress()
    }

    private(set) var walks: [Walk]
    private var underWay: [UnderWay?]
    /// Threads that are to stop and give their worlds back, because memory is short.
    private var givingBack: Set<Int> = []
    /// Worlds that were given back. Each is walked while nobody walks another.
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
        // What is being given back is walked before anything else is begun.
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
        underWay[thread] = UnderWay(place: place)
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
            if walked.finding != nil { walks[place.walk].last = min(walks[place.walk].last, place.world) }
            if walked.finding == nil, walked.cutOffBy == nil { fresh.append(place) }
        }
        if isOver(place.walk) { walks[place.walk].ended = now }
    }

    mutating func note(thread: Int, _ progress: SearchProgress) { underWay[thread]?.progress = progress }

    /// Why a thread is to stop; nil: it goes on.
    func stop(thread: Int) -> SearchBound? {
        guard let place = underWay[thread]?.place else { return nil }
        if givingBack.contains(thread) { return .memory }
        // Worlds behind a finding do not matter; the bound that is given here is never shown.
        return walks[place.walk].cut ?? (place.world > walks[place.walk].last ? .time : nil)
    }

    /// Of each walk that is under way and not cut off: what is done for sure, and what is being done.
    func progress(at now: Moment) -> [SearchProgress] {
        let places = underWay.compactMap { $0?.place.walk }
        return walks.indices.filter { places.contains($0) && walks[$0].cut == nil }.map { index in
            let walk = walks[index]
            var sum = SearchProgress(world: min(walk.next, walk.walked.count), worlds: walk.walked.count)
            sum.walk = index
            sum.worldsAtOnce = places.count
            sum.elapsed = now - (walk.begun ?? now)
            for one in walk.walked.compactMap({ $0?.figures }) {
                sum.states += one.states
                sum.transitions += one.transitions
            }
            for one in underWay where one?.place.walk == index {
                guard let one = one?.progress else { continue }
                sum.states += one.states
                sum.transitions += one.transitions
                sum.depth = max(sum.depth, one.depth)
            }
            return sum
        }
    }

    /// A bound is met. Memory is everybody's: where several worlds take it together, the largest goes on alone, and a walk
    /// is cut off only if that does not help.
    /// - Parameter worldsAtOnce: as many as were walked when the bound was found to be met.
    mutating func meet(_ bound: SearchBound, in walk: Int, worldsAtOnce: Int) {
        guard bound == .memory else {
            walks[walk].cut = walks[walk].cut ?? bound
            return
        }
        // What is being given back is not back yet.
        guard givingBack.isEmpty else { return }
        let busy = underWay.indices.filter { underWay[$0] != nil }
        guard busy.count > 1 else {
            // What has ended meanwhile gave its memory back: whether that is enough is found out at the next look.
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

    func took(_ walk: Int) -> Duration {
        guard let begun = walks[walk].begun, let ended = walks[walk].ended else { return .zero }
        return ended - begun
    }
}
