/// The word that a person most likely meant: for "did you mean" after an unknown word.
package enum NearestWord {
    /// Words, keys and names are shorter; a longer text is no slip of the finger.
    private static let comparedBytesMax = 80

    /// As many names as a person reads through in a sentence.
    private static let namedMax = 8

    /// The nearest, with up to a third of its letters wrong, in either case of letters; of several the earliest. `nil`:
    /// none is near.
    package static func of(_ text: String, among words: [String]) -> String? {
        var best: (word: String, distance: Int)?
        let text = text.lowercased()
        for word in words {
            let distance = editDistance(text, word.lowercased())
            if distance <= max(1, word.utf8.count / 3), distance < best?.distance ?? .max { best = (word, distance) }
        }
        return best?.word
    }

    /// The end of a sentence about a word outside `known`: the nearest of them, and the list in its order. Of a long
    /// list a few, and `lists`, the command that has all.
    package static func insteadOf(_ text: String, _ known: [String], lists command: String) -> String {
        guard !known.isEmpty else { return "there is none at all." }
        let guess = of(text, among: known).map { "did you mean \($0.quotedShort)? There" } ?? "there"
        let isLong = known.count > namedMax
        let named = known.prefix(isLong ? namedMax / 2 : namedMax).map(\.quotedShort).joined(separator: ", ")
        let rest = isLong ? " … and \(known.count - namedMax / 2) more; `\(command)` lists them." : "."
        return "\(guess) \(known.count == 1 ? "is" : "are") \(named)\(rest)"
    }

    /// Letters to insert, remove, change or swap with their neighbour (optimal string alignment).
    package static func editDistance(_ a: String, _ b: String) -> Int {
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

/// The alphabet of a camera's name and of words that a shell completes: no shell expands, splits or quotes them, and no
/// program takes them for an option. Identities from udev's words are of the same alphabet, so that every camera of the
/// machine has such a name.
package enum PlainWord {
    package static let alphabet = "letters (A to Z, a to z), digits, “.”, “_”, “:” and “-”, which is not the first"

    package static func contains(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: isLetterOrDigit(byte)
        }
    }

    package static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    package static func isOne(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.first != UInt8(ascii: "-") && text.utf8.allSatisfy(contains)
    }
}

extension String {
    /// Whether a text is somewhere in this one, byte for byte. The standard library's `contains` for texts is in its
    /// module of regular expressions, which would be 1.3 MB of each program that uses it. Meant for short texts: each
    /// place is looked at by itself.
    package func holds(_ text: String) -> Bool { utf8.indices.contains { utf8[$0...].starts(with: text.utf8) } }
}
