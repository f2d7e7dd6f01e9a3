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
