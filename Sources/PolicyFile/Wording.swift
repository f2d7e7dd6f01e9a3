/// The small change of error sentences: quoting, listing, and the nearest word.
enum Wording {
    /// Longer values are cut in messages: the line itself is printed below anyway.
    static let quotedScalarsMax = 60

    /// The text in double quotes, on one line.
    static func quoted(_ text: String) -> String {
        let isLong = text.unicodeScalars.count > quotedScalarsMax
        let shown = isLong ? String(text.unicodeScalars.prefix(quotedScalarsMax)) : text
        return "\"\(visible(shown))\(isLong ? "…" : "")\""
    }

    /// The text on one line, with a sign in the place of what could steer a terminal.
    static func visible(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.isPrintable ? $0 : "\u{FFFD}" }))
    }

    /// `"a"`, `"a" or "b"`, `"a", "b" or "c"`.
    static func list(_ names: [String], _ word: String = "or") -> String {
        let names = names.map(quoted)
        guard let last = names.last, names.count > 1 else { return names.first ?? "" }
        return "\(names.dropLast().joined(separator: ", ")) \(word) \(last)"
    }

    /// `did you mean "grace"?`, or nothing when no word is near.
    static func didYouMean(_ text: String, among words: [String]) -> String {
        nearest(text, among: words).map { "did you mean \(quoted($0))?" } ?? ""
    }

    /// The word that a person most likely meant: up to a third of its letters wrong, earlier words first.
    static func nearest(_ text: String, among words: [String]) -> String? {
        var best: (word: String, distance: Int)?
        for word in words {
            let distance = editDistance(text, word)
            if distance <= max(1, word.utf8.count / 3), distance < best?.distance ?? .max {
                best = (word, distance)
            }
        }
        return best?.word
    }

    /// Keys and values are shorter; what is longer is no slip of the finger.
    private static let comparedBytesMax = 80

    /// Letters to insert, remove, change or swap with their neighbour (optimal string alignment).
    static func editDistance(_ a: String, _ b: String) -> Int {
        let a = Array(a.utf8)
        let b = Array(b.utf8)
        guard a.count <= comparedBytesMax, b.count <= comparedBytesMax else { return .max }
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for i in 0..<a.count {
            var row = [i + 1]
            for j in 0..<b.count {
                var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforeLast[j - 1] + 1) }
                row.append(cost)
            }
            beforeLast = last
            last = row
        }
        return last[b.count]
    }
}

/// Durations as a policy writes them: a whole number and a unit.
enum DurationText {
    /// Longest first, so that "ms" is not read as "s".
    private static let units: [(name: String, nanoseconds: Int64)] = [
        ("min", 60_000_000_000), ("ms", 1_000_000), ("s", 1_000_000_000), ("h", 3_600_000_000_000),
    ]

    /// Nil for what is no duration; a number too great to count saturates at 292 years, beyond every bound.
    static func read(_ text: String) -> Duration? {
        guard let unit = units.first(where: { text.hasSuffix($0.name) }) else { return nil }
        let digits = text.dropLast(unit.name.count)
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let (nanoseconds, overflow) = (Int64(digits) ?? .max).multipliedReportingOverflow(by: unit.nanoseconds)
        return .nanoseconds(overflow ? .max : nanoseconds)
    }

    /// What was probably meant by what is no duration: a space before the unit, or its longer name.
    static func meant(by text: String) -> String? {
        let names = [
            ("ms", ["msec", "milliseconds", "millisecond"]), ("s", ["", "sec", "secs", "second", "seconds"]),
            ("min", ["m", "mins", "minute", "minutes"]), ("h", ["hr", "hrs", "hour", "hours"]),
        ]
        let bare = String(text.unicodeScalars.filter { $0 != " " })
        let digits = bare.prefix { $0.isASCII && $0.isNumber }
        let unit = bare.dropFirst(digits.count)
        let name = names.first { $0.0 == unit || $0.1.contains(String(unit)) }?.0
        return name.map { digits + $0 }.flatMap { read($0) == nil ? nil : $0 }
    }

    /// In the greatest unit that leaves a whole number: `90s`, `3min`, `0s`.
    static func write(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        if attoseconds != 0 { return "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)ms" }
        if seconds == 0 || seconds % 60 != 0 { return "\(seconds)s" }
        return seconds % 3600 == 0 ? "\(seconds / 3600)h" : "\(seconds / 60)min"
    }
}
