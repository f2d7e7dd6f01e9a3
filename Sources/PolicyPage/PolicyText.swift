import PolicyFile
import Scenario

/// A file of a policy, line by line, and what scenarios reach of each line.
public struct PolicyText: Sendable {
    public var name: String
    public var lines: [String]

    public init(name: String, text: String) {
        self.name = name
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
    }

    /// What scenarios make of a line.
    struct Heat {
        /// In how many scenarios it decided something: of several clauses on one line the one reached most often.
        var count = 0
        /// What no scenario has shown, in sentences.
        var gaps: [String] = []
        var isReached: Bool { count > 0 }

        /// Fewer steps than an eye can tell apart, and the number stands beside it in any case.
        var step: Int { count == 0 ? 0 : count == 1 ? 1 : count < 5 ? 2 : 3 }
    }

    /// The heat of each line that says something that scenarios can test, by its number from 1.
    func heat(_ reach: ScenarioReach, _ policy: LoadedPolicy) -> [Int: Heat] {
        let begins = policy.origins.filter { $0.value.file == name }
        let starts = Set(begins.values.map(\.line))
        let gaps = reach.coverage.gaps
        var heat: [Int: Heat] = [:]
        for clause in reach.coverage.clauses {
            guard let begin = begins[clause.part]?.line else { continue }
            let block = block(from: begin, starts)
            var covered = Array(block)
            // What a rank gives has a line of its own below its rule's header.
            if case .rankChoice(_, let choice) = clause { covered = block.filter { key(of: $0) == choice.rawValue } }
            if covered.isEmpty { covered = [begin] }
            let count = reach.count(of: clause)
            let lacks = gaps.filter { $0.clause == clause }.map { $0.sentence(in: reach.coverage.policy) }
            // The line of a choice tells of that choice, and not of its rule.
            let isChoice = if case .rankChoice = clause { true } else { false }
            for line in covered {
                heat[line, default: Heat()].count = isChoice ? count : max(heat[line]?.count ?? 0, count)
                heat[line, default: Heat()].gaps += lacks
            }
        }
        return heat
    }

    /// The lines of a part: to the next part or table, without the blank lines and comments before that.
    private func block(from begin: Int, _ starts: Set<Int>) -> ClosedRange<Int> {
        var last = begin
        var line = begin + 1
        while line <= lines.count, !starts.contains(line), !bare(line).hasPrefix("[") {
            let text = bare(line)
            if !text.isEmpty, !text.hasPrefix("#") { last = line }
            line += 1
        }
        return begin...last
    }

    private func bare(_ line: Int) -> Substring {
        guard lines.indices.contains(line - 1) else { return "" }
        return lines[line - 1].drop { $0 == " " || $0 == "\t" }
    }

    private func key(of line: Int) -> String { String(bare(line).prefix { $0 != " " && $0 != "=" && $0 != "\t" }) }
}

/// Where a line of a policy stands on the page.
struct LinePlace {
    var file: Int
    var line: Int
    var id: String { "file-\(file)-line-\(line)" }
}
