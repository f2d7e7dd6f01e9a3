import ArbiterProtocol

struct Phrase<Value: Sendable>: Sendable {
    /// Nil: the line does not speak of it.
    let say: @Sendable (Value, any Naming) -> String?
    let hear: @Sendable (inout SentenceReader) throws(LineProblem) -> Value
    /// Of a setting that may stand anywhere at a line's end: its key, and what it means not to say it.
    var setting: (key: String, usual: Value, hear: @Sendable (Word) throws(LineProblem) -> Value)?

    init(
        _ say: @escaping @Sendable (Value, any Naming) -> String?,
        hear: @escaping @Sendable (inout SentenceReader) throws(LineProblem) -> Value
    ) {
        self.say = say
        self.hear = hear
    }

    /// - Parameter what: what errors call it.
    static func word(
        _ what: String, _ say: @escaping @Sendable (Value, any Naming) -> String,
        hear: @escaping @Sendable (Word, any NameLookup) throws(LineProblem) -> Value
    ) -> Phrase {
        Phrase(say) { (reader) throws(LineProblem) in try hear(try reader.words.word(what), reader.lookup) }
    }

    /// Of a part of a value, which is said as a whole.
    static var silent: Phrase {
        Phrase({ _, _ in nil }, hear: { _ in preconditionFailure("nobody says it by itself") })
    }

    static func rest(
        _ usual: Value, _ say: @escaping @Sendable (Value) -> String,
        take: @escaping @Sendable (inout Value, Word) throws(LineProblem) -> Void
    ) -> Phrase {
        Phrase(
            { value, _ in say(value) },
            hear: { (reader) throws(LineProblem) in
                var value = usual
                while let word = reader.words.anything() { try take(&value, word) }
                return value
            })
    }

    /// A line leaves it out, and its reader knows better.
    static func unsaid(_ value: Value) -> Phrase { Phrase({ _, _ in nil }, hear: { _ in value }) }

    /// `key=…`, in any order among the last ones, or not at all.
    /// - Parameter say: nil: it is left out.
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

    /// The same, or the word for none.
    func or(_ none: String) -> Phrase<Value?> {
        Phrase<Value?>(
            { [say] value, names in value.map { say($0, names) } ?? none },
            hear: { [hear] (reader) throws(LineProblem) in reader.words.take(none) ? nil : try hear(&reader) })
    }
}
