import Arbiter
import ArbiterProtocol
import Scenario

/// The comparison of policies as Markdown: their choices as the files have them, and what they do in the same
/// short situations.
enum PolicyTable {
    static func markdown(_ policies: [Policy]) throws -> String {
        var text = "\n## What they say\n\n"
        text += table(
            [
                "policy", "who says where an app is", "what comes first among bids", "a holder that loses",
                "a start that loses",
            ],
            policies.map { [link($0), sources($0), order($0), loser($0), newcomer($0)] })
        for group in PolicySituation.groups {
            text += "\n## \(group.key)\n\n"
            let rows = try policies.map { policy in
                [link(policy)] + (try group.value.map { try $0.cell(under: policy) })
            }
            text += table(["policy"] + group.value.map(\.title), rows)
        }
        return text + "\n"
    }

    private static func link(_ policy: Policy) -> String { "[\(policy.name)](\(policy.name).md)" }

    private static func table(_ header: [String], _ rows: [[String]]) -> String {
        let lines = [header, header.map { _ in "---" }] + rows
        return lines.map { "| \($0.joined(separator: " | ")) |\n" }.joined()
    }

    private static func sources(_ policy: Policy) -> String {
        policy.sources.isEmpty ? "nobody: all are in front" : policy.sources.map(\.rawValue).joined(separator: ", ")
    }

    /// Ranks, the order list as far as it is read, and the tie where there can be one.
    private static func order(_ policy: Policy) -> String {
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

    private static func loser(_ policy: Policy) -> String {
        loses(.loser, policy, policy.contention.loser == .evict ? "is stopped" : nil)
    }

    private static func newcomer(_ policy: Policy) -> String {
        if policy.contention.sharing == .all { return "shares" }
        return loses(.newcomer, policy, policy.contention.newcomer == .refuse ? "is refused" : nil)
    }

    private static func loses(
        _ choice: PolicyClause.ContentionChoice, _ policy: Policy, _ end: String?
    ) -> String {
        let (sharing, order) = (policy.contention.sharing, policy.contention.order)
        let shared = policy.contention.sharers.contains(.record) ? "shares" : "watches"
        if sharing == .readOnly, policy.contention.shareWith == .everyone, !order.isEmpty { return shared }
        guard policy.clauses.contains(.choice(choice)) else { return "cannot lose" }
        return end ?? (sharing == .none ? "waits" : shared)
    }
}
