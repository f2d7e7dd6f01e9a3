import EventTable

/// A command line's words, as a scenario's line has them.
struct CommandWords {
    private var words: Words
    let line: String

    /// Nil when a quotation does not end.
    init?(_ line: String) {
        guard let words = try? Words(line) else { return nil }
        self.line = line
        self.words = words
    }

    var isEmpty: Bool { words.isAtEnd }

    /// All that are left.
    var rest: [String] {
        var left = words
        var rest: [String] = []
        while let word = left.anything() { rest.append(word.whole) }
        return rest
    }

    mutating func next() -> String? { words.anything()?.whole }

    mutating func next(_ what: String) throws(Failure) -> String {
        guard let word = next() else { throw Failure(.usage, "“\(line)”: here \(what) is missing.") }
        return word
    }

    /// The value that a word stands for.
    mutating func next<T>(
        _ what: String, _ allowed: [String], _ read: (String) -> T?
    ) throws(Failure) -> T {
        let word = try next("\(what) (\(allowed.joined(separator: ", ")))")
        guard let value = read(word) else {
            throw Failure(.usage, "“\(line)”: “\(word)” is none of \(allowed.joined(separator: ", ")).")
        }
        return value
    }

    mutating func take(_ word: String) -> Bool {
        guard words.peek?.whole == word else { return false }
        _ = words.anything()
        return true
    }

    func end() throws(Failure) {
        if let word = words.peek { throw Failure(.usage, "“\(line)”: “\(word.whole)” is one word too many.") }
    }
}

/// Lines of standard input, until it ends. The read blocks a thread of its own, never the tasks'.
func inputLines() -> AsyncStream<String> {
    AsyncStream { continuation in
        let isRead = detachThread {
            while let line = readLine(strippingNewline: true) { continuation.yield(line) }
            continuation.finish()
        }
        if !isRead { continuation.finish() }
    }
}
