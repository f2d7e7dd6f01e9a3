import ArbiterProtocol

// Values of plain types.

extension EventField {
    /// Its own word for true, and no word for false.
    static func mark(_ key: String) -> EventField<Bool> {
        .init(key, Phrase({ value, _ in value ? key : nil }) { reader in reader.words.take(key) })
    }

    static func either(_ key: String, _ yes: String, _ no: String) -> EventField<Bool> {
        .init(key, .choice("`\(yes)` or `\(no)`", [(yes, true), (no, false)]))
    }

    static func word(_ key: String, _ what: String) -> EventField<String> {
        .init(key, .word(what, \.scenarioWord) { $0 })
    }

    static func sentence(_ key: String, _ what: String) -> EventField<String> {
        .init(key, .word(what, \.scenarioQuoted) { $0 })
    }

    static func number(_ key: String, of what: String) -> EventField<UInt64> {
        .init(
            key,
            Phrase({ value, _ in "\(value)" }) { (reader) throws(LineProblem) in
                try reader.words.word("the number of \(what)").wholeNumber()
            })
    }

    static var interruption: EventField<UInt64> {
        .init(
            "interruption",
            .word("an interruption", { "#\($0)" }, "an interruption is written #1") {
                $0.first == "#" ? UInt64($0.dropFirst()) : nil
            })
    }

    /// `framesLeftOut=3`; 0 where a line, or an older trace, lacks it.
    static func laterSetting(_ key: String) -> EventField<UInt64> {
        .init(
            key,
            .setting(key, usual: 0, say: { "\($0)" }, hear: { (word) throws(LineProblem) in try word.wholeNumber() })
        ).later(0)
    }

    /// `user=1001`; without it the reader's usual user.
    static var user: EventField<UInt32> {
        .init(
            "user",
            Phrase(
                { value, _ in "user=\(value)" },
                hear: { (reader) throws(LineProblem) in try reader.user() ?? reader.lookup.names.user })
        ).about { .user($0) }
    }

    static var question: EventField<UInt32> {
        let form = "a question is a number, as the announcement of it has"
        return .init("question", .word("a question's number", { "\($0)" }, form) { QuestionID($0) })
    }

    static var userOrAll: EventField<UInt32?> {
        EventField<UInt32>.user.orNone(
            Phrase(
                { value, _ in value.map { "user=\($0)" } },
                hear: { (reader) throws(LineProblem) in try reader.user() })
        ).about { value in value.map { .user($0) } }
    }

    static func factor(_ key: String) -> EventField<Double> {
        .init(key, .word("a zoom factor", \.shortDescription, "a zoom factor is a number") { Double($0) })
    }
}

extension EventField where Value: WireWord & Equatable {
    static func oneOf(_ key: String, _ what: String) -> EventField { EventField(key, word: .oneOf(what)) }

    /// `by SOURCE`, except for the usual one.
    static func by(_ key: String, usual: Value, _ what: String) -> EventField {
        let phrase = Phrase<Value>.oneOf(what)
        return EventField(
            key,
            word: Phrase(
                { value, _ in value == usual ? nil : "by \(value.wireName)" },
                hear: { (reader) throws(LineProblem) in reader.words.take("by") ? try phrase.hear(&reader) : usual }))
    }

    /// A field that is in no scenario line, and `usual` in older traces, which lack it.
    static func unsaid(_ key: String, usual: Value) -> EventField { EventField(key, word: .unsaid(usual)).later(usual) }
}

/// Stands in a scenario for an unknown figure, which is `null` in a trace and absent on the wire.
private let unknown = "unknown"

extension EventField {
    /// `frames=60`, or `frames=unknown`; 0 where the line lacks it.
    static func knownSetting(_ key: String) -> EventField<UInt64?> {
        EventField<UInt64>(key, .unsaid(0)).orNone(
            .setting(
                key, usual: 0, say: { $0.map { "\($0)" } ?? unknown },
                hear: { (word) throws(LineProblem) in word.text == unknown ? nil : try word.wholeNumber() }))
    }

    /// `duration=2s`, or `duration=unknown`; zero where the line lacks it. Nanoseconds in a trace and on the wire.
    static func knownTime(_ key: String) -> EventField<Duration?> {
        EventField<Duration>(key, .unsaid(.zero)).orNone(
            .setting(
                key, usual: .zero, say: { $0.map { TimeText.write($0) } ?? unknown },
                hear: { (word) throws(LineProblem) in word.text == unknown ? nil : try word.time() }))
    }

    /// `lastCapture=5.2s`, by the clock, or nothing, which is 0 in a trace and on the wire. Older traces lack it.
    static func laterMoment(_ key: String) -> EventField<Moment?> {
        .init(
            key,
            .setting(
                key, usual: nil, say: { $0.map { TimeText.write($0) } },
                hear: { (word) throws(LineProblem) in .zero + (try word.time()) })
        ).later(nil)
    }
}
