import ArbiterProtocol

/// What is wrong with one word of a line; the reader adds the file and the line.
package struct LineProblem: Error {
    package var column: Int
    package var length: Int
    package var message: String

    package init(_ word: Word, _ message: String) {
        column = word.column
        length = word.length
        self.message = message
    }

    package init(column: Int, length: Int = 1, _ message: String) {
        self.column = column
        self.length = length
        self.message = message
    }
}

/// That a word is none of those that are allowed, and which of them was probably meant.
package func notOne(_ word: String, of allowed: [String]) -> String {
    let guess = NearestWord.of(word, among: allowed).map { "; did you mean “\($0)”?" } ?? ""
    return "“\(word)” is none of \(allowed.joined(separator: ", "))\(guess)"
}
