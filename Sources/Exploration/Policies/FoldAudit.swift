import Arbiter
import ArbiterProtocol
import Scenario

extension PolicyWalk {
    /// Looks for two states that the walk takes for one although they go on differently; nil when there are none
    /// among the first `statesMax` of each world. For tests: it tells states apart by everything they have.
    package func audit(statesMax: Int) -> (states: Int, folded: Int, difference: String?) {
        var states = 0
        var folded = 0
        for world in worlds {
            let cast = isFolded ? world.cast : world.cast.unfolded
            var fold = StateFold()
            func fingerprint(_ state: ExploredState) -> Fingerprint {
                state.fold(world, into: &fold)
                return fold.fingerprint(cast)
            }
            var outcomes: [Fingerprint: [Fingerprint]] = [:]
            let start = world.beginning(policy)
            var seen: Set<Fingerprint> = [start.fingerprint]
            var queue = [start]
            var index = 0
            while index < queue.count, index < statesMax {
                let state = queue[index]
                index += 1
                var next: [Fingerprint] = []
                _ = world.forEachChoice(in: state, answers: true) { _, events, now in
                    var after = state
                    after.now = now
                    for event in events { _ = after.take(event) }
                    next.append(fingerprint(after))
                    if seen.insert(after.fingerprint).inserted { queue.append(after) }
                    return true
                }
                next.sort { ($0.first, $0.second) < ($1.first, $1.second) }
                let own = fingerprint(state)
                if let known = outcomes[own], known != next {
                    let status = state.arbiter.status().sessions.map {
                        "\(world.names.name(of: $0.id)) \($0.state.rawValue)"
                    }
                    return (states, folded, "two states with \(status.joined(separator: ", ")) go on differently")
                }
                outcomes[own] = next
            }
            states += index
            folded += outcomes.count
        }
        return (states, folded, nil)
    }
}
