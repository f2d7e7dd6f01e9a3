import ArbiterProtocol

/// One word of a line: `photos`, `camera=back`, `"a quoted text"`, `format="420v 1280x720@30"`.
package struct Word: Hashable, Sendable {
    /// From 1.
    package var column: Int
    package var length: Int
    /// Before `=`, where the word is a setting.
    package var key: String?
    /// The value of a setting, or the word itself, without quotation marks.
    package var text: String
    package var isQuoted: Bool

    package var isSetting: Bool { key != nil }

    package var whole: String { key.map { "\($0)=\(text)" } ?? text }
}

/// A line's words, separated by spaces or tabs, or in quotation marks, and taken one after the other; words that are
/// left at the end are an error. `camclient run` and `shell` read their command lines so, too.
package struct Words: Sendable {
    private var words: [Word]
    private var next = 0
    private let endColumn: Int

    package init(_ line: some StringProtocol, startColumn: Int = 1) throws(LineProblem) {
        words = []
        let characters = Array(line)
        var i = 0
        while i < characters.count {
            if Self.isBetween(characters[i]) {
                i += 1
                continue
            }
            let start = i
            var key: String?
            var text = ""
            var isQuoted = false
            while i < characters.count, !Self.isBetween(characters[i]) {
                if characters[i] == "\"" {
                    isQuoted = true
                    let quote = i
                    i += 1
                    while i < characters.count, characters[i] != "\"" {
                        text.append(characters[i])
                        i += 1
                    }
                    guard i < characters.count else {
                        throw LineProblem(
                            column: startColumn + quote, length: characters.count - quote,
                            "this quotation has no closing \"")
                    }
                } else if characters[i] == "=", key == nil, !isQuoted {
                    key = text
                    text = ""
                } else {
                    text.append(characters[i])
                }
                i += 1
            }
            words.append(Word(column: startColumn + start, length: i - start, key: key, text: text, isQuoted: isQuoted))
        }
        endColumn = startColumn + characters.count
    }

    private static func isBetween(_ character: Character) -> Bool { character == " " || character == "\t" }
    package var isAtEnd: Bool { next >= words.count }
    package var count: Int { words.count - next }
    package var peek: Word? { next < words.count ? words[next] : nil }

    /// The next word, where it is no setting.
    package mutating func word(_ what: String) throws(LineProblem) -> Word {
        guard let word = peek else { throw problemHere("here \(what) is missing") }
        guard !word.isSetting else {
            throw LineProblem(word, "“\(word.key ?? "")=” is a setting; here \(what) is wanted")
        }
        next += 1
        return word
    }

    package mutating func take(_ text: String) -> Bool {
        guard let word = peek, !word.isSetting, !word.isQuoted, word.text == text else { return false }
        next += 1
        return true
    }

    package mutating func optionalWord() -> Word? {
        guard let word = peek, !word.isSetting else { return nil }
        next += 1
        return word
    }

    package mutating func anything() -> Word? {
        guard let word = peek else { return nil }
        next += 1
        return word
    }

    package mutating func choice<T>(_ what: String, _ allowed: [(name: String, value: T)]) throws(LineProblem) -> T {
        let word = try word(what)
        guard let found = allowed.first(where: { $0.name == word.text }) else {
            throw word.notOne(of: allowed.map(\.name))
        }
        return found.value
    }

    package func problemHere(_ message: String) -> LineProblem {
        peek.map { LineProblem($0, message) } ?? LineProblem(column: endColumn, message)
    }

    package func end() throws(LineProblem) {
        if let word = peek { throw LineProblem(word, "this is not understood here") }
    }
}

extension String {
    /// In quotation marks where it is not one plain word.
    package var scenarioWord: String {
        isEmpty || contains(where: { $0 == " " || $0 == "\"" || $0 == "=" || $0 == "#" }) ? scenarioQuoted : self
    }

    package var scenarioQuoted: String { "\"\(replacingQuotes)\"" }

    /// The language has no escapes: a quotation mark inside becomes a single one, and a line stays a line.
    package var replacingQuotes: String { String(map { $0 == "\"" ? "'" : $0.isNewline ? " " : $0 }) }
}

extension Configuration: RestOfLine {
    /// In the order of their keys: `activeFormat="420v 1280x720@60" videoZoomFactor=2`.
    package var scenarioWords: String {
        ordered.map { key, value in
            switch value {
            case .text(let text):
                // Text that reads as a number or a flag keeps its quotation marks, and with them its type.
                let plain = Double(text) == nil && Bool(text) == nil
                return "\(key.rawValue)=\(plain ? text.scenarioWord : text.scenarioQuoted)"
            case .number, .flag, .point, .gains: return "\(key.rawValue)=\(value.description)"
            }
        }.joined(separator: " ")
    }

    package mutating func take(_ word: Word) throws(LineProblem) {
        if word.key == nil, word.text == "audio" {
            self[.usesAudio] = .flag(true)
            return
        }
        guard let name = word.key, let key = ConfigurationKey(rawValue: name) else {
            throw word.notOne(of: ConfigurationKey.allCases.map(\.rawValue))
        }
        // A quoted number stays text, so that a scenario can ask for nonsense.
        if word.isQuoted {
            self[key] = .text(word.text)
        } else if key.kind == .point || key.kind == .gains,
            let value = ConfigurationValue(
                numbers: word.text.split(separator: ",").compactMap { Double($0) }, of: key.kind)
        {
            self[key] = value
        } else if let number = Double(asPeopleWrite: word.text) {
            self[key] = .number(number)
        } else if let flag = Bool(word.text) {
            self[key] = .flag(flag)
        } else {
            self[key] = .text(word.text)
        }
    }
}
