import ArbiterProtocol

/// A value that takes all remaining words of a line.
protocol RestOfLine: Sendable {
    var scenarioWords: String { get }
    mutating func take(_ word: Word) throws(LineProblem)
}

struct Phrase<Value: Sendable>: Sendable {
    /// `nil` where the line lacks it.
    let say: @Sendable (Value, Names) -> String?
    let hear: @Sendable (inout SentenceReader) throws(LineProblem) -> Value
    /// For a setting at any place at a line's end: its key, and its value where the line lacks it.
    typealias Setting = (key: String, usual: Value, hear: @Sendable (Word) throws(LineProblem) -> Value)
    var setting: Setting?

    init(
        _ say: @escaping @Sendable (Value, Names) -> String?,
        hear: @escaping @Sendable (inout SentenceReader) throws(LineProblem) -> Value
    ) { (self.say, self.hear) = (say, hear) }

    /// A name that earlier lines brought.
    /// - Parameter what: the value in errors.
    static func name(
        _ what: String, _ say: @escaping @Sendable (Value, Names) -> String,
        _ hear: @escaping @Sendable (ScenarioParser) -> (Word) throws(LineProblem) -> Value
    ) -> Phrase {
        Phrase(say) { (reader) throws(LineProblem) in try hear(reader.lookup)(try reader.words.word(what)) }
    }

    /// - Parameter form: the form of a word, for one that cannot be read.
    static func word(
        _ what: String, _ say: @escaping @Sendable (Value) -> String, _ form: String = "",
        read: @escaping @Sendable (String) -> Value?
    ) -> Phrase {
        Phrase(
            { value, _ in say(value) },
            hear: { (reader) throws(LineProblem) in try reader.words.word(what).read(form, read) })
    }

    /// For a part of a value that is written as a whole.
    static var silent: Phrase {
        Phrase({ _, _ in nil }, hear: { _ in preconditionFailure("nobody says it by itself") })
    }

    static func rest(_ usual: Value) -> Phrase where Value: RestOfLine {
        Phrase(
            { value, _ in value.scenarioWords },
            hear: { (reader) throws(LineProblem) in
                var value = usual
                while let word = reader.words.anything() { try value.take(word) }
                return value
            })
    }

    /// No line has it.
    static func unsaid(_ value: Value) -> Phrase { Phrase({ _, _ in nil }, hear: { _ in value }) }

    /// `key=…` at any place among the last words.
    /// - Parameter say: `nil` leaves it out.
    static func setting(
        _ key: String, usual: Value, say: @escaping @Sendable (Value) -> String?,
        hear: @escaping @Sendable (Word) throws(LineProblem) -> Value
    ) -> Phrase {
        var phrase = Phrase(
            { value, _ in say(value).map { "\(key)=\($0)" } },
            hear: { (reader) throws(LineProblem) in
                guard let word = reader.setting(key) else { return usual }
                return try hear(word)
            })
        phrase.setting = (key, usual, hear)
        return phrase
    }

    static func choice(_ what: String, _ words: [(name: String, value: Value)]) -> Phrase where Value: Equatable {
        Phrase(
            { value, _ in words.first { $0.value == value }?.name },
            hear: { (reader) throws(LineProblem) in try reader.words.choice(what, words) })
    }

    static func oneOf(_ what: String) -> Phrase where Value: WireWord & Equatable {
        choice(what, Value.words.compactMap { word in Value(wireName: word).map { (word, $0) } })
    }

    /// With a word for no value.
    func or(_ none: String) -> Phrase<Value?> {
        Phrase<Value?>(
            { [say] value, names in value.map { say($0, names) } ?? none },
            hear: { [hear] (reader) throws(LineProblem) in reader.words.take(none) ? nil : try hear(&reader) })
    }
}
