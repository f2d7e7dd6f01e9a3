import Arbiter
import ArbiterProtocol
import Scenario

/// The comparison of policies as Markdown: their choices as the files have them, and what they do in the same
/// short situations.
struct PolicyTable {
    let policies: [Policy]

    init(_ policies: [Policy]) { self.policies = policies }

    func markdown() throws -> String {
        var text = "\n## What they say\n\n"
        text += Self.table(
            [
                "policy", "who says where an app is", "what comes first among bids", "a holder that loses",
                "a start that loses",
            ],
            policies.map { [Self.link($0), sources($0), order($0), loser($0), newcomer($0)] })
        for group in PolicySituation.groups {
            text += "\n## \(group.key)\n\n"
            text += Self.table(
                ["policy"] + group.value.map(\.title),
                try policies.map { policy in
                    [Self.link(policy)] + (try group.value.map { try $0.cell(under: policy) })
                })
        }
        return text + "\n"
    }

    private static func link(_ policy: Policy) -> String { "[\(policy.name)](\(policy.name).md)" }

    private static func table(_ header: [String], _ rows: [[String]]) -> String {
        let lines = [header, header.map { _ in "---" }] + rows
        return lines.map { "| \($0.joined(separator: " | ")) |\n" }.joined()
    }

    private func sources(_ policy: Policy) -> String {
        policy.sources.isEmpty ? "nobody: all are in front" : policy.sources.map(\.rawValue).joined(separator: ", ")
    }

    /// Ranks, the order list as far as it is read, and the tie where there can be one.
    private func order(_ policy: Policy) -> String {
        var words = policy.ranks.count > 1 ? ["rank (\(policy.ranks.joined(separator: ", ")))"] : []
        for clause in policy.clauses {
            switch clause {
            case .order(let key): words.append(key.name)
            case .choice(.tie): words.append("the \(policy.contention.tie.rawValue)")
            default: break
            }
        }
        return words.joined(separator: "; ")
    }

    private func loser(_ policy: Policy) -> String {
        guard policy.clauses.contains(.choice(.loser)) else { return "cannot lose" }
        switch policy.contention.loser {
        case .interrupt: return policy.contention.sharing == .none ? "waits" : "watches"
        case .evict: return "is stopped"
        }
    }

    private func newcomer(_ policy: Policy) -> String {
        guard policy.clauses.contains(.choice(.newcomer)) else { return "cannot lose" }
        switch policy.contention.newcomer {
        case .queue: return policy.contention.sharing == .none ? "waits" : "watches"
        case .refuse: return "is refused"
        }
    }
}
