/// Which word a person most likely meant: for "did you mean" behind a word that nobody knows.
package enum NearestWord {
    /// Words, keys and names are shorter; what is longer is no slip of the finger.
    private static let comparedBytesMax = 80

    /// The nearest, with up to a third of its letters wrong; of several the earliest. Nil when none is near.
    package static func of(_ text: String, among words: [String]) -> String? {
        var best: (word: String, distance: Int)?
        for word in words {
            let distance = editDistance(text, word)
            if distance <= max(1, word.utf8.count / 3), distance < best?.distance ?? .max {
                best = (word, distance)
            }
        }
        return best?.word
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
