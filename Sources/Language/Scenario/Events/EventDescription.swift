import Arbiter
package import ArbiterProtocol

/// The one description of an event outside the core: all code that writes, reads, shows or counts events goes by it.
package struct EventDescription: Sendable {
    package enum Origin: Sendable, CaseIterable { case client, session, user, machine, recorder, broker, clock }

    /// The users that an event concerns, besides those that are trusted with everything.
    package enum Concern: Sendable {
        /// A fact of the machine.
        case everybody
        /// The users of the event's clients, apps or login sessions; for an event without any, trusted users only.
        case users
        /// As `users`, but an event without a user concerns all of them.
        case usersOrEverybody
        /// The users whose sessions get a notice of the event, which is about a camera.
        case whoeverIsTold
    }

    package struct Traits: OptionSet, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A recorder core has carried out an order: code that replays the orders gets it anew.
        package static let answer = Traits(rawValue: 1)
        /// It comes by itself, or with every frame, and means nothing where nothing follows from it.
        package static let routine = Traits(rawValue: 2)
        /// A picture of a camera's holders notes it, since its consequences do not show it.
        package static let noted = Traits(rawValue: 4)
    }

    package let kind: EventKind
    package let origin: Origin
    package let concern: Concern
    package let traits: Traits
    package let sentence: Sentence
    package let members: [EventMember]
    private let fields: [ErasedField]
    private let make: @Sendable ([any Sendable]) -> Event

    init<each Value: Sendable>(
        _ kind: EventKind, from origin: Origin, concerning concern: Concern, _ traits: Traits, _ sentence: Sentence,
        _ make: @escaping @Sendable (repeat each Value) -> Event, _ fields: repeat EventField<each Value>
    ) {
        (self.kind, self.origin, self.concern) = (kind, origin, concern)
        (self.traits, self.sentence) = (traits, sentence)
        var erased: [ErasedField] = []
        for field in repeat each fields { erased.append(ErasedField(field)) }
        self.fields = erased
        members = erased.flatMap(\.members)
        self.make = { values in
            var next = 0
            func value<Wanted>(_: Wanted.Type) -> Wanted {
                defer { next += 1 }
                return unerased(values[next])
            }
            return make(repeat value((each Value).self))
        }
    }

    package func values(of event: Event) -> EventValues {
        var values = EventValues()
        for (field, value) in zip(fields, event.values) { field.write(value, &values) }
        return values
    }

    package func subjects(of event: Event) -> [EventSubject] {
        zip(fields, event.values).compactMap { field, value in field.subject(value) }
    }

    func read(_ line: inout TraceFields) throws(LineFault) -> Event {
        var values: [any Sendable] = []
        for field in fields { values.append(try field.read(&line)) }
        return make(values)
    }

    /// The event as a scenario's line, without time and indentation; `nil` for an event without a line.
    package func line(of event: Event, _ names: Names) -> String? {
        sentence.text(zip(fields, event.values).map { $0.say($1, names) })
    }

    /// The same news of another grant.
    package func event(_ event: Event, of grant: GrantID) -> Event {
        make(event.values.map { $0 is GrantID ? grant : $0 })
    }

    /// - Parameter first: the first value, where that and the verb have been read.
    func hear(_ reader: inout SentenceReader, first: (any Sendable)? = nil) throws(LineProblem) -> Event {
        var found = [(any Sendable)?](repeating: nil, count: fields.count)
        if first != nil { found[0] = first }
        let places = (sentence.order ?? Array(fields.indices)).filter { found[$0] == nil }
        // Several settings at the end stand in any order.
        let settings = places.reversed().prefix { fields[$0].setting != nil }
        let isLoose = settings.count > 1
        for place in isLoose ? places.dropLast(settings.count) : places[...] {
            found[place] = try fields[place].hear(&reader)
        }
        if isLoose {
            for place in settings { found[place] = fields[place].setting?.usual }
            while let word = reader.words.anything() {
                guard let place = settings.first(where: { fields[$0].setting?.key == word.key }),
                    let setting = fields[place].setting
                else {
                    let keys = places.suffix(settings.count).compactMap { fields[$0].setting?.key }
                    throw word.notOne(of: keys)
                }
                found[place] = try setting.hear(word)
            }
        }
        return make(found.compactMap(\.self))
    }
}

/// A field without the type of its value.
private struct ErasedField: Sendable {
    let members: [EventMember]
    let write: @Sendable (any Sendable, inout EventValues) -> Void
    let read: @Sendable (inout TraceFields) throws(LineFault) -> any Sendable
    let say: @Sendable (any Sendable, Names) -> String?
    let hear: @Sendable (inout SentenceReader) throws(LineProblem) -> any Sendable
    let setting: Phrase<any Sendable>.Setting?
    let subject: @Sendable (any Sendable) -> EventSubject?

    init<Value>(_ field: EventField<Value>) {
        let phrase = field.phrase
        members = field.members
        write = { field.write(unerased($0), &$1) }
        read = { (line) throws(LineFault) in try field.read(&line) }
        say = { phrase.say(unerased($0), $1) }
        hear = { (reader) throws(LineProblem) in try phrase.hear(&reader) }
        setting = phrase.setting.map { setting in
            (setting.key, setting.usual, { (word) throws(LineProblem) in try setting.hear(word) })
        }
        subject = { value in field.subject.flatMap { $0(unerased(value)) } }
    }
}

private func unerased<Value>(_ value: any Sendable) -> Value {
    guard let value = value as? Value else { preconditionFailure("\(value) is no \(Value.self)") }
    return value
}

private struct ValuesVisitor: EventVisitor {
    var values: [any Sendable] = []

    mutating func take<each Value: Sendable>(_ kind: EventKind, _ values: repeat each Value) {
        for value in repeat each values { self.values.append(value) }
    }
}

extension Event {
    fileprivate var values: [any Sendable] {
        var visitor = ValuesVisitor()
        visit(&visitor)
        return visitor.values
    }
}

// The data of the signal `Decided`: a dictionary for the event, and one for each effect that its text shows.

extension Event {
    package func decided(_ names: Names) -> WireDictionary {
        let described = described
        var wire: WireDictionary = [DecidedKey.event: .string(kind.rawValue)]
        described.values(of: self).write(to: &wire)
        if let name = name(names) { wire.append(DecidedKey.name, .string(name)) }
        if let note = note(names) { wire.append(DecidedKey.note, .string(note)) }
        return wire
    }

    /// For a picture of a camera's holders; `nil` where its consequences show the event.
    package func note(_ names: Names) -> String? {
        let described = described
        guard described.traits.contains(.noted) else { return nil }
        return described.line(of: self, names).map { String($0.filter { $0 != "\"" }) }
    }

    /// The name of its session, or else of its client.
    package func name(_ names: Names) -> String? {
        var found: String?
        for subject in subjects {
            switch subject {
            case .session(let session): return names.name(of: session)
            case .client(let client): found = names.name(of: client)
            case .user, .camera, .grant, .loginSession: break
            }
        }
        return found
    }
}
