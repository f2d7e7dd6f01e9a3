package import ArbiterProtocol

/// One member of a trace's line and one entry of a dictionary on the wire.
package struct EventMember: Hashable, Sendable {
    package var key: String
    package var type: String
}

/// A client, session or other thing that an event is about.
package enum EventSubject: Hashable, Sendable {
    case client(ClientID)
    case session(SessionID)
    case user(UInt32)
    case camera(CameraID)
    case grant(GrantID)
    case loginSession(LoginSessionID)
}

/// One value of an event. It may have several members: an app is a name and a user.
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
        (self.members, self.phrase, self.write, self.read) = (members, phrase, write, read)
    }

    init(
        _ members: KeyValuePairs<String, String>, _ phrase: Phrase<Value>,
        write: @escaping @Sendable (Value, inout EventValues) -> Void,
        read: @escaping @Sendable (inout TraceFields) throws(LineFault) -> Value
    ) { self.init(members.map { EventMember(key: $0.key, type: $0.value) }, phrase, write: write, read: read) }

    /// A field of one member in the form of its D-Bus type.
    init(_ key: String, _ phrase: Phrase<Value>) where Value: WireType {
        self.init(
            [key: Value.wireType], phrase, write: { $1.add(key, $0.wireValue) },
            read: { (line) throws(LineFault) in try line.read(key) })
    }

    init(_ key: String, word phrase: Phrase<Value>) where Value: WireWord {
        self.init(
            [key: Value.wireType], phrase, write: { $1.add(key, $0.wireValue) },
            read: { (line) throws(LineFault) in try line.word(key) })
    }

    /// A value of several parts, each of which is written and read as a field of its own.
    init<each Part: Sendable>(
        _ phrase: Phrase<Value>, _ parts: repeat EventField<each Part>,
        of split: @escaping @Sendable (Value) -> (repeat each Part),
        make: @escaping @Sendable (repeat each Part) -> Value
    ) {
        var members: [EventMember] = []
        for part in repeat each parts { members += part.members }
        let all = (repeat each parts)
        self.init(
            members, phrase,
            write: { value, values in
                let split = split(value)
                for (part, value) in repeat (each all, each split) { part.write(value, &values) }
            }, read: { (line) throws(LineFault) in make(repeat try (each all).read(&line)) })
    }

    /// A part that no line has by itself.
    static func part(_ key: String) -> EventField where Value: WireType { EventField(key, .silent) }
    static func part(_ key: String) -> EventField where Value: WireWord { EventField(key, word: .silent) }

    private init(_ field: EventField, read: @escaping @Sendable (inout TraceFields) throws(LineFault) -> Value) {
        (members, write, phrase, subject) = (field.members, field.write, field.phrase, field.subject)
        self.read = read
    }

    func about(_ subject: @escaping @Sendable (Value) -> EventSubject?) -> EventField {
        var field = self
        field.subject = subject
        return field
    }

    /// With a value for older traces, which lack the field.
    func later(_ usual: Value) -> EventField {
        EventField(self) { (line) throws(LineFault) in
            members.contains { line.has($0.key) } ? try read(&line) : usual
        }
    }

    /// With `null` in a trace, and nothing on the wire, where there is no value.
    func orNone(_ phrase: Phrase<Value?> = .silent) -> EventField<Value?> { EventField<Value?>(self, phrase) }

    private init<Some: Sendable>(_ field: EventField<Some>, _ phrase: Phrase<Value>) where Value == Some? {
        (members, self.phrase) = (field.members, phrase)
        write = { value, values in
            if let value { return field.write(value, &values) }
            for member in field.members { values.add(member.key, nil) }
        }
        read = { (line) throws(LineFault) in try line.takeNull(field.members) ? nil : try field.read(&line) }
    }
}
