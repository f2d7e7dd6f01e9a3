import ArbiterProtocol

// Values of plain types: what they are called differs from event to event.

extension EventField where Value == Bool {
    /// Said by its own word where it is so, and else not at all.
    static func mark(_ key: String, said word: String? = nil) -> EventField {
        let word = word ?? key
        return EventField(
            key, "b",
            Phrase(
                { value, _ in value ? word : nil }, hear: { (reader) throws(LineProblem) in reader.words.take(word) }),
            wire: { .boolean($0) }, read: { (line) throws(LineFault) in try line.flag(key) })
    }

    static func either(_ key: String, _ yes: String, _ no: String) -> EventField {
        EventField(
            key, "b", .choice("`\(yes)` or `\(no)`", [(yes, true), (no, false)]), wire: { .boolean($0) },
            read: { (line) throws(LineFault) in try line.flag(key) })
    }
}

extension EventField where Value == String {
    /// A name or another single word.
    static func word(_ key: String, _ what: String) -> EventField {
        text(key, Phrase({ value, _ in value.scenarioWord }, hear: hears(what)))
    }

    /// A sentence, in quotation marks always.
    static func sentence(_ key: String, _ what: String) -> EventField {
        text(key, Phrase({ value, _ in value.scenarioQuoted }, hear: hears(what)))
    }

    private static func text(_ key: String, _ phrase: Phrase<String>) -> EventField {
        EventField(key, "s", phrase, wire: { .string($0) }, read: { (line) throws(LineFault) in try line.text(key) })
    }

    private static func hears(_ what: String) -> @Sendable (inout SentenceReader) throws(LineProblem) -> String {
        { (reader) throws(LineProblem) in try reader.words.word(what).text }
    }
}

extension EventField where Value == String? {
    static func optionalWord(_ key: String) -> EventField {
        EventField(
            key, "s",
            Phrase(
                { value, _ in value?.scenarioWord },
                hear: { (reader) throws(LineProblem) in reader.words.optionalWord()?.text }),
            wire: { value in value.map { .string($0) } },
            read: { (line) throws(LineFault) in try line.nullableText(key) })
    }
}

extension EventField where Value == UInt64 {
    /// The number of something that the core has numbered.
    static func number(_ key: String, of what: String) -> EventField {
        counted(
            key,
            Phrase({ value, _ in "\(value)" }, hear: { (reader) throws(LineProblem) in try reader.number(of: what) }))
    }

    static var interruption: EventField {
        counted(
            "interruption",
            Phrase(
                { value, _ in "#\(value)" },
                hear: { (reader) throws(LineProblem) in
                    let word = try reader.words.word("an interruption")
                    guard word.text.first == "#", let id = UInt64(word.text.dropFirst()) else {
                        throw LineProblem(word, "an interruption is written #1")
                    }
                    return id
                }))
    }

    private static func counted(_ key: String, _ phrase: Phrase<UInt64>) -> EventField {
        EventField(key, "t", phrase, wire: { .uint64($0) }, read: { (line) throws(LineFault) in try line.count(key) })
    }
}

extension EventField where Value == UInt32 {
    /// Whose it is: `user=1001`; a line without it means the reader's usual user.
    static var user: EventField {
        EventField(
            "user", "u",
            Phrase(
                { value, _ in "user=\(value)" },
                hear: { (reader) throws(LineProblem) in try reader.user() ?? reader.lookup.user }),
            wire: { .uint32($0) }, read: { (line) throws(LineFault) in try line.integer("user") }
        ).about { .user($0) }
    }

    static var question: EventField {
        EventField(
            "question", "u",
            Phrase(
                { value, _ in "\(value)" },
                hear: { (reader) throws(LineProblem) in
                    let number = try reader.words.word("a question's number")
                    guard let id = QuestionID(number.text) else {
                        throw LineProblem(number, "a question is a number, as the announcement of it has")
                    }
                    return id
                }),
            wire: { .uint32($0) }, read: { (line) throws(LineFault) in try line.integer("question") })
    }
}

extension EventField where Value == UInt32? {
    static var userOrAll: EventField {
        EventField(
            "user", "u",
            Phrase(
                { value, _ in value.map { "user=\($0)" } },
                hear: { (reader) throws(LineProblem) in try reader.user() }),
            wire: { value in value.map { .uint32($0) } },
            read: { (line) throws(LineFault) in
                try line.nullable("user") { (line) throws(LineFault) in try line.integer("user") }
            }
        ).about { value in value.map { .user($0) } }
    }
}

extension EventField where Value == Double {
    static func factor(_ key: String) -> EventField {
        EventField(
            key, "d",
            Phrase(
                { value, _ in value.shortDescription },
                hear: { (reader) throws(LineProblem) in
                    let word = try reader.words.word("a zoom factor")
                    guard let factor = Double(word.text) else { throw LineProblem(word, "a zoom factor is a number") }
                    return factor
                }),
            wire: { .double($0) }, read: { (line) throws(LineFault) in try line.number(key) })
    }
}

extension EventField where Value: RawRepresentable & CaseIterable & Equatable, Value.RawValue == String {
    /// One of a closed set of words, which are those of the wire.
    static func oneOf(_ key: String, _ what: String) -> EventField {
        EventField(
            key, "s", .choice(what, Value.allCases.map { ($0.rawValue, $0) }), wire: { .string($0.rawValue) },
            read: { (line) throws(LineFault) in try line.word(key) })
    }

    /// `by SOURCE`; not said where it is the usual one.
    static func by(_ key: String, usual: Value, _ what: String) -> EventField {
        EventField(
            key, "s",
            Phrase(
                { value, _ in value == usual ? nil : "by \(value.rawValue)" },
                hear: { (reader) throws(LineProblem) in
                    guard reader.words.take("by") else { return usual }
                    return try reader.words.choice(what, Value.allCases.map { ($0.rawValue, $0) })
                }),
            wire: { .string($0.rawValue) }, read: { (line) throws(LineFault) in try line.word(key) })
    }

    /// No line says it; one that does not have it in a trace is of before there were several.
    static func unsaid(_ key: String, usual: Value) -> EventField {
        EventField(
            key, "s", .unsaid(usual), wire: { .string($0.rawValue) },
            read: { (line) throws(LineFault) in line.has(key) ? try line.word(key) : usual })
    }
}
