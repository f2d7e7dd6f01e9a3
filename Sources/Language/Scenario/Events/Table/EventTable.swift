import Arbiter
package import ArbiterProtocol

extension EventDescription {
    /// All of them while the table is filled; each kind of event once.
    struct Table {
        var found: [EventKind: EventDescription] = [:]
        /// Of the events that are added next, where they do not say otherwise.
        var origin = Origin.clock
        var concern = Concern.users

        mutating func add<each Value: Sendable>(
            _ kind: EventKind, _ sentence: Sentence, concerning concern: Concern? = nil, marked traits: Traits = [],
            _ make: @escaping @Sendable (repeat each Value) -> Event, _ fields: repeat EventField<each Value>,
            take: @escaping @Sendable (Event) -> (repeat each Value)?
        ) {
            precondition(found[kind] == nil, "\(kind) is described twice")
            found[kind] = EventDescription(
                kind, from: origin, concerning: concern ?? self.concern, traits, sentence, make, repeat each fields,
                take: take)
        }
    }

    /// In the order of `EventKind`.
    package static let all: [EventDescription] = {
        var table = Table()
        table.addClients()
        table.addSessions()
        table.addUsersWorld()
        table.addUsersWords()
        table.addMachine()
        table.addRecorder()
        table.addRecorderNews()
        table.addBroker()
        return EventKind.allCases.map { kind in
            guard let description = table.found[kind] else { preconditionFailure("\(kind) is not described") }
            return description
        }
    }()

    /// By their places in `all`, which are those of the kinds.
    private static let places: [EventKind: Int] = Dictionary(
        uniqueKeysWithValues: EventKind.allCases.enumerated().map { ($0.element, $0.offset) })

    package static func of(_ kind: EventKind) -> EventDescription {
        guard let place = places[kind] else { preconditionFailure("\(kind) is no kind of event") }
        return all[place]
    }

    /// Those that a line with this command can mean.
    package static func with(command: String) -> [EventDescription] { byCommand[command] ?? [] }

    private static let byCommand: [String: [EventDescription]] = {
        var found: [String: [EventDescription]] = [:]
        for description in all {
            for command in description.sentence.commands { found[command, default: []].append(description) }
        }
        return found
    }()

    /// Everything that a line of a scenario can begin with, in the table's order.
    package static let commands: [String] = {
        var commands: [String] = []
        for command in all.flatMap(\.sentence.commands) where !commands.contains(command) { commands.append(command) }
        return commands
    }()

    /// Everything that a line about a recorder can say behind its camera.
    package static let recorderVerbs: [String] = with(command: Sentence.recorderCommand).compactMap(\.sentence.verb)
}

extension Event {
    package var described: EventDescription { EventDescription.of(kind) }
    package var subjects: [EventSubject] { described.subjects(of: self) }
}

extension EventDescription.Table {
    /// The broker itself, and time.
    mutating func addBroker() {
        (origin, concern) = (.broker, .users)
        add(.policyLoaded, .own("policy-reload"), concerning: .everybody, marked: [.noted], Event.policyLoaded, .policy)
        {
            if case .policyLoaded(let policy) = $0 { policy } else { nil }
        }
        add(.reserved, .line("reserve"), Event.reserved, .camera, .app, .survivor) {
            if case .reserved(let camera, let app, let survivor) = $0 { (camera, app, survivor) } else { nil }
        }
        // Nobody brings it, and nobody says it: a line's time does.
        origin = .clock
        let make: @Sendable () -> Event = { .timePassed }
        add(.timePassed, .unsaid, concerning: .whoeverIsTold, marked: [.routine], make) {
            if case .timePassed = $0 { () } else { nil }
        }
    }

    /// What a connection is, and what it says of itself.
    mutating func addClients() {
        (origin, concern) = (.client, .users)
        add(.connected, .own("connect"), Event.connected, .client, .app, .identity) {
            if case .connected(let client, let app, let identity) = $0 { (client, app, identity) } else { nil }
        }
        add(.declared, .line("declare"), Event.declared, .client, .attributes) {
            if case .declared(let client, let attributes) = $0 { (client, attributes) } else { nil }
        }
        add(
            .declaredPresence, .line("declare-presence"), marked: [.noted], Event.declaredPresence, .client, .presence,
            .mark("focused")
        ) {
            if case .declaredPresence(let client, let place, let focused) = $0 { (client, place, focused) } else { nil }
        }
        add(.loweredPriority, .own("lower"), marked: [.noted], Event.loweredPriority, .client, .word("rank", "a rank"))
        {
            if case .loweredPriority(let client, let rank) = $0 { (client, rank) } else { nil }
        }
        add(
            .loweredAttribute, .own("lower"), marked: [.noted], Event.loweredAttribute, .client,
            .word("attribute", "an attribute"), .word("to", "its value")
        ) {
            if case .loweredAttribute(let client, let name, let value) = $0 { (client, name, value) } else { nil }
        }
        add(.disconnected, .line("disconnect"), Event.disconnected, .client) {
            if case .disconnected(let client) = $0 { client } else { nil }
        }
    }
}
