import Arbiter
import ArbiterProtocol
import Explain
import Scenario
import Workbench

extension PolicyWalk {
    /// Looks for two states that the walk takes for one although their successors differ, among the first `statesMax` of each world.
    /// For tests.
    package func audit(statesMax: Int) -> (states: Int, classes: Int, difference: String?) {
        var states = 0
        var classes = 0
        for world in worlds {
            let symmetry = symmetry(of: world, leases)
            var canonical = CanonicalState()
            func fingerprint(_ state: ExploredState) -> Fingerprint {
                state.canonicalize(symmetry, into: &canonical)
                return canonical.fingerprint(symmetry)
            }
            var outcomes: [Fingerprint: (state: ExploredState, next: [Fingerprint])] = [:]
            let start = world.beginning(policy)
            var seen: Set<Fingerprint> = [start.fingerprint]
            var queue = [start]
            var index = 0
            while index < queue.count, index < statesMax {
                let state = queue[index]
                index += 1
                var next: [Fingerprint] = []
                forEachNext(of: state, in: world, leases, answers: true) { after in
                    next.append(fingerprint(after))
                    if seen.insert(after.fingerprint).inserted { queue.append(after) }
                }
                next.sort { ($0.first, $0.second) < ($1.first, $1.second) }
                let own = fingerprint(state)
                if let known = outcomes[own], known.next != next {
                    return (states, classes, Self.difference(known.state, state, world))
                }
                outcomes[own] = outcomes[own] ?? (state, next)
            }
            states += index
            classes += outcomes.count
        }
        return (states, classes, nil)
    }

    private static func difference(_ one: ExploredState, _ other: ExploredState, _ world: SmallWorld) -> String {
        let status = other.arbiter.status().sessions.map { "\(world.names.name(of: $0.id)) \($0.state.rawValue)" }
        let texts = [one, other].map { StateText($0.arbiter.state).text.split(separator: "\n") }
        let differing = zip(texts[0], texts[1]).filter { $0 != $1 }.map { "\($0)\n  against \($1)" }
        return "two states with \(status.joined(separator: ", ")) go on differently:\n"
            + differing.joined(separator: "\n")
    }

    /// How many states, leases apart, a walk reaches without and with leases counted, and how many of the latter the former misses;
    /// `nil` where the policy has no leases, or a world has more than `statesMax`. For tests.
    package func lostWithoutLeases(statesMax: Int) -> (states: Int, counted: Int, lost: Int)? {
        guard let leases else { return nil }
        var found = (states: 0, counted: 0, lost: 0)
        for world in worlds {
            guard let without = reached(world, leases, statesMax), let with = reached(world, nil, statesMax) else {
                return nil
            }
            found.states += without.states
            found.counted += with.states
            found.lost += with.seen.subtracting(without.seen).count
        }
        return found
    }

    private func reached(_ world: SmallWorld, _ leases: LeaseAbstraction?, _ statesMax: Int) -> (
        states: Int, seen: Set<Fingerprint>
    )? {
        let (own, view) = (
            symmetry(of: world, leases),
            symmetry(of: world, LeaseAbstraction([policy], isReplaced: scope.machineEvents))
        )
        var canonical = CanonicalState()
        var known: Set<Fingerprint> = []
        var seen: Set<Fingerprint> = []
        var queue: [ExploredState] = []
        func reach(_ state: ExploredState) {
            state.canonicalize(own, into: &canonical)
            guard known.insert(canonical.fingerprint(own)).inserted else { return }
            state.canonicalize(view, into: &canonical)
            seen.insert(canonical.fingerprint(view))
            queue.append(state)
        }
        reach(world.beginning(policy))
        while let state = queue.popLast() {
            guard known.count <= statesMax else { return nil }
            forEachNext(of: state, in: world, leases, answers: scope.lateRecorders, reach)
        }
        return (known.count, seen)
    }

    /// Calls the body with every successor.
    /// - Parameter answers: recorders answer in steps of their own; else at once.
    private func forEachNext(
        of state: ExploredState, in world: SmallWorld, _ leases: LeaseAbstraction?, answers: Bool,
        _ body: (ExploredState) -> Void
    ) {
        func live(_ before: ExploredState, _ events: [Event], _ now: Moment) -> Bool {
            var after = before
            after.now = now
            for event in events { _ = after.take(event) }
            if !answers { _ = after.answerAll() }
            body(after)
            return true
        }
        _ = world.forEachChoice(in: state, answers: answers) { choice, events, now in
            guard let leases, choice == SmallWorld.timePasses else { return live(state, events, now) }
            return leases.forEachPassing(from: state) { live($1, events, $2) } ?? false
        }
    }
}
