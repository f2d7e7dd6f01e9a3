import Vocabulary

package enum Wording {
    /// Longer values are cut in messages: the line itself is printed below anyway.
    package static let quotedScalarsMax = 60

    package static func quoted(_ text: String) -> String {
        let isLong = text.unicodeScalars.count > quotedScalarsMax
        let shown = isLong ? String(text.unicodeScalars.prefix(quotedScalarsMax)) : text
        return "\"\(visible(shown))\(isLong ? "…" : "")\""
    }

    /// On one line, with a sign in the place of each character that could steer a terminal.
    package static func visible(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.isPrintable ? $0 : "\u{FFFD}" }))
    }

    /// `"a"`, `"a" or "b"`, `"a", "b" or "c"`.
    package static func list(_ names: [String], _ word: String = "or") -> String {
        joined(names.map(quoted), word)
    }

    package static func joined(_ words: [String], _ word: String = "and") -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return "\(words.dropLast().joined(separator: ", ")) \(word) \(last)"
    }

    /// Empty where no word is near.
    package static func didYouMean(_ text: String, among words: [String]) -> String {
        NearestWord.of(text, among: words).map { "did you mean \(quoted($0))?" } ?? ""
    }
}

/// Durations as a policy writes them: a whole number and a unit.
package enum DurationText {
    /// A policy has nothing finer than a millisecond.
    private static let units = ["ms", "s", "min", "h"]

    /// `nil` for other texts; a number too great to count saturates at 292 years, beyond every bound.
    package static func read(_ text: String) -> Duration? {
        guard let parts = TimeText.parts(text), parts.fraction == nil, units.contains(parts.unit) else { return nil }
        let (nanoseconds, overflow) = (Int64(parts.whole) ?? .max).multipliedReportingOverflow(by: parts.nanoseconds)
        return .nanoseconds(overflow ? .max : nanoseconds)
    }

    /// The duration that a wrong text probably means: without a space before the unit, or with its short name.
    package static func meant(by text: String) -> String? {
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
    package static func write(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        if attoseconds != 0 { return "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)ms" }
        if seconds == 0 || seconds % 60 != 0 { return "\(seconds)s" }
        return seconds % 3600 == 0 ? "\(seconds / 3600)h" : "\(seconds / 60)min"
    }
}

package enum TomlText {
    /// The length of a line of a written file; far below `FileBounds.lineBytesMax`, and a screen is not wider.
    private static let lineBytesMax = 120

    package static func fitsOnALine(_ text: String) -> Bool { text.utf8.count <= lineBytesMax }

    package static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                quoted += "\\"
                quoted.unicodeScalars.append(scalar)
            case _ where !scalar.isPrintable:
                let digits = String(scalar.value, radix: 16)
                quoted += scalar.value > 0xFFFF ? "\\U" : "\\u"
                quoted += String(repeating: "0", count: (scalar.value > 0xFFFF ? 8 : 4) - digits.utf8.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    package static func quoted(_ duration: Duration) -> String { quoted(DurationText.write(duration)) }

    /// On one line where it fits, else an element a line.
    package static func list(_ texts: [String]) -> String { list(values: texts.map(quoted)) }

    package static func list(values: [String]) -> String {
        let short = "[\(values.joined(separator: ", "))]"
        if fitsOnALine(short) { return short }
        return "[\n" + values.map { "    \($0),\n" }.joined() + "]"
    }

    package static func number(_ value: Double) -> String {
        // Beyond this not every whole number is one any more.
        abs(value) < 0x1p53 && value == value.rounded() ? "\(Int64(value))" : value.plainDescription
    }
}

extension Unicode.Scalar {
    /// Neither steers a terminal nor turns the order of letters around: a line shows what it says.
    package var isPrintable: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F: false
        case 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: false
        default: true
        }
    }
}
