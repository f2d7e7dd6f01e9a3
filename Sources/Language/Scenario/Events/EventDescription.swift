import Arbiter
package import ArbiterProtocol

/// Everything outside the core that describes an event: its name in traces, on the wire and in scenarios, its fields,
/// what brings it and whom it concerns. All code that writes, reads, shows or counts events goes by this one table, so
/// that a new event is described in one place.
package struct EventDescription: Sendable {
    /// What brings it.
    package enum Origin: Sendable, CaseIterable { case client, session, user, machine, recorder, broker, clock }

    /// Which users it concerns, besides those that are trusted with everything.
    package enum Concern: Sendable {
        /// It is a fact of the machine and names no user.
        case everybody
        /// It speaks of certain users' clients, apps or login sessions; where it speaks of none, it concerns trusted
        /// users only.
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
    /// In the order of its fields.
    package let members: [EventMember]

    private let valuesOf: @Sendable (Event) -> EventValues
    private let subjectsOf: @Sendable (Event) -> [EventSubject]
    private let sayings: @Sendable (Event, any Naming) -> [String?]
    private let reading: @Sendable (inout TraceFields) throws(LineFault) -> Event
    private let hearing: @Sendable (inout SentenceReader, (any Sendable)?) throws(LineProblem) -> Event
    private let withGrant: @Sendable (Event, GrantID) -> Event

    /// - Parameters:
    ///   - make: the event's own case.
    ///   - fields: one for each of its values, in their order.
    ///   - take: the event's values; nil: it is another event.
    init<each Value: Sendable>(
        _ kind: EventKind, from origin: Origin, concerning concern: Concern, _ traits: Traits, _ sentence: Sentence,
        _ make: @escaping @Sendable (repeat each Value) -> Event, _ fields: repeat EventField<each Value>,
        take: @escaping @Sendable (Event) -> (repeat each Value)?
    ) {
        self.kind = kind
        self.origin = origin
        self.concern = concern
        self.traits = traits
        self.sentence = sentence
        @Sendable func values(_ event: Event) -> (repeat each Value) {
            guard let values = take(event) else { preconditionFailure("\(kind) describes \(event.kind)") }
            return values
        }
        var members: [EventMember] = []
        for field in repeat each fields { members += field.members }
        self.members = members
        valuesOf = { event in
            let taken = values(event)
            var written = EventValues()
            for (field, value) in repeat (each fields, each taken) { field.write(value, &written) }
            return written
        }
        subjectsOf = { event in
            let taken = values(event)
            var subjects: [EventSubject] = []
            for (field, value) in repeat (each fields, each taken) {
                if let subject = field.subject?(value) { subjects.append(subject) }
            }
            return subjects
        }
        sayings = { event, names in
            let taken = values(event)
            var said: [String?] = []
            for (field, value) in repeat (each fields, each taken) { said.append(field.phrase.say(value, names)) }
            return said
        }
        reading = { (line) throws(LineFault) in make(repeat try (each fields).read(&line)) }
        hearing = { (reader, first) throws(LineProblem) in
            var heard: [Heard] = []
            for field in repeat each fields { heard.append(Heard(field)) }
            let found = try Heard.read(heard, sentence.order, first: first, &reader)
            var next = 0
            func value<Wanted>(_: EventField<Wanted>) -> Wanted {
                defer { next += 1 }
                guard let value = found[next] as? Wanted else { preconditionFailure("\(kind) was read otherwise") }
                return value
            }
            return make(repeat value(each fields))
        }
        withGrant = { event, grant in
            let taken = values(event)
            func replaced<Old>(_ value: Old) -> Old { Old.self == GrantID.self ? grant as? Old ?? value : value }
            return make(repeat replaced(each taken))
        }
    }

    package func values(of event: Event) -> EventValues { valuesOf(event) }
    package func subjects(of event: Event) -> [EventSubject] { subjectsOf(event) }

    /// The event that a trace's line has behind its name.
    package func read(_ fields: inout TraceFields) throws(LineFault) -> Event { try reading(&fields) }

    /// The event as a scenario's line, without time and indentation; nil where nobody says it.
    package func line(of event: Event, _ names: any Naming) -> String? { sentence.text(sayings(event, names)) }

    /// The event that a line's words say, from behind the command on.
    /// - Parameter first: its first value, where that and the verb have been read.
    package func hear(_ reader: inout SentenceReader, first: (any Sendable)? = nil) throws(LineProblem) -> Event {
        try hearing(&reader, first)
    }

    /// The same news of another grant.
    package func event(_ event: Event, of grant: GrantID) -> Event { withGrant(event, grant) }
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

    /// The values of all fields, in the fields' own order.
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
    /// As subscribers have it.
    package func decided(_ names: any Naming) -> WireDictionary {
        let described = described
        var wire: WireDictionary = [DecidedKey.event: .string(kind.rawValue)]
        described.values(of: self).write(to: &wire)
        if let name = name(names) { wire.append(DecidedKey.name, .string(name)) }
        if let note = note(names) { wire.append(DecidedKey.note, .string(note)) }
        return wire
    }

    /// What a picture of a camera's holders says of the event: its line, without quotation marks; nil where what
    /// follows from it says it all.
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
