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
