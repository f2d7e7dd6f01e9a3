package import ArbiterProtocol

/// One member of a trace's line and one entry of a dictionary on the wire.
package struct EventMember: Hashable, Sendable {
    package var key: String
    /// Its D-Bus type.
    package var type: String
}

/// The client, session or other thing that an event speaks of.
package enum EventSubject: Hashable, Sendable {
    case client(ClientID)
    case session(SessionID)
    case user(UInt32)
    case camera(CameraID)
    case grant(GrantID)
    case loginSession(LoginSessionID)
}

/// One value of an event: how it is written and read, in a trace and on the wire, and how a scenario says it. A value
/// may have several members: an app is a name and a user.
package struct EventField<Value: Sendable>: Sendable {
    let members: [EventMember]
    /// Adds every member, each exactly once.
    let write: @Sendable (Value, inout EventValues) -> Void
    let read: @Sendable (inout TraceFields) throws(LineFault) -> Value
    let phrase: Phrase<Value>
    var subject: (@Sendable (Value) -> EventSubject?)?

    init(
        _ members: [EventMember], _ phrase: Phrase<Value>,
        write: @escaping @Sendable (Value, inout EventValues) -> Void,
        read: @escaping @Sendable (inout TraceFields) throws(LineFault) -> Value
    ) {
        self.members = members
        self.phrase = phrase
        self.write = write
        self.read = read
    }

    /// A field of one member.
    init(
        _ key: String, _ type: String, _ phrase: Phrase<Value>, wire: @escaping @Sendable (Value) -> WireValue?,
        read: @escaping @Sendable (inout TraceFields) throws(LineFault) -> Value
    ) { self.init([EventMember(key: key, type: type)], phrase, write: { $1.add(key, wire($0)) }, read: read) }

    func about(_ subject: @escaping @Sendable (Value) -> EventSubject?) -> EventField {
        var field = self
        field.subject = subject
        return field
    }
}

/// How a scenario says a value.
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

    /// A line leaves it out, and its reader knows better.
    static func unsaid(_ value: Value) -> Phrase { Phrase({ _, _ in nil }, hear: { _ in value }) }

    /// `key=…`, in any order among the last ones, or not at all.
    static func setting(
        _ key: String, usual: Value, say: @escaping @Sendable (Value) -> String,
        hear: @escaping @Sendable (Word) throws(LineProblem) -> Value
    ) -> Phrase {
        var phrase = Phrase(
            { value, _ in "\(key)=\(say(value))" },
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
}
