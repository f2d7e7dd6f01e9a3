import Arbiter
package import ArbiterProtocol
import PolicyFile

/// Removes from a case what it does not need to break its promise: lines, clients, rules and keys of its policies, words, cameras and
/// time, until nothing more can go. A smaller case counts where it first breaks a promise of the same class.
package struct FuzzShrinker {
    private let promise: PromiseClass
    private let runsMax: Int
    private let run: (String) -> FuzzVerdict
    var best: FuzzCase
    private var runs = 0

    /// Most cases are small after a tenth of them.
    package static let runsUsual = 3000

    /// - Parameter run: runs a text, in another process where the case stops its process.
    package init(
        _ fuzzCase: FuzzCase, _ broken: FuzzVerdict.Broken, runsMax: Int = runsUsual,
        run: @escaping (String) -> FuzzVerdict
    ) {
        promise = broken.promise
        self.runsMax = runsMax
        self.run = run
        best = fuzzCase
        best.cut(behind: broken)
    }

    package mutating func shrink() -> FuzzCase {
        var before: FuzzCase
        repeat {
            before = best
            dropLines()
            mergeClients()
            simplifyPolicies()
            dropWords()
            dropCameras()
            shortenTimes()
            if before == best { dropPairs() }
        } while before != best && runs < runsMax
        return best
    }

    /// Keeps the change where the case still breaks its promise.
    mutating func accept(_ change: (inout FuzzCase) -> Void) -> Bool {
        var candidate = best
        change(&candidate)
        guard candidate != best, runs < runsMax else { return false }
        runs += 1
        guard let broken = run(candidate.text("Smaller.")).broken, broken.promise == promise else { return false }
        best = candidate
        best.cut(behind: broken)
        return true
    }

    /// Halves first, down to single lines; from the end, on which less depends.
    private mutating func dropLines() {
        var size = max(1, best.lines.count / 2)
        while true {
            var end = best.lines.count
            while end > 0 {
                let start = max(0, end - size)
                end = drop(Set(start..<end)) ? min(start, best.lines.count) : start
            }
            if size == 1 { return }
            size /= 2
        }
    }

    /// Two that only count together, such as `sleep` and `wake`.
    private mutating func dropPairs() {
        var last = best.lines.count - 1
        while last > 0 {
            for first in 0..<last { if drop([first, last]) { break } }
            last = min(last, best.lines.count) - 1
        }
    }

    private mutating func drop(_ gone: Set<Int>) -> Bool {
        accept { fuzzCase in
            fuzzCase.lines =
                fuzzCase.lines.indices.filter { !gone.contains($0) }.map { fuzzCase.lines[$0] }.withoutOrphans
        }
    }

    private mutating func mergeClients() {
        for index in best.lines.indices.reversed() where index < best.lines.count {
            guard case .client(let name)? = best.lines[index].gives else { continue }
            for other in best.lines[..<index].compactMap(\.gives).reversed() {
                guard case .client(let heir) = other else { continue }
                let isTaken = accept { fuzzCase in
                    fuzzCase.lines.remove(at: index)
                    for line in fuzzCase.lines.indices { fuzzCase.lines[line].rename(client: name, to: heir) }
                }
                if isTaken { break }
            }
        }
    }

    private mutating func dropWords() {
        var index = best.lines.count
        while index > 0 {
            index -= 1
            guard index < best.lines.count else { continue }
            var word = best.lines[index].words.count
            // A line keeps its command and its name.
            while word > 2, index < best.lines.count {
                word -= 1
                var words = best.lines[index].words
                guard word < words.count else { continue }
                words.remove(at: word)
                _ = accept { $0.lines[index].text = words.joined(separator: " ") }
            }
        }
    }

    private mutating func dropCameras() {
        for index in best.cameras.indices.reversed() {
            // A scenario without cameras has two by default.
            if best.cameras.count > 1, accept({ $0.cameras.remove(at: index) }) { continue }
            for words in ["", best.cameras[index].words.split(separator: " ").first.map(String.init) ?? ""] {
                if accept({ $0.cameras[index].words = words }) { break }
            }
        }
    }

    private static let gaps: [Duration] = [
        .zero, .milliseconds(1), .milliseconds(100), .milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2),
        .seconds(3), .seconds(5), .seconds(10), .seconds(20), .seconds(30), .seconds(60), .seconds(70), .seconds(600),
    ]

    /// Makes each time between two lines short and round.
    private mutating func shortenTimes() {
        for index in best.lines.indices.reversed() where index < best.lines.count {
            let before = index == 0 ? Moment.zero : best.lines[index - 1].at
            let gap = best.lines[index].at - before
            for shorter in Self.gaps where shorter < gap {
                let isTaken = accept { fuzzCase in
                    for later in index..<fuzzCase.lines.count {
                        fuzzCase.lines[later].at = before + (shorter + (fuzzCase.lines[later].at - before - gap))
                    }
                }
                if isTaken { break }
            }
        }
    }

    /// The first policy, then those of reloads.
    mutating func simplifyPolicies() {
        simplify({ $0.policy }, with: { $0.policy = $1 })
        for index in best.lines.indices where index < best.lines.count && best.lines[index].policy != nil {
            let isBuiltIn = accept { fuzzCase in
                fuzzCase.lines[index].policy = nil
                fuzzCase.lines[index].text += " built-in"
            }
            if isBuiltIn || hoist(index) { continue }
            simplify(
                { index < $0.lines.count ? $0.lines[index].policy : nil },
                with: { if index < $0.lines.count { $0.lines[index].policy = $1 } })
        }
    }

    /// Begins with the policy of a reload instead.
    private mutating func hoist(_ index: Int) -> Bool {
        guard let policy = best.lines[index].policy else { return false }
        return accept { fuzzCase in
            fuzzCase.policy = policy
            fuzzCase.lines.remove(at: index)
        }
    }

    private mutating func simplify(_ policy: (FuzzCase) -> Policy?, with put: (inout FuzzCase, Policy) -> Void) {
        var place = 0
        while let current = policy(best) {
            let simpler = current.simplifications
            guard place < simpler.count else { return }
            // Once it is taken, the next one is at the same place.
            if !accept({ put(&$0, simpler[place]) }) { place += 1 }
        }
    }
}

extension FuzzCase {
    /// Without everything after the broken promise.
    fileprivate mutating func cut(behind broken: FuzzVerdict.Broken) {
        guard let count = broken.lines, count <= lines.count else { return }
        lines.removeSubrange(count...)
        if broken.moment > lines.last?.at ?? .zero { lines.append(Line(at: broken.moment, text: "")) }
    }
}

extension Policy {
    /// Policies that are each simpler by one thing, the large things first.
    package var simplifications: [Policy] {
        var simpler = wholes + rules + settings
        simpler.removeAll { $0 == self }
        return simpler
    }

    private func with(_ change: (inout Policy) -> Void) -> Policy {
        var copy = self
        change(&copy)
        return copy
    }

    /// Each without one part, the last first.
    private func fewer<Part>(_ path: WritableKeyPath<Policy, [Part]>) -> [Policy] {
        self[keyPath: path].indices.reversed().map { index in with { $0[keyPath: path].remove(at: index) } }
    }

    /// With the defaults of a file, and then with one thing less in each value.
    private func simpler<Owner>(
        _ keys: [Key<Owner>], _ path: WritableKeyPath<Policy, Owner>, usual: Owner
    ) -> [Policy] {
        let owner = self[keyPath: path]
        let reset = keys.map { key in
            var owner = owner
            key.copy(&owner, usual)
            return owner
        }
        return (reset + keys.flatMap { $0.fewer(owner) }).map { owner in with { $0[keyPath: path] = owner } }
    }

    private var wholes: [Policy] {
        let usual = Policy(name: "")
        return [
            with { $0.statements = [] }, with { $0.rights = usual.rights }, with { $0.causeRules = [] },
            with { $0.rankRules = [] }, with { $0.cameras = [] }, with { $0.contention = usual.contention },
            with { $0.pressure = usual.pressure },
        ]
    }

    /// Required keys stay: names, a rule's rank, the values of an attribute.
    private var rules: [Policy] {
        var found: [Policy] = []
        for (index, attribute) in attributes.enumerated() {
            found.append(without(attribute))
            let usual = Attribute(name: attribute.name, values: attribute.values)
            found += simpler(PolicyKeys.attribute, \.attributes[index], usual: usual)
        }
        for (index, mode) in modes.enumerated() {
            found.append(without(mode))
            found += simpler(PolicyKeys.mode, \.modes[index], usual: Mode(name: mode.name))
        }
        for (index, rule) in causeRules.enumerated().reversed() {
            found.append(with { $0.causeRules.remove(at: index) })
            var usual = CauseRule.unsaid
            (usual.name, usual.when) = (rule.name, rule.when)
            found += simpler(PolicyKeys.cause, \.causeRules[index], usual: usual)
        }
        for (index, rule) in rankRules.enumerated().reversed() {
            found.append(with { $0.rankRules.remove(at: index) })
            found += fewer(\.rankRules[index].when)
            let usual = RankRule(name: rule.name, when: rule.when, rank: rule.rank, deny: rule.deny)
            found += simpler(PolicyKeys.rank, \.rankRules[index], usual: usual)
        }
        for (index, camera) in cameras.enumerated().reversed() {
            found.append(with { $0.cameras.remove(at: index) })
            found += simpler(PolicyKeys.camera, \.cameras[index], usual: CameraRule(camera: camera.camera))
        }
        for rank in ranks.indices.dropFirst().reversed() { found.append(withoutRank(rank)) }
        return found
    }

    private var settings: [Policy] {
        var usual = Policy(name: name)
        if !rankRules.isEmpty { usual.ranks = ranks }
        return simpler(PolicyKeys.contention, \.contention, usual: usual.contention)
            + simpler(PolicyKeys.access, \.rights, usual: usual.rights)
            + simpler(PolicyKeys.pressure, \.pressure, usual: usual.pressure)
            + simpler(PolicyKeys.top + PolicyKeys.shell + PolicyKeys.agent, \.self, usual: usual)
    }

    private func without(_ attribute: Attribute) -> Policy {
        var policy = withoutTests { if case .attribute(attribute.name, _) = $0 { true } else { false } }
        policy.attributes.removeAll { $0 == attribute }
        policy.contention.order.removeAll { $0 == .attribute(attribute.name) }
        return policy
    }

    private func without(_ mode: Mode) -> Policy {
        var policy = withoutTests { $0 == .mode(mode.name) }
        policy.modes.removeAll { $0 == mode }
        return policy
    }

    /// Without these tests, and without statements.
    private func withoutTests(_ isGone: (FactTest) -> Bool) -> Policy {
        with { policy in
            policy.statements = []
            for index in policy.causeRules.indices { policy.causeRules[index].when.removeAll(where: isGone) }
            for index in policy.rankRules.indices { policy.rankRules[index].when.removeAll(where: isGone) }
        }
    }

    /// Rules that gave the rank give the next stronger one.
    private func withoutRank(_ rank: Int) -> Policy {
        with { policy in
            policy.ranks.remove(at: rank)
            for index in policy.rankRules.indices where policy.rankRules[index].rank >= rank {
                policy.rankRules[index].rank -= 1
            }
            // A denied app has no rank in a file, and is read with the weakest.
            for index in policy.rankRules.indices where policy.rankRules[index].deny {
                policy.rankRules[index].rank = policy.ranks.count - 1
            }
        }
    }
}
