import ArbiterProtocol

/// A line while it is read.
struct SentenceReader {
    var words: Words
    let lookup: ScenarioParser

    init(_ words: Words, _ lookup: ScenarioParser) { (self.words, self.lookup) = (words, lookup) }

    mutating func setting(_ key: String) -> Word? {
        guard let word = words.peek, word.key == key else { return nil }
        return words.anything()
    }

    mutating func user() throws(LineProblem) -> UInt32? {
        try setting("user").map { (word) throws(LineProblem) in try word.user() }
    }

    mutating func grant() throws(LineProblem) -> GrantID? {
        try setting("grant").map { (word) throws(LineProblem) in
            GrantID(try word.read("a grant is a whole number") { UInt64($0) })
        }
    }
}

extension Word {
    func read<Value>(
        _ problem: @autoclosure () -> String, _ read: (String) -> Value?
    ) throws(LineProblem) -> Value {
        guard let value = read(text) else { throw LineProblem(self, problem()) }
        return value
    }

    /// - Parameters:
    /// - part: the wrong part of it; `nil` for the key of a setting, and for a word by itself.
    /// - end: the end of the sentence.
    package func notOne(_ part: String? = nil, of allowed: [String], _ end: String = "") -> LineProblem {
        let word = part ?? key ?? text
        let guess = NearestWord.of(word, among: allowed).map { "; did you mean “\($0)”?" } ?? ""
        return LineProblem(self, "“\(word)” is none of \(allowed.joined(separator: ", "))\(guess)\(end)")
    }

    func oneOf<Value: WireWord>() throws(LineProblem) -> Value {
        guard let value = Value(wireName: text) else { throw notOne(text, of: Value.words) }
        return value
    }

    package func user() throws(LineProblem) -> UInt32 { try read("a user is a number, such as 1000") { UInt32($0) } }
    func wholeNumber() throws(LineProblem) -> UInt64 {
        try read("“\(text)” is not a whole number from 0") { UInt64($0) }
    }
    func time() throws(LineProblem) -> Duration {
        try read("“\(text)” is not a time; a time is written 2s, 1.5s or 250ms") { TimeText.parse($0) }
    }
}

/// A problem of one word; the reader adds the file and the line.
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
        (self.column, self.length, self.message) = (column, length, message)
    }

    func saying(_ message: String) -> LineProblem { LineProblem(column: column, length: length, message) }
}
