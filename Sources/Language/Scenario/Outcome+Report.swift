import Arbiter
import ArbiterProtocol

extension Outcome {
    /// A place where a run and its scenario differ.
    public struct Difference: Hashable, Sendable {
        /// The first line of the scenario that it is about, from 1; where lines are missing, the one before which they
        /// belong.
        public var line: Int
        public var expected: [String] = []
        public var got: [String] = []
    }

    public var differences: [Difference] { expected == actual ? [] : LineDiff.changes(expected, actual) }

    /// The sentences of refusals, and that a scenario ends before its expectations.
    var remarks: [String] {
        var text: [String] = []
        let unexpected = differences.flatMap(\.got).map { $0.drop { $0 == " " } }
        var told: Set<String> = []
        for refusal in refusals where unexpected.contains(refusal.notice[...]) && told.insert(refusal.sentence).inserted
        {
            text.append("  refused: \(refusal.sentence)")
        }
        if let next, expectsMore {
            text.append(
                "  The scenario ends before that: what happens by itself next is at \(TimeText.write(next)), which a last line "
                    + "“\(TimeText.write(next))” lets come.")
        }
        return text
    }

    private var expectsMore: Bool {
        // Each text ends with an empty line.
        expected.count > actual.count && expected.starts(with: actual.dropLast())
    }
}

enum LineDiff {
    /// The lines of both: ` ` for those in both, `-` for the old one's, `+` for the new one's.
    private static func marked(_ old: [String], _ new: [String]) -> [(mark: String, text: String)] {
        let (gone, come) = new.difference(from: old).reduce(into: (Set<Int>(), Set<Int>())) { places, change in
            switch change {
            case .remove(let place, _, _): places.0.insert(place)
            case .insert(let place, _, _): places.1.insert(place)
            }
        }
        var marked: [(mark: String, text: String)] = []
        var (i, j) = (0, 0)
        while i < old.count || j < new.count {
            let mark = gone.contains(i) ? "-" : come.contains(j) ? "+" : " "
            marked.append((mark, mark == "+" ? new[j] : old[i]))
            if mark != "+" { i += 1 }
            if mark != "-" { j += 1 }
        }
        return marked
    }

    /// - Returns: each place where they differ: its first line in the old one, from 1, and both texts.
    static func changes(_ old: [String], _ new: [String]) -> [Outcome.Difference] {
        var found: [Outcome.Difference] = []
        var line = 1
        var isOpen = false
        for (mark, text) in marked(old, new) {
            if mark == " " {
                isOpen = false
                line += 1
                continue
            }
            if !isOpen { found.append(Outcome.Difference(line: line)) }
            isOpen = true
            if mark == "-" {
                found[found.count - 1].expected.append(text)
                line += 1
            } else {
                found[found.count - 1].got.append(text)
            }
        }
        return found
    }

    static func unified(_ old: [String], _ new: [String]) -> [String] {
        let marked = marked(old, new)
        let around = 3
        let changed = marked.indices.filter { marked[$0].mark != " " }
        var lines: [String] = []
        var last = -1
        for index in marked.indices where changed.contains(where: { abs($0 - index) <= around }) {
            if last >= 0, index > last + 1 { lines.append("  …") }
            lines.append("  \(marked[index].mark) \(marked[index].text)")
            last = index
        }
        return lines
    }
}
