package import Arbiter
import ArbiterProtocol

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
