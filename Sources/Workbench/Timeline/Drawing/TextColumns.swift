/// Text in columns of a terminal: most characters take one, those of East Asian scripts and emoji two.
package enum TextColumns {
    /// Blocks whose characters are two columns wide (Unicode's East Asian Width W and F), coarsely: a character that
    /// is counted too wide only costs a column.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x23E9...0x23F3, 0x2614...0x2615, 0x26A1...0x26A1, 0x2705...0x2705,
        0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F000...0x1FAFF, 0x20000...0x3FFFD,
    ]

    static func of(_ character: Character) -> Int {
        character.unicodeScalars.contains { scalar in wide.contains { $0.contains(scalar.value) } } ? 2 : 1
    }

    /// A line that keeps its indentation, in lines of at most `width` columns; all but the first begin with `hang` spaces.
    package static func fold(_ line: String, width: Int, hang: Int) -> [String] {
        let words = line.drop { $0 == " " }
        return wrap(String(words), width: width, first: String(line[..<words.startIndex]), hang: hang)
    }

    /// Words in lines of at most `width` columns: the first begins with `first`, the others with `hang` spaces. A word that is
    /// longer than a line is broken.
    static func wrap(_ text: String, width: Int, first: String, hang: Int) -> [String] {
        let hang = min(hang, width / 2)
        var lines: [String] = []
        var line = first
        var isFresh = true
        // Two spaces between words are a column's edge, and stay within a line.
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            var rest = String(word)
            if rest.isEmpty, isFresh { continue }
            if !isFresh, line.columns + 1 + rest.columns > width {
                lines.append(line.trimmedAtEnd)
                line = String(repeating: " ", count: hang)
                isFresh = true
            }
            if rest.isEmpty, isFresh { continue }
            if !isFresh { line += " " }
            while line.columns + rest.columns > width {
                let room = width - line.columns
                let head = rest.prefix(columns: room)
                lines.append(line + head)
                rest = String(rest.dropFirst(head.count))
                line = String(repeating: " ", count: hang)
            }
            line += rest
            isFresh = false
        }
        return lines + [line]
    }
}

extension String {
    var columns: Int { utf8.count == unicodeScalars.count ? utf8.count : reduce(0) { $0 + TextColumns.of($1) } }

    func prefix(columns: Int) -> String {
        var room = columns
        return String(
            prefix { character in
                room -= TextColumns.of(character)
                return room >= 0
            })
    }

    func fitted(_ columns: Int) -> String {
        if self.columns <= columns { return self }
        return columns <= 0 ? "" : prefix(columns: columns - 1) + "…"
    }

    func padded(_ columns: Int) -> String {
        let fit = fitted(columns)
        return fit + String(repeating: " ", count: max(0, columns - fit.columns))
    }

    var trimmedAtEnd: String {
        var end = endIndex
        while end > startIndex, self[index(before: end)] == " " { end = index(before: end) }
        return String(self[..<end])
    }
}

/// Names for a narrow place, no two the same: whole, else without the beginning that all names with a point share, else cut.
struct ShortNames {
    private let long: [String]
    /// `…photos` for `org.example.photos`.
    private var told: [String] = []
    private var short: [String] = []

    init(_ names: [String], columns: Int) {
        long = names
        let common = Self.commonBeginning(Set(names.filter { $0.contains(".") }).sorted())
        for (index, name) in names.enumerated() {
            let told = name.hasPrefix(common) && !common.isEmpty ? "…" + name.dropFirst(common.count) : name
            self.told.append(told)
            var candidate = name.columns <= columns ? name : told.fitted(columns)
            // The number of the lane keeps names apart that are cut alike.
            let known = names.firstIndex(of: name) ?? index
            if candidate != name,
                short.enumerated().contains(where: { $0.element == candidate && long[$0.offset] != name })
                    || (candidate != name && names.contains(candidate))
            {
                candidate = "\(known + 1)\(told.fitted(max(1, columns - "\(known + 1)".count)))".fitted(columns)
            }
            short.append(candidate)
        }
    }

    subscript(index: Int) -> String { short[index] }

    func told(_ name: String) -> String { long.firstIndex(of: name).map { told[$0] } ?? name }

    var shortened: [(short: String, name: String)] {
        zip(short, long).enumerated().filter { $1.0 != $1.1 && long.firstIndex(of: $1.1) == $0 }.map(\.element)
    }

    /// - Parameter names: sorted, so that all share what the first and the last share.
    private static func commonBeginning(_ names: [String]) -> String {
        guard let first = names.first, let last = names.last, names.count > 1 else { return "" }
        let shared = zip(first, last).prefix { $0 == $1 }.map(\.0)
        guard let point = shared.lastIndex(of: ".") else { return "" }
        return String(shared[...point])
    }
}
