package import Arbiter
import ArbiterProtocol

extension FuzzShrinker {
    /// The story's own policy first, then those that it reloads.
    mutating func simplifyPolicies() {
        simplify {
            $0.policy
        } with: {
            $0.policy = $1
        }
        for index in best.lines.indices where index < best.lines.count && best.lines[index].policy != nil {
            var builtIn = best
            builtIn.lines[index].policy = nil
            builtIn.lines[index].text += " built-in"
            if accept(builtIn) || hoist(index) { continue }
            simplify {
                index < $0.lines.count ? $0.lines[index].policy : nil
            } with: {
                if index < $0.lines.count { $0.lines[index].policy = $1 }
            }
        }
    }

    /// The policy of a reload from the beginning, and no reload.
    private mutating func hoist(_ index: Int) -> Bool {
        guard let policy = best.lines[index].policy else { return false }
        var hoisted = best
        hoisted.policy = policy
        hoisted.lines.remove(at: index)
        return accept(hoisted)
    }

    private mutating func simplify(_ policy: (FuzzStory) -> Policy?, with put: (inout FuzzStory, Policy) -> Void) {
        var place = 0
        while let current = policy(best) {
            let simpler = current.simplifications
            guard place < simpler.count else { return }
            var smaller = best
            put(&smaller, simpler[place])
            // What comes next stands at the same place once this is gone.
            if !accept(smaller) { place += 1 }
        }
    }
}

extension Policy {
    /// Simpler by one thing each, the large things first. Each is one that a policy file can say.
    package var simplifications: [Policy] {
        var simpler = [Policy](wholes) + rules + settings
        simpler.removeAll { $0 == self }
        return simpler
    }

    private func with(_ change: (inout Policy) -> Void) -> Policy {
        var copy = self
        change(&copy)
        return copy
    }

    private var wholes: [Policy] {
        [
            with { $0.statements = [] }, with { $0.rights = Rights() }, with { $0.causeRules = [] },
            with { $0.rankRules = [] },
            with { $0.cameras = [] }, with { $0.contention = Contention() }, with { $0.sources = [] },
            with { $0.summary = "" }, with { if $0.rankRules.isEmpty { $0.ranks = Policy(name: "").ranks } },
            with { $0.pressureSettle = Policy(name: "").pressureSettle }, with { $0.pressure = .usual },
            with { $0.shellUnit = nil }, with { $0.agentUnit = nil },
        ]
    }

    private var rules: [Policy] {
        var simpler: [Policy] = []
        for index in attributes.indices { simpler.append(without(attributes[index])) }
        for index in modes.indices {
            simpler.append(without(modes[index]))
            simpler.append(with { $0.modes[index].at = [] })
            simpler.append(with { $0.modes[index].setBy = Mode.Setter.allCases })
        }
        for index in causeRules.indices.reversed() {
            simpler.append(with { $0.causeRules.remove(at: index) })
            for fact in causeRules[index].when.indices.reversed() {
                simpler.append(with { $0.causeRules[index].when.remove(at: fact) })
            }
            simpler.append(with { $0.causeRules[index].access = .none })
            simpler.append(with { $0.causeRules[index].cause = .videoDeviceNotAvailableInBackground })
        }
        for index in rankRules.indices.reversed() {
            simpler.append(with { $0.rankRules.remove(at: index) })
            for fact in rankRules[index].when.indices.reversed() {
                simpler.append(with { $0.rankRules[index].when.remove(at: fact) })
            }
            simpler.append(with { $0.rankRules[index].isImmediate = false })
            simpler.append(with { $0.rankRules[index].grace = .zero })
            simpler.append(with { $0.rankRules[index].minHold = .zero })
            simpler.append(with { $0.rankRules[index].lease = nil })
        }
        for index in cameras.indices.reversed() {
            simpler.append(with { $0.cameras.remove(at: index) })
            for other in cameras[index].conflicts.indices.reversed() {
                simpler.append(with { $0.cameras[index].conflicts.remove(at: other) })
            }
            simpler.append(with { $0.cameras[index].cost = 0 })
            let cost = cameras[index].cost
            for left in cost.formats.indices {
                var formats = cost.formats
                formats.remove(at: left)
                let fewer = formats.isEmpty ? CameraCost(cost.other) : CameraCost(formats: formats, other: cost.other)
                simpler.append(with { $0.cameras[index].cost = fewer })
            }
        }
        for rank in ranks.indices.dropFirst().reversed() { simpler.append(withoutRank(rank)) }
        for index in sources.indices.reversed() { simpler.append(with { $0.sources.remove(at: index) }) }
        return simpler
    }

    private var settings: [Policy] {
        let usual = Contention()
        let rights = Rights()
        var simpler = contention.order.indices.reversed().map { index in
            with { $0.contention.order.remove(at: index) }
        }
        for index in self.rights.users.indices.reversed() { simpler.append(with { $0.rights.users.remove(at: index) }) }
        for index in self.rights.groups.indices.reversed() {
            simpler.append(with { $0.rights.groups.remove(at: index) })
        }
        for index in self.rights.services.indices.reversed() {
            simpler.append(with { $0.rights.services.remove(at: index) })
        }
        simpler += [
            with { $0.rights.seat = rights.seat }, with { $0.rights.identity = rights.identity },
            with { $0.rights.apps = rights.apps },
            with { $0.contention.tie = usual.tie }, with { $0.contention.sameApp = usual.sameApp },
            with { $0.contention.ownConflict = usual.ownConflict },
            with { $0.contention.newcomer = usual.newcomer }, with { $0.contention.loser = usual.loser },
            with { $0.contention.sharing = usual.sharing }, with { $0.contention.shareWith = usual.shareWith },
            with { $0.contention.reDecide = usual.reDecide },
            with { $0.contention.coolDown = usual.coolDown }, with { $0.contention.budget = usual.budget },
            with { $0.contention.givesWay = usual.givesWay },
            with { $0.contention.strongestMayExceed = usual.strongestMayExceed },
            with { $0.contention.backfill = usual.backfill },
        ]
        return simpler
    }

    /// Without an attribute, and without what asks for it.
    private func without(_ attribute: Attribute) -> Policy {
        func keeps(_ fact: FactTest) -> Bool {
            if case .attribute(let name, _) = fact { name != attribute.name } else { true }
        }
        return with { policy in
            policy.attributes.removeAll { $0 == attribute }
            policy.contention.order.removeAll { $0 == .attribute(attribute.name) }
            policy.statements = []
            for index in policy.causeRules.indices { policy.causeRules[index].when.removeAll { !keeps($0) } }
            for index in policy.rankRules.indices { policy.rankRules[index].when.removeAll { !keeps($0) } }
        }
    }

    /// Without a mode, and without what asks for it.
    private func without(_ mode: Mode) -> Policy {
        func keeps(_ fact: FactTest) -> Bool { fact != .mode(mode.name) }
        return with { policy in
            policy.modes.removeAll { $0 == mode }
            policy.statements = []
            for index in policy.causeRules.indices { policy.causeRules[index].when.removeAll { !keeps($0) } }
            for index in policy.rankRules.indices { policy.rankRules[index].when.removeAll { !keeps($0) } }
        }
    }

    /// Rules that gave the rank give the one above it.
    private func withoutRank(_ rank: Int) -> Policy {
        with { policy in
            policy.ranks.remove(at: rank)
            for index in policy.rankRules.indices where policy.rankRules[index].rank >= rank {
                policy.rankRules[index].rank -= 1
            }
            // A file gives a denied app no rank, which is read as the weakest.
            for index in policy.rankRules.indices where policy.rankRules[index].deny {
                policy.rankRules[index].rank = policy.ranks.count - 1
            }
        }
    }
}
