import class Foundation.Thread

/// A command line's words: separated by spaces, or in quotation marks.
struct CommandWords {
    private var words: [String]
    let line: String

    /// Nil when a quotation does not end.
    init?(_ line: String) {
        self.line = line
        words = []
        var word: String?
        var isQuoted = false
        for character in line {
            if character == "\"" {
                isQuoted.toggle()
                word = word ?? ""
            } else if character.isWhitespace, !isQuoted {
                if let done = word { words.append(done) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        if isQuoted { return nil }
        if let word { words.append(word) }
    }

    var isEmpty: Bool { words.isEmpty }
    var rest: [String] { words }

    mutating func next() -> String? { words.isEmpty ? nil : words.removeFirst() }

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
        guard words.first == word else { return false }
        words.removeFirst()
        return true
    }

    func end() throws(Failure) {
        if let word = words.first { throw Failure(.usage, "“\(line)”: “\(word)” is one word too many.") }
    }
}

/// Lines of standard input, until it ends. The read blocks a thread of its own, never the tasks'.
func inputLines() -> AsyncStream<String> {
    AsyncStream { continuation in
        Thread.detachNewThread {
            while let line = readLine(strippingNewline: true) { continuation.yield(line) }
            continuation.finish()
        }
    }
}
