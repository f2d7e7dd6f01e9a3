/// Everything that is wrong with a scenario's text, in one go: each with its place.
public struct ScenarioError: Error, Hashable, Sendable, CustomStringConvertible {
    public var problems: [Problem]

    public struct Problem: Hashable, Sendable, CustomStringConvertible {
        public var file: String
        /// Both from 1; a column counts characters.
        public var line: Int
        public var column: Int
        public var message: String
        /// The line itself, for the caret.
        public var text: String
        /// How many characters the caret covers; at least 1.
        public var length: Int

        public var description: String {
            let lead = String(repeating: " ", count: max(0, column - 1))
            return
                "\(file):\(line):\(column): \(message)\n  \(text)\n  \(lead)\(String(repeating: "^", count: max(1, length)))"
        }
    }

    public init(_ problems: [Problem]) { self.problems = problems }

    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// What is wrong with one word of a line; the reader adds the file and the line.
struct LineProblem: Error {
    var column: Int
    var length: Int
    var message: String

    init(_ word: Word, _ message: String) {
        column = word.column
        length = word.length
        self.message = message
    }

    init(column: Int, length: Int = 1, _ message: String) {
        self.column = column
        self.length = length
        self.message = message
    }
}

/// The nearest of the allowed words, for "did you mean"; nil when none is near.
func suggestion(for word: String, among allowed: [String]) -> String? {
    // Two slips of the finger; more is another word.
    let slipsMax = 2
    let near = allowed.map { ($0, editDistance(Array(word), Array($0))) }.filter { $0.1 <= slipsMax }
    return near.min { ($0.1, $0.0) < ($1.1, $1.0) }?.0
}

func notOne(_ word: String, of allowed: [String]) -> String {
    let guess = suggestion(for: word, among: allowed).map { "; did you mean “\($0)”?" } ?? ""
    return "“\(word)” is none of \(allowed.joined(separator: ", "))\(guess)"
}

private func editDistance(_ a: [Character], _ b: [Character]) -> Int {
    var row = Array(0...b.count)
    for (i, left) in a.enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for (j, right) in b.enumerated() {
            let substituted = diagonal + (left == right ? 0 : 1)
            diagonal = row[j + 1]
            row[j + 1] = min(substituted, row[j] + 1, row[j + 1] + 1)
        }
    }
    return row[b.count]
}
