import Arbiter
package import ArbiterProtocol

/// The one description of an event outside the core: all code that writes, reads, shows or counts events goes by it.
package struct EventDescription: Sendable {
    package enum Origin: Sendable, CaseIterable { case client, session, user, machine, recorder, broker, clock }

    /// Which users it concerns, besides those that are trusted with everything.
    package enum Concern: Sendable {
        /// It is a fact of the machine and names no user.
        case everybody
        /// Those of the clients, apps or login sessions it speaks of; where it speaks of none, trusted users only.
        case users
        /// As above, but where it speaks of no user it is a fact about all of them.
        case usersOrEverybody
        /// It is about a camera, and concerns the users whose sessions were told of it.
        case whoeverIsTold
    }

    package struct Traits: OptionSet, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// A recorder core has done what it was told: code that lives the orders again gets it anew.
        package static let answer = Traits(rawValue: 1)
        /// It comes by itself, or with every frame, and means nothing where nothing follows from it.
        package static let routine = Traits(rawValue: 2)
        /// A picture of a camera's holders notes it: what follows from it does not show it.
        package static let noted = Traits(rawValue: 4)
    }

    package let kind: EventKind
    package let origin: Origin
    package let concern: Concern
    package let traits: Traits
    package let sentence: Sentence
    package let members: [EventMember]
    fileprivate let fields: any AnyEventFields

    init<each Value: Sendable>(
        _ kind: EventKind, from origin: Origin, concerning concern: Concern, _ traits: Traits, _ sentence: Sentence,
        _ make: @escaping @Sendable (repeat each Value) -> Event, _ fields: repeat EventField<each Value>
    ) {
        self.kind = kind
        self.origin = origin
        self.concern = concern
        self.traits = traits
        self.sentence = sentence
        var members: [EventMember] = []
        for field in repeat each fields { members += field.members }
        self.members = members
        self.fields = EventFields(make, repeat each fields)
    }

    package func values(of event: Event) -> EventValues {
        var values = EventValues()
        for part in event.parts { part.write(to: &values) }
        return values
    }

    package func subjects(of event: Event) -> [EventSubject] { event.parts.compactMap(\.subject) }

    package func read(_ line: inout TraceFields) throws(LineFault) -> Event { try fields.read(&line) }

    /// The event as a scenario's line, without time and indentation; nil where nobody says it.
    package func line(of event: Event, _ names: any Naming) -> String? {
        sentence.text(event.parts.map { $0.words(names) })
    }

    /// - Parameter first: the first value, where that and the verb have been read.
    package func hear(_ reader: inout SentenceReader, first: (any Sendable)? = nil) throws(LineProblem) -> Event {
        fields.event(of: try Heard.read(fields.heard, sentence.order, first: first, &reader))
    }

    /// The same news of another grant.
    package func event(_ event: Event, of grant: GrantID) -> Event {
        fields.event(of: event.parts.map { $0.value is GrantID ? grant : $0.value })
    }
}

/// The fields of one kind of event, whatever the types of its values.
private protocol AnyEventFields: Sendable {
    var heard: [Heard] { get }
    func read(_ line: inout TraceFields) throws(LineFault) -> Event
    func event(of values: [any Sendable]) -> Event
}

private final class EventFields<each Value: Sendable>: AnyEventFields {
    let make: @Sendable (repeat each Value) -> Event
    let fields: (repeat EventField<each Value>)

    init(_ make: @escaping @Sendable (repeat each Value) -> Event, _ fields: repeat EventField<each Value>) {
        self.make = make
        self.fields = (repeat each fields)
    }

    var heard: [Heard] {
        var heard: [Heard] = []
        for field in repeat each fields { heard.append(Heard(field)) }
        return heard
    }

    func read(_ line: inout TraceFields) throws(LineFault) -> Event { make(repeat try (each fields).read(&line)) }

    func event(of values: [any Sendable]) -> Event {
        var next = 0
        func value<Wanted>(_: EventField<Wanted>) -> Wanted {
            defer { next += 1 }
            guard let value = values[next] as? Wanted else {
                preconditionFailure("\(values[next]) is no \(Wanted.self)")
            }
            return value
        }
        return make(repeat value(each fields))
    }
}

private protocol EventPart {
    var value: any Sendable { get }
    var subject: EventSubject? { get }
    func write(to values: inout EventValues)
    func words(_ names: any Naming) -> String?
}

private struct FilledField<Value: Sendable>: EventPart {
    let field: EventField<Value>
    let filling: Value

    var value: any Sendable { filling }
    var subject: EventSubject? { field.subject?(filling) }
    func write(to values: inout EventValues) { field.write(filling, &values) }
    func words(_ names: any Naming) -> String? { field.phrase.say(filling, names) }
}

private struct PartsVisitor: EventVisitor {
    var parts: [any EventPart] = []

    mutating func take<each Value: Sendable>(_ kind: EventKind, _ values: repeat each Value) {
        guard let described = EventDescription.of(kind).fields as? EventFields<repeat each Value> else {
            preconditionFailure("\(kind) is described with other fields")
        }
        for (field, value) in repeat (each described.fields, each values) {
            parts.append(FilledField(field: field, filling: value))
        }
    }
}

extension Event {
    fileprivate var parts: [any EventPart] {
        var visitor = PartsVisitor()
        visit(&visitor)
        return visitor.parts
    }
}

/// A field while a line is read, whatever its value's type.
private struct Heard {
    var hear: (inout SentenceReader) throws(LineProblem) -> any Sendable
    var setting: (key: String, usual: any Sendable, hear: (Word) throws(LineProblem) -> any Sendable)?

    init<Value>(_ field: EventField<Value>) {
        let phrase = field.phrase
        hear = { (reader) throws(LineProblem) in try phrase.hear(&reader) }
        setting = phrase.setting.map { setting in
            (setting.key, setting.usual, { (word) throws(LineProblem) in try setting.hear(word) })
        }
    }

    static func read(
        _ fields: [Heard], _ order: [Int]?, first: (any Sendable)?, _ reader: inout SentenceReader
    ) throws(LineProblem) -> [any Sendable] {
        var found = [(any Sendable)?](repeating: nil, count: fields.count)
        if first != nil { found[0] = first }
        let places = (order ?? Array(fields.indices)).filter { found[$0] == nil }
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
                    throw LineProblem(word, notOne(word.key ?? word.text, of: keys))
                }
                found[place] = try setting.hear(word)
            }
        }
        return found.compactMap(\.self)
    }
}

// What the signal `Decided` has as data: a dictionary for the event, and one for each effect that its text shows.

extension Event {
    package func decided(_ names: any Naming) -> WireDictionary {
        let described = described
        var wire: WireDictionary = [DecidedKey.event: .string(kind.rawValue)]
        described.values(of: self).write(to: &wire)
        if let name = name(names) { wire.append(DecidedKey.name, .string(name)) }
        if let note = note(names) { wire.append(DecidedKey.note, .string(note)) }
        return wire
    }

    /// For a picture of a camera's holders; nil where what follows from the event says it all.
    package func note(_ names: any Naming) -> String? {
        let described = described
        guard described.traits.contains(.noted) else { return nil }
        return described.line(of: self, names).map { String($0.filter { $0 != "\"" }) }
    }

    /// What the session that it is about is called, or else the client.
    package func name(_ names: any Naming) -> String? {
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

extension Effect {
    /// As subscribers have it; nil for orders to recorders and for what has signals of its own.
    package func decided(_ names: any Naming) -> WireDictionary? {
        var name: String?
        switch self {
        case .refused: break
        case .notify(_, let session, _, _): name = names.name(of: session)
        case .answered, .cut, .killRecorder, .open, .resume, .configure, .openStream, .closeStreams, .capturePhoto,
            .capturePhotoBracket, .attachMicrophone, .detachMicrophone, .startRecording, .stopRecording,
            .pauseRecording, .resumeRecording, .appendMetadata, .setSlate, .announce:
            return nil
        }
        let values = values
        var wire = WireDictionary()
        wire.reserveCapacity(values.entries.count + 2)
        wire.append(DecidedKey.effect, .string(kind.rawValue))
        if let name { wire.append(DecidedKey.name, .string(name)) }
        values.write(to: &wire)
        return wire
    }
}
