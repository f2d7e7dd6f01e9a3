package import ArbiterProtocol

/// What things are called, for whoever writes a line of a scenario.
package protocol Naming: Sendable {
    func name(of client: ClientID) -> String
    func name(of session: SessionID) -> String
    /// Ready for a line: in quotation marks where it needs them, and with its user where it is not the usual one.
    func name(of app: AppID) -> String
}

/// What the names in a line stand for, for whoever reads one.
package protocol NameLookup {
    /// Whose apps are meant where a line does not say.
    var user: UInt32 { get }
    func client(_ word: Word) throws(LineProblem) -> ClientID
    func session(_ word: Word) throws(LineProblem) -> SessionID
    func app(_ word: Word) throws(LineProblem) -> AppID
    func camera(_ word: Word) throws(LineProblem) -> CameraID
}

/// A line that is being read: its words, and what they stand for.
package struct SentenceReader {
    package var words: Words
    let lookup: any NameLookup

    package init(_ words: Words, _ lookup: any NameLookup) {
        self.words = words
        self.lookup = lookup
    }

    mutating func setting(_ key: String) -> Word? {
        guard let word = words.peek, word.key == key else { return nil }
        return words.anything()
    }

    mutating func number(of what: String) throws(LineProblem) -> UInt64 {
        try words.word("the number of \(what)").wholeNumber()
    }

    package mutating func user() throws(LineProblem) -> UInt32? {
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

    func oneOf<Value: WireWord>() throws(LineProblem) -> Value {
        try read(notOne(text, of: Value.words)) { Value(wireName: $0) }
    }

    package func user() throws(LineProblem) -> UInt32 { try read("a user is a number, such as 1000") { UInt32($0) } }
    func wholeNumber() throws(LineProblem) -> UInt64 {
        try read("“\(text)” is no whole number from 0") { UInt64($0) }
    }
    func time() throws(LineProblem) -> Duration { try read("“\(text)” is no time") { TimeText.parse($0) } }
}

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

    func saying(_ message: String) -> LineProblem { LineProblem(column: column, length: length, message) }
}

package func notOne(_ word: String, of allowed: [String]) -> String {
    let guess = NearestWord.of(word, among: allowed).map { "; did you mean “\($0)”?" } ?? ""
    return "“\(word)” is none of \(allowed.joined(separator: ", "))\(guess)"
}
