/// Text in columns of a terminal: most characters take one, those of East Asian scripts and emoji two.
enum TextColumns {
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

    /// Words in lines of at most `width` columns: the first begins with `first`, the others are indented as deep as
    /// `hang` says. A word that is longer than a line is broken, so that none of it is lost.
    static func wrap(_ text: String, width: Int, first: String, hang: Int) -> [String] {
        // An indentation that left no room would make a line of each letter.
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
    /// How many columns of a terminal it takes.
    var columns: Int {
        utf8.count == unicodeScalars.count ? utf8.count : reduce(0) { $0 + TextColumns.of($1) }
    }

    /// As much of its beginning as fits.
    func prefix(columns: Int) -> String {
        var room = columns
        return String(
            prefix { character in
                room -= TextColumns.of(character)
                return room >= 0
            })
    }

    /// At most so many columns, the last an ellipsis where something is missing.
    func fitted(_ columns: Int) -> String {
        if self.columns <= columns { return self }
        return columns <= 0 ? "" : prefix(columns: columns - 1) + "…"
    }

    func padded(_ columns: Int) -> String {
        let fit = fitted(columns)
        return fit + String(repeating: " ", count: max(0, columns - fit.columns))
    }

    /// Without the spaces at its end.
    var trimmedAtEnd: String {
        var end = endIndex
        while end > startIndex, self[index(before: end)] == " " { end = index(before: end) }
        return String(self[..<end])
    }
}
