import ArbiterProtocol

extension String {
    /// The text as a scenario writes it: in quotation marks where it is not one plain word.
    package var scenarioWord: String {
        isEmpty || contains(where: { $0 == " " || $0 == "\"" || $0 == "=" || $0 == "#" }) ? scenarioQuoted : self
    }

    /// In quotation marks, as sentences are.
    package var scenarioQuoted: String { "\"\(replacingQuotes)\"" }

    /// The language has no escapes: a quotation mark inside becomes a single one, and a line stays a line.
    package var replacingQuotes: String { String(map { $0 == "\"" ? "'" : $0.isNewline ? " " : $0 }) }
}

extension Configuration {
    /// The settings in the order of their keys: `activeFormat="420v 1280x720@60" videoZoomFactor=2`.
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

    /// Takes one word of such settings.
    package mutating func take(_ word: Word) throws(LineProblem) {
        if word.key == nil, word.text == "audio" {
            self[.usesAudio] = .flag(true)
            return
        }
        guard let name = word.key, let key = ConfigurationKey(rawValue: name) else {
            throw LineProblem(word, notOne(word.key ?? word.text, of: ConfigurationKey.allCases.map(\.rawValue)))
        }
        // A quoted number stays text: so that a scenario can ask for nonsense, too.
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
